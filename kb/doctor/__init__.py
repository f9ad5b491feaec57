"""Do files, rows, chunks, vectors and jobs agree? What `manage.py doctor` finds, and how it is repaired.

Each repair looks again first, under a lock of the document, and is a transaction of its own: it may be
stopped at any moment, and run while Locus does.
"""

from kb.doctor.base import Check, Finding, Result, examine, repair
from kb.doctor.files import MISSING_FILES, OPEN_FILES, ORPHAN_FILES, STALE_CACHES
from kb.doctor.index import WRONG_INDEX
from kb.doctor.protection import Protection, protections
from kb.doctor.rows import (
    CHUNKS_OF_FAILED,
    MISPLACED_CHUNKS,
    NO_CHUNKS,
    NO_JOB,
    NO_VECTORS,
    VECTORS_OF_REPLACED,
    WRONG_COUNT,
)

# In the order in which repairs build on each other.
CHECKS = [
    MISPLACED_CHUNKS,
    ORPHAN_FILES,
    MISSING_FILES,
    CHUNKS_OF_FAILED,
    VECTORS_OF_REPLACED,
    NO_CHUNKS,
    NO_VECTORS,
    WRONG_COUNT,
    WRONG_INDEX,
    NO_JOB,
    STALE_CACHES,
    OPEN_FILES,
]

__all__ = [
    "CHECKS",
    "STALE_CACHES",
    "Check",
    "Finding",
    "Protection",
    "Result",
    "examine",
    "protections",
    "repair",
]
