"""What every index engine must do: find in a scope and nothing else, and never lose a change."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from procrastinate.contrib.django.models import ProcrastinateJob
from pytest_django import Settings

from accounts.access.identity import principal_of_user
from accounts.models import Session, Workspace
from accounts.principal import Principal
from core.locations import LocatedText
from ingestion.pipeline import embed
from kb.changes import Changes, change
from kb.chunks import ChunkDraft, swap_chunks
from kb.deletion import delete_document
from kb.doctor import CHECKS, examine
from kb.doctor.base import repair
from kb.embedding import active_space, embedding_model
from kb.index import switching
from kb.index.engines import milvus as milvus_engine
from kb.index.engines.base import Candidates, IndexEngine, IndexQuery, IndexScope
from kb.index.engines.registry import ENGINES, engine
from kb.index.errors import EngineUnavailable
from kb.index.milvus import changes
from kb.index.milvus.collection import MilvusCollection, chunk_weights, sparse_index, term_count
from kb.index.writing import forget, index_document
from kb.models import (
    Chunk,
    ChunkVector,
    Document,
    EmbeddingSpace,
    IndexChange,
    IndexedDocument,
    IndexedScope,
    ScopeTerm,
    SearchEngine,
    Segment,
    Status,
    Term,
)
from tests.conftest import Cast
from tests.factories import indexed_document, stored_document
from tests.testing.milvus import MilvusServer, milvus_server

# The packages of Milvus warn of what others have deprecated.
IGNORED = ("DeprecationWarning", "PendingDeprecationWarning", "ResourceWarning", "UserWarning")
pytestmark = [
    pytest.mark.django_db,
    *(pytest.mark.filterwarnings(f"ignore::{category}") for category in IGNORED),
]

LIGHTHOUSE = "The lighthouse at Nakkehoved was built in 1772. Its keeper baked bread for the fishermen."
TEXTS = [
    LIGHTHOUSE,
    "The tower of Kolding was built in 1843 by masons of the town.",
    "Herring is smoked in the harbour and sold in the town.",
    "Pumps of the old kind were built before 1990.",
    "A keeper of bees needs a hat, a smoker and patience.",
]


@pytest.fixture(autouse=True)
def _index_is_written() -> None:
    """What this module tests is when changes are made."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusServer]:
    with milvus_server(tmp_path_factory.mktemp("milvus")) as server:
        yield server


@pytest.fixture
def milvus(server: MilvusServer, settings: Settings) -> MilvusServer:
    """The settings name Milvus, with collections of this test alone."""
    settings.MILVUS_URI = server.uri
    settings.MILVUS_COLLECTION = f"test_{uuid4().hex}"
    settings.MILVUS_PARTITIONS = 4
    settings.SEARCH_ENGINE = "milvus"
    return server


@pytest.fixture(params=ENGINES)
def used(request: pytest.FixtureRequest, settings: Settings) -> IndexEngine:
    """Each engine in turn, chosen by the setting."""
    settings.SEARCH_ENGINE = request.param
    if request.param == "milvus":
        request.getfixturevalue("milvus")
    assert switching.active_engine().name == request.param
    return engine(request.param)


def find(
    used: IndexEngine,
    principal: Principal,
    text: str,
    *,
    count: int = 100,
    by_meaning: bool = True,
    by_words: bool = True,
    also: str = "",
    **scope: Any,
) -> Candidates:
    """Search after all noted changes have been made."""
    changes.apply_all()
    return find_now(
        used, principal, text, count=count, by_meaning=by_meaning, by_words=by_words, also=also, **scope
    )


def find_now(
    used: IndexEngine,
    principal: Principal,
    text: str,
    *,
    count: int = 100,
    by_meaning: bool = True,
    by_words: bool = True,
    also: str = "",
    **scope: Any,
) -> Candidates:
    """Search as things are."""
    embed = (lambda: embedding_model().embed_query(text)) if by_meaning else None
    query = IndexQuery(text, active_space(), count, embed, by_words, also)
    return used.candidates(IndexScope(principal, **scope), query, lambda stage: None)


def documents_of(found: Candidates) -> set[UUID]:
    """Return the documents of the candidates."""
    return set(Chunk.unscoped.filter(pk__in=found.ids).values_list("document_id", flat=True))


class TestFinding:
    def test_words_and_meaning_find_and_score(self, used: IndexEngine, cast: Cast) -> None:
        documents = [indexed_document(cast.team, text) for text in TEXTS]
        found = find(used, principal_of_user(cast.alice), "Who baked bread at the lighthouse?")
        place = found.places[Chunk.unscoped.get(document=documents[0]).pk]
        assert found.words[place] == found.words.max() > 0
        assert found.similarity[place] == found.similarity.max()
        assert found.coverage[place] == pytest.approx(1.0)
        assert {word.read_as for word in found.query_words} == {None}

    def test_both_engines_give_the_same_scores(self, milvus: MilvusServer, cast: Cast) -> None:
        for text in TEXTS:
            indexed_document(cast.team, text)
        alice, question = principal_of_user(cast.alice), "What was built in the town by the keeper?"
        also = "fishermen unheard"
        found = find(engine("milvus"), alice, question, also=also)
        for document in Document.unscoped.all():
            engine("segments").write(document.pk)
        expected = find(engine("segments"), alice, question, also=also)
        assert set(found.ids) == set(expected.ids)
        order = [found.places[id] for id in expected.ids]
        assert found.words[order] == pytest.approx(expected.words, rel=1e-4)
        assert found.similarity[order] == pytest.approx(expected.similarity, abs=1e-6)
        assert found.coverage[order] == pytest.approx(expected.coverage)
        assert {word.expansions for word in found.query_words} == {
            word.expansions for word in expected.query_words
        }

    def test_words_alone_find_only_what_holds_them(self, used: IndexEngine, cast: Cast) -> None:
        documents = [indexed_document(cast.team, text) for text in TEXTS]
        found = find(used, principal_of_user(cast.alice), "keeper", by_meaning=False)
        assert documents_of(found) == {documents[0].pk, documents[4].pk}
        assert np.isnan(found.similarity).all()

    def test_words_that_stand_for_others_count_where_they_occur(self, used: IndexEngine, cast: Cast) -> None:
        documents = [indexed_document(cast.team, text) for text in TEXTS]
        alice = principal_of_user(cast.alice)
        alone = find(used, alice, "keeper", by_meaning=False)
        found = find(used, alice, "keeper", by_meaning=False, also="lighthouse unheard keeper")
        place = found.places[Chunk.unscoped.get(document=documents[0]).pk]
        assert documents_of(alone) <= documents_of(found)
        assert found.words[place] > alone.words.max()
        assert found.coverage[place] == pytest.approx(1.0)
        assert [word.is_added for word in found.query_words] == [False, True]

    def test_meaning_alone_finds_without_words(self, used: IndexEngine, cast: Cast) -> None:
        [indexed_document(cast.team, text) for text in TEXTS]
        found = find(used, principal_of_user(cast.alice), "When was it built?", by_words=False, count=2)
        assert len(found.ids) == 2
        assert not found.words.any()

    def test_a_misspelt_word_is_read_as_a_similar_one(self, used: IndexEngine, cast: Cast) -> None:
        documents = [indexed_document(cast.team, text) for text in TEXTS]
        found = find(used, principal_of_user(cast.alice), "Nakehoved", by_meaning=False)
        assert documents_of(found) == {documents[0].pk}
        [word] = found.query_words
        assert word.read_as == "nakkehov"

    def test_what_stands_in_quotes_must_stand_there(self, used: IndexEngine, cast: Cast) -> None:
        documents = [indexed_document(cast.team, text) for text in TEXTS]
        found = find(used, principal_of_user(cast.alice), 'What is the "keeper of bees"?')
        assert documents_of(found) == {documents[4].pk}

    def test_a_chunk_without_a_vector_is_found_by_its_words(self, used: IndexEngine, cast: Cast) -> None:
        document = indexed_document(cast.team, LIGHTHOUSE)
        ChunkVector.objects.all().delete()
        index_document(document.pk)
        found = find(used, principal_of_user(cast.alice), "lighthouse")
        assert documents_of(found) == {document.pk}
        assert np.isnan(found.similarity).all()

    def test_it_tells_whether_all_that_may_be_found_was_compared(self, used: IndexEngine, cast: Cast) -> None:
        whole, lacking, others = (
            indexed_document(workspace, text)
            for workspace, text in zip(
                (cast.team, cast.team, Workspace.create_for(cast.charlie, name="Others")), TEXTS, strict=False
            )
        )
        for each in (lacking, others):
            ChunkVector.objects.filter(chunk__document=each).delete()
            index_document(each.pk)
        alice, bob = principal_of_user(cast.alice), principal_of_user(cast.bob)
        assert not find(used, alice, "lighthouse").is_complete
        assert find(used, alice, "lighthouse", documents=frozenset({whole.pk})).is_complete
        assert not find(used, alice, "lighthouse", documents=frozenset({lacking.pk})).is_complete
        gone = lacking.pk
        lacking.delete()
        forget([gone])
        assert find(used, bob, "lighthouse").is_complete
        assert not find(used, bob, "lighthouse", by_meaning=False).is_complete

    def test_an_installations_first_text_is_found_before_it_has_vectors(
        self, used: IndexEngine, cast: Cast
    ) -> None:
        document = stored_document(cast.team, "first.txt", b"first")
        swap_chunks(document.pk, [ChunkDraft(LocatedText(LIGHTHOUSE), (), ())], "en")
        assert not EmbeddingSpace.objects.exists()
        assert documents_of(find(used, principal_of_user(cast.alice), "lighthouse")) == {document.pk}

    def test_nothing_is_found_in_nothing(self, used: IndexEngine, cast: Cast) -> None:
        assert find(used, principal_of_user(cast.alice), "lighthouse").ids == []

    def test_a_long_document_is_found_whole(self, used: IndexEngine, cast: Cast, monkeypatch: Any) -> None:
        monkeypatch.setattr(changes, "CHUNKS_AT_ONCE", 2)
        texts = [LocatedText(f"Chapter {number}: herring.") for number in range(5)]
        document = stored_document(cast.team, "book.txt", b"book", texts)
        assert len(find(used, principal_of_user(cast.alice), "herring").ids) == 5
        assert used.indexed_documents({document.pk}) == {document.pk: 5}


class TestScope:
    def test_each_principal_finds_exactly_what_it_may(self, used: IndexEngine, cast: Cast) -> None:
        open_workspace = Workspace.create_for(cast.alice, name="open")
        Workspace.objects.filter(pk=open_workspace.pk).update(share_with_external_users=True)
        places: list[tuple[Workspace, str | None]] = [
            (workspace, user) for workspace in (cast.team, open_workspace) for user in (None, "ann", "ben")
        ]
        sessions = [
            Session.unscoped.create(user=cast.alice, workspace=cast.team, external_user_id=user)
            for user in (None, "ann")
        ]
        for workspace, user in places:
            indexed_document(workspace, LIGHTHOUSE, external_user_id=user)
        for session in sessions:
            indexed_document(
                cast.team, LIGHTHOUSE, external_user_id=session.external_user_id, session=session
            )
        alice = principal_of_user(cast.alice)
        principals = [alice, principal_of_user(cast.bob), principal_of_user(cast.charlie)]
        principals += [alice.for_external_user(user) for user in ("ann", "ben", "eve")]
        principals += [within(alice, sessions[0]), within(alice.for_external_user("ann"), sessions[1])]
        numbers = []
        for principal in principals:
            visible = set(Document.objects.restricted_to(principal).values_list("pk", flat=True))
            assert documents_of(find(used, principal, "lighthouse keeper")) == visible
            numbers.append(len(visible))
        assert numbers == [2, 1, 0, 3, 3, 1, 3, 4]

    def test_words_of_others_change_no_weight(self, used: IndexEngine, cast: Cast) -> None:
        indexed_document(cast.team, LIGHTHOUSE)
        alice = principal_of_user(cast.alice)
        before = find(used, alice, "lighthouse")
        for user in ("ann", "ben"):
            indexed_document(cast.team, LIGHTHOUSE, external_user_id=user)
        indexed_document(Workspace.create_for(cast.charlie, name="theirs"), LIGHTHOUSE)
        after = find(used, alice, "lighthouse")
        weights = [[dict(word.idf) for word in found.query_words] for found in (before, after)]
        assert weights[0] == weights[1]
        assert after.words.tolist() == before.words.tolist()

    def test_a_search_can_be_narrowed(self, used: IndexEngine, cast: Cast) -> None:
        other = Workspace.create_for(cast.alice, name="other")
        documents = [indexed_document(workspace, LIGHTHOUSE) for workspace in (cast.team, other)]
        alice = principal_of_user(cast.alice)
        assert documents_of(find(used, alice, "keeper", workspaces=[other.pk])) == {documents[1].pk}
        only = frozenset({documents[0].pk})
        assert documents_of(find(used, alice, "keeper", documents=only)) == only
        assert find(used, alice, "keeper", workspaces=[other.pk], documents=only).ids == []
        assert find(used, alice, "keeper", documents=frozenset()).ids == []
        assert find(used, principal_of_user(cast.charlie), "keeper", documents=only).ids == []

    @pytest.mark.parametrize("named", [100, 2])
    def test_conditions_stay_short_however_many_documents_are_searched(
        self, milvus: MilvusServer, cast: Cast, monkeypatch: pytest.MonkeyPatch, named: int
    ) -> None:
        monkeypatch.setattr(milvus_engine, "MOST_DOCUMENTS", 2)
        monkeypatch.setattr(milvus_engine, "MOST_SCOPES", 2)
        monkeypatch.setattr(milvus_engine, "MOST_NAMED", named)
        used, alice = engine("milvus"), principal_of_user(cast.alice)
        documents = [
            indexed_document(Workspace.create_for(cast.alice, name=f"number {number}"), LIGHTHOUSE)
            for number in range(5)
        ]
        alice = principal_of_user(cast.alice)
        wanted = frozenset(document.pk for document in documents[1:])
        assert documents_of(find(used, alice, "keeper", documents=wanted)) == wanted
        assert len(find(used, alice, "keeper").ids) == 5
        # More is looked at as long as too little of it is wanted.
        one = frozenset({documents[4].pk, uuid4(), uuid4(), uuid4()})
        assert documents_of(find(used, alice, "keeper", documents=one, count=1)) == {documents[4].pk}


def within(principal: Principal, session: Session) -> Principal:
    """Return the principal in a conversation."""
    return replace(principal, session_id=session.pk)


class TestChanges:
    def test_a_deleted_document_is_gone_at_once(self, used: IndexEngine, cast: Cast) -> None:
        gone, kept = (indexed_document(cast.team, LIGHTHOUSE) for _ in range(2))
        alice = principal_of_user(cast.alice)
        assert len(find(used, alice, "lighthouse").ids) == 2
        delete_document(gone)
        assert documents_of(find_now(used, alice, "lighthouse")) == {kept.pk}
        # Also where the engine proposes what is gone first.
        assert documents_of(find_now(used, alice, "lighthouse", count=1)) == {kept.pk}
        assert documents_of(find(used, alice, "lighthouse")) == {kept.pk}
        assert used.indexed_documents({gone.pk, kept.pk}) == {kept.pk: 1}

    def test_a_moved_document_is_found_where_it_is(self, used: IndexEngine, cast: Cast) -> None:
        other = Workspace.create_for(cast.alice, name="other")
        document = indexed_document(cast.team, LIGHTHOUSE)
        alice, bob = principal_of_user(cast.alice), principal_of_user(cast.bob)
        assert find(used, bob, "lighthouse").ids
        change(alice, document, Changes(workspace_id=other.pk))
        assert find_now(used, bob, "lighthouse").ids == []
        assert find(used, bob, "lighthouse").ids == []
        assert documents_of(find(used, alice, "lighthouse", workspaces=[other.pk])) == {document.pk}

    def test_replaced_chunks_are_not_found(self, used: IndexEngine, cast: Cast) -> None:
        document = indexed_document(cast.team, LIGHTHOUSE)
        alice = principal_of_user(cast.alice)
        assert find(used, alice, "lighthouse").ids
        drafts = [ChunkDraft(LocatedText("Herring is smoked."), (), ())]
        swap_chunks(document.pk, drafts, "en")
        assert find_now(used, alice, "lighthouse", by_meaning=False).ids == []
        assert find(used, alice, "lighthouse", by_meaning=False).ids == []
        assert documents_of(find(used, alice, "herring", by_meaning=False)) == {document.pk}

    def test_all_vectors_of_another_model_are_there_before_it_is_searched(
        self, used: IndexEngine, cast: Cast
    ) -> None:
        document = indexed_document(cast.team, LIGHTHOUSE)
        changes.apply_all()
        space = EmbeddingSpace.objects.create(model="other", revision="1", dimensions=3)
        chunk = Chunk.unscoped.get(document=document)
        ChunkVector.objects.create(chunk=chunk, space=space, embedding=[0.0, 1.0, 0.0])
        used.complete(space)
        vector = np.array([0.0, 1.0, 0.0], np.float32)
        query = IndexQuery("?", space, 10, lambda: vector, by_words=False)
        alice = principal_of_user(cast.alice)
        found = used.candidates(IndexScope(alice), query, lambda stage: None)
        assert (found.ids, found.similarity.tolist()) == ([chunk.pk], [1.0])

    def test_a_cleared_engine_holds_nothing(self, used: IndexEngine, cast: Cast) -> None:
        document = indexed_document(cast.team, LIGHTHOUSE)
        changes.apply_all()
        used.clear()
        assert used.indexed_documents({document.pk}) == {}
        assert find(used, principal_of_user(cast.alice), "lighthouse").ids == []
        assert not any(model.objects.exists() for model in (ScopeTerm, IndexedDocument, IndexChange))
        assert not IndexedScope.unscoped.exists()


class TestMilvus:
    def test_words_of_deleted_documents_are_forgotten(self, milvus: MilvusServer, cast: Cast) -> None:
        document = indexed_document(cast.team, "Qwyzzlethorpe is a village.")
        changes.apply_index_changes(0)
        assert Term.objects.filter(text__startswith="qwyzzle").exists()
        delete_document(document)
        changes.apply_index_changes(0)
        assert not Term.objects.filter(text__startswith="qwyzzle").exists()
        assert not ScopeTerm.objects.exists()
        [scope] = IndexedScope.unscoped.all()
        assert (scope.chunks, scope.length) == (0, 0)
        chunk_ids = list(Chunk.unscoped.values_list("pk", flat=True))
        assert MilvusCollection.of(active_space()).read(chunk_ids) == {}

    def test_counts_follow_every_change(self, milvus: MilvusServer, cast: Cast) -> None:
        document = indexed_document(cast.team, LIGHTHOUSE)
        for _ in range(2):
            index_document(document.pk)
            changes.apply_all()
        assert set(ScopeTerm.objects.values_list("chunks", flat=True)) == {1}
        assert IndexedDocument.objects.get().chunks == IndexedScope.unscoped.get().chunks == 1

    def test_a_change_during_the_writing_is_not_lost(
        self, milvus: MilvusServer, cast: Cast, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        document = indexed_document(cast.team, LIGHTHOUSE)
        write = changes._write

        def write_and_change(*arguments: Any) -> Any:
            written = write(*arguments)
            monkeypatch.undo()
            changes.note([document.pk])
            return written

        monkeypatch.setattr(changes, "_write", write_and_change)
        changes.apply(document.pk)
        assert IndexChange.objects.filter(pk=document.pk).exists()
        changes.apply(document.pk)
        assert not IndexChange.objects.exists()

    def test_one_bad_document_holds_up_no_other(
        self, milvus: MilvusServer, cast: Cast, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bad, good = (indexed_document(cast.team, LIGHTHOUSE) for _ in range(2))
        write = changes._write

        def write_others(document: Document, version: int) -> Any:
            if document == bad:
                raise ValueError
            return write(document, version)

        monkeypatch.setattr(changes, "_write", write_others)
        changes.apply_index_changes(0)
        assert list(IndexChange.objects.values_list("pk", flat=True)) == [bad.pk]
        assert engine("milvus").indexed_documents({bad.pk, good.pk}) == {good.pk: 1}

    def test_one_document_that_is_refused_holds_up_no_other(
        self, milvus: MilvusServer, cast: Cast, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Milvus says no in the same words whether it is away or does not take what it was given."""
        refuse(monkeypatch, bad := indexed_document(cast.team, LIGHTHOUSE))
        good = indexed_document(cast.team, LIGHTHOUSE)
        for _ in range(2):
            changes.apply_index_changes(0)
        assert list(IndexChange.objects.values_list("pk", flat=True)) == [bad.pk]
        assert engine("milvus").indexed_documents({bad.pk, good.pk}) == {good.pk: 1}

    def test_while_the_server_is_away_nothing_is_lost(
        self, milvus: MilvusServer, cast: Cast, settings: Settings
    ) -> None:
        settings.MILVUS_TIMEOUT_SECS = 0.5
        used, alice = engine("milvus"), principal_of_user(cast.alice)
        first = indexed_document(cast.team, LIGHTHOUSE)
        assert find(used, alice, "lighthouse").ids
        milvus.stop()
        try:
            with pytest.raises(EngineUnavailable):
                find_now(used, alice, "lighthouse")
            assert not used.health().is_reachable
            document = indexed_document(cast.team, LIGHTHOUSE)
            Document.unscoped.filter(pk=document.pk).update(status=Status.INDEXING)
            # Its ingestion ends without an error and waits.
            embed(document.pk, lambda: False)
            changes.apply_index_changes(0)
            assert Document.unscoped.get(pk=document.pk).status == Status.INDEXING
            assert IndexChange.objects.get(pk=document.pk).is_awaited
            assert {"search_engine_away"} <= faults()
        finally:
            milvus.start()
        settings.MILVUS_TIMEOUT_SECS = 5.0
        # gRPC connects again after a pause of its own.
        while not used.health().is_reachable:
            time.sleep(0.1)
        changes.apply_index_changes(0)
        assert documents_of(find_now(used, alice, "lighthouse")) == {first.pk, document.pk}
        assert ProcrastinateJob.objects.filter(task_name="embed_document").count() == 1
        embed(document.pk, lambda: False)
        assert Document.unscoped.get(pk=document.pk).status == Status.READY
        assert not faults()

    def test_doctor_repairs_what_milvus_lacks(self, milvus: MilvusServer, cast: Cast) -> None:
        document = indexed_document(cast.team, LIGHTHOUSE)
        changes.apply_all()
        IndexedDocument.objects.all().delete()
        assert faults() == {"wrong_index"}
        for check in CHECKS:
            repair(examine(check))
        changes.apply_all()
        assert not faults()
        assert documents_of(find(engine("milvus"), principal_of_user(cast.alice), "keeper")) == {document.pk}

    def test_a_count_is_read_back_from_its_weight(self) -> None:
        terms = ["often"] * 255 + ["twice"] * 2 + ["once"]
        weights = chunk_weights(terms)
        for term, count in (("often", 255), ("twice", 2), ("once", 1)):
            weight = float(np.float32(weights[sparse_index(term)]))
            assert term_count(weight, len(terms)) == count


class TestSwitching:
    def test_the_old_engine_serves_until_the_new_one_has_all(
        self, milvus: MilvusServer, cast: Cast, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings.SEARCH_ENGINE = "segments"
        documents = [indexed_document(cast.team, text) for text in TEXTS]
        alice = principal_of_user(cast.alice)
        settings.SEARCH_ENGINE = "milvus"
        assert "“segments” while “milvus” is filled" in switching.start()
        monkeypatch.setattr(switching, "AT_ONCE", 2)
        row = SearchEngine.objects.get(name="milvus")
        ends = iter([time.monotonic() + 3600, 0.0])
        monkeypatch.setattr(switching, "monotonic", lambda: next(ends, float("inf")))
        assert not switching.fill(row, until=1.0)
        monkeypatch.undo()
        assert switching.active_engine().name == "segments"
        # What is stored or deleted meanwhile reaches both.
        late = indexed_document(cast.team, LIGHTHOUSE)
        delete_document(documents[1])
        switching.switch_engine(0)
        assert switching.active_engine().name == "milvus"
        state = switching.state()
        assert (state.done, state.total) == (5, 5)
        expected = {document.pk for document in [*documents, late] if document != documents[1]}
        assert documents_of(find(engine("milvus"), alice, "the town was built")) == expected
        SearchEngine.objects.filter(name="segments").update(changed_at="2026-01-01T00:00Z")
        switching.switch_engine(0)
        assert not Segment.unscoped.exists()
        assert list(SearchEngine.objects.values_list("name", flat=True)) == ["milvus"]
        assert not faults()

    def test_a_document_that_the_filling_missed_is_written(
        self, milvus: MilvusServer, cast: Cast, settings: Settings
    ) -> None:
        settings.SEARCH_ENGINE = "segments"
        document = indexed_document(cast.team, LIGHTHOUSE)
        settings.SEARCH_ENGINE = "milvus"
        switching.begin()
        row = SearchEngine.objects.get(name="milvus")
        row.filled_to = UUID(int=(1 << 128) - 1)
        row.save()
        until = time.monotonic() + 3600
        assert not switching.fill(row, until)
        assert switching.fill(row, until)
        assert engine("milvus").indexed_documents({document.pk}) == {document.pk: 1}

    def test_the_command_shows_the_engines_and_switches(
        self, milvus: MilvusServer, cast: Cast, settings: Settings, capsys: pytest.CaptureFixture[str]
    ) -> None:
        settings.SEARCH_ENGINE = "segments"
        indexed_document(cast.team, LIGHTHOUSE)
        settings.SEARCH_ENGINE = "milvus"
        call_command("reindex", "--status")
        assert "segments is searched; milvus has 0 of 1 documents" in capsys.readouterr().out
        call_command("reindex")
        assert switching.active_engine().name == "milvus"

    def test_an_unknown_engine_is_named(self, settings: Settings) -> None:
        settings.SEARCH_ENGINE = "lucene"
        with pytest.raises(ImproperlyConfigured, match="SEARCH_ENGINE must be one of segments, milvus"):
            switching.start()


def refuse(monkeypatch: pytest.MonkeyPatch, bad: Document) -> None:
    """Let Milvus refuse to write a document."""
    write = changes._write

    def write_others(document: Document, version: int) -> Any:
        if document == bad:
            raise EngineUnavailable
        return write(document, version)

    monkeypatch.setattr(changes, "_write", write_others)


def faults() -> set[str]:
    """Return the kinds of faults that the doctor finds in the index."""
    of_index = {"wrong_index", "search_engine_away", "index_changes_wait"}
    return {check.code for check in CHECKS if check.code in of_index and examine(check).count}


def test_all_paths_exist() -> None:
    """A typing error in the registry is found here and not by an operator."""
    assert {engine(name).name for name in ENGINES} == set(ENGINES)
