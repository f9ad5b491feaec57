"""What an embedding backend is: text in, unit vectors out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


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

    @abstractmethod
    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimensions) for texts to be found."""

    @abstractmethod
    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of shape (dimensions,) for a question."""

    @abstractmethod
    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return for each text its number of tokens, without special tokens and without truncation."""

    def describe(self) -> str:
        """Return one line for operators: the model, what computes, and why that."""
        why = f" ({self.chosen_because})" if self.chosen_because else ""
        return f"{self.name}, {self.dimensions} dimensions, by {self.runs_on}{why}"


def no_vectors(dimensions: int) -> Vectors:
    """Return an array of shape (0, dimensions)."""
    return np.zeros((0, dimensions), dtype=np.float32)


def normalised(vectors: Vectors) -> Vectors:
    """Return the vectors (last axis) at length one."""
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return unit.astype(np.float32, copy=False)
