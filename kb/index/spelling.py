"""How alike two terms are: the share of their trigrams that they have in common, as `pg_trgm` counts them.

https://www.postgresql.org/docs/current/pgtrgm.html: a word has two spaces before it and one behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_WORD = re.compile(r"\w+")


def similar(term: str, others: Iterable[str], least: float) -> Iterator[tuple[str, float]]:
    """Yield those terms that are at least so similar, 0 to 1, each with its similarity."""
    wanted = trigrams(term)
    shortest, longest = len(term) * least / 2, len(term) / least * 2
    for other in others:
        if shortest <= len(other) <= longest:
            found = trigrams(other)
            shared = len(wanted & found)
            if shared and shared >= least * (len(wanted) + len(found) - shared):
                yield other, shared / (len(wanted) + len(found) - shared)


def trigrams(term: str) -> frozenset[str]:
    """Return the trigrams of the words of a term."""
    padded = [f"  {word} " for word in _WORD.findall(term)]
    return frozenset(word[at : at + 3] for word in padded for at in range(len(word) - 2))
