"""Embedding models behind one small interface; `EMBEDDING_BACKEND` and `EMBEDDING_MODEL` choose."""

from kb.embedding.base import EmbeddingModel, Vectors
from kb.embedding.registry import BACKENDS, current_space, embedding_model, load

__all__ = ["BACKENDS", "EmbeddingModel", "Vectors", "current_space", "embedding_model", "load"]
