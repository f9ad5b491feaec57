"""Embedding models behind one small interface, and the embedding spaces of their vectors.

`EMBEDDING_BACKEND` and `EMBEDDING_MODEL` choose the model. To search, use `model_of(active_space())`. To
store vectors, use `model_of` each of `spaces_to_fill()`. To search for what is not in English, use
`multilingual_space()`. To count tokens, use `embedding_model()`. To compare texts in any language without
storing vectors, use `multilingual_model()`.
"""

from kb.embedding.base import EmbeddingModel, Vectors
from kb.embedding.registry import BACKENDS, embedding_model, load, multilingual_model
from kb.embedding.spaces import (
    ModelUnavailable,
    active_space,
    model_of,
    multilingual_space,
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
    "multilingual_model",
    "multilingual_space",
    "spaces_to_fill",
    "start",
    "wanted_space",
]
