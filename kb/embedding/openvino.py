"""Embeddings on the CPU by OpenVINO: the same weights as sentence-transformers, several times as fast.

It uses bf16 if the CPU has such instructions. Neither torch nor transformers is loaded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from numpy.typing import NDArray

from core.process.telemetry import switch_off
from kb.embedding.base import EmbeddingModel, TokenVectors, Vectors, no_vectors, normalise, token_vectors
from kb.embedding.batching import batches_by_length
from kb.embedding.conversion import INT8, Graph, graph_of
from kb.embedding.counting import WordCounter, splits_at_blanks
from kb.embedding.weights import model_location, weights_revision

if TYPE_CHECKING:
    import openvino
    from tokenizers import Encoding

# Measured: twice as many take no less time and 70 MB more, half as many take longer.
TOKENS_PER_BATCH = 1024
# OpenVINO prepares and keeps kernels for each shape: few shapes, little padding.
WIDTH_MULTIPLE = 8
AUTO = "auto"
LEAST_COSINE = {"f32": 0.999, "bf16": 0.999, INT8: 0.99}


class OpenVinoModel(EmbeddingModel):
    """A converted sentence-transformers model; refuses to load if its vectors differ from the original's."""

    def __init__(self, model: str) -> None:
        core = _core(import_openvino())
        folder = model_location(model)
        precision = _precision(core)
        graph = graph_of(folder, precision)
        self.name, self.revision = model, weights_revision(folder)
        self.dimensions = graph.dimensions
        self._graph = graph
        self._tokenizer = _tokenizer(graph)
        self._words = WordCounter(self._count) if splits_at_blanks(self._tokenizer) else None
        prompts = self._count([graph.document_prompt, graph.query_prompt])
        self.max_tokens = graph.max_tokens - max(prompts)
        self._least_cosine = LEAST_COSINE[precision]
        self._compiled = core.compile_model(
            graph.folder / "model.xml",
            "CPU",
            # One stream per core or few: parallel batches are faster than one batch on all cores.
            # Of an 8-bit graph, this is how the rest is computed.
            {"INFERENCE_PRECISION_HINT": _of_the_rest(core, precision), "PERFORMANCE_HINT": "THROUGHPUT"},
        )
        self._parallel = int(self._compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
        self.has_token_vectors = len(self._compiled.outputs) > 1
        self.runs_on = f"openvino, {precision} on CPU"
        self._compare_with_original()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, computed in batches of texts of similar length."""
        if not texts:
            return no_vectors(self.dimensions)
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        encodings = self._encode(texts, self._graph.document_prompt)
        for batch, request in self._run_batches(encodings, TOKENS_PER_BATCH):
            vectors[batch] = request.get_output_tensor(0).data
        return normalise(vectors)

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a question."""
        encoding = self._tokenizer.encode(self._graph.query_prompt + text)
        request = self._compiled.create_infer_request()
        vector: Vectors = request.infer(self._inputs([encoding]))[0][0]
        return normalise(vector)

    def embed_tokens(self, texts: Sequence[str], *, as_queries: bool = False) -> list[TokenVectors]:
        """Return the vectors of each text's tokens."""
        prompt = self._graph.query_prompt if as_queries else self._graph.document_prompt
        encodings = self._encode(texts, prompt)
        # A user waits for these few texts: every core takes a share of them.
        share = -(-sum(map(len, encodings)) // self._parallel)
        found: dict[int, TokenVectors] = {}
        for batch, request in self._run_batches(encodings, min(share, TOKENS_PER_BATCH)):
            vectors = request.get_output_tensor(1).data
            for row, index in enumerate(batch):
                read = encodings[index]
                found[index] = token_vectors(
                    vectors[row, : len(read)], read.offsets, read.special_tokens_mask, len(prompt)
                )
        return [found[index] for index in range(len(texts))]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count with the model's own tokenizer."""
        return self._words.count(texts) if self._words else self._count(texts)

    def _count(self, texts: Sequence[str]) -> list[int]:
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(read) + sum(map(len, read.overflowing)) for read in encodings]

    def _encode(self, texts: Sequence[str], prompt: str) -> list[Encoding]:
        encodings: list[Encoding] = self._tokenizer.encode_batch([prompt + text for text in texts])
        return encodings

    def _run_batches(
        self, encodings: Sequence[Encoding], budget: int
    ) -> Iterator[tuple[list[int], openvino.InferRequest]]:
        """Yield indices of texts, and a finished request with their results, to be read before the next one.

        No callbacks: those of OpenVINO's own queue run in its threads and wait for Python's lock.
        """
        running: deque[tuple[list[int], openvino.InferRequest]] = deque()
        free: list[openvino.InferRequest] = []
        for batch in batches_by_length([_width(encoding) for encoding in encodings], budget):
            if len(running) == self._parallel:
                yield from _finish_oldest(running, free)
            request = free.pop() if free else self._compiled.create_infer_request()
            request.start_async(self._inputs([encodings[index] for index in batch]))
            running.append((batch, request))
        while running:
            yield from _finish_oldest(running, free)

    def _inputs(self, encodings: Sequence[Encoding]) -> dict[str, NDArray[np.int64]]:
        shape = (len(encodings), max(map(_width, encodings)))
        ids = np.full(shape, self._graph.padding_id, dtype=np.int64)
        mask = np.zeros(shape, dtype=np.int64)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding)] = encoding.ids
            mask[row, : len(encoding)] = 1
        known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros(shape, dtype=np.int64)}
        return {name: known[name] for name in self._graph.inputs}

    def _compare_with_original(self) -> None:
        """Compare with the original model's vectors of a few texts: the space must be the same here."""
        vectors = self.embed_documents(self._graph.check_texts)
        cosines = np.sum(vectors * np.array(self._graph.check_vectors), axis=1)
        if not cosines.mean() >= self._least_cosine:
            raise ImproperlyConfigured(
                f"EMBEDDING_BACKEND openvino can't serve EMBEDDING_MODEL {self.name}: its vectors are not "
                f"those of sentence-transformers (cosine {cosines.mean():.4f}, least {cosines.min():.4f})."
            )


def _width(encoding: Encoding) -> int:
    """Return the width in tokens of a batch whose longest text this is."""
    return -(-len(encoding) // WIDTH_MULTIPLE) * WIDTH_MULTIPLE


def _finish_oldest(
    running: deque[tuple[list[int], openvino.InferRequest]], free: list[openvino.InferRequest]
) -> Iterator[tuple[list[int], openvino.InferRequest]]:
    """Wait for the oldest request, yield it, and free it for another batch."""
    batch, request = running.popleft()
    request.wait()
    yield batch, request
    free.append(request)


@cache
def _core(openvino: Any) -> Any:
    """Return the one core of this process.

    It gives the creating thread another stack for signals, and frees the stack when it is deleted. If another
    thread deleted it, for instance by garbage collection of a refused model, the next signal would end the
    process.
    """
    return openvino.Core()


def import_openvino() -> Any:
    """Import OpenVINO without its telemetry; raise `ImproperlyConfigured` if it is not installed."""
    switch_off()
    try:
        import openvino
    except ImportError as error:
        raise ImproperlyConfigured(
            f"EMBEDDING_BACKEND openvino needs the package openvino: pip install openvino ({error})"
        ) from error
    return openvino


def _tokenizer(graph: Graph) -> Any:
    """Return the tokenizer, which cuts texts to the model's window and keeps the rest as overflow.

    One counts and cuts: that of a multilingual model takes 300 MB.
    """
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(graph.folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(graph.max_tokens)
    return tokenizer


def _precision(core: Any) -> str:
    """Return what EMBEDDING_PRECISION names; `auto` is bf16 where the CPU has it."""
    wanted: str = settings.EMBEDDING_PRECISION
    return _fastest_float(core) if wanted == AUTO else wanted


def _of_the_rest(core: Any, precision: str) -> str:
    return _fastest_float(core) if precision == INT8 else precision


def _fastest_float(core: Any) -> str:
    return "bf16" if "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES") else "f32"
