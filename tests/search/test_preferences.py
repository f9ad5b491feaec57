"""What counts for one question: request, user, workspace, deployment, in this order."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from pytest_django import Settings

from accounts.access.identity import principal_of_user
from accounts.models import Preferences
from accounts.principal import Principal
from core.errors import NotFound
from kb.embedding import embedding_model
from search.preferences import RagSettings, generation_models, rag_settings
from search.questions import DEFAULT, Question
from search.rerank import reranker
from search.rerank.registry import offered_rerankers
from search.retrieval import rank
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.testing.payments import UNRECORDED


def prefer(cast: Cast, **values: Any) -> None:
    Preferences.objects.create(user=cast.alice, values={"rag": values})


def set_in_team(cast: Cast, **values: Any) -> None:
    cast.team.settings = {"rag": values}
    cast.team.save()


@pytest.fixture
def alice(cast: Cast) -> Principal:
    return principal_of_user(cast.alice)


def test_the_deployment(cast: Cast, alice: Principal, settings: Settings) -> None:
    assert rag_settings(alice, cast.team.pk) == RagSettings("extractive", "auto", 5, False, False)
    settings.RAG_CONTEXTS, settings.RAG_REFLECTION, settings.RERANKER = 9, True, "none"
    assert rag_settings(alice, cast.team.pk) == RagSettings("extractive", "none", 9, True, False)


def test_each_layer_goes_before_the_next(cast: Cast, alice: Principal) -> None:
    set_in_team(cast, contexts=11, reflection=True, reranker="none")
    assert rag_settings(alice, cast.team.pk) == RagSettings("extractive", "none", 11, True, False)
    prefer(cast, contexts=12, reflection=False)
    assert rag_settings(alice, cast.team.pk) == RagSettings("extractive", "none", 12, False, False)
    asked = rag_settings(alice, cast.team.pk, contexts=13, reflection=True)
    assert asked == RagSettings("extractive", "none", 13, True, False)
    assert rag_settings(alice, cast.team.pk, contexts=13).reflection is False


def test_a_workspace_decides_for_itself_alone(cast: Cast, alice: Principal) -> None:
    set_in_team(cast, contexts=11)
    assert rag_settings(alice, cast.alice.personal_workspace.pk).contexts == 5


def test_for_an_external_user_the_users_preferences_do_not_count(cast: Cast, alice: Principal) -> None:
    prefer(cast, contexts=12)
    set_in_team(cast, contexts=11)
    assert rag_settings(replace(alice, external_user_id="x"), cast.team.pk).contexts == 11


def test_the_preferences_of_others_do_not_count(cast: Cast) -> None:
    prefer(cast, contexts=12)
    assert rag_settings(principal_of_user(cast.bob), cast.team.pk).contexts == 5


def test_a_workspace_the_asker_does_not_see_tells_nothing(cast: Cast) -> None:
    with pytest.raises(NotFound):
        rag_settings(principal_of_user(cast.charlie), cast.team.pk)


def test_what_counts_can_not_be_changed_under_way(cast: Cast, alice: Principal) -> None:
    with pytest.raises(FrozenInstanceError):
        rag_settings(alice, cast.team.pk).contexts = 7


def test_a_preference_that_is_no_longer_offered_is_passed_over(
    cast: Cast, alice: Principal, settings: Settings
) -> None:
    settings.GENERATION_FALLBACKS = ["openai:small"]
    prefer(cast, generation_model="small", reranker="cross-encoder")
    assert generation_models() == ["extractive", "small"]
    assert rag_settings(alice, cast.team.pk).generation_model == "small"
    assert rag_settings(alice, cast.team.pk).reranker == "auto"
    settings.GENERATION_FALLBACKS = []
    assert rag_settings(alice, cast.team.pk).generation_model == "extractive"


@pytest.mark.parametrize("configured", ["auto", "none", "overlap"])
def test_a_search_reranks_with_what_is_asked_for(
    cast: Cast, alice: Principal, settings: Settings, configured: str
) -> None:
    settings.RERANKER = configured
    indexed_document(cast.team)
    question = Question("Who owns the solar farm?")
    for name in offered_rerankers():
        ranking = rank(alice, question, limit=5, settings=replace(DEFAULT, reranker=name), payment=UNRECORDED)
        assert ranking.reranked is (name != "none")
    assert rank(alice, question, limit=5, payment=UNRECORDED).reranked is (configured != "none")


def test_offered_rerankers_share_the_weights_that_are_loaded(settings: Settings) -> None:
    settings.RERANKER, settings.RERANKER_MODEL = "cross-encoder", "a folder that is not here"
    assert offered_rerankers() == ["auto", "cross-encoder", "none"]
    chosen = reranker("auto")
    assert chosen is not None
    assert chosen is reranker("auto")
    assert [*chosen.names] == [
        "ms-marco-MiniLM-L-12-v2",
        "multilingual-e5-small-similarity",
        f"{embedding_model().name}-late-interaction",
    ]
    assert reranker("none") is None
