"""Questions and columns name their periods in the same words."""

from __future__ import annotations

import pytest

from core.text.fiscal import FiscalCalendar
from search.generation.extractive.periods import (
    PeriodReading,
    is_of,
    is_of_other_days,
    period_before,
    periods_in,
    periods_named,
    periods_of,
    quarters_in,
    reading_of,
    words_of,
    words_of_column,
)

STORES = FiscalCalendar(1, 28)
BEAUTY = FiscalCalendar(1, 29, is_called_before=True)


@pytest.mark.parametrize(
    ("question", "reading", "periods"),
    [
        ("What was revenue in 2022?", PeriodReading.YEARS, ["2022"]),
        ("What was revenue in Q2 2022?", PeriodReading.YEARS, ["2022"]),
        ("Revenue in Q2 of FY2024 compared to Q2 of FY2023?", PeriodReading.FISCAL, ["2024 Q2", "2023 Q2"]),
        ("Stores between Q2 of FY2024 and FY2023?", PeriodReading.FISCAL, ["2024 Q2", "2023 Q2"]),
        ("Cash between FY 2023 and Q2 of FY24?", PeriodReading.FISCAL, ["2023", "2024 Q2"]),
        ("Q4 of fiscal 2022 or Q1 of fiscal 2023?", PeriodReading.FISCAL, ["2022 Q4", "2023 Q1"]),
        ("Cash flow in the first six months of fiscal 2024?", PeriodReading.FISCAL, ["2024 H1"]),
        ("Net income of fiscal year 2024, first nine months?", PeriodReading.FISCAL, ["2024 M9"]),
        ("Umsatz im zweiten Quartal des Geschäftsjahres 2023?", PeriodReading.FISCAL, ["2023 Q2"]),
        ("Umsatz im Geschäftsjahr 2023, zweites Quartal?", PeriodReading.FISCAL, ["2023 Q2"]),
        ("Cash at July 29, 2023 and January 28, 2023?", PeriodReading.DAYS, ["2023-07-29", "2023-01-28"]),
        ("What is a fiscal year?", PeriodReading.YEARS, []),
    ],
)  # fmt: skip
def test_a_question_names_periods(question: str, reading: PeriodReading, periods: list[str]) -> None:
    assert reading_of(question) is reading
    assert periods_named(question) == periods
    assert list(periods_in(question)) == sorted(set(periods))


@pytest.mark.parametrize(
    ("column", "reading", "calendar", "periods"),
    [
        ("Three Months Ended July 29, 2023", PeriodReading.FISCAL, STORES, {"2024 Q2"}),
        ("Six Months Ended July 29, 2023", PeriodReading.FISCAL, STORES, {"2024 H1"}),
        ("July 29, 2023", PeriodReading.FISCAL, STORES, {"2024 Q2"}),
        ("January 28, 2023", PeriodReading.FISCAL, STORES, {"2023"}),
        ("52 Weeks Ended January 28, 2023", PeriodReading.FISCAL, BEAUTY, {"2022"}),
        ("13 Weeks Ended January 28, 2023", PeriodReading.FISCAL, BEAUTY, {"2022 Q4"}),
        ("Fiscal 2024 Second Quarter", PeriodReading.FISCAL, STORES, {"2024 Q2"}),
        ("FY23 Outlook", PeriodReading.FISCAL, BEAUTY, {"2023"}),
        ("Three Months 2023", PeriodReading.FISCAL, STORES, set()),
        ("May 5, 2023", PeriodReading.FISCAL, STORES, {"2024 Q1"}),
        ("June 15, 2023", PeriodReading.FISCAL, STORES, set()),
        ("Years ended June 30, 2023", PeriodReading.FISCAL, None, {"2023"}),
        ("Three Months Ended June 30, 2023", PeriodReading.FISCAL, None, {"2023 Q2"}),
        ("Three Months Ended July 29, 2023", PeriodReading.YEARS, STORES, {"2023"}),
        ("July 29, 2023", PeriodReading.DAYS, STORES, {"2023-07-29"}),
        ("2023", PeriodReading.DAYS, STORES, {"2023"}),
    ],
)  # fmt: skip
def test_a_column_means_periods(
    column: str, reading: PeriodReading, calendar: FiscalCalendar | None, periods: set[str]
) -> None:
    assert periods_of(column, reading, calendar) == periods


def test_a_day_is_of_its_column_and_of_its_year_alone() -> None:
    assert is_of("2023-07-29", frozenset({"2023-07-29"}))
    assert is_of("2022-07-29", frozenset({"2022-07-30"}))
    assert is_of("2023-07-29", frozenset({"2023"}))
    assert not is_of("2023-07-29", frozenset({"2023-01-28"}))
    assert not is_of("2023", frozenset({"2023-07-29"}))
    assert not is_of("2023", frozenset({"2023", "2022"}))


def test_the_same_period_of_the_year_before() -> None:
    assert [period_before(each) for each in ("2024", "2024 Q2", "2023-07-29")] == [
        "2023", "2023 Q2", "2022-07-29"
    ]  # fmt: skip


def test_rows_of_other_days_and_quarters_are_known() -> None:
    asked = "What was revenue in the quarter ended April 30, 2023?"
    assert is_of_other_days(asked, "Revenue · Three Months Ended October 29, 2023: 18,120")
    assert not is_of_other_days(asked, "Revenue · Three Months Ended April 30, 2023: 7,192")
    assert not is_of_other_days(asked, "Revenue · 2023: 26,974")
    assert {"three", "months"} <= words_of(asked)
    assert (
        quarters_in("¿Cuánto vendió en el cuarto trimestre?") == quarters_in("FOURTH QUARTER 2022") == {"Q4"}
    )
    assert quarters_in("the first half of 2022") == frozenset()


def test_a_column_is_called_by_its_fiscal_year() -> None:
    asked = words_of("What was net income in fiscal 2022?")
    year, before = (
        words_of_column(f"52 Weeks Ended January {day}", PeriodReading.FISCAL, BEAUTY)
        for day in ("28, 2023", "29, 2022")
    )
    assert "2022" in year & asked
    assert "2022" not in before
    assert {"q2", "second", "quarter"} <= words_of("Sales in Q2 of FY2024?")
