"""Removes characters that neither PostgreSQL nor a reader can use."""

from __future__ import annotations

import re

# NUL and other control characters (but not white space), lone surrogates, byte order marks, non-characters.
UNWANTED = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")


# Bullets and ticks of Symbol and Wingdings, which have no character of their own: what readers see.
SYMBOLS = {
    "\uf0b7": "•",
    "\uf0a7": "▪",
    "\uf0a8": "▫",
    "\uf06c": "●",
    "\uf06e": "■",
    "\uf06f": "□",
    "\uf071": "❑",
    "\uf076": "❖",
    "\uf0d8": "➢",
    "\uf0e0": "→",
    "\uf0e8": "➔",
    "\uf0fb": "✗",
    "\uf0fc": "✓",
    "\uf0fe": "☑",
}
SYMBOL = re.compile("[" + "".join(SYMBOLS) + "]")


def clean(text: str) -> str:
    """Return `text` without characters that can't be stored or seen, and with bullets that can."""
    if text.isascii() and text.isprintable():
        return text
    return SYMBOL.sub(lambda match: SYMBOLS[match[0]], UNWANTED.sub("", text))
