"""`answer`: documents and web in one answer, without a stored conversation."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from pytest import Subtests

from assistants.models import ChatMessage
from tests.conftest import Cast
from tests.factories import indexed_document

QUESTION = "How much did the solar farm in Almería produce in 2023?"


def ask(cast: Cast, body: dict[str, Any], name: str = "alice") -> Any:
    headers = cast.headers(name)
    return Client().post("/api/v1/tools/answer", body, content_type="application/json", headers=headers)


@pytest.mark.django_db(transaction=True)
def test_documents_with_an_earlier_turn(cast: Cast) -> None:
    indexed_document(cast.team)
    said = {"question": QUESTION, "answer": "The solar farm produced 42 gigawatt hours in 2023."}
    result = ask(cast, {"query": "And who is its owner?", "history": [said], "documents": {}}).json()
    assert result["answered"]
    assert result["asked"].startswith("And who is its owner?") and "solar farm" in result["asked"]
    assert [call["tool"] for call in result["calls"]] == ["rag_search"]
    assert (result["sources"], result["web"]) == ([], None)
    assert not ChatMessage.unscoped.exists()


@pytest.mark.django_db(transaction=True)
def test_limits_of_its_documents(cast: Cast) -> None:
    indexed_document(cast.team)
    other = indexed_document(cast.team, "The lighthouse in Almería produced light in 2023.", name="light.pdf")
    result = ask(cast, {"query": QUESTION, "documents": {"document_ids": [str(other.pk)], "limit": 1}}).json()
    assert [context["document_id"] for context in result["contexts"]] == [str(other.pk)]


def test_what_is_refused(cast: Cast, subtests: Subtests) -> None:
    id = str(indexed_document(cast.team).pk)
    cases: list[tuple[dict[str, Any], int, str]] = [
        ({}, 400, "documents"),
        ({"documents": {"document_id": id}}, 400, "documents.document_id"),
        ({"documents": {}, "history": [{"question": " "}]}, 400, "history[0].question"),
        ({"documents": {"document_ids": [id]}}, 404, "documents.document_ids[0]"),
        ({"web": {"count": 0}}, 400, "web.count"),
    ]
    for more, status, param in cases:
        with subtests.test(param=param):
            reply = ask(cast, {"query": QUESTION} | more, "charlie")
            assert (reply.status_code, reply.json()["error"]["param"]) == (status, param)
    assert ask(cast, {"query": QUESTION, "web": {}}).json()["error"]["code"] == "tool_disabled"
