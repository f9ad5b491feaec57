"""What is only about the same thing is told from what answers: it has nothing for a word of the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from kb.embedding.base import Vectors
from search.contexts import Context
from search.generation.base import GenerationRequest
from search.generation.extractive import doubts, extract
from search.generation.extractive.doubts import MOST_WORDS
from search.generation.extractive.reading import Languages, ModelReading
from search.generation.extractive.statements import Statement
from search.generation.extractive.weighed import WeighedStatement
from search.generation.extractive.wording import nothing_found
from tests.search.contexts import context

LEAVE = replace(
    context(
        1,
        "Full-time staff get 27 days of leave a year.",
        "Requests are made at the front desk.",
        "Sick notes go to the line manager.",
    ),
    language="en",
    answers=0.2,
)


@dataclass(frozen=True)
class WordReading:
    """Gives a text `whole` log odds, and so much more for a question that lacks a word."""

    question: str
    more: dict[str, float]
    whole: float = 3.0

    def similarity(self, texts: Sequence[str], languages: Sequence[Languages]) -> Vectors:
        return np.zeros(len(texts), np.float32)

    def answers(self, asked: Sequence[tuple[str, str]]) -> Vectors:
        lacking = (
            sum(gain for word, gain in self.more.items() if word not in question) for question, _ in asked
        )
        return np.array([self.whole + gain for gain in lacking], np.float32)


def weighed(at: int, odds: float | None = 3.0, of: Context = LEAVE) -> WeighedStatement:
    return WeighedStatement(Statement(of, at, of.sentences[at].text), frozenset(), 0.5, 0.5, 0.5, odds=odds)


def belief(best: WeighedStatement, among: Sequence[WeighedStatement], reading: WordReading) -> float:
    return doubts.belief(reading.question, best, among, reading)


def test_a_word_that_nothing_is_said_of_speaks_against_a_statement() -> None:
    best, other = weighed(0), weighed(1, odds=2.0)
    question = "How many days of leave do interns get?"
    without = belief(best, [best, other], WordReading(question, {"interns": 3.0, "leave": -4.0}))
    with_all = belief(best, [best, other], WordReading(question, {"interns": -3.0, "leave": -4.0}))
    assert without < 0 < with_all


def test_a_word_that_the_passage_has_speaks_less_against_it() -> None:
    best, question = weighed(0), "How many days of leave do staff get?"
    known = belief(best, [best], WordReading(question, {"staff": 3.0}))
    unknown = belief(best, [best], WordReading(question.replace("staff", "interns"), {"interns": 3.0}))
    assert unknown < known


def test_a_word_that_only_tells_the_kind_of_thing_is_never_missing() -> None:
    best, reading = weighed(0), WordReading("What is the name of it?", {"name": 3.0})
    assert belief(best, [best], reading) > belief(
        best, [best], replace(reading, question="What is the colour of it?", more={"colour": 3.0})
    )


def test_what_is_far_ahead_of_all_others_is_believed_sooner() -> None:
    best, reading = weighed(0), WordReading("How long is the leave?", {"long": 0.5})
    near, far = weighed(1, odds=2.9), weighed(1, odds=-3.0)
    assert belief(best, [best, near], reading) < belief(best, [best, far], reading)


def test_the_same_words_elsewhere_and_what_was_not_read_are_no_rivals() -> None:
    best, reading = weighed(0), WordReading("How long is the leave?", {})
    again = weighed(0, of=replace(LEAVE, rank=2))
    assert belief(best, [best, again, weighed(1, odds=None)], reading) == belief(best, [best], reading)


def test_a_passage_that_surely_answers_speaks_for_its_statements_and_a_web_page_for_itself() -> None:
    reading = WordReading("How long is the leave?", {})
    beliefs = []
    for answers in (0.1, 0.9, None):
        best = weighed(0, odds=9.0, of=replace(LEAVE, answers=answers))
        beliefs.append(belief(best, [best], reading))
    doubtful, sure, of_the_web = beliefs
    assert doubtful < sure < of_the_web


@pytest.mark.parametrize("question", ["?", "What is it?", "word " * 5 * MOST_WORDS])
def test_any_question_is_read_within_bounds(question: str) -> None:
    asked: list[int] = []

    class Counting(WordReading):
        def answers(self, asked_now: Sequence[tuple[str, str]]) -> Vectors:
            asked.append(len(asked_now))
            return super().answers(asked_now)

    best = weighed(0)
    assert np.isfinite(belief(best, [best], Counting(question, {})))
    assert asked[0] <= MOST_WORDS + 1


@pytest.mark.parametrize(
    ("question", "is_told"),
    [
        ("How many days of leave do full-time staff get?", True),
        ("How many days of leave do interns get?", False),
    ],
)
def test_the_model_tells_what_answers_from_what_is_about_the_same_thing(question: str, is_told: bool) -> None:
    asked = GenerationRequest(question, [LEAVE])
    said = "".join(extract(asked, ModelReading(question)))
    assert ("27 days" in said) is is_told
    assert (said == nothing_found(asked)) is not is_told
