"""Choosing a reranker, its time, late interaction, and the packaged cross-encoder."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from core.endpoint import EndpointUnavailable
from core.llm.payment import Payment
from kb.embedding import EmbeddingModel, embedding_model, multilingual_model
from kb.embedding import registry as embedding_registry
from kb.embedding.base import Vectors, normalise
from search.rerank import Reranker, load, reranker, start
from search.rerank.any_language import AnyLanguage
from search.rerank.late_interaction import LateInteraction, max_sim
from search.rerank.ms_marco import MsMarco, ms_marco
from search.rerank.registry import budget_secs
from tests.testing.endpoints import EmbeddingEndpoint
from tests.testing.payments import UNRECORDED
from tests.testing.rerankers import make_cross_encoder


@pytest.fixture
def hashing(settings: Settings) -> None:
    settings.EMBEDDING_BACKEND = settings.EMBEDDING_MODEL = "hashing"


@pytest.fixture
def embedding_endpoint(settings: Settings) -> Iterator[None]:
    """An embedding model that tells no vectors of tokens."""
    with EmbeddingEndpoint() as endpoint:
        settings.EMBEDDING_BACKEND, settings.EMBEDDING_MODEL = "openai", "without tokens"
        settings.EMBEDDING_BASE_URL = endpoint.url
        yield
    embedding_registry.resident.cache_clear()


# --- Choosing ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("hashing")
def test_by_default_one_reads_english_and_the_embedding_model_the_rest(settings: Settings) -> None:
    settings.RERANKER_BUDGET_MS = 0
    chosen = reranker()
    assert chosen is not None
    assert chosen is reranker()
    assert chosen.suited_to("Who built the tower?", ["en", None, "en"]) is ms_marco()
    assert isinstance(chosen.suited_to("Who built the tower?", ["de", "de", "en"]), LateInteraction)
    for question in ("Wer hat den Turm gebaut?", "塔は誰が建てましたか", "Кто построил башню?"):
        assert isinstance(chosen.suited_to(question, ["en"]), LateInteraction)
    assert start() == (
        "Reranking with ms-marco-MiniLM-L-12-v2, other languages with hashing-late-interaction, "
        "for at most 450 ms."
    )


def test_where_the_embedding_model_knows_english_alone_another_one_reads_the_rest(settings: Settings) -> None:
    chosen = load("auto", "")
    assert chosen is not None
    assert chosen.suited_to("Who built the tower?", ["en"]) is ms_marco()
    assert isinstance(chosen.suited_to("Who built the tower?", ["en"], for_tables=True), LateInteraction)
    assert isinstance(chosen.suited_to("Wer hat den Turm gebaut?", ["en"]), AnyLanguage)
    assert isinstance(chosen.suited_to("Who built the tower?", ["de"], for_tables=True), AnyLanguage)
    # What English documents are read for comes first; there may be others below.
    below = ["en"] * ms_marco().passages + ["de"] * 36
    assert chosen.suited_to("Who built the tower?", below) is ms_marco()
    assert chosen.passages == AnyLanguage.passages
    assert "other languages with multilingual-e5-small-similarity" in chosen.describe()
    settings.MULTILINGUAL_MODEL = ""
    without = load("auto", "")
    assert without is not None
    assert isinstance(without.suited_to("Wer hat den Turm gebaut?", ["en"]), LateInteraction)


@pytest.mark.usefixtures("embedding_endpoint")
def test_without_vectors_of_tokens_english_alone_is_reranked() -> None:
    chosen = reranker()
    assert chosen is not None
    assert chosen.suited_to("Wer hat den Turm gebaut?", ["de"]) is None
    assert "other languages" not in start()


@pytest.mark.usefixtures("embedding_endpoint")
def test_a_reranker_that_is_named_is_not_replaced() -> None:
    with pytest.raises(ImproperlyConfigured, match=r"RERANKER late-interaction.*EMBEDDING_MODEL"):
        load("late-interaction", "")


@pytest.mark.usefixtures("hashing")
def test_a_model_for_late_interaction_is_a_mistake() -> None:
    with pytest.raises(ImproperlyConfigured, match="RERANKER_MODEL"):
        load("late-interaction", "some-model")


def test_none_is_a_choice(settings: Settings) -> None:
    settings.RERANKER = "none"
    assert reranker() is None
    assert start() == "Not reranking, because RERANKER is none."


def test_the_budget_can_be_set(settings: Settings) -> None:
    settings.RERANKER = "overlap"
    chosen = reranker()
    assert chosen is not None
    settings.RERANKER_BUDGET_MS = 0
    assert budget_secs(chosen) == 1.0
    settings.RERANKER_BUDGET_MS = 250
    assert budget_secs(chosen) == 0.25
    assert start().endswith("for at most 250 ms.")


# --- Time --------------------------------------------------------------------------------------------------


class Slow(Reranker):
    name = "slow"
    passages = 10
    passages_per_step = 2
    budget_secs = 1.0

    def __init__(self, secs: float, *, fails_at: int = 99) -> None:
        self.secs, self.fails_at, self.steps = secs, fails_at, 0

    def score(
        self, question: str, passages: Sequence[str], *, within: float, payment: Payment
    ) -> Sequence[float]:
        self.steps += 1
        if self.steps == self.fails_at:
            raise EndpointUnavailable("RERANKER_BASE_URL: nobody is there")
        time.sleep(self.secs)
        return [1.0] * len(passages)


def test_when_time_is_up_the_top_is_scored() -> None:
    slow = Slow(0.1)
    scores = slow.rerank("?", ["passage"] * 10, deadline=time.monotonic() + 0.35, payment=UNRECORDED)
    assert slow.steps <= 3, "a step that would not end in time is not begun"
    scored = [score is not None for score in scores]
    assert scored == sorted(scored, reverse=True)
    assert 2 <= sum(scored) <= 6


def test_what_fails_half_way_keeps_what_it_has(caplog: pytest.LogCaptureFixture) -> None:
    scores = Slow(0, fails_at=2).rerank(
        "?", ["passage"] * 5, deadline=time.monotonic() + 60, payment=UNRECORDED
    )
    assert scores == [1.0, 1.0, None, None, None]
    assert "not reranked: RERANKER_BASE_URL: nobody is there" in caplog.text


# --- Late interaction --------------------------------------------------------------------------------------


def unit(*rows: tuple[float, float]) -> Vectors:
    return normalise(np.array(rows, dtype=np.float32).reshape(-1, 2))


def test_each_token_looks_for_its_nearest() -> None:
    asked = unit((1, 0), (0, 1))
    assert max_sim(asked, unit((1, 0), (0, 1), (-1, 0))) == pytest.approx(1.0)
    assert max_sim(asked, unit((1, 0))) == pytest.approx(0.5)
    assert max_sim(asked, unit((-1, 0), (0, -1))) == pytest.approx(0.0)
    assert max_sim(asked, unit()) == max_sim(unit(), asked) == 0.0


def test_the_right_sentence_wins_over_the_same_topic() -> None:
    question = "Who designed the lighthouse of Bell Rock?"
    passages = [
        "The lighthouse of Bell Rock stands eleven miles off the coast and is seen from afar at night.",
        "Robert Stevenson drew the plans of the tower on the Bell Rock, the oldest one washed by the sea.",
        "The bakery opens at six and sells out by noon.",
    ]
    scores = LateInteraction().rerank(question, passages, deadline=time.monotonic() + 60, payment=UNRECORDED)
    assert np.argmin(np.array(scores, dtype=float)) == 2


def test_it_uses_the_model_that_is_resident() -> None:
    assert LateInteraction()._model is embedding_model()


# --- Any language -------------------------------------------------------------------------------------------


def test_a_question_finds_what_answers_it_in_another_language() -> None:
    passages = [
        "The bakery opens at six and sells out by noon.",
        "As of December 31, we employed approximately 79,000 people worldwide.",
        "Revenue grew by 3 percent in the fourth quarter.",
    ]
    any_language = AnyLanguage()
    question = "Wie viele Mitarbeiter hat das Unternehmen weltweit?"
    scores = any_language.rerank(question, passages, deadline=time.monotonic() + 60, payment=UNRECORDED)
    assert np.argmax(np.array(scores, dtype=float)) == 1
    right, wrong = scores[1], scores[0]
    assert right is not None and wrong is not None
    assert (
        any_language.relevance(right, 0.0, across=True)
        > 0.5
        > any_language.relevance(wrong, 0.0, across=True)
    )


def test_the_time_to_load_its_model_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the first question of a process would have one step, or none."""
    model = multilingual_model()
    loaded: list[EmbeddingModel] = []

    def slowly() -> EmbeddingModel:
        if not loaded:
            time.sleep(0.3)
            loaded.append(model)
        return model

    monkeypatch.setattr("search.rerank.any_language.multilingual_model", slowly)
    monkeypatch.setattr(AnyLanguage, "score", lambda _, __, passages, **___: [0.8] * len(passages))
    deadline = time.monotonic() + 0.2
    assert AnyLanguage().rerank("Was?", ["text"] * 20, deadline=deadline, payment=UNRECORDED) == [0.8] * 20


# --- The packaged cross-encoder ----------------------------------------------------------------------------


def test_what_answers_is_told_from_what_only_speaks_of_it() -> None:
    question = "Who designed the lighthouse of Bell Rock?"
    passages = [
        "Who designed the lighthouse of Bell Rock is a question that visitors ask.",
        "Robert Stevenson drew the plans of the tower on the Bell Rock, the oldest one washed by the sea.",
        "The bakery opens at six and sells out by noon." * 100,
        "",
    ]
    about, answer, other, nothing = MsMarco().score(question, passages, within=9, payment=UNRECORDED)
    assert answer > 0.9
    assert answer > about > 0.01 > max(other, nothing)


def test_a_text_is_read_the_same_in_any_batch() -> None:
    texts = ["Short.", "A tower was built on the rock in 1810. " * 30, "It was built in 1810."]
    together = ms_marco().logits([("When was it built?", text) for text in texts])
    alone = [float(ms_marco().logits([("When was it built?", text)])[0]) for text in texts]
    # In 8 bits the scale of numbers is that of a batch.
    np.testing.assert_allclose(together, alone, atol=1.0)
    assert len(ms_marco().logits([])) == 0


def test_questions_as_long_as_documents_are_cut() -> None:
    assert np.isfinite(ms_marco().logits([("Why? " * 2000, "Because. " * 2000)])).all()


def test_it_is_one_model() -> None:
    with pytest.raises(ImproperlyConfigured, match="RERANKER_MODEL"):
        load("ms-marco", "another")
    assert load("ms-marco", "") is ms_marco()


# --- Cross-encoders ----------------------------------------------------------------------------------------


def test_a_cross_encoder_with_classes_is_refused(tmp_path: Path) -> None:
    folder = make_cross_encoder(tmp_path / "classifier", labels=3)
    with pytest.raises(ImproperlyConfigured, match=r"RERANKER_MODEL .* has 3 labels"):
        load("cross-encoder", str(folder))


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match="RERANKER_MODEL"):
        load("cross-encoder", str(tmp_path))


def test_a_cross_encoder_needs_a_name() -> None:
    with pytest.raises(ImproperlyConfigured, match="RERANKER_MODEL"):
        load("cross-encoder", "")
