"""Sentence boundaries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import sentencex

from core.text.full_stops import ends_no_sentence
from core.text.raised import RAISED

INITIAL = re.compile(r"(?<![^\W\d_])[A-Z]\.\Z")
NUMBER = re.compile(r"(?:\s{0,9}+\([^()\n]{1,20}+\)){1,5}+(?=\s{0,9}+\S)")
"""“(3)” or “(iv)” before a paragraph. The library takes all behind one for a part of its parentheses."""
MARK = re.compile(r"(?:\d{1,3}|[^\W\d_]|[IVXLC]{1,6})\.")
"""“1.”, “B.” or “IV.” alone is no sentence: it numbers the one behind it, or is somebody's initial."""
CUT = re.compile(r"\w,?\Z")
MOST_CUT = 0.5
"""Where more sentences begin with a small letter, it is how this text is written."""
FEWEST_LOWER = 4
"""A title or a label has fewer words with a small letter."""
MOST_NUMBERS = 40
"""In a stretch; behind the last the rest is one sentence."""
MOST_AT_ONCE = 5000
"""In characters. The library needs quadratic time where quotation marks are not closed."""
BULLETS = str.maketrans(dict.fromkeys("•⁃⁌⁍■□▪▫▶▸►◆◇○●◦★☆➢➣➤", "-"))
"""The library takes all behind one, up to the end of the line, for one sentence; behind a dash not."""
ITEM = re.compile(r"\s{0,9}(?:([-–—*+·‣])|\(?(?:\d{1,3}|[^\W\d_]|[ivxIVX]{1,5})[.)])\s{1,9}")
"""The mark of a line of a list. The library takes such lines whole, whatever they hold."""


def sentence_bounds(text: str, language: str | None) -> list[tuple[int, int]]:
    """Return start and end of each sentence, without surrounding white space; `language` is ISO 639-1 or
    None."""
    bounds: list[tuple[int, int]] = []
    for begin, until in _stretches(text):
        for start, end in _found(text, begin, until, language or "en"):
            if bounds and (note := _note(text, bounds[-1][1], start)):
                bounds[-1] = bounds[-1][0], note.end()
                start = end - len(text[note.end() : end].lstrip())
            if bounds and _goes_on(text, bounds[-1], start, language):
                bounds[-1] = bounds[-1][0], end
            elif start < end:
                bounds.append((start, end))
    return bounds


def rejoined(text: str, bounds: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the bounds with each sentence whole that was cut, as by the end of a page.

    It was where prose stops without a mark, and what follows begins with a small letter as nothing else does.
    """
    low = sum(text[start:end][:1].islower() for start, end in bounds)
    if low > MOST_CUT * len(bounds):
        return list(bounds)
    joined: list[tuple[int, int]] = []
    for start, end in bounds:
        if joined and text[start : start + 1].islower() and _is_cut(text[slice(*joined[-1])]):
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def _is_cut(text: str) -> bool:
    words = text.split()
    lower = sum(word[0].islower() for word in words)
    return CUT.search(text) is not None and lower >= FEWEST_LOWER and text[0].isupper()


def _found(text: str, begin: int, until: int, language: str) -> Iterator[tuple[int, int]]:
    """Yield what the library finds in a stretch, without white space; behind “(3)” it begins anew."""
    number = NUMBER.match(text, begin, until)
    for _ in range(MOST_NUMBERS):
        behind = number.end() if number else begin
        first, number = number, None
        for begins, ends in _of_library(text[behind:until].translate(BULLETS), language):
            start = begin = behind + begins
            number = NUMBER.match(text, begin, until)
            if number:
                break
            sentence = text[begin : behind + ends]
            start += len(sentence) - len(sentence.lstrip())
            if first and begins == 0:
                start = first.end() - len(first[0].lstrip())
            yield start, behind + ends - len(sentence) + len(sentence.rstrip())
        if number is None:
            return
    yield begin, begin + len(text[begin:until].rstrip())


def _of_library(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Yield what the library finds; in a line of a list, what it finds behind the mark."""
    for found in sentencex.get_sentence_boundaries(language, text):
        for start, end in _items(text, found["start_index"], found["end_index"]):
            mark = ITEM.match(text, start, end)
            behind = mark.end() if mark else end
            for part in sentencex.get_sentence_boundaries(language, text[behind:end]):
                yield start, behind + part["end_index"]
                start = behind + part["end_index"]
            if start < end:
                yield start, end


def _items(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the lines of a list that the library takes together, since they end without a mark."""
    item = ITEM.match(text, start, end)
    while item and item[1] and (begins := text.find(f"\n{item[1]} ", item.end(), end)) >= 0:
        yield start, begins + 1
        start = begins + 1
        item = ITEM.match(text, start, end)
    yield start, end


def _goes_on(text: str, before: tuple[int, int], start: int, language: str | None) -> bool:
    """Tell whether what is found at `start` belongs to the sentence before it."""
    is_mark = MARK.fullmatch(text, *before) is not None and "\n" not in text[before[1] : start]
    return (
        is_mark
        or _is_within_word(text, before[1], start)
        or ends_no_sentence(text, before[1], start, language)
    )


def _note(text: str, end: int, start: int) -> re.Match[str] | None:
    """Return the mark of a note behind a sentence: the library takes it for the beginning of the next one."""
    return RAISED.match(text, start) if end == start else None


def _is_within_word(text: str, end: int, start: int) -> bool:
    """Whether a sentence seems to end in the middle of “non-U.S.”, without a blank.

    Not all scripts put blanks between sentences.
    """
    return (
        end == start < len(text)
        and bool(INITIAL.search(text, max(end - 3, 0), end))
        and text[start].isupper()
    )


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Yield stretches of a text that end with a line, a sentence or a word, if there is one."""
    begin = 0
    while len(text) - begin > MOST_AT_ONCE:
        most = begin + MOST_AT_ONCE
        ends = (text.rfind(mark, begin, most) + len(mark) for mark in ("\n", ". ", " "))
        end = next((end for end in ends if end > begin + MOST_AT_ONCE // 2), most)
        yield begin, end
        begin = end
    yield begin, len(text)
