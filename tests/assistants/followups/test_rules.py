"""What a question becomes without a model: replaced, extended, or left alone."""

from __future__ import annotations

import time
from uuid import uuid4

import pytest

from assistants.followups import MOST_CHARS, Turn, self_contained
from assistants.followups.base import SelfContained

REVENUE = Turn(
    "What was the revenue of Nordhavn Ferries in 2023?",
    "What was the revenue of Nordhavn Ferries in 2023?",
    "Nordhavn Ferries earned revenue of 531 million kroner in 2023.",
    (uuid4(),),
    ("ferries-2023.md",),
)


async def read(question: str, *history: Turn) -> SelfContained:
    return await self_contained(question, history or [REVENUE], rewriter=None)


def said(question: str, answer: str = "", name: str = "report.pdf") -> Turn:
    return Turn(question, question, answer, (uuid4(),), (name,))


@pytest.mark.parametrize(
    ("question", "after"),
    [
        ("And the year before?", "What was the revenue of Nordhavn Ferries in 2022?"),
        (
            "And how did that compare with the year before?",
            "What was the revenue of Nordhavn Ferries in 2022?",
        ),
        ("What about two years later?", "What was the revenue of Nordhavn Ferries in 2025?"),
        ("And in 2021?", "What was the revenue of Nordhavn Ferries in 2021?"),
        ("2021?", "What was the revenue of Nordhavn Ferries in 2021?"),
        ("And the Skerry Line?", "What was the revenue of Skerry Line in 2023?"),
        ("Why?", "What was the revenue of Nordhavn Ferries in 2023? Why?"),
        ("Tell me more.", "What was the revenue of Nordhavn Ferries in 2023? Tell me more."),
        (
            "How many passengers did they carry?",
            "How many passengers did they carry? (Nordhavn Ferries, 2023, revenue)",
        ),
        (
            "How many passengers were there the year before?",
            "How many passengers were there the year before? (Nordhavn Ferries, 2022, revenue)",
        ),
    ],
)
async def test_a_follow_up_takes_over_what_it_leaves_out(question: str, after: str) -> None:
    assert await read(question) == SelfContained(after, None, carried=True, by="rules")


@pytest.mark.parametrize(
    ("before", "question", "after"),
    [
        ("Revenue of Aldermoor in Q1 2024?", "And the quarter before?", "Revenue of Aldermoor in Q4 2023?"),
        (
            "Revenue in the fourth quarter of 2023?",
            "and the next quarter?",
            "Revenue in the first quarter of 2024?",
        ),
        ("Who met in December 2023?", "And the month after?", "Who met in January 2024?"),
        ("What does error F4 mean?", "what about F7?", "What does error F7 mean?"),
        ("How many were ordered in Germany?", "and in Spain?", "How many were ordered in Spain?"),
        ("Wie hoch war der Umsatz 2023?", "Und im Vorjahr?", "Wie hoch war der Umsatz 2022?"),
        ("Umsatz im zweiten Quartal 2023?", "Und im Quartal davor?", "Umsatz im ersten Quartal 2023?"),
        ("Quel était le résultat en 2023 ?", "Et l'année précédente ?", "Quel était le résultat en 2022 ?"),
        ("¿Cuáles fueron las ventas en 2023?", "¿Y el año anterior?", "¿Cuáles fueron las ventas en 2022?"),
    ],
)
async def test_periods_are_counted_and_things_replaced(before: str, question: str, after: str) -> None:
    read_as = await read(question, said(before))
    assert read_as.question == after


async def test_a_period_may_stand_in_the_answer_or_in_the_name_of_the_document() -> None:
    answered = said("What was the revenue?", "It was 531 million kroner in 2023.")
    assert (await read("And the year before?", answered)).question == "What was the revenue (2022)?"
    named = said("What was the revenue?", "531 million kroner.", "annual_report_2023.pdf")
    assert (await read("And the year before?", named)).question == "What was the revenue (2022)?"


async def test_without_any_period_the_words_are_added() -> None:
    read_as = await read("And the year before?", said("What was the revenue?", "It was large."))
    assert read_as.question == "What was the revenue? The year before?"


async def test_people_are_taken_from_the_answer() -> None:
    asked = said("Who was managing director of Nordhavn Ferries?", "It was Karin Holm.")
    read_as = await read("When did she leave?", asked)
    assert read_as.question == "When did she leave? (Karin Holm, Nordhavn Ferries)"


async def test_who_points_at_the_document_gets_it() -> None:
    read_as = await read("What does that report say about dividends and debt?")
    assert read_as.document_ids == REVENUE.document_ids
    assert read_as.question == "What does that report say about dividends and debt?"
    assert read_as.carried


@pytest.mark.parametrize(
    "question",
    [
        "How do I clean the filter of the Kestrel V8?",
        "What is it that bees need in autumn?",
        "Is the filter of the Kestrel V8 covered by its warranty?",
        "When a colony has filled seven frames, does it need a second box?",
        "Who gave the library the donation that arrived in April?",
        "lithium battery disposal",
        "Was müssen Beschäftigte tun, wenn sie krank sind?",
        "What is oxalic acid?",
        "Thanks!",
        "OK",
        "東京の人口は?",
        "???",
    ],
)
async def test_a_question_that_stands_alone_stays_as_it_is(question: str) -> None:
    assert await read(question) == SelfContained(question, None, carried=False, by="nothing")


async def test_without_history_nothing_is_carried() -> None:
    read_as = await self_contained("And the year before?", [], rewriter=None)
    assert read_as == SelfContained("And the year before?", None, carried=False, by="nothing")


async def test_a_chain_keeps_what_was_named_first() -> None:
    first = await read("And freight?")
    second = Turn(
        "And freight?", first.question, "131 million kroner.", REVENUE.document_ids, ("ferries-2023.md",)
    )
    read_as = await read("And in 2022?", REVENUE, second)
    assert "Nordhavn Ferries in 2022" in read_as.question
    assert "reight" in read_as.question


@pytest.mark.parametrize(
    "text", ["and " * 5000, "(" * 20_000, "Q1 2023 " * 2000, "A-1" * 7000, "und\u0300" * 5000]
)
async def test_the_longest_texts_take_no_time(text: str) -> None:
    start = time.process_time()
    await read(text[:MOST_CHARS], Turn(text, text, text, (), (text,), (text,)))
    assert (await read("And the year before?", Turn(text, text, text))).question
    assert time.process_time() - start < 2
