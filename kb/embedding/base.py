"""The interface of embedding backends: text in, unit vectors out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """A model's vectors of each token of a text, in its context; without special tokens and prompts."""

    vectors: Vectors
    """Unit vectors of shape (tokens, size); `size` need not be the model's `dimensions`."""
    spans: NDArray[np.int64]
    """Of shape (tokens, 2): start and end of each token in the text, in code points."""


class EmbeddingModel(ABC):
    """A loaded model. Thread-safe; one lives in each process that needs it.

    `name` and `revision` name the embedding space: vectors are only comparable when both are equal. Backends
    that serve the same weights share a space.
    """

    name: str
    revision: str
    dimensions: int
    max_tokens: int
    """How many tokens of a text the model reads, special tokens included, a prompt not; the rest is cut."""
    runs_on: str
    """What computes, e.g. “openvino, bf16 on CPU”."""
    choice_reason: str = ""
    """Why this backend was chosen, if no setting names one."""
    has_token_vectors: bool = False
    """Whether `embed_tokens` works: some models and all endpoints lack token vectors."""

    @abstractmethod
    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimensions) for texts to be found."""

    @abstractmethod
    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of shape (dimensions,) for a question."""

    @abstractmethod
    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return for each text its number of tokens, without special tokens and without truncation."""

    def embed_tokens(self, texts: Sequence[str], *, as_queries: bool = False) -> list[TokenVectors]:
        """Return the vectors of each text's tokens, without those beyond the window.

        Raises `NotImplementedError` unless `has_token_vectors`.
        """
        raise NotImplementedError

    def describe(self) -> str:
        """Return one line for operators: the model, what computes, and the reason."""
        why = f" ({self.choice_reason})" if self.choice_reason else ""
        return f"{self.name}, {self.dimensions} dimensions, by {self.runs_on}{why}"


def token_vectors(
    vectors: Vectors, spans: Sequence[tuple[int, int]], special: Sequence[int], prompt: int
) -> TokenVectors:
    """Return the text's own tokens out of all that a model read, at most one for each place.

    `vectors` are of shape (tokens, size). `spans` are the tokens' positions, `special` is 1 for a special
    token. The first `prompt` characters do not belong to the text.
    """
    places = np.array(spans, dtype=np.int64).reshape(-1, 2) - prompt
    own = np.flatnonzero((np.array(special) == 0) & (places[:, 0] >= 0))
    # SentencePiece may mark the beginning of a word by a token of its own: it stands where the word does.
    own = own[np.append(np.diff(places[own, 0]) != 0, True)] if len(own) else own
    return TokenVectors(normalise(vectors[own]), places[own])


def no_vectors(dimensions: int) -> Vectors:
    """Return an array of shape (0, dimensions)."""
    return np.zeros((0, dimensions), dtype=np.float32)


def normalise(vectors: Vectors) -> Vectors:
    """Return the vectors (last axis) scaled to length one."""
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return unit.astype(np.float32, copy=False)
