"""The process that opens an untrusted file with its password, and writes the file without it.

`python -m extract.unlocking FILE FOLDER` reads the password from its standard input: other accounts can see
arguments. It writes `FOLDER/unlocked`, and exits with one of the statuses below. It imports nothing of
Django.
"""

from __future__ import annotations

import sys
from pathlib import Path

from core.confinement.limits import limit_this_process, lower_priority
from core.process.hardening import hide_memory
from extract.errors import Encrypted

MEMORY_BYTES = 2 * 2**30
TIMEOUT_SECS = 30
UNLOCKED, WRONG_PASSWORD, UNKNOWN_PROTECTION, NOT_PROTECTED = 0, 3, 4, 5
OUTPUT = "unlocked"
PLAIN = 1  # PDF_ENCRYPT_NONE of MuPDF
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
PDF_HEADER_WITHIN = 1024


def unlock(path: Path, password: str, target: Path) -> int:
    """Write the file at `path` without its password to `target`; return an exit status.

    It parses the file in the caller's process.
    """
    with path.open("rb") as file:
        head = file.read(PDF_HEADER_WITHIN)
    if b"%PDF-" in head:
        return _unlock_pdf(path, password, target)
    if head.startswith(OLE):
        from extract.office.encryption import decrypt_office

        return UNLOCKED if decrypt_office(path, password, target) else WRONG_PASSWORD
    return NOT_PROTECTED


def _unlock_pdf(path: Path, password: str, target: Path) -> int:
    from extract.pdf.mupdf import pymupdf

    with pymupdf.open(path, filetype="pdf") as pdf:
        if not pdf.needs_pass:
            return NOT_PROTECTED
        if not pdf.authenticate(password):
            return WRONG_PASSWORD
        pdf.save(target, encryption=PLAIN)
    return UNLOCKED


def _main(file: str, folder: str) -> int:
    hide_memory()
    password = sys.stdin.buffer.read().decode()
    lower_priority()
    limit_this_process(MEMORY_BYTES, TIMEOUT_SECS, Path(file), [Path(folder)])
    try:
        return unlock(Path(file), password, Path(folder) / OUTPUT)
    except Encrypted:
        return UNKNOWN_PROTECTION
    except (RuntimeError, ValueError, OSError, LookupError, MemoryError):
        return UNKNOWN_PROTECTION


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
