"""Claims: the content of an answer's sentence, in a form that can be compared with a source.

A source must contain every number and every name of a claim, and most of its words or its meaning. Numbers
that a formula of the claim proves are left out of that (`formulas.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from core.text.analysis import terms
from search.citations.formulas import proven

Terms = frozenset[str]

_MARKUP = re.compile(r"[*_`#>|~\\]+|<[^<>\n]*>")
_NUMERAL = re.compile(r"\d+(?:\.\d+)?")
_SCALES = {
    "thousand": 3,
    "k": 3,
    "million": 6,
    "mn": 6,
    "m": 6,
    "billion": 9,
    "bn": 9,
    "b": 9,
    "trillion": 12,
}
_SCALED = re.compile(
    rf"(?<!\d)(\d[\d.,]{{0,40}}+)[\s-]*+({'|'.join(sorted(_SCALES, key=len, reverse=True))})\b", re.IGNORECASE
)
"""An amount has few digits; a run of them begins once."""
_NAME = re.compile(r"(?<=[^\s.!?:;|•*–-]\s)[A-ZÀ-ÖØ-ÞΑ-ΩА-Я]\w+(?:[-’']\w+)*")
_MOSTLY_CAPITALISED = 0.3
"""If so many words begin with a capital, as nouns do in German, capitals do not mark names."""
MOST_SCALE = 12


@dataclass(frozen=True)
class AnalysedText:
    """A statement or a source, analysed in one language (ISO 639-1, None where unknown)."""

    text: str
    language: str | None

    @cached_property
    def terms(self) -> Terms:
        """Its words as the index knows them: stems without stop words."""
        return frozenset(terms(_MARKUP.sub(" ", _SCALED.sub(r"\1 \2", self.text)), self.language))

    @cached_property
    def numbers(self) -> Terms:
        """Those of its terms that contain a digit: amounts, years, part numbers."""
        return frozenset(term for term in self.terms if any(map(str.isdigit, term)))

    @cached_property
    def proven(self) -> Terms:
        """The numbers that its formulas prove: where it is a claim, no source needs to hold them."""
        return proven(self.text.replace("**", " "), self.language)

    @cached_property
    def scaled(self) -> frozenset[Decimal]:
        """The values of amounts such as “3.2 billion”."""
        return frozenset(_amounts(self.text))

    @cached_property
    def names(self) -> Terms:
        """The terms of words that begin with a capital though no sentence does there."""
        words = self.text.split()
        capitalised = _NAME.findall(_MARKUP.sub(" ", self.text))
        if len(capitalised) > _MOSTLY_CAPITALISED * len(words) and len(words) > len(capitalised) + 3:
            return frozenset()
        return frozenset(terms(" ".join(capitalised), self.language))


def lacks_number(claim: AnalysedText, sources: Iterable[AnalysedText]) -> bool:
    """Return whether the claim has a number that none of the sources has."""
    known = list(sources)
    held = frozenset[str]().union(*(source.numbers for source in known))
    amounts = frozenset[Decimal]().union(*(source.scaled for source in known))
    missing = claim.numbers - claim.proven - held
    plain = frozenset(map(Decimal, filter(_NUMERAL.fullmatch, held)))
    return any(not _is_amount_of(number, claim.scaled, amounts | plain) for number in missing)


def lacks_name(claim: AnalysedText, sources: Iterable[AnalysedText]) -> bool:
    """Return whether the claim has a name that none of the sources has."""
    return bool(claim.names - frozenset[str]().union(*(source.terms for source in sources)))


def cover(claim: AnalysedText, source: Terms) -> float:
    """Return the share of the claim's words that the source has, 0 to 1; 0 if the claim has none."""
    claimed = claim.terms - (claim.proven - source)
    return len(claimed & source) / len(claimed) if claimed else 0.0


def _amounts(text: str) -> Iterator[Decimal]:
    for digits, scale in _SCALED.findall(text):
        for numeral in terms(digits.strip(".,"), None):
            if _NUMERAL.fullmatch(numeral):
                yield Decimal(numeral).scaleb(_SCALES[scale.lower()])


def _is_amount_of(number: str, claimed: frozenset[Decimal], held: frozenset[Decimal]) -> bool:
    """Return whether a missing number is part of an amount that the source has in another scale.

    A table says “3,200” below “in millions”, an answer “3.2 billion”: the scale is a power of a thousand.
    """
    # Other terms that `Decimal` takes, such as “1e999999”, are no amounts, and overflow.
    if not _NUMERAL.fullmatch(number):
        return False
    digits = Decimal(number)
    thousands = range(0, MOST_SCALE + 1, 3)
    amounts = [amount for amount in claimed if any(digits.scaleb(power) == amount for power in thousands)]
    return any(amount == each.scaleb(power) for amount in amounts for each in held for power in thousands)
