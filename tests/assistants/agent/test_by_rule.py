"""The agent without a chat model: rules decide what is searched, and answers quote."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from pytest import Subtests

from assistants.agent.guard import addresses_in
from assistants.agent.planners import asks_for_web
from assistants.agent.sources import SourceBook
from tests.assistants.agent.asking import HOW_MUCH, SOLAR, ask, make_assistant
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.search.web.calling import QUERY, change, post
from tests.testing.search_engines import Failure, ProviderDouble
from tests.testing.web import Web

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def solar(people: Cast) -> None:
    await sync_to_async(indexed_document)(people.team, SOLAR)


async def test_documents_are_searched_and_cited(people: Cast, solar: None) -> None:
    result = await ask(people)
    assert "42 gigawatt hours" in result["response"] and result["answered"]
    assert [call["tool"] for call in result["calls"]] == ["rag_search"]
    assert result["stopped_by"] == "done" and "assistant" not in result


async def test_the_web_is_asked_where_documents_say_nothing(
    people: Cast, brave: ProviderDouble, solar: None
) -> None:
    result = await ask(people, QUERY)
    assert [call["tool"] for call in result["calls"]] == ["rag_search", "web_search"]
    assert "1893" in result["response"]


async def test_a_name_that_no_document_has_gets_no_answer_about_another(
    people: Cast, brave: ProviderDouble, solar: None
) -> None:
    question = "Who is the owner of the solar farm in Volkswagen?"
    alone = await ask(people, question, documents={})
    assert not alone["answered"] and "do not mention “Volkswagen”" in alone["response"]
    beside = await ask(people, question)
    assert [call["tool"] for call in beside["calls"]] == ["rag_search", "web_search"]
    deep = await ask(people, question, documents={}, deep=True)
    assert not deep["answered"] and "do not mention “Volkswagen”" in deep["response"]


async def test_the_web_is_asked_where_the_question_wants_it(
    people: Cast, brave: ProviderDouble, solar: None
) -> None:
    result = await ask(people, "What do the latest news say about the solar farm in Almería?")
    assert [call["tool"] for call in result["calls"]] == ["rag_search", "web_search"]


async def test_an_address_in_the_question_is_fetched(
    people: Cast, brave: ProviderDouble, site: Web, solar: None
) -> None:
    url = site.page("/keepers", b"<p>The keepers of the tower were two brothers from Cork.</p>")
    result = await ask(people, f"Who were the keepers of the tower? See {url}.")
    assert [call["tool"] for call in result["calls"]] == ["rag_search", "web_fetch"]
    assert "two brothers" in result["response"] and site.paths()[-1] == "/keepers"


async def test_a_failing_engine_leaves_the_documents(
    people: Cast, brave: ProviderDouble, solar: None
) -> None:
    brave.fail(Failure.SERVER_ERROR)
    result = await ask(people, f"{HOW_MUCH} Look at the web, too.")
    assert len(result["calls"]) == 2 and "42 gigawatt hours" in result["response"]


async def test_without_a_search_the_first_documents_are_read(people: Cast, solar: None) -> None:
    assistant = await make_assistant(people, tools=["list_documents", "read_document"])
    result = await ask(people, assistant_id=str(assistant.pk))
    assert [call["tool"] for call in result["calls"]] == ["list_documents", "read_document"]
    assert "42 gigawatt hours" in result["response"]


async def test_a_web_that_is_switched_off_is_not_asked(
    people: Cast, brave: ProviderDouble, solar: None
) -> None:
    await change(people, enabled=False)
    assert [call["tool"] for call in (await ask(people, QUERY))["calls"]] == ["rag_search"]
    refused = await post(people, "tools/agent", {"query": QUERY, "web": {}})
    assert refused.json()["error"]["code"] == "tool_disabled"
    online = await make_assistant(people, tools=["web_search"])
    refused = await post(people, "tools/agent", {"query": QUERY, "assistant_id": str(online.pk)})
    assert refused.json()["error"]["code"] == "tool_disabled"


async def test_a_request_narrows(people: Cast, brave: ProviderDouble, solar: None) -> None:
    only_documents = await ask(people, QUERY, documents={})
    assert [call["tool"] for call in only_documents["calls"]] == ["rag_search"]
    only_web = await ask(people, QUERY, web={})
    assert [call["tool"] for call in only_web["calls"]] == ["web_search"]
    assistant = await make_assistant(people, web={"whitelisted_domains": ["light.example"]})
    body = {
        "query": QUERY,
        "assistant_id": str(assistant.pk),
        "web": {"whitelisted_domains": ["tea.example"]},
    }
    assert (await post(people, "tools/agent", body)).json()["error"]["code"] in ("conflict", "tool_disabled")


def test_a_name_is_a_whole_word_of_the_question() -> None:
    """What a planner has asked for need not be what the answer is about."""
    book = SourceBook()
    book.note_unseen(["Ann", "Volkswagen"])
    assert book.unseen_names("What does the Annual Report of Volkswagen say?") == ("Volkswagen",)
    assert book.unseen_names("What does the Annual Report say?") == ()


def test_which_questions_want_the_web(subtests: Subtests) -> None:
    cases = {
        "What is the latest version?": True,
        "Was steht heute in den Nachrichten?": True,
        "Quelles sont les actualités ?": True,
        "¿Qué dicen las noticias?": True,
        HOW_MUCH: False,
        "Wie hoch ist der Turm?": False,
    }
    for question, wants in cases.items():
        with subtests.test(question=question):
            assert asks_for_web(question) == wants


def test_addresses_of_a_question() -> None:
    assert addresses_in("See (https://example.org/a), http://example.org and ftp://no.example/.") == [
        "https://example.org/a",
        "http://example.org/",
    ]
    assert addresses_in("https://user:word@example.org/ http://127.0.0.1:81/") == []
