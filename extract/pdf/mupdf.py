"""Imports PyMuPDF without the layout models and runtimes that it tries to load: 0.2–0.7 s and 80 MB."""

from __future__ import annotations

import re
import sys
from pathlib import Path

for name in ("pymupdf.layout", "pymupdf4llm"):
    sys.modules.setdefault(name, None)  # type: ignore[arg-type]

import pymupdf  # noqa: E402

__all__ = ["open_pdf", "pymupdf"]

# The dictionary of the encryption is never encrypted itself. In these files it leaves streams and strings
# alone, and locks embedded files only; other readers show their pages without a password.
LOCKS_ATTACHMENTS = re.compile(rb"/EFF\s*+/(?!Identity)\w")
LOCKS_TEXT = re.compile(rb"/(?:StmF|StrF)\s*+/(?!Identity\b)\w|/V\s*+[0-3]\b[^<>]{0,300}/Filter\s*+/Standard")
NAMES_ENCRYPTION = re.compile(rb"/Encrypt(?=[\s<])")


def open_pdf(path: Path) -> pymupdf.Document:
    """Open a PDF; raise `RuntimeError` or `ValueError` if it is none.

    `needs_pass` of the result says whether its pages are locked: a password for attachments alone is not
    asked for.
    """
    pdf = pymupdf.open(path, filetype="pdf")
    if not pdf.needs_pass:
        return pdf
    content = path.read_bytes()
    if not LOCKS_ATTACHMENTS.search(content) or LOCKS_TEXT.search(content):
        return pdf
    pdf.close()
    # As long as before, so that all offsets stay true.
    return pymupdf.open(stream=NAMES_ENCRYPTION.sub(b"/Unlocks", content), filetype="pdf")
