"""Embeddings by any sentence-transformers model: the reference backend. Uses a GPU if torch finds one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from django.core.exceptions import ImproperlyConfigured

from kb.embedding.base import (
    EmbeddingModel,
    TokenVectors,
    Vectors,
    no_vectors,
    normalise,
    token_vectors,
)
from kb.embedding.weights import model_location, weights_revision

BATCH_SIZE = 32
# Device files of GPU drivers that torch can use: NVIDIA, AMD, Windows' subsystem.
GPU_NODES = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")


class SentenceTransformersModel(EmbeddingModel):
    """A sentence-transformers model, from a package, a local folder or the model hub."""

    def __init__(self, model: str) -> None:
        folder = model_location(model)
        # The import takes seconds and half a gigabyte, so only processes that embed do it.
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging

        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        # Half precision, in which many models are stored, is slow on a CPU, and less exact than need be.
        stored_or_single = {"dtype": "auto" if gpu_is_present() else "float32"}
        try:
            self._model = SentenceTransformer(str(folder), model_kwargs=stored_or_single)
        except (OSError, ValueError) as error:
            raise ImproperlyConfigured(f"EMBEDDING_MODEL “{model}” can't be loaded: {error}") from error
        self._lock = threading.Lock()
        self.name = model
        self.revision = weights_revision(folder)
        self.dimensions = int(self._model.get_embedding_dimension() or 0)
        self._window = int(self._model.max_seq_length or 512)
        prompts = filter(None, self._model.prompts.values())
        self.max_tokens = self._window - max(self.count_tokens(["", *prompts]))
        # Only a transformer has tokens in context; only a tokenizer in Rust reports their positions.
        self.has_token_vectors = hasattr(self._model[0], "auto_model") and self._model.tokenizer.is_fast
        self.runs_on = f"sentence-transformers on {_device_name(str(self._model.device))}"

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors; sentence-transformers sorts the texts by length within the call."""
        if not texts:
            return no_vectors(self.dimensions)
        return self._encode(self._model.encode_document, list(texts))

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a question."""
        vector: Vectors = self._encode(self._model.encode_query, [text])[0]
        return vector

    def embed_tokens(self, texts: Sequence[str], *, as_queries: bool = False) -> list[TokenVectors]:
        """Return the vectors of each text's tokens."""
        if not texts:
            return []
        names = ["query"] if as_queries else ["document", "passage", "corpus"]
        prompt = next((given for name in names if (given := self._model.prompts.get(name))), "")
        whole = [prompt + text for text in texts]
        with self._lock:
            found = self._model.encode(
                whole, batch_size=BATCH_SIZE, output_value="token_embeddings", show_progress_bar=False
            )
        read = self._model.tokenizer(
            whole,
            truncation=True,
            max_length=self._window,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
        )
        # Some models pad on the left.
        return [
            token_vectors(vectors[-len(spans) :].float().cpu().numpy(), spans, special, len(prompt))
            for vectors, spans, special in zip(
                found, read["offset_mapping"], read["special_tokens_mask"], strict=True
            )
        ]

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

    def _encode(self, encode: Callable[..., Any], texts: list[str]) -> Vectors:
        with self._lock:
            vectors = encode(
                texts,
                batch_size=BATCH_SIZE,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        # Of a model in half precision they would be unit vectors to three digits only.
        return normalise(np.asarray(vectors, dtype=np.float32))


def gpu_is_present() -> bool:
    """Return whether torch can use a GPU; torch is only imported if a GPU's driver is present."""
    if not any(Path(node).exists() for node in GPU_NODES):
        return False
    import torch

    return torch.cuda.is_available()


def _device_name(device: str) -> str:
    if not device.startswith("cuda"):
        return device.upper() if device == "cpu" else device
    import torch

    return f"{device} ({torch.cuda.get_device_name(device)})"
