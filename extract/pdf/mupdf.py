"""Imports PyMuPDF without the layout models and runtimes that it tries to load: 0.2–0.7 s and 80 MB."""

from __future__ import annotations

import sys

for name in ("pymupdf.layout", "pymupdf4llm"):
    sys.modules.setdefault(name, None)  # type: ignore[arg-type]

import pymupdf  # noqa: E402

__all__ = ["pymupdf"]
