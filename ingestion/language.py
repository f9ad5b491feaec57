"""Which language a document is in."""

from __future__ import annotations

from collections.abc import Iterable

import py3langid

from extract.base import Element

SAMPLE_CHARS = 10_000
FEWEST_LETTERS = 20


def language_of(elements: Iterable[Element]) -> str | None:
    """Return the ISO 639-1 code of a document's language, None if it has none or too little can be told."""
    sample = _sample(elements)
    if sum(map(str.isalpha, sample)) < FEWEST_LETTERS:
        return None
    language, _ = py3langid.classify(sample)
    # The rarer languages that py3langid knows have codes of three letters, and none of two.
    return str(language) if len(language) == 2 else None


def _sample(elements: Iterable[Element]) -> str:
    """Return the longest elements: running text tells more than titles, names and figures."""
    sample = ""
    for element in sorted(elements, key=lambda element: -len(element.text)):
        sample += element.text + "\n"
        if len(sample) > SAMPLE_CHARS:
            break
    return sample[:SAMPLE_CHARS]
