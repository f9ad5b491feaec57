"""Each step by itself, given the ids of others.

Where several steps follow each other, an earlier one hides what a later one lets through, so that no request
shows the gap.
"""

from __future__ import annotations

from contextlib import closing
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from accounts.access.identity import principal_of_user
from accounts.principal import Principal
from assistants.gateway.file_search.shapes import contents_of
from core.locations import LocatedText
from ingestion.bulk import FollowedDocuments
from kb import documents
from kb.access import live_chunks
from kb.api.documents import _reply
from kb.collections import add_collection, delete_collection, document_counts
from kb.embedding.spaces import active_space
from kb.index.phrases import narrow_to_phrases
from kb.index.view import open_view
from kb.models import Chunk, Document, Modality, Status
from kb.notifications.listing import documents_of
from kb.personal_export import export_documents
from kb.summaries import making
from kb.summaries.written import (
    WrittenStatement,
    WrittenSummary,
    store_written_summary,
    written_summary_of,
)
from kb.websocket import DocumentsConsumer
from runs.archives.exporting import _executions
from runs.models import Execution, ExecutionStatus
from search import candidates, crops, retrieval
from search.companions import _spellings, _tables_of_names
from search.continuations import _neighbours
from search.evaluation.collection import _Texts, collect, count_unfinished
from search.evaluation.datasets import BadDataset, Dataset, Judgement, Query
from search.inputs import QuestionInput, searched_workspaces
from search.passages import read_passages
from search.questions import Filters, Question
from tests.conftest import Cast
from tests.factories import stored_document

pytestmark = pytest.mark.django_db
TEXTS = ("The lighthouse keeper saw the ship.", "Nobody heard the keeper of the light.")


@pytest.fixture
def document(cast: Cast) -> Document:
    return stored_document(cast.team, "log.txt", b"log", map(LocatedText, TEXTS), tags=["sea"])


@pytest.fixture
def chunks(document: Document) -> list[Chunk]:
    return list(Chunk.unscoped.filter(document=document).order_by("ordinal"))


@pytest.fixture
def alice(cast: Cast) -> Principal:
    return principal_of_user(cast.alice)


@pytest.fixture
def charlie(cast: Cast) -> Principal:
    return principal_of_user(cast.charlie)


class TestSearch:
    def test_passages(self, alice: Principal, charlie: Principal, chunks: list[Chunk]) -> None:
        ids = [chunk.pk for chunk in chunks]
        assert [passage.chunk_id for passage in read_passages(alice, ids)] == ids
        assert read_passages(charlie, ids) == []

    def test_results(self, alice: Principal, charlie: Principal, chunks: list[Chunk]) -> None:
        ids = [chunk.pk for chunk in chunks]
        assert retrieval._read_chunks(alice, ids) == chunks
        assert retrieval._read_chunks(charlie, ids) == []

    @pytest.mark.usefixtures("in_segments")
    def test_the_index(self, alice: Principal, charlie: Principal, chunks: list[Chunk]) -> None:
        assert len(open_view(alice, active_space()).chunk_ids(np.arange(2))) == 2
        assert open_view(charlie, active_space()).segments == []

    def test_filters(self, alice: Principal, charlie: Principal, document: Document) -> None:
        question = Question("keeper", filters=Filters(tags=("sea",)))
        assert candidates._documents(alice, question) == frozenset({document.pk})
        assert candidates._documents(charlie, question) == frozenset()

    @pytest.mark.usefixtures("in_segments")
    def test_phrases(self, alice: Principal, charlie: Principal, chunks: list[Chunk]) -> None:
        view, question = open_view(alice, active_space()), '"lighthouse keeper"'
        assert narrow_to_phrases(alice, view, question) is not view
        # As if the phrase stood nowhere.
        assert narrow_to_phrases(charlie, view, question) is view

    def test_neighbours(self, alice: Principal, charlie: Principal, chunks: list[Chunk]) -> None:
        assert len(_neighbours(alice, chunks)) == 2
        assert _neighbours(charlie, chunks) == {}

    def test_spellings(self, alice: Principal, charlie: Principal, chunks: list[Chunk]) -> None:
        Chunk.unscoped.filter(pk=chunks[1].pk).update(text="Nobody heard the keeper of the light (KOL).")
        found = [retrieval.RankedChunk(chunks[0], 1.0, 0.9, retrieval.Scores())]
        assert [each.chunk.pk for each in _spellings(alice, found, "KOL")] == [chunks[1].pk]
        assert _spellings(charlie, found, "KOL") == []

    def test_tables_of_names(self, alice: Principal, charlie: Principal, chunks: list[Chunk]) -> None:
        row = "| | 2023 |\n| --- | --- |\n| Abatrel | 5 |"
        Chunk.unscoped.filter(pk=chunks[1].pk).update(text=row, modality=Modality.TABLE)
        found = [retrieval.RankedChunk(chunks[0], 1.0, 0.9, retrieval.Scores())]
        question = "How much has revenue of Abatrel grown?"
        assert [each.chunk.pk for each in _tables_of_names(alice, question, found)] == [chunks[1].pk]
        assert _tables_of_names(charlie, question, found) == []

    def test_pictures(
        self, alice: Principal, charlie: Principal, document: Document, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(crops, "is_multimodal", lambda workspace: True)
        picture: Any = SimpleNamespace(area="a box")
        contexts: list[Any] = [SimpleNamespace(document_id=document.pk, rank=1, picture=picture)]
        monkeypatch.setattr(crops, "_scanned_contexts", lambda eligible: [])
        assert crops._crops_wanted(alice, contexts) == [(1, document, picture.area)]
        assert crops._crops_wanted(charlie, contexts) == []

    def test_whose_settings_count(self, cast: Cast, charlie: Principal, document: Document) -> None:
        inputs = QuestionInput(query="keeper", document_ids=[document.pk])
        assert searched_workspaces(principal_of_user(cast.bob), inputs) == {cast.team.pk}
        assert searched_workspaces(charlie, inputs) == set()


class TestDocuments:
    def test_chunks(self, alice: Principal, charlie: Principal, document: Document) -> None:
        assert live_chunks(alice, document).count() == 2
        assert not live_chunks(charlie, document).exists()

    def test_one_that_is_uploaded_again(
        self, alice: Principal, charlie: Principal, document: Document
    ) -> None:
        assert documents._place(alice, document).get() == document
        assert not documents._place(charlie, document).exists()

    def test_the_reply_to_an_upload(self, alice: Principal, charlie: Principal, document: Document) -> None:
        request: Any = None
        for principal, shown in ((alice, 1), (charlie, 0)):
            reply = _reply(request, principal, [(str(document.pk), True)])
            assert len(reply.data["documents"]) == shown

    def test_collections(self, cast: Cast, alice: Principal, charlie: Principal, document: Document) -> None:
        collection = add_collection(alice, cast.team.pk, "Sea")
        Document.unscoped.update(collection_ids=[collection.pk])
        assert document_counts(alice, [collection.pk]) == {collection.pk: 1}
        assert document_counts(charlie, [collection.pk]) == {}
        assert contents_of(alice, [collection.pk])[collection.pk].bytes == document.size
        assert contents_of(charlie, [collection.pk])[collection.pk].bytes == 0
        delete_collection(charlie, collection)
        document.refresh_from_db()
        assert document.collection_ids

    def test_notifications(
        self, cast: Cast, alice: Principal, charlie: Principal, document: Document
    ) -> None:
        assert documents_of(alice, [document.pk]) == {document.pk: document}
        assert documents_of(charlie, [document.pk]) == {}


class TestSummaries:
    @pytest.fixture
    def indexed(self, document: Document, chunks: list[Chunk]) -> Document:
        document.indexed_at = document.created_at
        document.save(update_fields=["indexed_at"])
        return document

    def test_the_one_that_is_kept(self, alice: Principal, charlie: Principal, indexed: Document) -> None:
        making._make(charlie, indexed)
        assert Document.unscoped.get().summary is None
        indexed.summary = None
        making._make(alice, indexed)
        assert Document.unscoped.get().summary

    def test_its_sentences(self, alice: Principal, charlie: Principal, chunks: list[Chunk]) -> None:
        stored = {"abstract": [[str(chunks[0].pk), 0, 9]], "key_points": []}
        assert len(making._read(alice, stored).abstract) == 1
        assert making._read(charlie, stored).abstract == ()

    def test_what_a_model_has_written(
        self, alice: Principal, charlie: Principal, indexed: Document, chunks: list[Chunk]
    ) -> None:
        statement = WrittenStatement("A ship was seen.", [making.PlacedSentence(chunks[0], 0, 9)])
        summary = WrittenSummary("scripted", [statement], [])
        store_written_summary(charlie, indexed, summary)
        assert Document.unscoped.get().written_summary is None
        store_written_summary(alice, indexed, summary)
        indexed.refresh_from_db()
        assert written_summary_of(alice, indexed) == summary
        assert written_summary_of(charlie, indexed) == WrittenSummary("scripted", [], [])


class TestEvaluation:
    def test_texts(self, alice: Principal, charlie: Principal, document: Document) -> None:
        assert len(_Texts(alice).of(document.pk)) == 2
        assert _Texts(charlie).of(document.pk) == []

    def test_unfinished_documents(self, cast: Cast, alice: Principal, charlie: Principal) -> None:
        waiting = stored_document(cast.team, "later.txt", b"later", status=Status.QUEUED)
        assert count_unfinished(alice, [waiting.pk]) == 1
        assert count_unfinished(charlie, [waiting.pk]) == 0

    def test_judgements(self, cast: Cast, alice: Principal, charlie: Principal, document: Document) -> None:
        dataset = Dataset("sea", (Query("keeper", (Judgement(document.name),), "line 1"),))
        assert collect(alice, cast.team.pk, dataset, {}).cases
        with pytest.raises(BadDataset):
            collect(charlie, cast.team.pk, dataset, {})


def test_documents_that_a_command_follows(alice: Principal, charlie: Principal, document: Document) -> None:
    for principal, expected in ((alice, {document.pk: document}), (charlie, {})):
        with closing(FollowedDocuments(principal)) as followed:
            assert followed._documents([document.pk]) == expected


def test_news_of_documents(cast: Cast, alice: Principal, charlie: Principal, document: Document) -> None:
    def seen(principal: Principal) -> tuple[set[str], bool]:
        consumer: Any = SimpleNamespace(principal=principal)
        news = DocumentsConsumer._read(consumer, str(document.pk))
        return DocumentsConsumer._visible_ids(consumer, cast.team.pk), news is not None

    assert seen(alice) == ({str(document.pk)}, True)
    assert seen(charlie) == (set(), False)


def test_ones_own_documents(cast: Cast) -> None:
    """Of the customers of one's programs, nothing."""
    own = cast.alice.personal_workspace
    stored_document(own, "mine.txt", b"mine")
    stored_document(own, "theirs.txt", b"theirs", external_user_id="x")
    exported = repr(list(export_documents(cast.alice)))
    assert "mine.txt" in exported
    assert "theirs.txt" not in exported


def test_executions_in_an_archive(cast: Cast) -> None:
    done = {"tool": "rag_search", "inputs": {}, "status": ExecutionStatus.COMPLETED, "workspace": cast.team}
    mine = Execution.unscoped.create(user=cast.alice, **done)
    Execution.unscoped.create(user=cast.bob, **done)
    Execution.unscoped.create(user=cast.alice, external_user_id="x", **done)
    assert [line.id for line in _executions(cast.team, cast.alice)] == [mine.pk]
