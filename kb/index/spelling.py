"""Similarity of terms: the share of common trigrams, as `pg_trgm` counts them.

https://www.postgresql.org/docs/current/pgtrgm.html: a word gets two spaces before it and one after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_WORD = re.compile(r"\w+")


def similar(term: str, others: Iterable[str], least: float) -> Iterator[tuple[str, float]]:
    """Yield the terms with at least this similarity, 0 to 1, each with its similarity."""
    wanted = trigrams(term)
    for other in filter(_sharing_pattern(wanted, least).search, others):
        found = trigrams(other)
        shared = len(wanted & found)
        if shared and shared >= least * (len(wanted) + len(found) - shared):
            yield other, shared / (len(wanted) + len(found) - shared)


def _sharing_pattern(wanted: frozenset[str], least: float) -> re.Pattern[str]:
    """Return a pattern that matches terms which may share enough trigrams, without computing theirs."""
    first_letters = {trigram for trigram in wanted if trigram.startswith("  ")}
    # If many trigrams must be shared, at least one is not a first letter, which thousands of terms share.
    enough = wanted - first_letters if least * len(wanted) > len(first_letters) else wanted
    return re.compile("|".join(map(_place, sorted(enough))) or "(?!)")


def _place(trigram: str) -> str:
    begin, end = (r"\b" if edge == " " else "" for edge in (trigram[0], trigram[-1]))
    return begin + re.escape(trigram.strip()) + end


def trigrams(term: str) -> frozenset[str]:
    """Return the trigrams of the words of a term."""
    padded = [f"  {word} " for word in _WORD.findall(term)]
    return frozenset(word[at : at + 3] for word in padded for at in range(len(word) - 2))
