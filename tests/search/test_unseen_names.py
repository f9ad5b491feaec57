"""Who asks about a name that stands nowhere gets no answer about somebody else."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.access.identity import principal_of_user
from core.locations import LocatedText
from search.finding import find
from search.generation.base import GenerationRequest
from search.generation.extractive import extract, nothing_found
from search.questions import Question
from search.unseen_names import unseen_names
from tests.conftest import Cast
from tests.factories import stored_document
from tests.search.contexts import context
from tests.testing.payments import UNRECORDED
from tests.testing.readings import GivenReading

REPORT = "The CEO of Harbour Lights is Ada Kerrigan. Its total revenue in 2022 was 17,606 million."
GERMAN = "Der Hafen hat einen Leuchtturm. Die Firma Petersen baute ihn, und sie ist in der Stadt bekannt."


@pytest.fixture
def unseen(cast: Cast, settings: Any) -> Any:
    """Return which names of a question two documents of a workspace lack."""
    settings.EMBEDDING_BACKEND = settings.EMBEDDING_MODEL = "hashing"
    for name, text, language in (("Lindgren 2022.pdf", REPORT, "en"), ("hafen.pdf", GERMAN, "de")):
        stored_document(cast.team, name, name.encode(), [LocatedText(text)], language=language)

    def names(question: str, person: Any = cast.bob) -> tuple[str, ...]:
        ranking = find(principal_of_user(person), Question(question), limit=5, payment=UNRECORDED).ranking
        return unseen_names(question, ranking.words, ranking.results)

    return names


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who is the CEO of Volkswagen?", ("Volkswagen",)),
        ("What was Vodafone's total revenue, and that of Siemens?", ("Vodafone", "Siemens")),
        ("Vodafone revenue", ("Vodafone",)),
        ("What is the revenue? And what is that of Nokia?", ("Nokia",)),
    ],
)
def test_a_name_that_stands_nowhere_is_told(unseen: Any, question: str, names: tuple[str, ...]) -> None:
    assert unseen(question) == names


@pytest.mark.django_db
@pytest.mark.parametrize(
    "question",
    [
        "Who is the CEO of Harbour Lights?",
        "Who is the CEO of Harbor Lights, Ada Kerigan?",  # spelt nearly so
        "Who is the CEO of Harbourlights?",  # written as one word
        "What is the revenue of Lindgren?",  # the document is called so
        "What was the EBIT in FY2022?",  # may be written out
        "What was the revenue in September?",
        "What was the revenue of Mr Lindgren?",  # no name stands before one
        "What was the revenue in the PDFs?",  # may be called otherwise
        "Compare revenue",
        "Who Is The CEO Of Volkswagen",  # capitals tell nothing
        "who is the ceo of volkswagen?",
        "Wer ist der Vorstand von Volkswagen?",  # every noun has a capital
        "¿Cuál es la sede de la empresa Volkswagen?",  # no document is in Spanish
        "三木英子の住所はどこですか。",
        "",
    ],
)
def test_other_words_are_no_names_or_are_seen(unseen: Any, question: str) -> None:
    assert unseen(question) == ()


@pytest.mark.django_db
def test_what_others_have_is_not_seen(unseen: Any, cast: Cast) -> None:
    """A name in another tenant's documents must not show by what is said here."""
    private = cast.charlie.personal_workspace
    stored_document(private, "v.pdf", b"v", [LocatedText("Volkswagen builds cars.")], language="en")
    assert unseen("Who is the CEO of Volkswagen?") == ("Volkswagen",)
    assert unseen("Who builds the cars of Volkswagen?", cast.charlie) == ()


def test_no_answer_about_somebody_else_is_given() -> None:
    contexts = [context(1, "Its total revenue in 2022 was 17,606 million.")]
    question = "What was the total revenue of Tesla in 2022?"
    asked = GenerationRequest(question, contexts, unseen_names=("Tesla", "*Nokia*"))
    [said] = extract(asked, GivenReading(lambda text: pytest.fail("nothing is weighed")))
    assert said == nothing_found(asked)
    assert said.endswith(" These documents do not mention “Tesla”, “\\*Nokia\\*”.")
