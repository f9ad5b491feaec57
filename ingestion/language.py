"""Detects a document's language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import py3langid

from extract.base import Element

SAMPLE_CHARS = 10_000
FEWEST_LETTERS = 20


def language_of(elements: Iterable[Element]) -> str | None:
    """Return the ISO 639-1 code of a document's language, None if it has too little text to tell.

    Of a recording it is the language in which most was said.
    """
    elements = list(elements)
    spoken = Counter[str]()
    for element in elements:
        if element.language:
            spoken[element.language] += len(element.text)
    if spoken:
        return spoken.most_common(1)[0][0]
    sample = _sample(elements)
    if sum(map(str.isalpha, sample)) < FEWEST_LETTERS:
        return None
    language, _ = py3langid.classify(sample)
    # py3langid names rarer languages by codes of three letters; they have no ISO 639-1 code.
    return str(language) if len(language) == 2 else None


def _sample(elements: Iterable[Element]) -> str:
    """Return the longest elements: running text shows the language better than titles and names."""
    sample = ""
    for element in sorted(elements, key=lambda element: -len(element.text)):
        sample += element.text + "\n"
        if len(sample) > SAMPLE_CHARS:
            break
    return sample[:SAMPLE_CHARS]
