"""Names, tags and metadata as text that shows what it holds.

A character that turns the direction of writing makes `exe.pdf` of `fdp.exe`; a line break makes two lines
of a log or a header out of one. Neither belongs to a label. They are removed, not refused: files bring them
along.
"""

from __future__ import annotations

import unicodedata
from typing import Any

# Emoji and the scripts of India and Iran are written with joiners; they move nothing.
_JOINERS = "\u200c\u200d"
_HIDDEN = frozenset({"Cc", "Cf", "Cs"})


def one_line(text: str) -> str:
    """Return `text` without control and format characters, every other white space a blank."""
    return (text if text.isprintable() else "".join(map(_shown, text.replace("\r\n", "\n")))).strip()


def lines(text: str) -> str:
    """Return `text` without control and format characters; its lines and tabs stay."""
    if text.isprintable():
        return text
    return "".join(char if char in "\n\t\r" else _shown(char) for char in text)


def labels(value: Any) -> Any:
    """Return JSON with `lines` applied to every string in it, and `one_line` to every key."""
    match value:
        case str():
            return lines(value)
        case dict():
            return {one_line(key): labels(item) for key, item in value.items()}
        case list():
            return [labels(item) for item in value]
    return value


def _shown(char: str) -> str:
    """Return what is left of a character: itself, a blank, or nothing."""
    if char.isspace():
        return " "
    hidden = unicodedata.category(char) in _HIDDEN and char not in _JOINERS
    return "" if hidden else char
