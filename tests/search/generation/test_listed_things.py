"""What is worked out between things that a table lists, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.text.tables import header_of
from search.generation.extractive.listed import answer_by_thing, answer_by_things
from search.generation.extractive.listed.asked import is_answered_by_row
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


REPLIES = """\
| Brand | Replies | Needed a repair |
| --- | --- | --- |
| Harrow V2 | 412 | 37 |
| Milvane | 268 | 15 |
| Osprin | 320 | 58 |"""
SAMPLES = """\
| Parameter | Limit | P3 School | P4 Upper Farm |
| --- | --- | --- | --- |
| Nitrate (mg/l) | 50 | 32.6 | 56.3ᵃ |
| Iron (µg/l) | 200 | 230 | 60 |"""
BRANCHES = """\
| Vestiging | Voorjaar | Zomer | Totaal |
| --- | --- | --- | --- |
| Haven | 640 | 1.120 | 1.760 |
| Station | 810 | 960 | 1.770 |
| Totaal | 1.450 | 2.080 | 3.530 |"""


@pytest.mark.parametrize(
    ("question", "of", "language", "expected"),
    [
        (
            "What percentage of the replies came from Osprin?",
            REPLIES,
            "en",
            "Osprin, Replies: 320 ÷ (412 + 268 + 320) = 32.0 %",
        ),
        ("What do the harrow and the osprin have together in replies?", REPLIES, "en", "412 + 320 = 732"),
        ("How much more nitrate has the Upper Farm than the school?", SAMPLES, "en", "56.3 − 32.6 = 23.7"),
        ("Hoeveel kwam er gemiddeld per vestiging in de Zomer?", BRANCHES, "nl", "(1.120 + 960) ÷ 2"),
    ],
)
def test_shares_and_things_by_their_own_words(question: str, of: str, language: str, expected: str) -> None:
    """A share is one of all rows; totals and limits are no things, marks of notes no units."""
    assert expected in told(question, of, language)


@pytest.mark.parametrize(
    "question",
    [
        "What percentage of the Osprin replies came late?",
        "By what percent has Osprin gone up?",
        "What do the five brands have together in replies?",
    ],
)
def test_a_share_of_a_thing_is_not_its_share(question: str) -> None:
    assert told(question, REPLIES) == ""


@pytest.mark.parametrize(
    ("question", "of", "expected"),
    [
        ("How much iron was found at the school?", SAMPLES, "Iron (µg/l) · P3 School: 230"),
        ("How many replies did we get from Harrow?", REPLIES, "Harrow V2 · Replies: 412"),
        ("How many replies did Tarvo get?", REPLIES, ""),
        ("How much lead was found at the school?", SAMPLES, ""),
        ("How many replies did Osprin get in 2019?", REPLIES, ""),
        ("By how much did the replies of Osprin rise?", REPLIES, ""),
    ],
)
def test_a_cell_is_named_by_its_row_and_column(question: str, of: str, expected: str) -> None:
    told_cell = "".join(answer_by_thing(question, [table(of)])).replace("\\", "")
    assert told_cell.removesuffix(" <source_1>\n") == expected


@pytest.mark.parametrize(
    ("question", "row", "may"),
    [
        ("How much dearer is A than B?", "A · Price: 5 · B: 4", False),
        ("How much dearer is A than B?", "Difference · 2023: 1", True),
        ("What is the average price?", "A · Price: 5", False),
        ("What is the average price?", "A · Average price: 5", True),
        ("What do A and B cost together?", "Total · Price: 9", True),
        ("By how much did sales rise?", "Sales · 2023: 5", False),
        ("What does A cost?", "A · Price: 5", True),
        ("What does it mean?", "E4 · Meaning: Fan blocked", True),
    ],
)
def test_a_row_answers_what_is_compared_only_if_it_says_so(question: str, row: str, *, may: bool) -> None:
    assert is_answered_by_row(question)(row) is may


def test_a_version_names_a_column_and_an_amount_does_not() -> None:
    assert header_of(TESTS) == "| Test | 8.3.4 | 8.4.0 |"
    assert header_of("| Umsatz | 1.234.567 |\n| --- | --- |\n| Kosten | 5 |") == ""


# --- Periods -----------------------------------------------------------------------------------------------

SEGMENTS = """\
| (In millions) | Compute | Graphics | All Other |
| --- | --- | --- | --- |
| Three Months Ended October 29, 2023 |  |  |  |
| Operating income | $ 10,262 | $ 1,493 | $ (1,338) |
| Nine Months Ended October 29, 2023 |  |  |  |
| Operating income | $ 19,149 | $ 3,751 | $ (3,542) |"""
YEAR_BY_PLACES = """\
| (in Millions) | TWELVE MONTHS 2022 | TWELVE MONTHS 2021 |
| --- | --- | --- |
| U.S. | $ 41,981 | 40,640 |
| Europe | 20,664 | 20,595 |
| Worldwide | $ 79,990 | 78,740 |"""
QUARTER_BY_PLACES = """\
| (in Millions) | THIRD QUARTER 2022 | THIRD QUARTER 2021 |
| --- | --- | --- |
| U.S. | $ 10,794 | 10,338 |
| Europe | 4,844 | 4,833 |"""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "By how much did operating income of Compute exceed that of Graphics in the three months ended"
            " October 29, 2023?",
            "10,262 − 1,493 = 8,769",
        ),
        (
            "By how much did operating income of Compute exceed that of Graphics in the nine months ended"
            " October 29, 2023?",
            "19,149 − 3,751 = 15,398",
        ),
        ("By how much did operating income of Compute exceed that of Graphics?", ""),
    ],
)
def test_a_row_that_names_a_period_tells_which_figures_are_meant(question: str, expected: str) -> None:
    answer = told(question, SEGMENTS)
    assert expected in answer
    assert bool(answer) is bool(expected)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("By how much did U.S. sales exceed European sales in 2022?", "41,981 − 20,664 = 21,317"),
        ("What were sales in the United States and Europe together in 2022?", "41,981 + 20,664 = 62,645"),
        ("By how much did U.S. sales exceed those of Europe in the third quarter of 2022?", "= 5,950"),
    ],
)
def test_a_year_is_no_quarter_of_it_and_places_have_several_names(question: str, expected: str) -> None:
    sales = [
        replace(table(text), headings=("Sales by geographic area",), rank=rank)
        for rank, text in enumerate((QUARTER_BY_PLACES, YEAR_BY_PLACES), start=1)
    ]
    assert expected in "".join(answer_by_things(question, sales))


def test_what_was_paid_is_added_without_the_brackets_around_it() -> None:
    flows = """\
| (in millions) | 2023 | 2022 |
| --- | --- | --- |
| Dividends paid | (723) | (732) |
| Buy-back of shares | (400) | (600) |"""
    assert "723 + 732 = 1,455" in told("What were dividends paid in 2023 and 2022 together?", flows)


def test_a_table_of_one_line_has_no_figure_of_another() -> None:
    revenue = replace(
        table(
            "| | 2023 | 2022 |\n| --- | --- | --- |\n| Compute | 4,460 | 3,672 |\n| Graphics | 2,732 | 46 |"
        ),
        headings=("Revenue by segment",),
        introduction="Segments have revenue and operating income.",
    )
    assert "4,460" in "".join(answer_by_thing("What was revenue of Compute in 2023?", [revenue]))
    assert not answer_by_thing("What was operating income of Compute in 2023?", [revenue])


def test_what_something_comes_from_must_be_said() -> None:
    assert (
        "".join(answer_by_thing("How many millions of revenue came from Compute?", [table(SEGMENTS)])) == ""
    )
    question = "How much was the charge per year from centrifuges?"
    assert "410" in "".join(answer_by_thing(question, [table(FEES)]))
    assert not answer_by_thing("How much was the total charge per year from spectrometers?", [table(FEES)])
    income = table("| | 2023 |\n| --- | --- |\n| Revenue | 7,192 |\n| Cost | 2,544 |")
    assert "7,192" in "".join(answer_by_thing("How much revenue came in, in 2023?", [income]))
    assert not answer_by_thing("How much revenue came from makers in 2023?", [income])
