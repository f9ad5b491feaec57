"""Embedding models behind one small interface, and the spaces their vectors live in.

`EMBEDDING_BACKEND` and `EMBEDDING_MODEL` choose. To search: `active_space()` and `model_of` it. To store
vectors: `model_of` each of `spaces_to_fill()`. To measure texts: `embedding_model()`.
"""

from kb.embedding.base import EmbeddingModel, Vectors
from kb.embedding.registry import BACKENDS, embedding_model, load
from kb.embedding.spaces import (
    ModelUnavailable,
    active_space,
    model_of,
    spaces_to_fill,
    start,
    wanted_space,
)

__all__ = [
    "BACKENDS",
    "EmbeddingModel",
    "ModelUnavailable",
    "Vectors",
    "active_space",
    "embedding_model",
    "load",
    "model_of",
    "spaces_to_fill",
    "start",
    "wanted_space",
]
