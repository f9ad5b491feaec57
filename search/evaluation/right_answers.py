"""When is an answer right? If it holds an accepted one: a figure, a yes or no, words, or all items of a list.

Figures are compared as rounded: “17.6 billion” is “17,606” of a table in millions, “88 %” is “87.7”, and
“27 %” is not “−27 %” unless something falls. Words are compared without case, accents, marks and articles.
Yes and no are what a response begins with. All benchmarks ask this module.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from core.text.analysis import terms
from core.text.raised import without_raised

_SCALES = {
    "thousand": 3,
    "k": 3,
    "tausend": 3,
    "mille": 3,
    "mil": 3,
    "million": 6,
    "millions": 6,
    "m": 6,
    "mn": 6,
    "millionen": 6,
    "mio": 6,
    "millones": 6,
    "billion": 9,
    "billions": 9,
    "b": 9,
    "bn": 9,
    "milliarden": 9,
    "mrd": 9,
    "milliards": 9,
    "trillion": 12,
}
_DIGITS = r"\d(?:[.,'’]?\d)*+"
_FIGURE = re.compile(
    rf"(?P<sign>(?<![\w)])[-−–(] ?)?+(?:[$€£¥] ?)?+(?<![\d.,])(?P<digits>{_DIGITS})(?P<closed>\))?+"
    rf"(?: ?(?P<percent>%|per ?cent\b|prozent\b|por ciento\b|pour ?cent\b)"
    rf"|[ -]?(?P<scale>{'|'.join(sorted(_SCALES, key=len, reverse=True))})\b)?+",
    re.IGNORECASE,
)
_NOTHING_ELSE = re.compile(r"[\s~≈$€£¥.]*+")
_YEAR = re.compile(r"[12]\d{3}")
_NUMERAL = re.compile(r"\d+(?:\.\d+)?")
_ITEM_ENDS = re.compile(r", |;|\n")
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s|\n")
_FALLS = re.compile(
    r"\b(?:decreas|declin|fell|fall|drop|reduc|lower|less|loss|negativ|gesunken|sank|rückgang|abnahm|baiss|diminu"
    r"|disminu|caíd|bajó)",
    re.IGNORECASE,
)
_ANSWERS = {
    **dict.fromkeys(("yes", "ja", "oui", "sí", "si"), True),
    **dict.fromkeys(("no", "nein", "non"), False),
}
_ARTICLES = frozenset(("a", "an", "the"))
_WITHOUT_SPACES = re.compile(r"[\u1100-\u11ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
POWERS = range(-4, 5)
"""Powers of a thousand by which scales differ."""
ENOUGH_DIGITS = 3
"""With so many digits two figures agree in different scales none of which is written: “13” is no “13,000”."""


@dataclass(frozen=True, slots=True)
class RoundedFigure:
    """`value` has been rounded to a multiple of `step`; `sign` is that of the text, 0 if unsure."""

    value: Decimal
    step: Decimal
    sign: int
    is_percent: bool
    has_scale: bool

    @property
    def digits(self) -> int:
        """How many digits it has that count."""
        return len(str(int(self.value / self.step)))

    def times(self, factor: Decimal) -> RoundedFigure:
        """Return the figure in another scale."""
        return replace(self, value=self.value * factor, step=self.step * factor)

    def is_rounded(self, other: RoundedFigure) -> bool:
        """Tell whether both are the same, as far as the coarser one tells."""
        coarse = max(self, other, key=lambda each: each.step)
        is_near = abs(self.value - other.value) * 2 <= coarse.step
        return self.value == other.value or (is_near and coarse.digits > 1)


def is_right(response: str, accepted: Iterable[str]) -> bool:
    """Tell whether a response without markers holds one of the accepted answers, of a list all items."""
    return any(_holds(response, answer) or _holds_items(response, answer) for answer in accepted)


def begins_with_yes(response: str) -> bool | None:
    """Tell whether a response begins with a yes, or with a no; None if with neither."""
    first = re.search(r"\w++", response)
    return _ANSWERS.get(first[0].casefold()) if first else None


def _holds_items(response: str, answer: str) -> bool:
    items = [item for item in map(str.strip, _ITEM_ENDS.split(answer)) if item]
    return len(items) > 1 and all(_holds(response, item) for item in items)


def _holds(response: str, answer: str) -> bool:
    if answer.casefold().strip(" .") in _ANSWERS:
        return begins_with_yes(response) is begins_with_yes(answer)
    if (figures := _only_figure(answer)) is not None:
        return _holds_figure(response, answer, figures)
    return _holds_words(response, answer)


# --- Words -------------------------------------------------------------------------------------------------


def plain_words(text: str) -> str:
    """Return a text in its normalised form: without case, accents, marks and English articles."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    letters = "".join(letter for letter in folded if not unicodedata.combining(letter))
    # Syllables that were taken apart with the accents belong together.
    words = re.findall(r"\w+", unicodedata.normalize("NFC", letters))
    return " ".join(word for word in words if word not in _ARTICLES)


def _holds_words(response: str, answer: str) -> bool:
    wanted = plain_words(answer)
    # “NER⁴” is “NER” with the mark of a note, and “m²” is “m2”.
    said = {plain_words(response), plain_words(without_raised(response))}
    if _WITHOUT_SPACES.search(wanted):
        return any(wanted.replace(" ", "") in each.replace(" ", "") for each in said)
    return bool(wanted) and any(f" {wanted} " in f" {each} " for each in said)


# --- Figures -----------------------------------------------------------------------------------------------


def _only_figure(answer: str) -> list[RoundedFigure] | None:
    """Return the readings of an answer that is nothing but a figure, None for any other."""
    found = list(_FIGURE.finditer(answer))
    if len(found) != 1 or not _NOTHING_ELSE.fullmatch(answer[: found[0].start()] + answer[found[0].end() :]):
        return None
    return list(_readings(found[0])) or None


def _holds_figure(response: str, answer: str, wanted: Iterable[RoundedFigure]) -> bool:
    is_year = _YEAR.fullmatch(answer.strip()) is not None
    said = [
        (each, _FALLS.search(sentence) is not None)
        for sentence in _SENTENCE_ENDS.split(response)
        for match in _FIGURE.finditer(sentence)
        for each in _readings(match)
    ]
    return any(
        _have_one_sign(one, other, falls) and _agree(one, other, is_year=is_year)
        for one in wanted
        for other, falls in said
    )


def _readings(figure: re.Match[str]) -> Iterator[RoundedFigure]:
    """Yield what a figure amounts to: “1.234” may be either."""
    factor = Decimal(1).scaleb(_SCALES.get((figure["scale"] or "").casefold(), 0))
    sign = _sign(figure["sign"] or "", bool(figure["closed"]))
    for numeral in filter(
        _NUMERAL.fullmatch, terms(figure["digits"].replace("’", "").replace("'", ""), None)
    ):
        value = Decimal(numeral)
        exponent = value.as_tuple().exponent
        step = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
        yield RoundedFigure(
            value * factor, step * factor, sign, bool(figure["percent"]), bool(figure["scale"])
        )


def _sign(mark: str, is_closed: bool) -> int:
    if mark.startswith("("):
        return -1 if is_closed else 1
    # A minus with a space behind it may stand between two figures.
    return 0 if mark.endswith(" ") else -1 if mark else 1


def _have_one_sign(wanted: RoundedFigure, said: RoundedFigure, falls: bool) -> bool:
    return wanted.sign == said.sign or said.sign == 0 or (falls and wanted.sign < 0)


def _agree(wanted: RoundedFigure, said: RoundedFigure, *, is_year: bool) -> bool:
    if is_year:
        return wanted.value == said.value
    if wanted.is_percent or said.is_percent:
        if wanted.is_percent is said.is_percent:
            return wanted.is_rounded(said)
        plain, percent = (said, wanted) if wanted.is_percent else (wanted, said)
        if plain.times(Decimal(100)).is_rounded(percent) or plain.value == percent.value:
            return True
        # “12 months” is no 12.4 %; whoever accepts “88” for a percentage says what to round to.
        return (plain is wanted or plain.step < 1) and plain.is_rounded(percent)
    if wanted.is_rounded(said):
        return True
    if wanted.has_scale and said.has_scale:
        return False
    is_scaled = wanted.has_scale or said.has_scale
    if not is_scaled and min(wanted.digits, said.digits) < ENOUGH_DIGITS:
        return False
    return any(wanted.times(Decimal(1000) ** power).is_rounded(said) for power in POWERS)
