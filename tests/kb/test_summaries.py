"""Summaries of documents: sentences with places, kept, made anew after processing, and never for others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.test import Client

from accounts.principal import Principal
from core.locations import LocatedText
from kb.embedding.calibration import MINILM
from kb.models import Chunk, Document, Searchable
from kb.summaries import making
from kb.summaries.extractive import Extracted, SummaryChunk, extract_summary, stands_alone
from tests.conftest import Cast
from tests.factories import located_words, pdf_of, stored_document

PARTS = [
    "Gull Island Light was built in 1871 from grey granite by the harbour board. Its lamp burned whale oil.",
    "Three keepers lived on Gull Island with their families until 1988. They noted the weather each day.",
    "In the winter of 1902 the supply boat did not come to Gull Island for eleven weeks. They baked bread.",
    "Since 1988 the light of Gull Island has worked without a keeper. A technician visits it twice a year.",
    "The lens of Gull Island Light weighs 1,340 kilograms and floats in a basin of mercury. It is old.",
    "Ships see the light of Gull Island from nineteen nautical miles away on a clear night. This is far.",
]


@pytest.fixture
def document(cast: Cast) -> Document:
    """A document of six chunks with boxes, as if it had just been indexed."""
    document = stored_document(
        cast.team, "light.pdf", pdf_of(PARTS[0]), [located_words(pdf_of(part)) for part in PARTS]
    )
    Document.unscoped.filter(pk=document.pk).update(indexed_at=document.created_at)
    return document


def summary(cast: Cast, document: Document, who: str = "alice", **headers: str) -> Any:
    client = Client(headers=cast.headers(who) | headers)
    return client.get(f"/api/v1/documents/{document.pk}/summary")


def test_each_sentence_stands_where_it_says(cast: Cast, document: Document) -> None:
    body = summary(cast, document).json()
    assert body["state"] == "ready"
    sentences = [*body["abstract"], *body["key_points"]]
    assert len(body["abstract"]) >= 1
    assert len(body["key_points"]) >= 3
    assert len({(each["chunk_id"], each["start"]) for each in sentences}) == len(sentences)
    for each in sentences:
        chunk = Chunk.unscoped.get(pk=each["chunk_id"])
        assert " ".join(chunk.text[each["start"] : each["end"]].split()) == each["text"]
        assert each["page_number"] == 1
        assert each["bbox"]
        assert not each["text"].startswith(("They", "This", "It"))


def test_who_may_read_it_shares_one_and_others_see_nothing(cast: Cast, document: Document) -> None:
    assert summary(cast, document, "bob").json()["key_points"]
    kept = Document.unscoped.get(pk=document.pk).summary
    assert kept
    assert PARTS[0][:20] not in str(kept)
    assert summary(cast, document, "alice").json() == summary(cast, document, "bob").json()
    unknown = Client(headers=cast.headers("charlie")).get(
        "/api/v1/documents/00000000-0000-4000-8000-000000000000/summary"
    )
    refused = summary(cast, document, "charlie")
    assert (refused.status_code, refused.json()) == (404, unknown.json())


def test_it_is_made_once_for_each_processing(
    cast: Cast, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Document] = []
    extract = making._extract

    def counted(principal: Principal, document: Document) -> tuple[list[Chunk], Extracted]:
        made.append(document)
        return extract(principal, document)

    monkeypatch.setattr(making, "_extract", counted)
    first, again = summary(cast, document).json(), summary(cast, document).json()
    assert (first, len(made)) == (again, 1)
    Document.unscoped.filter(pk=document.pk).update(indexed_at=document.updated_at)
    summary(cast, document)
    assert len(made) == 2


def test_before_it_is_indexed_there_is_none(cast: Cast, document: Document) -> None:
    Document.unscoped.filter(pk=document.pk).update(searchable=Searchable.WORDS)
    body = summary(cast, document).json()
    assert (body["state"], body["abstract"], body["key_points"]) == ("pending", [], [])


def test_a_short_document_is_its_own_summary(cast: Cast) -> None:
    short = stored_document(cast.team, "short.txt", b"x", [LocatedText("One line, and no more than that.")])
    Document.unscoped.filter(pk=short.pk).update(indexed_at=short.created_at)
    assert summary(cast, short).json()["state"] == "too_short"


def test_a_document_without_chunks_has_none(cast: Cast) -> None:
    empty = stored_document(cast.team, "empty.txt", b"x", searchable=Searchable.FULL)
    Document.unscoped.filter(pk=empty.pk).update(indexed_at=empty.created_at)
    assert summary(cast, empty).json()["state"] == "too_short"


def test_who_waits_too_long_is_told_so(
    cast: Cast, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "LONGEST_WAIT_SECS", 0.0)
    with making._turn():
        reply = summary(cast, document)
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "overloaded")


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("The lighthouse on Gull Island was built in 1871.", True),
        ("However, the lighthouse was built much later than that.", False),
        ("lighthouse on Gull Island was built in 1871.", False),
        ("The Lighthouse", False),
        ("Annual Report Gull Island Light Harbour Board Page Seven.", False),
        ("1 2 3 4 5 6 7 8 9 10 11 12 13.", False),
    ],
)
def test_which_sentences_can_stand_alone(text: str, alone: bool) -> None:
    assert stands_alone(text) is alone


def test_tables_references_and_repetitions_are_left_out() -> None:
    sentence = "The lighthouse on Gull Island was built of granite in {}."
    chunks = [
        SummaryChunk(text := sentence.format(1870 + at), ["History"], [(0, len(text))], is_text=True)
        for at in range(6)
    ]
    table = "| Year | Ships |\n|---|---|\n| 1871 | 12 |"
    cited = "The author wrote of Gull Island in a journal of history."
    chunks += [
        SummaryChunk(table, [], [(0, len(table))], is_text=True),
        SummaryChunk(cited, ["References"], [(0, len(cited))], is_text=True),
    ]
    vectors = np.eye(8, 16, dtype=np.float32)
    extracted = extract_summary(
        chunks, vectors, MINILM, lambda texts: np.eye(len(texts), 16, dtype=np.float32)
    )
    assert {place.chunk for place in (*extracted.abstract, *extracted.key_points)} <= set(range(6))
    same = extract_summary(chunks, vectors, MINILM, lambda texts: np.full((len(texts), 16), 0.25, np.float32))
    assert len((*same.abstract, *same.key_points)) == 1
