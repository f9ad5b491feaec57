"""Checks that files, rows, chunks, vectors and jobs agree: for `manage.py doctor`, with repairs.

Each repair first checks again, under a lock of the document, and is a transaction of its own. It may be
interrupted at any moment, and may run while Locus runs.
"""

from kb.doctor.base import Check, Finding, Result, examine, repair
from kb.doctor.encryption import LOST_KEYS, NOT_ENCRYPTED
from kb.doctor.files import MISSING_FILES, OPEN_FILES, ORPHAN_FILES, STALE_CACHES
from kb.doctor.index import ENGINE_AWAY, OUTDATED_TERMS, WAITING_CHANGES, WRONG_INDEX, WRONG_TERMS
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

# In the order in which repairs depend on each other.
CHECKS = [
    MISPLACED_CHUNKS,
    ORPHAN_FILES,
    MISSING_FILES,
    LOST_KEYS,
    NOT_ENCRYPTED,
    CHUNKS_OF_FAILED,
    VECTORS_OF_REPLACED,
    NO_CHUNKS,
    NO_VECTORS,
    WRONG_COUNT,
    ENGINE_AWAY,
    WAITING_CHANGES,
    WRONG_INDEX,
    OUTDATED_TERMS,
    WRONG_TERMS,
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
