"""What is worked out between things that a table lists, and what is refused."""

from __future__ import annotations

import pytest

from core.text.tables import header_of
from search.generation.extractive.listed import answer_by_things
from tests.search.generation.test_computing import table

METHODS = """\
| Method | HydroPump-7 | TurbineLog | RailAxle |
| --- | --- | --- | --- |
| LoRA | 80.2 | 72.8 | 65.7 |
| ProtoNet | 76.9 | 73.5 | 61.0 |
| GateLite (ours) | 84.1 | 75.0 | 70.8 |"""
METERS = """\
| | KF-310 | KF-325 | KF-350 |
| --- | --- | --- | --- |
| Maximum pressure | 40 bar | 40 bar | 25 bar |
| Weight | 2.1 kg | 3.4 kg | 5.9 kg |
| Guarantee | 5 years | 3 years | 18 months |"""
COHORTS = """\
| Cohort | Patients | Median age |
| --- | --- | --- |
| Northmere Registry | 3,812 | 82 |
| HEUP cohort | 1,946 | 80 |
| St Brannoc Hospital | 1,105 | 84 |"""
CLICKS = """\
| Year | Messages sent | Share who clicked |
| --- | --- | --- |
| 2022 | 2,160 | 11.8% |
| 2023 | 2,214 | 8.4% |
| 2024 | 2,268 | 5.6% |"""
TESTS = """\
| Test | 8.3.4 | 8.4.0 |
| --- | --- | --- |
| Search in a mailbox with 10,000 messages | 1,840 ms | 690 ms |
| Export of an archive | 412 s | 265 s |"""
FEES = """\
| Group | Charge per year |
| --- | --- |
| Centrifuges | 410 |
| Freezers | 925 |
| Total | 1,335 |"""
PREISE = """\
| Modell | Preis | Gewicht |
| --- | --- | --- |
| Alpenglück 300 | 1.249 € | 11,5 kg |
| Talwind | 899 € | 14,0 kg |"""


def told(question: str, of: str, language: str = "en") -> str:
    return "".join(answer_by_things(question, [table(of, language=language)]))


@pytest.mark.parametrize(
    ("question", "of", "expected"),
    [
        (
            "How many points better is GateLite than LoRA on RailAxle?",
            METHODS,
            "GateLite (ours) − LoRA, RailAxle: 70.8 − 65.7 = 5.1",
        ),
        (
            "What does GateLite reach on average over all three?",
            METHODS,
            "(84.1 + 75.0 + 70.8) ÷ 3 = 76.63",
        ),
        ("How much heavier is the KF-350 than the KF-310?", METERS, "5.9 − 2.1 = 3.8 (kg)"),
        (
            "What is the difference in maximum pressure between KF-350 and KF-325?",
            METERS,
            "40 − 25 = 15 (bar)",
        ),
        (
            "How many patients do the three cohorts have together?",
            COHORTS,
            "3,812 + 1,946 + 1,105 = 6,863",
        ),
        (
            "How many more patients does Northmere have than St Brannoc?",
            COHORTS,
            "3,812 − 1,105 = 2,707",
        ),
        (
            "By how many percentage points did the share who clicked go down from 2022 to 2024?",
            CLICKS,
            "11.8 % − 5.6 % = 6.2 %",
        ),
        ("How many messages were sent on average from 2022 to 2024?", CLICKS, "÷ 3 = 2,214.0"),
        (
            "By how many per cent has search time in a mailbox dropped from 8.3.4 to 8.4.0?",
            TESTS,
            "(690 − 1,840) ÷ 1,840 = −62.5 %",
        ),
    ],
)
def test_what_is_worked_out_between_things(question: str, of: str, expected: str) -> None:
    answer = told(question, of)
    assert f"{expected}** <source_1>" in answer.replace("\\", "")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Um wie viel ist das Alpenglück 300 teurer als das Talwind?", "1.249 − 899 = 350"),
        ("Um wie viel Prozent ist das Talwind schwerer als das Alpenglück 300?", "÷ 11,5 = 21,7 %"),
        ("Wie hoch ist das Gewicht beider zusammen?", "11,5 + 14,0 = 25,5 (kg)"),
    ],
)
def test_in_german(question: str, expected: str) -> None:
    assert f"{expected}**" in told(question, PREISE, "de")


@pytest.mark.parametrize(
    ("question", "of"),
    [
        ("How many points better is GateLite than BitFit on RailAxle?", METHODS),
        ("How many points better is GateLite than LoRA on SnowPlough?", METHODS),
        ("How many points better is GateLite than LoRA?", METHODS),
        ("How much longer is the guarantee of the KF-325 than that of the KF-350?", METERS),
        ("How much heavier is the KF-350 than the KF-399?", METERS),
        ("How many nurses do the three cohorts have together?", COHORTS),
        ("How many patients do the four cohorts have together?", COHORTS),
        ("What do all groups pay together for the charge per year?", FEES),
        ("How much is the weight of the KF-350?", METERS),
    ],
    ids=lambda each: each if "?" in each else "",
)
def test_what_is_not_sure_is_not_worked_out(question: str, of: str) -> None:
    """No such thing or column, several columns, two units, another count, a total of its own."""
    assert told(question, of) == ""


def test_a_version_names_a_column_and_an_amount_does_not() -> None:
    assert header_of(TESTS) == "| Test | 8.3.4 | 8.4.0 |"
    assert header_of("| Umsatz | 1.234.567 |\n| --- | --- |\n| Kosten | 5 |") == ""
