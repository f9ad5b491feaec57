"""Sentence boundaries."""

from __future__ import annotations

from collections.abc import Iterator

import sentencex

MOST_AT_ONCE = 5000
"""In characters. The library needs quadratic time where quotation marks are not closed."""


def sentence_bounds(text: str, language: str | None) -> list[tuple[int, int]]:
    """Return start and end of each sentence, without surrounding white space; `language` is ISO 639-1 or
    None."""
    bounds = []
    for begin, until in _stretches(text):
        for found in sentencex.get_sentence_boundaries(language or "en", text[begin:until]):
            sentence = found["text"]
            start = begin + found["start_index"] + len(sentence) - len(sentence.lstrip())
            end = begin + found["end_index"] - len(sentence) + len(sentence.rstrip())
            if start < end:
                bounds.append((start, end))
    return bounds


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
