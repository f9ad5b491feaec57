"""Which of the activities brings in the most cash, or the least."""

from __future__ import annotations

from uuid import uuid4

import pytest

from search.generation.extractive.cash_flows import compares_activities, most_cash
from tests.search.contexts import table_context

FLOWS = """\
| (in millions) | 2023 | 2022 |
| --- | --- | --- |
| Net cash provided by operating activities | 90 | (20) |
| Net cash used in investing activities | (60) | (25) |
| Net cash provided by (used in) financing activities | (15) | 70 |"""
STATEMENT = table_context(
    FLOWS,
    document_name="ACME_2023_10K.pdf",
    document_id=uuid4(),
    headings=("Consolidated Statements of Cash Flows",),
)
AMONG = "Among operations, investing, and financing activities, which"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (f"{AMONG} brought in the most (or lost the least) cash flow for Acme in FY2023?", "operating"),
        (f"{AMONG} brought in the most cash in FY2022?", "financing"),
        (f"{AMONG} lost the most cash in FY2023?", "investing"),
        (f"{AMONG} brought in the least cash in 2022?", "investing"),
        ("Of operating, investing and financing activities, which used the least cash in 2022?", "financing"),
    ],
)
def test_the_activity_is_told_first_and_the_others_below(question: str, expected: str) -> None:
    first, *others = most_cash(question, [STATEMENT])
    assert first.startswith("- **Net cash") and f"{expected} activities" in first
    assert first.endswith("<source_1>\n") and len(others) == 2


@pytest.mark.parametrize(
    "question",
    [
        f"{AMONG} brought in the most cash for Volkswagen in FY2023?",
        f"{AMONG} brought in the most cash in FY2019?",
        f"{AMONG} are described in this report?",
        "What brought in the most cash in FY2023?",
    ],
)
def test_what_is_not_sure_or_not_asked_is_not_told(question: str) -> None:
    assert most_cash(question, [STATEMENT]) == []


def test_all_three_lines_must_be_there() -> None:
    without = "\n".join(FLOWS.split("\n")[:-1])
    part = table_context(without, headings=("Consolidated Statements of Cash Flows",))
    assert most_cash(f"{AMONG} brought in the most cash in FY2023?", [part]) == []
    assert compares_activities(f"{AMONG} brought in the most cash in FY2023?")
