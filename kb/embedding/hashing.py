"""A deterministic double: words hashed into a fixed number of dimensions. For tests only."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from kb.embedding.base import EmbeddingModel, Vectors


class HashingModel(EmbeddingModel):
    """Texts that share words are near each other; needs no weights and loads at once."""

    def __init__(self, model: str = "hashing") -> None:
        self.name = model
        self.revision = "1"
        self.dimensions = 64
        self.max_tokens = 256

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one normalised bag of hashed words for each text."""
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """Return the normalised bag of hashed words."""
        vector = np.zeros(self.dimensions, dtype=np.float32)
        for word in _words(text):
            digest = hashlib.blake2b(word.encode(), digest_size=4).digest()
            vector[int.from_bytes(digest) % self.dimensions] += 1.0
        if not vector.any():
            vector[0] = 1.0
        normalised: Vectors = vector / np.linalg.norm(vector)
        return normalised

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count words."""
        return [len(_words(text)) for text in texts]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
