"""Summaries by a model: each sentence stands on the document; without a model nothing is missing."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import DailyUsage
from core.llm.payment import Payment
from kb.models import Chunk, Document
from search.generation import scripted
from search.generation.base import GenerationRequest, TextStream
from tests.conftest import Cast
from tests.kb.test_summaries import PARTS, document, summary

__all__ = ["document"]
pytestmark = pytest.mark.django_db(transaction=True)
SCRIPT = """Gull Island Light was built in 1871 from grey granite. <source_1> It is made of cheese. <source_2>

- Since 1988 the light has worked without a keeper. <source_4>
- **The lens** weighs 1,340 kilograms and floats in mercury. <source_5>
- Nobody ever lived on the moon."""


def write(cast: Cast, document: Document, who: str = "alice", status: int = 200) -> Any:
    client = Client(headers=cast.headers(who))
    response = client.post(f"/api/v1/documents/{document.pk}/summary/written")
    assert response.status_code == status, response.content
    return response.json()


@pytest.fixture
def model(settings: Settings) -> None:
    settings.GENERATION_PROVIDER, settings.GENERATION_MODEL = "scripted", SCRIPT


def test_each_sentence_stands_on_the_document(cast: Cast, document: Document, model: None) -> None:
    assert summary(cast, document).json()["written"] is None
    written = write(cast, document)
    assert [each["text"] for each in written["abstract"]] == [
        "Gull Island Light was built in 1871 from grey granite."
    ]
    assert [each["text"] for each in written["key_points"]] == [
        "Since 1988 the light has worked without a keeper.",
        "The lens weighs 1,340 kilograms and floats in mercury.",
    ]
    for each, part in zip([*written["abstract"], *written["key_points"]], (0, 3, 4), strict=True):
        [source] = each["sources"]
        chunk = Chunk.unscoped.get(pk=source["chunk_id"])
        assert chunk.text.startswith(PARTS[part][:20])
        assert source["text"] in " ".join(chunk.text.split()) and source["bbox"]
    # It is read with the other one, by everybody who may read the document.
    assert summary(cast, document, "bob").json()["written"] == written
    assert summary(cast, document).json()["key_points"]


def test_it_is_written_once_for_each_state_of_the_document(
    cast: Cast, document: Document, model: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[GenerationRequest] = []
    answer = scripted.ScriptedGenerator.answer

    def counted(self: scripted.ScriptedGenerator, request: GenerationRequest, payment: Payment) -> TextStream:
        asked.append(request)
        return answer(self, request, payment)

    monkeypatch.setattr(scripted.ScriptedGenerator, "answer", counted)
    assert write(cast, document) == write(cast, document, "bob")
    assert len(asked) == 1
    assert len(asked[0].contexts) == len(PARTS)
    stored = Document.unscoped.get(pk=document.pk)
    assert stored.indexed_at is not None
    Document.unscoped.filter(pk=document.pk).update(indexed_at=stored.indexed_at.replace(year=2030))
    assert summary(cast, document).json()["written"] is None
    write(cast, document)
    assert len(asked) == 2
    used = DailyUsage.unscoped.filter(user_id=cast.alice.pk, workspace_id=cast.team.pk)
    assert sum(each.output_tokens for each in used) > 0


def test_without_a_model_the_extractive_one_is_all(cast: Cast, document: Document) -> None:
    assert "No language model" in write(cast, document, status=400)["error"]["message"]
    assert summary(cast, document).json()["state"] == "ready"


def test_what_the_document_does_not_support_is_no_summary(
    cast: Cast, document: Document, settings: Settings
) -> None:
    settings.GENERATION_PROVIDER, settings.GENERATION_MODEL = "scripted", "The moon is cheese. <source_1>"
    assert write(cast, document, status=502)["error"]["code"] == "provider_error"
    body = summary(cast, document).json()
    assert body["state"] == "ready" and body["written"] is None


def test_strangers_and_empty_budgets(
    cast: Cast, document: Document, model: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(cast, document, "charlie", status=404)
    payers: list[Any] = []

    def payment(payer: Any) -> Any:
        payers.append(payer())
        return None

    monkeypatch.setattr("search.summaries.LedgerPayment", payment)
    write(cast, document, "bob")
    [payer] = payers
    assert (payer.workspace_id, payer.owner.user_id) == (cast.team.pk, cast.bob.pk)
    assert payer.max_cost is None or payer.max_cost > Decimal(0)
