"""A deterministic double: words hashed into a fixed number of dimensions. For tests only.

Its name sets its shape: `hashing` has 64 dimensions, `hashing-32` has 32, `hashing-32@b` is another revision
of the latter with different vectors.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from django.core.exceptions import ImproperlyConfigured

from kb.embedding.base import EmbeddingModel, TokenVectors, Vectors, no_vectors, normalise

NAME = re.compile(r"hashing(?:-(?P<dimensions>[1-9]\d{0,3}))?(?:@(?P<revision>\w+))?")

WORD = re.compile(r"\w+")


class HashingModel(EmbeddingModel):
    """Texts that share words are near each other; needs no weights and loads at once."""

    runs_on = "hashing, which knows no meaning: for tests only"
    has_token_vectors = True

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
        return normalise(vector)

    def embed_tokens(self, texts: Sequence[str], *, as_queries: bool = False) -> list[TokenVectors]:
        """Return the vector of each word by itself."""
        return [self._embed_words(text) for text in texts]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count words."""
        return [len(_words(text)) for text in texts]

    def _embed_words(self, text: str) -> TokenVectors:
        words = list(WORD.finditer(text))
        vectors = [self.embed_query(word[0]) for word in words] or no_vectors(self.dimensions)
        spans = np.array([word.span() for word in words], dtype=np.int64).reshape(-1, 2)
        return TokenVectors(np.asarray(vectors), spans)


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower())
