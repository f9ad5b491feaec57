"""Embeddings on the CPU by OpenVINO: the same weights as sentence-transformers, several times as fast.

Where the CPU has bf16 instructions they are used. Neither torch nor transformers is in memory.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from django.core.exceptions import ImproperlyConfigured
from numpy.typing import NDArray

from kb.embedding.base import EmbeddingModel, Vectors, no_vectors, normalised
from kb.embedding.batching import batches_by_length
from kb.embedding.conversion import Graph, graph_of
from kb.embedding.weights import model_location, weights_revision

if TYPE_CHECKING:
    import openvino
    from tokenizers import Encoding

# Measured: larger batches leave the cache, smaller ones don't fill it.
TOKENS_PER_BATCH = 2048
# OpenVINO prepares its kernels for each shape anew, and keeps them: few shapes, little padding.
WIDTH_MULTIPLE = 8
LEAST_COSINE = 0.999


class OpenVinoModel(EmbeddingModel):
    """A sentence-transformers model, converted; refuses to load if its vectors are not the original's."""

    def __init__(self, model: str) -> None:
        openvino = import_openvino()
        folder = model_location(model)
        graph = graph_of(folder)
        self.name, self.revision = model, weights_revision(folder)
        self.dimensions, self.max_tokens = graph.dimensions, graph.max_tokens
        self._graph = graph
        self._counting, self._truncating = _tokenizers(graph)
        core = openvino.Core()
        has_bf16 = "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        precision = "bf16" if has_bf16 else "f32"
        self._compiled = core.compile_model(
            graph.folder / "model.xml",
            "CPU",
            # One stream per core or few: batches side by side beat one batch spread over all cores.
            {"INFERENCE_PRECISION_HINT": precision, "PERFORMANCE_HINT": "THROUGHPUT"},
        )
        self._parallel = int(self._compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
        self.runs_on = f"openvino, {precision} on CPU"
        self._compare_with_original()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, computed in batches of texts of similar length."""
        if not texts:
            return no_vectors(self.dimensions)
        prompt = self._graph.document_prompt
        encodings = self._truncating.encode_batch_fast([prompt + text for text in texts])
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        running: deque[tuple[openvino.InferRequest, list[int]]] = deque()
        for batch in batches_by_length([len(encoding) for encoding in encodings], TOKENS_PER_BATCH):
            if len(running) < self._parallel:
                request = self._compiled.create_infer_request()
            else:
                request = _finish(running, vectors)
            request.start_async(self._inputs([encodings[index] for index in batch]))
            running.append((request, batch))
        while running:
            _finish(running, vectors)
        return normalised(vectors)

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a question."""
        encoding = self._truncating.encode(self._graph.query_prompt + text)
        request = self._compiled.create_infer_request()
        vector: Vectors = request.infer(self._inputs([encoding]))[0][0]
        return normalised(vector)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count with the model's own tokenizer."""
        encodings = self._counting.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(encoding) for encoding in encodings]

    def _inputs(self, encodings: Sequence[Encoding]) -> dict[str, NDArray[np.int64]]:
        longest = max(len(encoding) for encoding in encodings)
        shape = (len(encodings), -(-longest // WIDTH_MULTIPLE) * WIDTH_MULTIPLE)
        ids = np.full(shape, self._graph.padding_id, dtype=np.int64)
        mask = np.zeros(shape, dtype=np.int64)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding)] = encoding.ids
            mask[row, : len(encoding)] = 1
        known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros(shape, dtype=np.int64)}
        return {name: known[name] for name in self._graph.inputs}

    def _compare_with_original(self) -> None:
        """Compare with what the original made of a few texts: the space must be the same on this CPU too."""
        vectors = self.embed_documents(self._graph.check_texts)
        cosines = np.sum(vectors * np.array(self._graph.check_vectors), axis=1)
        if not cosines.mean() >= LEAST_COSINE:
            raise ImproperlyConfigured(
                f"EMBEDDING_BACKEND openvino can't serve EMBEDDING_MODEL {self.name}: its vectors are not "
                f"those of sentence-transformers (cosine {cosines.mean():.4f}, least {cosines.min():.4f})."
            )


def _finish(running: deque[tuple[openvino.InferRequest, list[int]]], vectors: Vectors) -> Any:
    """Wait for the oldest request, keep its vectors, and return it for another batch.

    No callbacks: those of OpenVINO's own queue run in its threads and wait for Python's lock.
    """
    request, batch = running.popleft()
    request.wait()
    vectors[batch] = request.get_output_tensor(0).data
    return request


def import_openvino() -> Any:
    """Import OpenVINO without its telemetry; raise `ImproperlyConfigured` if it isn't installed."""
    # On its import OpenVINO reports to an analytics service, unless the package that does so is absent.
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
    try:
        import openvino
    except ImportError as error:
        raise ImproperlyConfigured(
            f"EMBEDDING_BACKEND openvino needs the package openvino: pip install openvino ({error})"
        ) from error
    return openvino


def _tokenizers(graph: Graph) -> tuple[Any, Any]:
    """Return two tokenizers: one that counts all tokens, one that cuts texts to the model's window."""
    from tokenizers import Tokenizer

    path = str(graph.folder / "tokenizer.json")
    counting, truncating = Tokenizer.from_file(path), Tokenizer.from_file(path)
    for tokenizer in (counting, truncating):
        tokenizer.no_padding()
        tokenizer.no_truncation()
    truncating.enable_truncation(graph.max_tokens)
    return counting, truncating
