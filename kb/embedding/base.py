"""What an embedding backend is: text in, unit vectors out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class EmbeddingModel(ABC):
    """A loaded model. Thread-safe; one lives in each process that needs it.

    `name` and `revision` name the embedding space: vectors are only comparable when both are equal.
    """

    name: str
    revision: str
    dimensions: int
    max_tokens: int
    """How many tokens of a text the model reads, special tokens included; the rest would be lost."""

    @abstractmethod
    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimensions) for texts to be found."""

    @abstractmethod
    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of shape (dimensions,) for a question."""

    @abstractmethod
    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return for each text its number of tokens, without special tokens and without truncation."""
