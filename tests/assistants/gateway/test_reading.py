"""Responses that are read again: as their reader may see them now."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from accounts.access.keys import create_key
from assistants.gateway.response import response_id
from runs.models import Execution
from tests.conftest import Cast
from tests.factories import indexed_document

pytestmark = pytest.mark.django_db(transaction=True)
ASKED = {
    "model": "locus",
    "input": "How much did the solar farm produce in 2023?",
    "tools": [{"type": "rag_search"}],
}


def made(cast: Cast) -> Any:
    reply = Client().post(
        "/v1/responses", ASKED, content_type="application/json", headers=cast.headers("alice")
    )
    assert "gigawatt" in text_of(reply.json())
    return reply.json()


def read(response: Any, headers: dict[str, str]) -> Any:
    return Client().get(f"/v1/responses/{response['id']}", headers=headers)


def text_of(response: Any) -> str:
    return str(response["output"][-1]["content"][0]["text"])


def check_withheld(reply: Any) -> None:
    """Check that nothing of the document is left but its place among the results."""
    response = reply.json()
    assert (reply.status_code, response["status"]) == (200, "completed")
    assert text_of(response) == "" and response["output"][-1]["content"][0]["annotations"] == []
    assert "gigawatt" not in reply.content.decode()
    [result] = response["output"][0]["results"]
    assert (result["id"], result["snippet"], result["title"]) == (1, "", "")


def test_without_a_document_that_was_deleted(cast: Cast) -> None:
    document = indexed_document(cast.team)
    response = made(cast)
    assert (
        Client().delete(f"/api/v1/documents/{document.pk}", headers=cast.headers("alice")).status_code == 200
    )
    check_withheld(read(response, cast.headers("alice")))


def test_by_a_key_that_sees_less(cast: Cast) -> None:
    indexed_document(cast.team)
    response = made(cast)
    # It sees the workspace that has paid, and not the one whose document was read.
    _, narrow = create_key(cast.alice, "narrow", scopes=["read"], workspaces=[cast.alice.personal_workspace])
    check_withheld(read(response, {"X-API-KEY": narrow}))


def test_only_answers_are_responses(cast: Cast) -> None:
    indexed_document(cast.team)
    response = made(cast)
    execution = Execution.unscoped.get()
    assert response_id(execution.pk) == response["id"]
    for id in (execution.pk, "resp_", response["id"].removeprefix("resp_")):
        assert read({"id": id}, cast.headers("alice")).status_code == 404
    Execution.unscoped.update(tool="something_else")
    assert read(response, cast.headers("alice")).status_code == 404


def test_one_that_was_cancelled_says_so(cast: Cast) -> None:
    indexed_document(cast.team)
    response = made(cast)
    error = {"code": "cancelled", "message": "The execution was cancelled."}
    Execution.unscoped.update(status="cancelled", error=error, result={"response": "so far", "partial": True})
    again = read(response, cast.headers("alice")).json()
    assert (again["status"], again["error"]["code"], again["output"]) == ("cancelled", "cancelled", [])
