"""The agent without a chat model: rules decide what is searched, and answers quote."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.conftest import Cast
from tests.factories import indexed_document

QUESTION = "How much did the solar farm in Almería produce in 2023?"
SOLAR = "The solar farm in Almería produced 42 gigawatt hours in 2023. Its owner is the town itself."


def ask(cast: Cast, body: dict[str, Any], name: str = "alice") -> Any:
    return Client().post(
        "/api/v1/tools/agent", body, content_type="application/json", headers=cast.headers(name)
    )


@pytest.mark.django_db(transaction=True)
def test_documents_are_searched_and_cited(cast: Cast) -> None:
    indexed_document(cast.team, SOLAR)
    result = ask(cast, {"query": QUESTION}).json()
    assert result["answered"], result
    assert "42 gigawatt hours" in result["response"]
    assert [call["tool"] for call in result["calls"]] == ["rag_search"]
    assert result["stopped_by"] == "done"
