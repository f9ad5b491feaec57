"""After a change of the analysis the index is renewed in the background; the old one serves until then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from hypothesis import given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st
from procrastinate.contrib.django.models import ProcrastinateJob
from pytest_django import Settings

from accounts.access.identity import principal_of_user
from core.text import analysis
from kb.deletion import delete_document
from kb.doctor import CHECKS, examine, repair
from kb.doctor.index import OUTDATED_TERMS, WRONG_INDEX, WRONG_TERMS
from kb.embedding import active_space, embedding_model
from kb.index import renewing
from kb.index.merging import merge, postings_of
from kb.index.nearest import best, similarities, worth_comparing
from kb.index.renewing import outdated, renew, renew_all, renew_segments
from kb.index.segments import ScopeKey, index_document
from kb.index.view import View, open_view
from kb.index.words import question_words, score_words
from kb.models import FIRST_ANALYSIS, Chunk, Document, Segment, SegmentTerm, Term
from tests.conftest import Cast
from tests.factories import indexed_document

pytestmark = pytest.mark.usefixtures("in_segments")

TEXTS = [
    "The lighthouse at Nakkehoved was built in 1772. Its keeper baked bread for the fishermen of the coast.",
    "Part number E-505 replaces E-504 in all pumps. Pumps built before 1990 keep the old part.",
    "The fishermen of the coast catch herring. Herring is smoked and sold in the town.",
    "A town of fishermen, a coast of lighthouses, and no pumps at all.",
]
QUESTIONS = ["fishermen of the coast", "pumps built before 1990", "E-505", "herring lighthouse", "qwyzzle"]
PRESENT = analysis.ANALYSIS_VERSION
Change = Callable[[], None]


@pytest.fixture
def change(monkeypatch: pytest.MonkeyPatch) -> Change:
    """Make the analysis another one: of each word four letters count, and of a stop word too."""
    terms = analysis.terms

    def shorter(text: str, language: str | None) -> list[str]:
        return [term[:4] for term in terms(text, None)]

    def apply() -> None:
        monkeypatch.setattr(analysis, "terms", shorter)
        monkeypatch.setattr(analysis, "ANALYSIS_VERSION", "3 four letters")

    return apply


def key(cast: Cast) -> ScopeKey:
    return ScopeKey(cast.team.pk, None, None)


def found(cast: Cast) -> list[dict[UUID, float]]:
    """Return what words find, for each question."""
    view = open_view(principal_of_user(cast.alice), active_space())
    replies = []
    for question in QUESTIONS:
        scored = score_words(view, question_words(question, view.languages))
        rows = scored.best(100)
        replies.append(dict(zip(view.chunk_ids(rows), scored.scores[rows].tolist(), strict=True)))
    return replies


def near(cast: Cast) -> list[UUID]:
    view = open_view(principal_of_user(cast.alice), active_space())
    space, query = active_space(), embedding_model().embed_query("who baked")
    candidates = worth_comparing(view, space, query)
    rows, _ = best(candidates, similarities(view, space, query, candidates), 100)
    return view.chunk_ids(rows)


def run_jobs() -> int:
    """Queue what is due and run it; return how many jobs that took."""
    renew_all(0)
    jobs = 0
    while job := ProcrastinateJob.objects.filter(task_name="renew_segments", status="todo").first():
        arguments = job.args
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM procrastinate_jobs WHERE id = %s", [job.pk])
        renew_segments(**arguments)
        jobs += 1
    return jobs


def faults() -> dict[str, int]:
    checks = [WRONG_INDEX, OUTDATED_TERMS, WRONG_TERMS]
    assert set(checks) < set(CHECKS)
    return {result.check.code: result.count for result in map(examine, checks) if result.count}


@pytest.fixture
def documents(cast: Cast) -> list[Document]:
    """Documents in a merged segment, of which one is deleted, and in unmerged ones."""
    merged = [indexed_document(cast.team, text) for text in [*TEXTS[:3], "Gone with the qwyzzlethorp."]]
    merge(key(cast))
    delete_document(merged.pop())
    return [*merged, indexed_document(cast.team, TEXTS[3])]


def test_a_segment_says_which_analysis_made_it(cast: Cast, documents: list[Document]) -> None:
    assert set(Segment.unscoped.values_list("analysis", flat=True)) == {analysis.ANALYSIS_VERSION}
    assert run_jobs() == 0


def test_a_segment_of_the_first_release_is_renewed(cast: Cast, documents: list[Document]) -> None:
    """Its processes write rows without the column, also while they are being replaced."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE kb_segment SET analysis = DEFAULT")
    assert set(Segment.unscoped.values_list("analysis", flat=True)) == {FIRST_ANALYSIS}
    assert run_jobs() == 1
    assert not outdated().exists()


def test_after_a_change_search_is_what_a_fresh_index_says(
    cast: Cast, documents: list[Document], change: Change
) -> None:
    before, vectors = found(cast), near(cast)
    change()
    # The old index serves: a term that is the same under both is found where it was.
    assert found(cast)[2] == before[2]
    assert faults() == {"outdated_terms": 2}
    assert run_jobs() == 1
    assert faults() == {}
    renewed = found(cast)
    assert renewed != before
    assert near(cast) == vectors
    assert set(Term.objects.values_list("text", flat=True)) >= set(
        SegmentTerm.objects.values_list("term", flat=True)
    )
    assert not SegmentTerm.objects.filter(term="qwyz").exists()
    for document in documents:
        index_document(document.pk)
    assert found(cast) == [pytest.approx(scores) for scores in renewed]


WORDS = [
    "herring",
    "herrings",
    "the",
    "Lighthouse",
    "light",
    "E-505",
    "1.5",
    "coast",
    "Küste",
    "running",
    "灯台",
]
LAYOUT = st.tuples(
    st.lists(st.tuples(st.lists(st.sampled_from(WORDS), max_size=8), st.booleans()), min_size=1, max_size=5),
    st.sampled_from(["before", "between", "never"]),
)


@pytest.mark.django_db
class TestAnyIndex:
    @given(layout=LAYOUT)
    @hypothesis(max_examples=15)
    def test_renewed_equals_fresh(self, layout: tuple[list[tuple[list[str], bool]], str]) -> None:
        """Whatever is merged, deleted, or both when the analysis changes."""
        from django.db import transaction

        with pytest.MonkeyPatch.context() as patch, transaction.atomic():
            self.check(patch, *layout)
            transaction.set_rollback(True)

    def check(self, patch: pytest.MonkeyPatch, texts: Sequence[tuple[list[str], bool]], merging: str) -> None:
        from tests.conftest import make_cast

        cast = make_cast()
        documents = [indexed_document(cast.team, " ".join(["x", *words])) for words, _ in texts]
        if merging == "before":
            merge(key(cast))
        for document, (_, is_deleted) in zip(documents, texts, strict=True):
            if is_deleted:
                delete_document(document)
        terms = analysis.terms
        patch.setattr(analysis, "terms", lambda text, language: [t[:3] for t in terms(text, None)])
        patch.setattr(analysis, "ANALYSIS_VERSION", "3 three letters")
        late = indexed_document(cast.team, "herring of the coast")
        if merging == "between":
            merge(key(cast))
        run_jobs()
        assert not outdated().exists()
        view = open_view(principal_of_user(cast.alice), active_space())
        renewed = [self.scores(view, word) for word in WORDS]
        for document in [*documents, late]:
            index_document(document.pk)
        view = open_view(principal_of_user(cast.alice), active_space())
        for word, scores in zip(WORDS, renewed, strict=True):
            assert self.scores(view, word) == pytest.approx(scores), word

    @staticmethod
    def scores(view: View, word: str) -> dict[UUID, float]:
        scored = score_words(view, question_words(word, view.languages or {""}))
        rows = scored.best(100)
        return dict(zip(view.chunk_ids(rows), scored.scores[rows].tolist(), strict=True))


def test_versions_do_not_mix_when_segments_are_merged(
    cast: Cast, documents: list[Document], change: Change
) -> None:
    change()
    indexed_document(cast.team, "New herring.")
    merge(key(cast))
    assert sorted(Segment.unscoped.values_list("analysis", "size")) == [
        (PRESENT, 1),
        (PRESENT, 4),
        ("3 four letters", 1),
    ]
    run_jobs()
    merge(key(cast))
    assert Segment.unscoped.values_list("analysis").distinct().get() == ("3 four letters",)
    assert faults() == {}


def test_a_job_takes_turns_and_goes_on_where_it_was(
    cast: Cast, documents: list[Document], change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renewing, "TURN_SECS", -1)
    monkeypatch.setattr(renewing, "READ_AT_ONCE", 2)
    change()
    assert run_jobs() == 2
    assert faults() == {}


def test_what_dies_while_it_is_analysed_leaves_no_words(
    cast: Cast, documents: list[Document], change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    change()
    analysed = renewing._analysed

    def deleting(segment: Segment) -> renewing._Analysed:
        fresh = analysed(segment)
        if segment.document_id is None:
            delete_document(documents[1])
        return fresh

    with monkeypatch.context() as patch:
        patch.setattr(renewing, "_analysed", deleting)
        run_jobs()
    assert not SegmentTerm.objects.filter(term="pump").exists()
    merged = Segment.unscoped.get(document=None)
    assert merged.purged == len(merged.dead) == 2
    assert faults() == {}


def test_a_segment_that_is_gone_meanwhile_is_no_fault(cast: Cast, documents: list[Document]) -> None:
    id = Segment.unscoped.get(document=documents[-1]).pk
    delete_document(documents[-1])
    renew(id)


# --- Doctor ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_merged", [False, True])
def test_wrong_terms_are_found_and_repaired(cast: Cast, is_merged: bool, documents: list[Document]) -> None:
    """Only numbers of chunks used to be compared."""
    before = found(cast)
    chunk = Chunk.unscoped.get(document=documents[0 if is_merged else -1])
    text = chunk.text
    Chunk.unscoped.filter(pk=chunk.pk).update(text=text.replace("coast", "shore"))
    assert faults() == {"wrong_terms": 1}
    Chunk.unscoped.filter(pk=chunk.pk).update(text=text)
    assert faults() == {}
    segment = Segment.unscoped.get(document=None if is_merged else chunk.document)
    if is_merged:
        SegmentTerm.objects.filter(segment=segment, term="coast").delete()
    else:
        Segment.unscoped.filter(pk=segment.pk).update(terms=segment.terms.replace("coast", "ghost"))
    assert faults() == {"wrong_terms": 1}
    assert "differences in" in examine(WRONG_TERMS).examples[0].detail
    repair(examine(WRONG_TERMS))
    assert faults() == {}
    assert found(cast) == [pytest.approx(scores) for scores in before]


def test_wrong_lengths_are_found(cast: Cast, documents: list[Document]) -> None:
    segment = Segment.unscoped.get(document=documents[-1])
    Segment.unscoped.filter(pk=segment.pk).update(lengths=np.array([99], "<u2").tobytes())
    assert examine(WRONG_TERMS).count == 1


def test_an_older_analysis_is_shown_and_renewed(
    cast: Cast,
    documents: list[Document],
    change: Change,
    capsys: pytest.CaptureFixture[str],
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    settings.DATA_DIR = tmp_path
    change()
    with pytest.raises(CommandError, match="remain: 2"):
        call_command("doctor")
    assert "being renewed by the worker" in " ".join(capsys.readouterr().out.split())
    assert PRESENT in examine(OUTDATED_TERMS).examples[0].detail
    call_command("doctor", "--repair", "--json")
    assert faults() == {}
    assert "pump" in postings_of(Segment.unscoped.get(document=documents[-1])).terms
