"""Where sentences begin and end."""

from __future__ import annotations

import sentencex


def sentence_bounds(text: str, language: str | None) -> list[tuple[int, int]]:
    """Return start and end of each sentence, without the white space around it; ISO 639-1, or None."""
    bounds = []
    for found in sentencex.get_sentence_boundaries(language or "en", text):
        sentence = found["text"]
        start = found["start_index"] + len(sentence) - len(sentence.lstrip())
        end = found["end_index"] - len(sentence) + len(sentence.rstrip())
        if start < end:
            bounds.append((start, end))
    return bounds
