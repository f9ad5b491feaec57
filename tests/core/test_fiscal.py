"""When fiscal years end and what they are called, as reports tell it."""

from __future__ import annotations

from datetime import date

import pytest

from core.text.fiscal import CALENDAR_YEARS, FiscalCalendar, calendar_of, days_in

BEAUTY = [
    "Fourth Quarter Fiscal 2022 Results\n\nThe fifty-two-week period (“fiscal year”) ended January 28, 2023"
    " is compared to the same period ended January 29, 2022.",
    "| | 52 Weeks Ended January 28, 2023 | 52 Weeks Ended January 29, 2022 |",
    "During fiscal 2022 we opened 47 stores. For fiscal 2023 we expect 25. In fiscal 2022 sales grew.",
]
CHIPS = [
    "For the quarterly period ended October 29, 2023. We refer to the fiscal year ended January 29, 2023.",
    "Revenue for the third quarter of fiscal year 2024 was up from fiscal year 2023 and the"
    " second quarter of fiscal year 2024.",
    "| | Three Months Ended October 29, 2023 | Three Months Ended October 30, 2022 |",
]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (BEAUTY, FiscalCalendar(1, 29, is_called_before=True)),
        (CHIPS, FiscalCalendar(1, 29)),
        (["For the fiscal year ended December 2, 2022. Fiscal 2022 was good."], FiscalCalendar(12, 2)),
        (["Annual report for the fiscal year ended January 1, 2023."], FiscalCalendar(1, 1, True)),
        (["Our fiscal year ends on the Saturday nearest the end of January."], FiscalCalendar(1, 28)),
        (["Das Geschäftsjahr zum 30. September 2023 …"], FiscalCalendar(9, 30)),
        (["The lighthouse was lit on January 28, 2023."], None),
        ([], None),
    ],
)  # fmt: skip
def test_a_report_tells_when_its_fiscal_years_end(texts: list[str], expected: FiscalCalendar | None) -> None:
    assert calendar_of(texts) == expected


@pytest.mark.parametrize(
    ("calendar", "day", "expected"),
    [
        (FiscalCalendar(1, 28), date(2023, 7, 29), (2024, 2)),
        (FiscalCalendar(1, 28), date(2024, 2, 3), (2024, 4)),
        (FiscalCalendar(1, 28, True), date(2023, 1, 28), (2022, 4)),
        (FiscalCalendar(1, 1, True), date(2023, 1, 1), (2022, 4)),
        (FiscalCalendar(6, 30), date(2023, 9, 30), (2024, 1)),
        (CALENDAR_YEARS, date(2023, 12, 31), (2023, 4)),
        (CALENDAR_YEARS, date(2023, 7, 29), None),
    ],
)  # fmt: skip
def test_a_day_ends_a_quarter_or_none(
    calendar: FiscalCalendar, day: date, expected: tuple[int, int] | None
) -> None:
    assert calendar.period_ending(day) == expected


def test_days_are_found_in_four_languages() -> None:
    written = "January 28, 2023; 28 January 2023; 31. Dezember 2022; 30 juin 2023; 31 de marzo de 2023; "
    assert days_in(written + "Oct. 29, 2023") == [
        date(2023, 1, 28), date(2023, 1, 28), date(2022, 12, 31), date(2023, 6, 30), date(2023, 3, 31),
        date(2023, 10, 29),
    ]  # fmt: skip
    assert days_in("February 30, 2023 and May 2023 and May 5") == []
