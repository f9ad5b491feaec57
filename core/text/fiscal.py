"""Fiscal years: when those of a company end, and what it calls them.

    “Fourth Quarter Fiscal 2022 Results … fiscal year ended January 28, 2023”
    ─▶ They end in late January, and are called after the year before.

Companies end a year on a day of their own, many on the nearest Saturday. They call it after the year in which
it ends or, if it ends in January, perhaps after the one before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

NEAR = timedelta(days=20)
"""A quarter ends so near the day that months alone would give."""
LATEST_OF_YEAR_BEFORE = (1, 7)
"""A year of weeks that ends so early in January is the calendar year before."""
LATEST_MONTH_CALLED_BEFORE = 6
"""A year that ends later is called after the year in which it ends."""
MOST_CHARS = 200_000
"""So much of a document is read for it."""
_MONTHS = (
    *("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    *("januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober"),
    *("november", "dezember"),
    *("janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre"),
    *("novembre", "décembre"),
    *("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre"),
    *("noviembre", "diciembre"),
)
_NUMBERS = {name: at % 12 + 1 for at, name in enumerate(_MONTHS)}
_NAMES = "|".join(sorted(_NUMBERS, key=len, reverse=True))
DATE = re.compile(
    rf"(?<!\w)(?:(?P<month>{_NAMES})[a-z]{{0,6}}\.?\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s?,?"
    rf"|(?P<day_before>\d{{1,2}})\.?(?:\sde)?\s(?P<month_behind>{_NAMES})[a-z]{{0,6}}\.?(?:\sde)?)"
    r"\s(?P<year>(?:19|20)\d\d)(?!\d)",
    re.IGNORECASE,
)
"""A day in words: “January 28, 2023”, “28 January 2023”, “31. Dezember 2022”."""
_YEAR_ENDED = re.compile(
    r"\b(?:(?:fiscal |financial )?years?|(?:52|53|fifty-(?:two|three))[- ]weeks?|(?:twelve|12) months"
    r"|fiscal year”\)|geschäftsjahre?s?|exercice|ejercicio)\W{1,3}(?:period )?(?:that )?"
    r"(?:end(?:ed|ing|s)|zum|bis|clos|terminado)\b",
    re.IGNORECASE,
)
_YEAR_ENDS_IN = re.compile(
    rf"\bfiscal year\b.{{0,80}}?\b(?:sunday|saturday|friday)\b.{{0,40}}?\b({_NAMES})", re.IGNORECASE
)
_ENDED = re.compile(rf"\b(?:ended|zum|clos le|terminado el)\s(?={DATE.pattern})", re.IGNORECASE)
_FISCAL_YEAR = re.compile(
    r"\b(?:fiscal(?: years?)?|fy|geschäftsjahr(?:es)?|exercice|ejercicio)\s?['’]?((?:20)?\d\d)(?!\d)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FiscalCalendar:
    """The month and day around which fiscal years end, and whether they are called after the year before."""

    month: int
    day: int
    is_called_before: bool = False

    def period_ending(self, day: date) -> tuple[int, int] | None:
        """Return the fiscal year and the quarter, from 1, that end around a day; None if none does."""
        ends = ((year, quarter) for year in range(day.year - 1, day.year + 2) for quarter in range(1, 5))
        near = [(abs(self._end_of(*each) - day), each) for each in ends]
        distance, (year, quarter) = min(near)
        return (year - self.is_called_before, quarter) if distance <= NEAR else None

    def year_of(self, day: date) -> int:
        """Return the year in which the fiscal year ends that a day is in."""
        return day.year if day <= self._end_of(day.year, 4) + NEAR else day.year + 1

    def _end_of(self, year: int, quarter: int) -> date:
        """Return the day around which a quarter ends of the fiscal year that ends in a year."""
        month = self.month - 3 * (4 - quarter)
        year, month = (year, month) if month > 0 else (year - 1, month + 12)
        return date(year, month, min(self.day, 28))


CALENDAR_YEARS = FiscalCalendar(12, 31)


def days_in(text: str) -> list[date]:
    """Return the days that a text names with month and year, in its order."""
    return [day for day in map(_day, DATE.finditer(text)) if day is not None]


def calendar_of(texts: Iterable[str]) -> FiscalCalendar | None:
    """Return the calendar of a report, given the texts of its parts; None where it does not tell its end.

    What a year is called shows in the fiscal year and in the day that it names most often: those are the ones
    that it reports on.
    """
    said = " ".join(_shortened(texts).split())
    ends = Counter(_ends_in(said))
    if not ends:
        return None
    # Years of weeks end on different days of one month.
    month = Counter(month for month, _ in ends.elements()).most_common(1)[0][0]
    calendar = FiscalCalendar(month, max(day for (its_month, day) in ends if its_month == month))
    if (month, calendar.day) <= LATEST_OF_YEAR_BEFORE:
        return replace(calendar, is_called_before=True)
    reported = Counter(day for found in _ENDED.finditer(said) if (day := _day(found)) is not None)
    called = Counter(int(year[-2:]) for year in _FISCAL_YEAR.findall(said))
    if month > LATEST_MONTH_CALLED_BEFORE or not reported or not called:
        return calendar
    (day, _), (year, _) = max(reported.items(), key=_often), max(called.items(), key=_often)
    return replace(calendar, is_called_before=(calendar.year_of(day) - year) % 100 == 1)


def _often(counted: tuple[Any, int]) -> tuple[int, Any]:
    """Return by what the most frequent is found; of those that are as frequent, the latest."""
    return counted[1], counted[0]


def _shortened(texts: Iterable[str]) -> str:
    parts: list[str] = []
    left = MOST_CHARS
    for text in texts:
        parts.append(text[:left])
        left -= len(text)
        if left <= 0:
            break
    return "\n".join(parts)


def _ends_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield month and day of the ends of fiscal years that a text tells."""
    for said in _YEAR_ENDED.finditer(text):
        found = DATE.search(text, said.end(), said.end() + 40)
        if found and (day := _day(found)) is not None:
            yield day.month, day.day
    for said in _YEAR_ENDS_IN.finditer(text):
        yield _NUMBERS[said[1].casefold()], 28


def _day(found: re.Match[str]) -> date | None:
    month = _NUMBERS[(found["month"] or found["month_behind"]).casefold()]
    try:
        return date(int(found["year"]), month, int(found["day"] or found["day_before"]))
    except ValueError:
        return None
