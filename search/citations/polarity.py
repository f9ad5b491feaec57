"""Polarity: “X is not Y” has the words of “X is Y”, and says the opposite.

Clauses are compared, in English and German. Two clauses count as opposite only if that is certain: a wrongly
dropped citation costs the reader a true one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.text.analysis import terms

ENOUGH_WORDS = 0.6
"""Two clauses with so many common words are about the same."""
FEWEST_TERMS = 2
NEGATORS = {
    "en": r"not|no|never|none|nobody|nothing|neither|without|cannot|\w+n[’']t",
    "de": r"nicht|kein\w{0,2}|nie|niemals|niemand\w{0,2}|nichts|weder|ohne",
}
_NEGATORS = {
    language: re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for language, words in [*NEGATORS.items(), (None, "|".join(NEGATORS.values()))]
}
UNSURE = re.compile(
    r"""
      \b(?: not | nicht | no ) \s+ (?: only | just | merely | solely | least | doubt | nur | bloß | allein
          | zuletzt | more | less | later | earlier | fewer | mehr | weniger | später )\b
    | \b(?: until | till | unless | before | than | whether | if )\b
    | \b(?: bis | vor | bevor | ehe | ob | falls | als )\b
    | \b(?: hardly | rarely | seldom | barely | scarcely | kaum | selten )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What limits or asks rather than denies: “not until 1990”, “no more than five”, “not only”."""
_ENDS = re.compile(
    r"""[.!?;:,()–—\n]+(?!\d) | \s-\s
    | \b(?: and | but | while | whereas | although | though | however | because | except | which | who
          | und | aber | sondern | doch | jedoch | während | obwohl | weil | außer )\b""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause: its words and, if it is negated, the words next to the negation."""

    terms: frozenset[str]
    is_negated: bool | None
    """None if that is unknown."""
    focus: frozenset[str] = frozenset()

    def contradicts(self, other: Clause) -> bool:
        """Return whether one clause denies the other: the denied words must occur in both."""
        denied = self.focus | other.focus
        return self.is_negated is (not other.is_negated) and denied <= self.terms & other.terms


def clauses_of(text: str, language: str | None) -> list[Clause]:
    """Return the clauses of a text with enough words to be compared; none in other languages."""
    if language not in (None, *NEGATORS):
        return []
    found = (_clause(part, language) for part in _ENDS.split(text))
    return [clause for clause in found if len(clause.terms) >= FEWEST_TERMS]


def is_contrary(claim: str, language: str | None, source: Sequence[Clause]) -> bool:
    """Return whether a clause of the claim finds its words only in clauses that say the opposite."""
    return any(_is_denied(clause, source) for clause in clauses_of(claim, language))


def _is_denied(clause: Clause, source: Sequence[Clause]) -> bool:
    covers = [len(clause.terms & each.terms) / len(clause.terms) for each in source]
    best = max(covers, default=0.0)
    if clause.is_negated is None or best < ENOUGH_WORDS:
        return False
    closest = (each for each, cover in zip(source, covers, strict=True) if cover == best)
    return all(each.is_negated is not None and each.contradicts(clause) for each in closest)


def _clause(part: str, language: str | None) -> Clause:
    pieces = _NEGATORS[language].split(part)
    own = [list(terms(piece, language)) for piece in pieces]
    known = frozenset(term for piece in own for term in piece)
    if len(pieces) > 2 or UNSURE.search(part):
        return Clause(known, None)
    return Clause(known, len(pieces) > 1, frozenset(_terms_next_to(own)))


def _terms_next_to(own: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the last term before a negation, and the first after it."""
    if len(own) > 1:
        yield from own[0][-1:]
        yield from own[1][:1]
