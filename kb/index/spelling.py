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
    for other in filter(_sharing(wanted, least).search, others):
        found = trigrams(other)
        shared = len(wanted & found)
        if shared and shared >= least * (len(wanted) + len(found) - shared):
            yield other, shared / (len(wanted) + len(found) - shared)


def _sharing(wanted: frozenset[str], least: float) -> re.Pattern[str]:
    """Return what finds the terms that may share enough trigrams, without making theirs."""
    first_letters = {trigram for trigram in wanted if trigram.startswith("  ")}
    # So many must be shared that one is more than a first letter, which thousands of terms share.
    enough = wanted - first_letters if least * len(wanted) > len(first_letters) else wanted
    return re.compile("|".join(map(_place, sorted(enough))) or "(?!)")


def _place(trigram: str) -> str:
    begin, end = (r"\b" if edge == " " else "" for edge in (trigram[0], trigram[-1]))
    return begin + re.escape(trigram.strip()) + end


def trigrams(term: str) -> frozenset[str]:
    """Return the trigrams of the words of a term."""
    padded = [f"  {word} " for word in _WORD.findall(term)]
    return frozenset(word[at : at + 3] for word in padded for at in range(len(word) - 2))
