"""The search index: merged or unmerged, scoped, complete, and equal to what the formulas say."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count
from random import Random
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.db import connection
from django.test import override_settings
from procrastinate.contrib.django.models import ProcrastinateJob

from accounts.access.identity import principal_of_user
from accounts.models import Workspace
from core.text.analysis import terms
from kb.deletion import delete_document
from kb.doctor import examine, repair
from kb.doctor.index import WRONG_INDEX
from kb.embedding import active_space, embedding_model
from kb.index import nearest
from kb.index import view as views
from kb.index.codes import distances, encoder, estimates
from kb.index.merging import forget_terms, is_due, merge
from kb.index.nearest import best, similarities, worth_comparing
from kb.index.postings import PostingList, Postings
from kb.index.purging import purge, purge_all, purge_segments
from kb.index.segments import ScopeKey, complete, index_document
from kb.index.spelling import similar
from kb.index.view import View, open_view
from kb.index.words import K1, B, question_words, score_words
from kb.models import Chunk, Document, Segment, SegmentCodes, SegmentTerm, Term
from tests.conftest import Cast
from tests.factories import indexed_document

pytestmark = pytest.mark.usefixtures("in_segments")

TEXTS = [
    "The lighthouse at Nakkehoved was built in 1772. Its keeper baked bread for the fishermen of the coast.",
    "Part number E-505 replaces E-504 in all pumps. Pumps built before 1990 keep the old part.",
    "Revenue grew by 12 % to 4.1 million. Revenue from pumps fell.",
    "The fishermen of the coast catch herring. Herring is smoked and sold in the town.",
    "A town of fishermen, a coast of lighthouses, and no pumps at all.",
]


@pytest.fixture
def documents(cast: Cast) -> list[Document]:
    """Five documents of the team, each with one chunk."""
    return [indexed_document(cast.team, text) for text in TEXTS]


def view_of(cast: Cast, documents: Iterable[Document] | None = None) -> View:
    """Open what Alice may find."""
    wanted = None if documents is None else [document.pk for document in documents]
    return open_view(principal_of_user(cast.alice), active_space(), documents=wanted)


def by_words(view: View, question: str) -> dict[UUID, float]:
    """Return the scores of the chunks that words find."""
    found = score_words(view, question_words(question, view.languages))
    rows = found.best(100)
    return dict(zip(view.chunk_ids(rows), found.scores[rows].tolist(), strict=True))


def by_meaning(view: View, question: str) -> list[UUID]:
    """Return the chunks that meaning finds, best first."""
    space, query = active_space(), embedding_model().embed_query(question)
    rows = worth_comparing(view, space, query)
    return view.chunk_ids(best(rows, similarities(view, space, query, rows), 100)[0])


def all_found(cast: Cast) -> tuple[dict[UUID, float], list[UUID]]:
    """Return what words and meaning find for one question."""
    view = view_of(cast)
    return by_words(view, "fishermen of the coast"), by_meaning(view, "fishermen of the coast")


def key(workspace: Workspace) -> ScopeKey:
    """Return where the documents of a workspace's members stand."""
    return ScopeKey(workspace.pk, None, None)


# --- Words -------------------------------------------------------------------------------------------------


def bm25(question: str, texts: Sequence[str]) -> list[float]:
    """Compute BM25 as its definition is written, a text at a time."""
    counted = [Counter(terms(text, "en")) for text in texts]
    mean = sum(sum(each.values()) for each in counted) / len(counted)

    def score(counts: Counter[str]) -> float:
        length = sum(counts.values())
        total = 0.0
        for term in set(terms(question, "en")):
            holding = sum(term in each for each in counted)
            idf = math.log(1 + (len(counted) - holding + 0.5) / (holding + 0.5))
            total += idf * counts[term] / (counts[term] + K1 * (1 - B + B * length / mean))
        return total

    return [score(counts) for counts in counted]


@pytest.mark.parametrize(
    "question", ["fishermen of the coast", "pumps built before 1990", "E-505", "revenue"]
)
def test_words_are_scored_as_bm25_is_defined(cast: Cast, documents: list[Document], question: str) -> None:
    found = by_words(view_of(cast), question)
    texts = {chunk.pk: chunk.text for chunk in Chunk.unscoped.all()}
    expected = dict(zip(texts, bm25(question, list(texts.values())), strict=True))
    assert found == pytest.approx({id: score for id, score in expected.items() if score}, rel=1e-5)


@pytest.mark.parametrize("question", ["herring pumps", "the herring", "pump", "zzz"])
def test_the_best_are_those_of_the_highest_scores(
    cast: Cast, documents: list[Document], question: str
) -> None:
    view = view_of(cast)
    found = score_words(view, question_words(question, view.languages))
    by_score = [row for row in np.argsort(-found.scores, kind="stable") if found.scores[row]]
    for most in range(1, view.size + 2):
        assert list(found.best(most)) == by_score[:most]


def test_the_weight_of_a_word_follows_from_what_is_searched(cast: Cast, documents: list[Document]) -> None:
    before = by_words(view_of(cast), "herring pumps")
    for _ in range(20):
        indexed_document(cast.charlie.personal_workspace, "Herring, and nothing but herring.")
    assert by_words(view_of(cast), "herring pumps") == before
    assert by_words(view_of(cast, documents[:4]), "herring pumps") != before


@pytest.mark.parametrize("least", [0.2, 0.4, 0.7])
def test_terms_are_as_alike_as_postgresql_finds_them(db: None, least: float) -> None:
    known = ["revenu", "revenue", "reserv", "e505", "1.5", "hearth", "heart", "earth", "ha", "straße", "灯台"]
    for term in ("reveneu", "hart", "e506", "灯", "straße"):
        with connection.cursor() as cursor:
            cursor.execute("SELECT t, similarity(t, %s) FROM unnest(%s::text[]) AS t", [term, known])
            expected = {other: alike for other, alike in cursor.fetchall() if alike >= least}
        assert dict(similar(term, known, least)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [("fishremen", "fishermen"), ("lighthose", "lighthouse"), ("Nakkehøved", "Nakkehoved")],
)
def test_a_misspelt_word_is_read_as_a_known_one(
    cast: Cast, documents: list[Document], asked: str, meant: str
) -> None:
    assert by_words(view_of(cast), asked).keys() == by_words(view_of(cast), meant).keys() != set()
    merge(key(cast.team))
    assert by_words(view_of(cast), asked).keys() == by_words(view_of(cast), meant).keys() != set()


def test_a_question_in_another_language_is_not_full_of_misspelt_words(
    cast: Cast, documents: list[Document]
) -> None:
    words = score_words(
        view_of(cast), question_words("wichtige fisscher backen brodt lighthouse", {"en"})
    ).words
    assert [word.read_as for word in words] == [None] * 5


def test_a_number_is_not_read_as_another(cast: Cast, documents: list[Document]) -> None:
    assert not by_words(view_of(cast), "1991")
    words = score_words(view_of(cast), question_words("E-506", {"en"})).words
    assert not any(word.read_as for word in words)


def test_what_says_nothing_in_one_language_is_not_rare_in_another() -> None:
    assert question_words("was die Stadt baut", {"de", "en"}) == question_words("Stadt baut", {"de", "en"})
    assert question_words("running", {"de", "en"}) == [frozenset({"run", "running"})]


# --- Vectors -----------------------------------------------------------------------------------------------


def test_meaning_finds_in_the_order_of_the_vectors(cast: Cast, documents: list[Document]) -> None:
    model = embedding_model()
    query = model.embed_query("who lived at the sea")
    chunks = list(Chunk.unscoped.all())
    similarity = model.embed_documents([chunk.text for chunk in chunks]) @ query
    expected = [chunks[at].pk for at in np.argsort(-similarity)]
    assert by_meaning(view_of(cast), "who lived at the sea") == expected


@pytest.mark.parametrize("dimensions", [32, 384, 768, 1536, 3072])
def test_codes_keep_the_nearest_near(dimensions: int) -> None:
    random = np.random.default_rng(dimensions)
    vectors = random.standard_normal((3000, dimensions)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    query = vectors[0] + 0.8 * random.standard_normal(dimensions).astype(np.float32) / math.sqrt(dimensions)
    coder = encoder(dimensions)
    codes = np.ascontiguousarray(coder.encode(vectors).T)
    assert codes.shape == (coder.words, 3000)
    differing = np.empty(3000, np.uint16)
    distances(codes, coder.encode(query[None])[0], differing)
    estimated = estimates(codes, coder.project(query[None])[0])
    assert differing.argmin() == estimated.argmax() == (vectors @ query).argmax() == 0
    assert np.corrcoef(estimated, vectors @ query)[0, 1] > 0.5


def test_a_projection_keeps_lengths() -> None:
    vectors = np.random.default_rng(0).standard_normal((10, 384)).astype(np.float32)
    lengths = np.linalg.norm(encoder(384).project(vectors), axis=1)
    assert lengths == pytest.approx(np.linalg.norm(vectors, axis=1), rel=1e-5)


def test_many_are_scanned_and_few_compared(
    cast: Cast, documents: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = by_meaning(view_of(cast), "herring")
    monkeypatch.setattr("kb.index.nearest.COMPARED", 3)
    monkeypatch.setattr("kb.index.nearest.ESTIMATED", 4)
    assert by_meaning(view_of(cast), "herring")[:2] == exact[:2]
    assert len(by_meaning(view_of(cast), "herring")) == 3


@pytest.mark.parametrize("share_of_dead", [0.0, 0.3])
def test_the_coarse_step_proposes_what_a_scan_of_whole_codes_does(
    monkeypatch: pytest.MonkeyPatch, share_of_dead: float
) -> None:
    random = np.random.default_rng(5)
    query = random.standard_normal(384).astype(np.float32)
    vectors = random.standard_normal((20_000, 384)).astype(np.float32)
    vectors[:100] = query + 0.8 * vectors[:100]
    random.shuffle(vectors)
    coder = encoder(384)
    alive = random.random(len(vectors)) >= share_of_dead
    slabs = [
        nearest.Slab(
            begin,
            np.ascontiguousarray(coder.encode(vectors[begin : begin + 3000]).T),
            alive[begin : begin + 3000] if share_of_dead else None,
        )
        for begin in range(0, len(vectors), 3000)
    ]
    monkeypatch.setattr(nearest, "COMPARED", 60)
    monkeypatch.setattr(nearest, "ESTIMATED", 300)
    whole = nearest.nearest_codes(slabs, coder, query)
    monkeypatch.setattr(nearest, "COARSE_FROM", 0)
    coarse = nearest.nearest_codes(slabs, coder, query)
    assert alive[coarse].all() or not share_of_dead
    assert set(coarse.tolist()) == set(whole.tolist())
    # Only what was put near the question, of which there is more than enough.
    cosine = vectors @ query / (np.linalg.norm(vectors, axis=1) * np.linalg.norm(query))
    assert (cosine[coarse] > 0.5).all()


def test_the_cache_stays_within_its_bytes_however_many_scopes_are_opened(cast: Cast) -> None:
    cache = views.Cache()
    workspaces = [Workspace.create_for(cast.alice, name=f"number {number}") for number in range(6)]
    for workspace in workspaces:
        indexed_document(workspace, "Herring.")
    view = open_view(principal_of_user(cast.alice), active_space())
    size = view.segments[0].nbytes
    with override_settings(INDEX_CACHE_BYTES=2 * size):
        for segment in view.segments:
            cache.put([segment, segment])
            assert 0 < cache.nbytes <= 2 * size
    last = view.segments[-1]
    assert cache.get(last.id, last.version, last.space) is last
    assert cache.get(view.segments[0].id, view.segments[0].version, view.segments[0].space) is None


# --- Segments ----------------------------------------------------------------------------------------------


def test_packing_changes_nothing_that_is_found(cast: Cast, documents: list[Document]) -> None:
    before = all_found(cast)
    merge(key(cast.team))
    assert Segment.unscoped.filter(document=None).count() == Segment.unscoped.count() == 1
    words, meaning = all_found(cast)
    assert words == pytest.approx(before[0])
    assert meaning == before[1]
    assert not examine(WRONG_INDEX).count


def test_packed_again_with_new_documents_it_holds_all(cast: Cast, documents: list[Document]) -> None:
    merge(key(cast.team))
    late = [indexed_document(cast.team, "Late herring."), indexed_document(cast.team, "More of it.")]
    expected = by_words(view_of(cast), "herring")
    merge(key(cast.team))
    merge(key(cast.team))
    assert by_words(view_of(cast), "herring") == pytest.approx(expected)
    assert not examine(WRONG_INDEX).count
    assert set(by_meaning(view_of(cast, late), "herring")) == {
        chunk.pk for chunk in Chunk.unscoped.filter(document__in=late)
    }


def test_a_deleted_document_is_not_found_and_leaves_nothing_when_packed(
    cast: Cast, documents: list[Document]
) -> None:
    merge(key(cast.team))
    delete_document(documents[3])
    assert len(by_meaning(view_of(cast), "herring")) == 4
    assert not by_words(view_of(cast), "smoked")
    assert not is_due(key(cast.team))
    delete_document(documents[1])
    assert is_due(key(cast.team))
    merge(key(cast.team))
    assert not SegmentTerm.objects.filter(term__in=["smoke", "e-505"]).exists()
    assert Term.objects.filter(text__in=["smoke", "e-505"]).exists()
    forget_terms(0)
    assert set(Term.objects.values_list("text")) == set(SegmentTerm.objects.values_list("term"))
    assert Segment.unscoped.get().size == 3
    delete_document(documents[0])
    delete_document(documents[2])
    delete_document(documents[4])
    merge(key(cast.team))
    assert not Segment.unscoped.exists()


def test_the_words_of_a_deleted_document_leave_the_index(cast: Cast, documents: list[Document]) -> None:
    """Until a quarter of it was dead, a merged segment kept them, and misspelt words were read as them."""
    gone = indexed_document(cast.team, "The qwyzzlethorp of the herring lighthouse.")
    index_document(gone.pk)
    merge(key(cast.team))
    before = by_words(view_of(cast), "herring lighthouse")
    [misspelt] = score_words(view_of(cast), question_words("qwyzzlethorqe", {"en"})).words
    assert misspelt.read_as == "qwyzzlethorp"
    merged = Segment.unscoped.get()
    place = [chunk.hex for chunk in view_of(cast).chunk_ids(np.arange(merged.size))].index(
        Chunk.unscoped.get(document=gone).pk.hex
    )
    delete_document(gone)
    [misspelt] = score_words(view_of(cast), question_words("qwyzzlethorqe", {"en"})).words
    assert misspelt.read_as is None

    [job] = ProcrastinateJob.objects.filter(task_name="purge_segments")
    purge_segments(**job.args)
    assert not SegmentTerm.objects.filter(term="qwyzzlethorp").exists()
    assert not Term.objects.filter(text="qwyzzlethorp").exists()
    for row in SegmentTerm.objects.all():
        assert place not in PostingList.load(row.postings).positions.tolist()
    codes = SegmentCodes.objects.get()
    assert not np.frombuffer(codes.codes, np.uint64).reshape(merged.size, -1)[place].any()
    after = by_words(view_of(cast), "herring lighthouse")
    assert after.keys() < before.keys()
    assert len(after) == len(before) - 1
    assert not examine(WRONG_INDEX).count
    purge_all(0)
    assert ProcrastinateJob.objects.filter(task_name="purge_segments").count() == 1
    for document in documents:
        delete_document(document)
    purge(key(cast.team))
    assert not Segment.unscoped.exists()
    assert not Term.objects.exists()


def test_a_change_of_chunks_is_found_at_once(cast: Cast, documents: list[Document]) -> None:
    merge(key(cast.team))
    chunk = Chunk.unscoped.get(document=documents[0])
    Chunk.unscoped.filter(pk=chunk.pk).update(text="Nothing but cormorants.")
    index_document(documents[0].pk)
    assert by_words(view_of(cast), "cormorant").keys() == {chunk.pk}
    assert chunk.pk not in by_words(view_of(cast), "lighthouse")
    assert chunk.pk in by_meaning(view_of(cast), "cormorants")


def test_other_places_have_other_segments(cast: Cast, documents: list[Document]) -> None:
    guest = indexed_document(cast.team, "The guest's herring.", external_user_id="guest")
    merge(key(cast.team))
    merge(ScopeKey(cast.team.pk, "guest", None))
    alice = principal_of_user(cast.alice)
    own = by_words(open_view(alice, active_space()), "herring")
    theirs = by_words(open_view(alice.for_external_user("guest"), active_space()), "herring")
    assert theirs.keys() == set(Chunk.unscoped.filter(document=guest).values_list("pk", flat=True))
    assert own.keys().isdisjoint(theirs)


def test_a_moved_document_moves_in_the_index(cast: Cast, documents: list[Document]) -> None:
    merge(key(cast.team))
    Chunk.unscoped.filter(document=documents[0]).update(workspace=cast.charlie.personal_workspace)
    Document.unscoped.filter(pk=documents[0].pk).update(workspace=cast.charlie.personal_workspace)
    found = examine(WRONG_INDEX)
    assert [finding.subject for finding in found.examples] == [str(documents[0].pk)]
    repair(found)
    assert not examine(WRONG_INDEX).count
    assert not by_words(view_of(cast), "lighthouse keeper").keys() & set(
        Chunk.unscoped.filter(document=documents[0]).values_list("pk", flat=True)
    )


def test_what_is_missing_is_repaired(cast: Cast, documents: list[Document]) -> None:
    expected = all_found(cast)
    Segment.unscoped.all().delete()
    found = examine(WRONG_INDEX)
    assert found.count == 5
    repair(found)
    assert all_found(cast) == expected
    assert SegmentCodes.objects.count() == 5


def test_codes_that_are_missing_are_made_from_the_vectors(cast: Cast, documents: list[Document]) -> None:
    merge(key(cast.team))
    expected = bytes(SegmentCodes.objects.get().codes)
    SegmentCodes.objects.all().delete()
    complete(active_space())
    assert bytes(SegmentCodes.objects.get().codes) == expected
    each = len(expected) // 5
    with_a_hole = expected[:each] + bytes(each) + expected[2 * each :]
    SegmentCodes.objects.update(present=b"\1\0\1\1\1", codes=with_a_hole)
    complete(active_space())
    assert bytes(SegmentCodes.objects.get().codes) == expected
    version = Segment.unscoped.get().version
    complete(active_space())
    assert Segment.unscoped.get().version == version


def test_what_is_kept_in_memory_follows_every_change(cast: Cast, documents: list[Document]) -> None:
    assert len(all_found(cast)[1]) == 5
    indexed_document(cast.team, "A sixth.")
    assert len(all_found(cast)[1]) == 6
    indexed_document(cast.team, "A seventh.")
    with override_settings(INDEX_CACHE_BYTES=0):
        assert len(all_found(cast)[1]) == 7
    assert not views._cache._segments


def test_segments_packed_while_they_are_opened_are_looked_for_again(
    cast: Cast, documents: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    read, calls = views._read_segments, count()

    def read_late(*arguments: Any) -> list[views.OpenSegment]:
        if next(calls) == 0:
            merge(key(cast.team))
        return read(*arguments)

    monkeypatch.setattr(views, "_read_segments", read_late)
    monkeypatch.setattr(views, "_cache", views.Cache())
    assert len(by_meaning(view_of(cast), "herring")) == 5


# --- Postings ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_postings_survive_being_stored(seed: int) -> None:
    random = Random(seed)
    vocabulary = ["pump", "e-505", "日本", "ü", "a" * 64, "naïve", "x"]
    chunks = [random.choices(vocabulary, k=random.randrange(300)) for _ in range(random.randrange(40))]
    stored = Postings.load(*Postings.of(chunks).dump())
    counted = {
        (term, int(position)): int(count)
        for term, each in stored
        for position, count in zip(each.positions, each.counts, strict=True)
    }
    assert counted == {(t, at): n for at, chunk in enumerate(chunks) for t, n in Counter(chunk).items()}
