"""Embeddings by any endpoint with OpenAI's `POST /embeddings`, such as Ollama, vLLM, llama.cpp and TEI."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from core.endpoint import Endpoint, EndpointUnavailable
from kb.embedding.base import EmbeddingModel, Vectors, no_vectors, normalise
from kb.embedding.weights import PACKAGED, model_location

REVISION = "endpoint"
"""The prefix of such spaces' revisions: an endpoint does not report the revision of its weights."""
# Every server known to us accepts this many in one request.
TEXTS_PER_REQUEST = 32
MAX_TOKENS = 512
"""Endpoints do not report their window; all known models read this much, and chunks are smaller."""


class OpenAiModel(EmbeddingModel):
    """A model behind an endpoint; a request at the start finds its dimensions."""

    def __init__(self, model: str) -> None:
        if not settings.EMBEDDING_BASE_URL:
            raise ImproperlyConfigured(
                "EMBEDDING_BACKEND openai needs EMBEDDING_BASE_URL, e.g. http://127.0.0.1:11434/v1."
            )
        self._endpoint = Endpoint("EMBEDDING", "/embeddings", model)
        asked = settings.EMBEDDING_DIMENSIONS
        self._options = {"dimensions": asked} if asked else {}
        self._count = token_counter(settings.EMBEDDING_TOKENIZER)
        self.name = model
        self.revision = f"{REVISION}, {asked} dimensions" if asked else REVISION
        self.max_tokens = MAX_TOKENS
        self.runs_on = f"openai-compatible endpoint {self._endpoint.address}"
        self.dimensions = self._request(["How many dimensions?"]).shape[1]
        if asked and asked != self.dimensions:
            raise ImproperlyConfigured(
                f"EMBEDDING_DIMENSIONS is {asked}, but {model} yields {self.dimensions} dimensions."
            )

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors; raise `EndpointUnavailable` if the endpoint fails."""
        if not texts:
            return no_vectors(self.dimensions)
        starts = range(0, len(texts), TEXTS_PER_REQUEST)
        vectors = np.concatenate([self._request(texts[at : at + TEXTS_PER_REQUEST]) for at in starts])
        if vectors.shape[1] != self.dimensions:
            raise EndpointUnavailable(
                f"{self.runs_on}: {self.name} yielded {self.dimensions} dimensions before, "
                f"now {vectors.shape[1]}."
            )
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a question; raise `EndpointUnavailable` if the endpoint fails."""
        vector: Vectors = self.embed_documents([text])[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count with the tokenizer of EMBEDDING_TOKENIZER, or estimate: `estimated_tokens`."""
        return self._count(texts)

    def _request(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors for at most `TEXTS_PER_REQUEST` texts."""
        # Many endpoints refuse an empty text; a space has as little meaning.
        body = {
            "model": self.name,
            "input": [text or " " for text in texts],
            "encoding_format": "base64",
            **self._options,
        }
        reply = self._endpoint.post(body)
        try:
            return _vectors(reply, len(texts))
        except (ValueError, KeyError, TypeError) as error:
            raise self._endpoint.misunderstood("OpenAI's /embeddings", error) from error


def estimated_tokens(text: str) -> int:
    """Return a careful estimate of the number of tokens, for tokenizers that we lack.

    It counts a token for every five letters of an English word, every digit, every mark, and every two bytes
    of a word in other letters. For English that is 1.2 to 1.7 times WordPiece's count, for German read by an
    English tokenizer 0.8 times. So chunks of at most 256 such tokens fit a window of 512.
    """
    return sum(_tokens_of(match) for match in _PARTS.finditer(text))


def token_counter(tokenizer: str) -> Callable[[Sequence[str]], list[int]]:
    """Return a function that counts tokens: with a `tokenizer.json`, a model's tokenizer, or for “” an
    estimate."""
    if not tokenizer:
        return lambda texts: [estimated_tokens(text) for text in texts]
    from tokenizers import Tokenizer

    path = Path(tokenizer).expanduser()
    if tokenizer in PACKAGED or path.is_dir():
        path = model_location(tokenizer) / "tokenizer.json"
    if not path.is_file():
        raise ImproperlyConfigured(f"EMBEDDING_TOKENIZER: there is no {path}.")
    try:
        loaded = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise ImproperlyConfigured(f"EMBEDDING_TOKENIZER {path} is not a tokenizer.json: {error}") from error
    loaded.no_padding()
    loaded.no_truncation()
    return lambda texts: [
        len(encoding) for encoding in loaded.encode_batch_fast(list(texts), add_special_tokens=False)
    ]


_PARTS = re.compile(r"(?P<ascii>[A-Za-z]+)|(?P<one>\d|[^\w\s]|_)|(?P<other>[^\W\d_A-Za-z]+)")


def _tokens_of(match: re.Match[str]) -> int:
    length = len(match[0].encode())
    return {"ascii": -(-length // 5), "one": -(-length // 2), "other": -(-length // 2)}[match.lastgroup or ""]


def _vectors(reply: Any, count: int) -> Vectors:
    """Parse `{"data": [{"index", "embedding": floats or base64 of little-endian float32}]}`, in any order."""
    rows = {row["index"]: row["embedding"] for row in reply["data"]}
    if sorted(rows) != list(range(count)) or len(reply["data"]) != count:
        raise ValueError(f"{count} texts sent, embeddings {sorted(rows)} received")
    vectors = [_vector(rows[index]) for index in range(count)]
    if len({len(vector) for vector in vectors}) != 1 or not len(vectors[0]):
        raise ValueError("embeddings of different lengths, or empty ones")
    stacked = np.stack(vectors)
    if not np.isfinite(stacked).all() or not np.linalg.norm(stacked, axis=1).all():
        raise ValueError("embeddings that are not finite or all zero")
    return normalise(stacked)


def _vector(embedding: str | list[float]) -> Vectors:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float32)
    return np.asarray(embedding, dtype=np.float32)
