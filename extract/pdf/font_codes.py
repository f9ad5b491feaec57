r"""Ligatures and quotation marks that a PDF gives only as codes of TeX's fonts.

Old fonts of TeX have no table of characters, and MuPDF reports the codes themselves: “in\x1duence”. It takes
them for white space, so the word would be parted, and the letters lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

# The encoding T1 of TeX's newer fonts, and the ligatures of the older OT1, which stand at other codes.
T1 = {
    "\x10": "“",
    "\x11": "”",
    "\x12": "„",
    "\x13": "«",
    "\x14": "»",
    "\x15": "–",
    "\x16": "—",
    "\x1b": "ff",
    "\x1c": "fi",
    "\x1d": "fl",
    "\x1e": "ffi",
    "\x1f": "ffl",
}
OT1 = {"\x0b": "ff", "\x0c": "fi", "\x0d": "fl", "\x0e": "ffi", "\x0f": "ffl"}
T1_LIGATURES = re.compile(r"(?<=[^\W\d_])[\x1b-\x1f]|[\x1b-\x1f](?=[^\W\d_])")
OT1_LIGATURES = re.compile(r"(?<=[^\W\d_])[\x0b-\x0f]|[\x0b-\x0f](?=[^\W\d_])")
CODES = re.compile(r"[\x0b-\x1f]")
# As MuPDF reports words: box, characters, and the numbers of block, line and word.
Word = tuple[float, float, float, float, str, int, int, int]


def has_codes(content: dict[str, Any]) -> bool:
    """Whether the dictionary of a page holds ligatures as codes."""
    texts = (span["text"] for line in _lines(content) for span in line["spans"])
    return any(CODES.search(text) and _encoding(text) for text in texts)


def decode(content: dict[str, Any]) -> tuple[dict[str, Any], list[Word]]:
    """Return a page's dictionary with characters in place of codes, and its words.

    `content` is MuPDF's dictionary with each character; its spans get their texts.
    """
    everything = "".join(char["c"] for line in _lines(content) for char in _chars(line))
    encoding = _encoding(everything) or {}
    words: list[Word] = []
    for block in content["blocks"]:
        for number, line in enumerate(block.get("lines", ())):
            chars = _chars(line)
            for char, letters in zip(chars, _decoded([char["c"] for char in chars], encoding), strict=True):
                char["c"] = letters
            for span in line["spans"]:
                span["text"] = "".join(char["c"] for char in span["chars"])
            words += [
                (*box, text, block["number"], number, at) for at, (text, box) in enumerate(_words(chars))
            ]
    return content, words


def _lines(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for block in content["blocks"]:
        yield from block.get("lines", ())


def _chars(line: dict[str, Any]) -> list[dict[str, Any]]:
    return [char for span in line["spans"] for char in span["chars"]]


def _encoding(text: str) -> dict[str, str] | None:
    """Return the encoding by whose ligatures most letters stand, None if there are none."""
    newer, older = (len(each.findall(text)) for each in (T1_LIGATURES, OT1_LIGATURES))
    if not newer and not older:
        return None
    return T1 if newer >= older else OT1


def _decoded(codes: Sequence[str], encoding: dict[str, str]) -> Iterator[str]:
    """Yield a line's characters; a ligature without a letter beside it would be a sign of a formula."""
    for at, code in enumerate(codes):
        is_ligature = encoding.get(code, "").isalpha()
        beside = [*codes[max(at - 1, 0) : at], *codes[at + 1 : at + 2]]
        yield code if is_ligature and not any(map(str.isalpha, beside)) else encoding.get(code, code)


def _words(chars: Iterable[dict[str, Any]]) -> Iterator[tuple[str, tuple[float, float, float, float]]]:
    """Yield the words of a line with their boxes, as MuPDF parts them."""
    word: list[dict[str, Any]] = []
    for char in [*chars, {"c": " "}]:
        if char["c"] <= " " or char["c"] == "\xa0":
            if word:
                yield "".join(each["c"] for each in word), _box(word)
            word = []
        else:
            word.append(char)


def _box(chars: list[dict[str, Any]]) -> tuple[float, float, float, float]:
    boxes = [char["bbox"] for char in chars]
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )
