"""Names, tags and metadata without invisible characters.

A character that reverses the direction of writing shows `fdp.exe` as `exe.pdf`. A line break makes two lines
of a log or a header out of one. Neither belongs into a label. They are removed rather than refused, because
files contain them.
"""

from __future__ import annotations

import unicodedata
from typing import Any

# Emoji and the scripts of India and Iran are written with joiners, which do not move text.
_JOINERS = "\u200c\u200d"
_HIDDEN = frozenset({"Cc", "Cf", "Cs"})


def one_line(text: str) -> str:
    """Return `text` without control and format characters, every other white space as a blank."""
    return (text if text.isprintable() else "".join(map(_visible_form, text.replace("\r\n", "\n")))).strip()


def visible_lines(text: str) -> str:
    """Return `text` without control and format characters; line breaks and tabs stay."""
    if text.isprintable():
        return text
    return "".join(char if char in "\n\t\r" else _visible_form(char) for char in text)


def visible_labels(value: Any) -> Any:
    """Return JSON with `visible_lines` applied to every string in it, and `one_line` to every key."""
    match value:
        case str():
            return visible_lines(value)
        case dict():
            return {one_line(key): visible_labels(item) for key, item in value.items()}
        case list():
            return [visible_labels(item) for item in value]
    return value


def _visible_form(char: str) -> str:
    """Return the visible form of a character: itself, a blank, or ""."""
    if char.isspace():
        return " "
    hidden = unicodedata.category(char) in _HIDDEN and char not in _JOINERS
    return "" if hidden else char
