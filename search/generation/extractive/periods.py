"""The periods that a question and the columns of tables mean, in the same words.

    question                            column                                     both
    “revenue in Q2 of FY2024”           “Three Months Ended July 29, 2023”   ─▶   2024 Q2
    “net income in fiscal 2022”         “52 Weeks Ended January 28, 2023”    ─▶   2022
    “inventories as of July 29, 2023”   “July 29, 2023”                      ─▶   2023-07-29
    “revenue in 2022”                   “2022”                               ─▶   2022

What a column means depends on how the question names periods: by fiscal years, by days, or by years alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from enum import Enum

from core.text.fiscal import CALENDAR_YEARS, DATE, FiscalCalendar, days_in
from search.named_documents import ORDINALS


class PeriodReading(Enum):
    """How a question names periods."""

    YEARS = "years"
    FISCAL = "fiscal years"
    DAYS = "days"


YEAR = re.compile(r"(?:19|20)\d\d")
ABOUT_A_YEAR = timedelta(days=365)
ABOUT_A_DAY = timedelta(days=8)
"""Years of weeks end some days apart."""
BETWEEN = 24
"""So many characters may stand between a year and the quarter that follows it."""
_FISCAL = re.compile(r"\b(?:fiscal|fy ?['’]?\d{2,4}|geschäftsjahr\w*|exercice|ejercicio)\b", re.IGNORECASE)
_CALLED = re.compile(
    r"\bfy ?['’]?(?:20)?(?P<short>\d\d)(?!\d)|(?<![\d.,])(?P<year>(?:19|20)\d\d)(?!\d)", re.IGNORECASE
)
_QUARTERS = r"\s(?:fiscal\s)?(?:quarters?|quartals?|trimestres?)"
_PARTS = {
    **{
        f"Q{number}": rf"(?:{names}){_QUARTERS}|q ?{number}|{number} ?q"
        for number, names in enumerate(ORDINALS, start=1)
    },
    "H1": r"(?:first[ -])?(?:half|six[ -]months?|26 weeks)|erste[ns]? (?:halbjahr|hälfte)"
    r"|premier semestre|primer semestre|h1",
    "M9": r"(?:first[ -])?nine[ -]months?|first three quarters|39 weeks|neun monate|neuf (?:premiers )?mois"
    r"|nueve (?:primeros )?meses",
}
"""Parts of a year, as questions and columns call them."""
_PART = re.compile(
    "|".join(rf"(?P<{name}>(?<!\w)(?:{words})(?!\w))" for name, words in _PARTS.items()), re.IGNORECASE
)
_LENGTHS = {
    3: r"(?:three|3) months|(?:thirteen|fourteen|1[34]) weeks|quarters?|drei monate|trois mois|tres meses",
    6: r"(?:six|6) months|(?:twenty-(?:six|seven)|2[67]) weeks|half|sechs monate|six mois|seis meses",
    9: r"(?:nine|9) months|(?:thirty-nine|39|40) weeks|neun monate|neuf mois|nueve meses",
    12: r"(?:twelve|12) months|(?:fifty-(?:two|three)|5[23]) weeks|years?|annual",
}
_LENGTH = {months: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for months, words in _LENGTHS.items()}
"""How long the period of a column is, in months; a balance has none."""
_WORDS = {
    "Q1": "q1 first quarter three months",
    "Q2": "q2 second quarter three months",
    "Q3": "q3 third quarter three months",
    "Q4": "q4 fourth quarter three months",
    "H1": "h1 first half six months",
    "M9": "first nine months",
    "": "fiscal full year annual twelve months",
}
"""What parts of a year, and a whole one, are called."""


def words_of(question: str) -> frozenset[str]:
    """Return the words of a question without case, with the years and quarters that it means."""
    years = [f"20{match['short']}" for match in _CALLED.finditer(question) if match["short"]]
    words = [*re.findall(r"\w+", question.casefold()), *years]
    if reading_of(question) is PeriodReading.FISCAL:
        parts = [period[5:] for period in periods_in(question)] or [part_of(question)]
        words += " ".join(_WORDS[part] for part in parts if part).split()
    elif part := part_of(question):
        words += _WORDS[part].split()
    elif months_of(question) == 3:
        # “The quarter ended October 30” is a column of three months.
        words += ["three", "months"]
    return frozenset(words)


def reading_of(question: str) -> PeriodReading:
    """Return how a question names periods."""
    has_year = _CALLED.search(DATE.sub(" ", question)) is not None
    if has_year and _FISCAL.search(question):
        return PeriodReading.FISCAL
    if days_in(question):
        return PeriodReading.DAYS
    # A quarter without a year is one of the report's own.
    return PeriodReading.FISCAL if part_of(question) and not has_year else PeriodReading.YEARS


def periods_in(question: str) -> tuple[str, ...]:
    """Return the periods that a question names, ascending, each once."""
    return tuple(sorted(set(periods_named(question))))


def periods_named(question: str) -> list[str]:
    """Return the periods that a question names, in its order."""
    reading = reading_of(question)
    if reading is PeriodReading.DAYS:
        return [day.isoformat() for day in days_in(question)]
    named = _fiscal_periods(DATE.sub(" ", question))
    return list(named) if reading is PeriodReading.FISCAL else [period[:4] for period in named]


def _fiscal_periods(question: str) -> Iterator[str]:
    """Yield each year with its part: what stands before it, or behind it, or what the year before it has.

    “Q2 of fiscal 2024 and 2023” names two quarters, “fiscal 2023 and Q2 of fiscal 2024” a year and a quarter.
    """
    years, parts = list(_CALLED.finditer(question)), list(_PART.finditer(question))
    part, end = "", 0
    for at, year in enumerate(years):
        following = years[at + 1].start() if at + 1 < len(years) else len(question) + BETWEEN + 1
        before = [each for each in parts if end <= each.start() < year.start()]
        behind = [
            each
            for each in parts
            if 0 <= each.start() - year.end() <= BETWEEN and following - each.end() > BETWEEN
        ]
        if before or behind:
            part = str([*before[-1:], *behind][0].lastgroup)
        end = year.end()
        yield f"{year['year'] or '20' + year['short']} {part}".strip()


def years_in(text: str) -> frozenset[str]:
    """Return the years that a text names, also as “FY22”."""
    return frozenset(map(_year, _CALLED.finditer(text)))


def period_before(period: str) -> str:
    """Return the same period of the year before; of a day about the day."""
    if "-" in period:
        return (date.fromisoformat(period) - ABOUT_A_YEAR).isoformat()
    return f"{int(period[:4]) - 1}{period[4:]}"


def periods_of(column: str, reading: PeriodReading, calendar: FiscalCalendar | None) -> frozenset[str]:
    """Return the periods that a column of a document with this calendar means; none if that is not clear."""
    days = set(days_in(column))
    if reading is PeriodReading.FISCAL and not days:
        return _periods_called(column)
    if reading is PeriodReading.YEARS or not days:
        return frozenset(YEAR.findall(column))
    if reading is PeriodReading.DAYS:
        return frozenset(day.isoformat() for day in days)
    months = months_of(column)
    if calendar is None and months in (None, 12):
        return frozenset(str(day.year) for day in days)
    found = [_period_ending(day, months, calendar or CALENDAR_YEARS) for day in days]
    return frozenset(period for period in found if period is not None)


def words_of_column(column: str, reading: PeriodReading, calendar: FiscalCalendar | None) -> frozenset[str]:
    """Return the words of a column as questions have them: of a fiscal year its own, not the calendar's."""
    words = frozenset(re.findall(r"\w+", column.casefold()))
    if reading is not PeriodReading.FISCAL:
        return words
    periods = periods_of(column, reading, calendar)
    called = [f"{period[:4]} {_WORDS[period[5:]]}" for period in periods]
    if days_in(column):
        words -= frozenset(YEAR.findall(column))
        if months_of(column) is None and any(len(period) == 4 for period in periods):
            called.append(_WORDS["Q4"])
    return words.union(*map(str.split, called))


def is_of(period: str, periods: frozenset[str]) -> bool:
    """Tell whether a column is of a period, given all that it is of: of a day, also that year alone."""
    if len(periods) != 1:
        return False
    (of_column,) = periods
    if "-" in period and "-" in of_column:
        return abs(date.fromisoformat(period) - date.fromisoformat(of_column)) <= ABOUT_A_DAY
    return of_column == period or ("-" in period and of_column == period[:4])


def is_of_period(question: str, label: str, calendar: FiscalCalendar | None) -> bool:
    """Tell whether what a column or a section is called may be of the only period that a question names.

    Labels without a period are of any, and so are all where a question names several, or none.
    """
    periods, reading = periods_in(question), reading_of(question)
    said = periods_of(label, reading, calendar)
    if len(periods) != 1 or not said:
        return True
    is_of_year = YEAR.fullmatch(periods[0]) is not None and not part_of(question)
    months = 12 if is_of_year else months_of(question)
    is_as_long = not months or months_of(label) in (months, None)
    return is_as_long and any(is_of(periods[0], frozenset([each])) for each in said)


def has_length(column: str) -> bool:
    """Tell whether a column says how long its period is; those of balances have none."""
    return months_of(column) is not None


def is_of_months(column: str, *months: int) -> bool:
    """Tell whether a column says that its period is so many months long, or one of them; of a year 12."""
    return months_of(column) in months


def part_of(text: str) -> str:
    """Return the part of a year that a text speaks of: “Q4”, or “H1” for a half; empty if of none."""
    part = _PART.search(text)
    return str(part.lastgroup) if part else ""


def is_of_other_days(question: str, row: str) -> bool:
    """Tell whether both a question and a row of a table name days, and none of them is the same."""
    asked, said = days_in(question), days_in(row)
    return bool(asked and said) and not any(
        abs(one - other) <= ABOUT_A_DAY for one in asked for other in said
    )


def quarters_in(text: str) -> frozenset[str]:
    """Return the quarters of a year that a text speaks of: “Q1” to “Q4”."""
    return frozenset(part for found in _PART.finditer(text) if (part := str(found.lastgroup)).startswith("Q"))


def parts_in(text: str) -> frozenset[str]:
    """Return the quarters that a text speaks of, and “M9” for the first nine months."""
    nine_months = {"M9"} if any(found.lastgroup == "M9" for found in _PART.finditer(text)) else ()
    return quarters_in(text) | frozenset(nine_months)


def _year(called: re.Match[str]) -> str:
    return called["year"] or f"20{called['short']}"


def _periods_called(column: str) -> frozenset[str]:
    """Return what a column without days means: “Fiscal 2024 Q2”, “FY23 Outlook”; nothing of some months."""
    part = part_of(column)
    if not part and months_of(column) not in (None, 12):
        return frozenset()
    return frozenset(f"{year} {part}".strip() for year in years_in(column))


def months_of(text: str) -> int | None:
    """Return how many months long the period is that a text or a column speaks of; None if it is not said."""
    return next((months for months, words in _LENGTH.items() if words.search(text)), None)


def _period_ending(day: date, months: int | None, calendar: FiscalCalendar) -> str | None:
    found = calendar.period_ending(day)
    if found is None:
        return None
    year, quarter = found
    if months in (6, 9):
        return f"{year} {'H1' if months == 6 else 'M9'}" if quarter * 3 == months else None
    is_whole = months == 12 or (months is None and quarter == 4)
    return str(year) if is_whole else f"{year} Q{quarter}"
