"""A deterministic double: words hashed into a fixed number of dimensions. For tests only.

Its name says what it is: `hashing` has 64 dimensions, `hashing-32` has 32, `hashing-32@b` is another
revision of the latter, whose vectors differ.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from django.core.exceptions import ImproperlyConfigured

from kb.embedding.base import EmbeddingModel, Vectors, no_vectors, normalised

NAME = re.compile(r"hashing(?:-(?P<dimensions>[1-9]\d{0,3}))?(?:@(?P<revision>\w+))?")


class HashingModel(EmbeddingModel):
    """Texts that share words are near each other; needs no weights and loads at once."""

    runs_on = "hashing, which knows no meaning: for tests only"

    def __init__(self, model: str = "hashing") -> None:
        match = NAME.fullmatch(model)
        if match is None:
            raise ImproperlyConfigured(
                f"EMBEDDING_MODEL must be hashing or hashing-DIMENSIONS for this backend, not “{model}”."
            )
        self.name = model.partition("@")[0]
        self.revision = match["revision"] or "1"
        self.dimensions = int(match["dimensions"] or 64)
        self.max_tokens = 256

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one normalised bag of hashed words for each text."""
        if not texts:
            return no_vectors(self.dimensions)
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """Return the normalised bag of hashed words."""
        vector = np.zeros(self.dimensions, dtype=np.float32)
        for word in _words(text):
            salt = self.revision.encode() if self.revision != "1" else b""
            digest = hashlib.blake2b(word.encode(), digest_size=4, salt=salt).digest()
            vector[int.from_bytes(digest) % self.dimensions] += 1.0
        if not vector.any():
            vector[0] = 1.0
        return normalised(vector)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count words."""
        return [len(_words(text)) for text in texts]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
