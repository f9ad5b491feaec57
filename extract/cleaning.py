"""Removes characters that neither PostgreSQL nor a reader can use."""

from __future__ import annotations

import re

# NUL and other control characters (but not white space), lone surrogates, byte order marks, non-characters.
UNWANTED = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")


def clean(text: str) -> str:
    """Return `text` without characters that can't be stored or seen."""
    return UNWANTED.sub("", text)
