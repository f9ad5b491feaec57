"""Which of the documents found a question names: “in the Q3 2022 10-Q”, “the latest report”.

Reports of one company say the same in the same words, each of another period, and so do those of others.
Neither words nor meaning tell them apart, but their names do: “2022_Q3_NVDA.pdf”. Documents that are called
after no period are never named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

ORDINALS = (
    r"first|1st|erste[sn]?|1\.|premier|primer",
    r"second|2nd|zweite[sn]?|2\.|deuxième|segundo",
    r"third|3rd|dritte[sn]?|3\.|troisième|tercer",
    r"fourth|4th|vierte[sn]?|4\.|quatrième|cuarto",
)
_QUARTER = re.compile(
    "|".join(rf"(?<!\w)({names})\s(?:fiscal\s)?(?:quarter|quartals?|trimestre)" for names in ORDINALS)
    + r"|(?<![a-z])q\s?([1-4])(?!\d)|(?<!\d)([1-4])\s?q(?![a-z])",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)|(?<![a-z])fy\s?['’]?\d\d(?!\d)", re.IGNORECASE)
_FORMS = {
    "annual": re.compile(
        r"(?<![a-z\d])(?:10-?k|20-?f)(?![a-z])|annual report|geschäftsbericht|jahresbericht|rapport annuel"
        r"|(?:informe|memoria) anual",
        re.IGNORECASE,
    ),
    "quarterly": re.compile(
        r"(?<![a-z\d])10-?q(?![a-z])|quarterly report|quartalsbericht|rapport trimestriel|informe trimestral",
        re.IGNORECASE,
    ),
    "current": re.compile(r"(?<![a-z\d])8-?k(?![a-z])|current report", re.IGNORECASE),
}
_REPORT = r"10-?[qk]|8-?k|20-?f|(?:quarterly |annual |earnings )?(?:report|filing|quarter)s?"
_LATEST = re.compile(
    rf"\b(?:latest|newest|(?:most )?recent)\s(?:reported\s|available\s|fiscal\s)?(?:{_REPORT})\b"
    r"|\b(?:neueste|letzte|jüngste|aktuelle)[nrsm]?\s(?:quartal|geschäfts|jahres)?(?:bericht|quartal)"
    r"|\bdernier\s(?:rapport|trimestre)|\búltimo\s(?:informe|trimestre)",
    re.IGNORECASE,
)
_PROPER = re.compile(r"(?<!\A)(?<![.?!]\s)(?<!\w)[A-ZÀ-ÖØ-Þ]\w+")
"""A word with a capital that begins no sentence."""
_COURSE = re.compile(
    r"\b(?:over time|(?:over|across|through|throughout|in) (?:all |each of )?(?:the |these |its )?"
    r"(?:(?:reported|fiscal|last|past|available|different) )?(?:quarters|periods|years|reports|filings)"
    r"|(?:each|every) (?:quarter|period|year|report)|quarter by quarter|trend(?:s|ed|ing)?"
    r"|über die (?:quartale|jahre|berichte)|im (?:zeit)?verlauf|au fil d(?:u temps|es \w+)"
    r"|a lo largo d(?:el tiempo|e los \w+))\b",
    re.IGNORECASE,
)
IN_TABLES = "three months"
"""What columns of a quarter say."""
MOST_REPORTS = 8
_NOT_ENGLISH = re.compile("quartal|trimestre", re.IGNORECASE)
_CHARS_BETWEEN = range(24)
"""A quarter and its year stand so near each other: “Q2 of fiscal 2024”."""


@dataclass(frozen=True, slots=True, order=True)
class ReportPeriod:
    """A year, or a `quarter` of it from 1; 0 for the year as a whole."""

    year: int
    quarter: int


def documents_named(question: str, names: Mapping[UUID, str]) -> frozenset[UUID]:
    """Return which of some documents, given with their names and best ones first, a question names.

    Empty where it names no period or report, or one that no document is called after.
    """
    periods = {document: period for document, name in names.items() if (period := period_of(name))}
    of_company = [document for document in periods if _is_of_company(question, names[document])]
    if of_company:
        periods = {document: periods[document] for document in of_company}
    asked = _periods_in(question)
    named = [document for document, period in periods.items() if period in asked]
    if not named and _LATEST.search(question):
        named = _latest(periods, names)
    of_form = [document for document in named if _has_form_of(question, names[document])]
    return frozenset(of_form or named or of_company)


def names_report(question: str) -> bool:
    """Tell whether a question names a report by its period, or the latest one."""
    return bool(_periods_in(question)) or _LATEST.search(question) is not None


def series_of(name: str) -> str:
    """Return the longest word of a name, which other reports of the series have; none without a period."""
    if period_of(name) is None:
        return ""
    return max(_series(name.rpartition(".")[0] or name), key=len, default="")


def asks_for_course(question: str) -> bool:
    """Tell whether a question asks how something has gone on through several reports."""
    return _COURSE.search(question) is not None


def without_course(question: str) -> str:
    """Return a question without the words that ask for a course."""
    return _COURSE.sub(" ", question)


def reports_of_series(question: str, names: Mapping[UUID, str]) -> list[UUID]:
    """Return the latest reports of one series, the oldest first: of the company named, or of the best one.

    `names` are those of documents, best ones first. Of each period there is one report; quarters and whole
    years are different series.
    """
    reports = {document: name for document, name in names.items() if period_of(name)}
    of_company = {id: name for id, name in reports.items() if _is_of_company(question, name)}
    ours = of_company or reports
    if not ours:
        return []
    first = next(iter(ours.values()))
    by_period: dict[ReportPeriod, UUID] = {}
    for document, name in ours.items():
        period, is_alike = period_of(name), _series(name) == _series(first)
        if period and is_alike and bool(period.quarter) == _is_quarterly(first):
            by_period.setdefault(period, document)
    return [by_period[period] for period in sorted(by_period)][-MOST_REPORTS:]


def as_columns_say(question: str) -> str:
    """Return a question without the report that it names, its quarter also in the words of tables.

    “Revenue in the Q3 2022 10-Q?” asks for “Revenue in the Q3 three months 2022”: no sentence of the report
    says “10-Q”, and most columns of tables do not say “Q3”. Tables in other languages say what people do.
    “What is a 10-Q?” names no report and stays as it is.
    """
    if not names_report(question):
        return question
    question = _LATEST.sub(lambda found: IN_TABLES if "quarter" in found[0].casefold() else "", question)
    for form in _FORMS.values():
        question = form.sub("", question)
    question = _QUARTER.sub(
        lambda found: found[0] if _NOT_ENGLISH.search(found[0]) else f"{found[0]} {IN_TABLES}", question
    )
    return " ".join(question.split())


def _is_quarterly(name: str) -> bool:
    period = period_of(name)
    return period is not None and period.quarter > 0


def period_of(name: str) -> ReportPeriod | None:
    """Return the period that a document is called after: of “NVDA_2023Q1.pdf” the first quarter."""
    plain = name.replace("_", " ")
    years = [_year(found[0]) for found in _YEAR.finditer(plain)]
    quarter = _QUARTER.search(plain)
    return ReportPeriod(years[0], _number(quarter) if quarter else 0) if years else None


def _periods_in(question: str) -> set[ReportPeriod]:
    """Return the quarters that a question names with their years, and the years of the reports it names."""
    years = list(_YEAR.finditer(question))
    periods = {
        ReportPeriod(_year(year[0]), _number(quarter))
        for quarter in _QUARTER.finditer(question)
        if (year := _year_of(quarter, years)) is not None
    }
    for report in _FORMS["annual"].finditer(question):
        if (year := _year_of(report, years)) is not None:
            periods.add(ReportPeriod(_year(year[0]), 0))
    return periods


def _year_of(named: re.Match[str], years: Sequence[re.Match[str]]) -> re.Match[str] | None:
    """Return the year that stands behind a quarter or a report, or else before it: “Q2 of fiscal 2024”."""
    behind = [year for year in years if _are_near(named, year)]
    before = [year for year in years if _are_near(year, named)]
    return behind[0] if behind else before[-1] if before else None


def _are_near(first: re.Match[str], second: re.Match[str]) -> bool:
    return second.start() - first.end() in _CHARS_BETWEEN


def _is_of_company(question: str, name: str) -> bool:
    """Tell whether the only proper name of a question is in the name of a document.

    A question with several compares, perhaps with a company whose reports are called by another name.
    """
    proper = [word.casefold() for word in _PROPER.findall(question) if word.isalpha()]
    called = _series(name)
    return bool(proper) and (called.issuperset(proper) or "".join(proper) in called)


def _latest(periods: Mapping[UUID, ReportPeriod], names: Mapping[UUID, str]) -> list[UUID]:
    """Return the latest documents of the series of which one was found first."""
    if not periods:
        return []
    series = _series(names[next(iter(periods))])
    ours = {document: period for document, period in periods.items() if _series(names[document]) == series}
    latest = max(ours.values())
    return [document for document, period in ours.items() if period == latest]


def _series(name: str) -> frozenset[str]:
    """Return what the names of reports of one kind have in common: their words."""
    plain = _QUARTER.sub(" ", name.replace("_", " ").casefold())
    return frozenset(re.findall(r"[^\W\d_]+", plain))


def _has_form_of(question: str, name: str) -> bool:
    """Tell whether a document is called an annual, a quarterly or a current report as the question says."""
    plain = name.replace("_", " ")
    return any(form.search(question) and form.search(plain) for form in _FORMS.values())


def _year(text: str) -> int:
    digits = re.sub(r"\D", "", text)
    return int(digits) if len(digits) > 2 else 2000 + int(digits)


def _number(quarter: re.Match[str]) -> int:
    """Return which quarter a match of `_QUARTER` is."""
    ordinal = next(place for place, found in enumerate(quarter.groups(), start=1) if found is not None)
    return ordinal if ordinal <= len(ORDINALS) else int(quarter[ordinal])
