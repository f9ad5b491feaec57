"""What an embedding backend is: text in, unit vectors out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """What a model makes of each token of a text, in its context; special tokens and prompts left out."""

    vectors: Vectors
    """Unit vectors of shape (tokens, size); `size` need not be the model's `dimensions`."""
    spans: NDArray[np.int64]
    """Of shape (tokens, 2): where each token begins and ends in the text, in code points."""


class EmbeddingModel(ABC):
    """A loaded model. Thread-safe; one lives in each process that needs it.

    `name` and `revision` name the embedding space: vectors are only comparable when both are equal. Backends
    that serve the same weights share a space.
    """

    name: str
    revision: str
    dimensions: int
    max_tokens: int
    """How many tokens of a text the model reads, special tokens included; the rest would be lost."""
    runs_on: str
    """What computes, e.g. “openvino, bf16 on CPU”."""
    chosen_because: str = ""
    """Why this backend, where nobody named one."""
    has_token_vectors: bool = False
    """Whether `embed_tokens` works: not every model has them, and no endpoint tells them."""

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
        """Return the vectors of each text's tokens; what lies beyond the window is left out.

        Raise `NotImplementedError` unless `has_token_vectors`.
        """
        raise NotImplementedError

    def describe(self) -> str:
        """Return one line for operators: the model, what computes, and why that."""
        why = f" ({self.chosen_because})" if self.chosen_because else ""
        return f"{self.name}, {self.dimensions} dimensions, by {self.runs_on}{why}"


def token_vectors(
    vectors: Vectors, spans: Sequence[tuple[int, int]], special: Sequence[int], prompt: int
) -> TokenVectors:
    """Return the text's own tokens out of all that a model read.

    `vectors` are of shape (tokens, size), `spans` and `special` (1 for a special token) say what each is, and
    the first `prompt` characters are not the text's.
    """
    places = np.array(spans, dtype=np.int64).reshape(-1, 2) - prompt
    own = (np.array(special) == 0) & (places[:, 0] >= 0)
    return TokenVectors(normalised(vectors[own]), places[own])


def no_vectors(dimensions: int) -> Vectors:
    """Return an array of shape (0, dimensions)."""
    return np.zeros((0, dimensions), dtype=np.float32)


def normalised(vectors: Vectors) -> Vectors:
    """Return the vectors (last axis) at length one."""
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return unit.astype(np.float32, copy=False)
