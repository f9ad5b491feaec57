"""A misspelt word of a question is read as the word that stands in what was found, and as no other word."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from accounts.access.identity import principal_of_user
from accounts.models import Workspace
from core.locations import LocatedText
from search.finding import find
from search.misspelt import respelt
from search.questions import Question
from tests.conftest import Cast, make_cast
from tests.factories import stored_document
from tests.testing.payments import UNRECORDED

ECONOMY = (
    "Manufacturing accounts for 14% of the GDP of Kenya. Australia exports wool. LIBOR was 0.29% in October."
    " The hydrolysis of esters needs water. Ada Kerrigan characterized the process."
)
GERMAN = "Die Betriebsrente wird im Januar gezahlt. Der Nettoumsatz stieg um 20 Prozent auf 18 Milliarden."

LONG = (
    "How much of the GDP of Kenya does manufactoriing account for, and what was the lobor rate at the end of"
    " Octobre 2009?"
)


@pytest.fixture
def spelling(cast: Cast, settings: Any) -> Any:
    """Return the misspelt words of a question about two documents, each with what is meant."""
    settings.EMBEDDING_BACKEND = settings.EMBEDDING_MODEL = "hashing"
    for name, text, language in (("economy.pdf", ECONOMY, "en"), ("rente.pdf", GERMAN, "de")):
        stored_document(cast.team, name, name.encode(), [LocatedText(text)], language=language)

    def spelt(question: str, person: Any = cast.bob) -> Any:
        return find(principal_of_user(person), Question(question), limit=5, payment=UNRECORDED).spelling

    return spelt


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("How much of GDP does manufactoriing account for?", {"manufactoriing": "manufacturing"}),
        ("What was the lobor rate in October 2009?", {"lobor": "libor"}),
        ("Who charecterized the proces?", {"charecterized": "characterized", "proces": "process"}),
        ("What did Ada Kerigan do?", {"Kerigan": "Kerrigan"}),
        (LONG, {"manufactoriing": "manufacturing", "lobor": "libor", "Octobre": "October"}),
        ("Wann wird die Betreibsrente gezahlt?", {"Betreibsrente": "Betriebsrente"}),
        ("How much did Australia export?", {}),
    ],
)
def test_a_misspelt_word_is_read_as_what_is_meant(spelling: Any, question: str, meant: Any) -> None:
    assert spelling(question) == meant


@pytest.mark.django_db
@pytest.mark.parametrize(
    "question",
    [
        "What does Austria export?",  # a word of its own
        "What is hydrolase?",  # too many letters differ
        "What was the NIBOR rate?",  # letters that stand for words
        "Was zahlt der Betriebsrat?",
        "Was kostet das Manufactoriing?",  # what is meant stands in another language
        "What do Manufactoriing, Kerigan and Hydrolisys mean?",  # most of it: about something else
        "What is the rate in Oc7ober?",
    ],
)
def test_no_other_word_is_read_as_another(spelling: Any, question: str) -> None:
    assert spelling(question) == {}


@pytest.mark.django_db
def test_words_of_others_are_not_known(cast: Cast, spelling: Any) -> None:
    """What stands only in documents that the asker can't see must not be told by a corrected word."""
    own = Workspace.create_for(cast.charlie, name="Own")
    stored_document(own, "secret.pdf", b"secret", [LocatedText("The Qwyzzlethorpe is late.")], language="en")
    question = "When does the Qwyzzlethorqe come?"
    assert spelling(question) == {}
    assert spelling(question, cast.charlie) == {"Qwyzzlethorqe": "Qwyzzlethorpe"}


def test_only_whole_words_are_replaced() -> None:
    assert respelt("Proces of processing?", {"Proces": "Process"}) == "Process of processing?"
    assert respelt("a" * 100_000, {"a": "b"}) == "a" * 100_000


@pytest.mark.django_db(transaction=True)
async def test_a_misspelt_question_is_answered() -> None:
    cast = await sync_to_async(make_cast)()
    kenya, query = [LocatedText(ECONOMY)], "How much of the GDP does manufactoriing account for?"
    await sync_to_async(stored_document)(cast.team, "economy.pdf", b"economy", kenya, language="en")
    answer = await asked(cast, "tools/rag_search", {"query": query})
    assert answer["answered"] and "14% of the GDP" in answer["response"]
    found = await asked(cast, "search", {"query": query, "explain": True})
    read = {
        each["word"]: [term["read_as"] for term in each["terms"]] for each in found["explanation"]["words"]
    }
    assert (read["manufactoriing"], read["GDP"]) == (["manufactur"], [None])


async def asked(cast: Cast, path: str, body: dict[str, Any]) -> Any:
    response = await AsyncClient().post(
        f"/api/v1/{path}", json.dumps(body), content_type="application/json", headers=cast.headers("bob")
    )
    return response.json()
