"""Converts a sentence-transformers model for OpenVINO: `python -P convert.py SOURCE TARGET [int8]`.

Runs as a process of its own, without Django. Every module of the model is traced, including pooling and
normalisation, so that the graph does what the model does. Texts with the original model's vectors are stored
with it; a process that loads the graph compares them.

`int8` quantises what multiplies matrices to 8 bits. Texts of `calibration.txt` show how large numbers get.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# On its import OpenVINO reports to an analytics service, unless the package that does so is absent.
sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]

import numpy as np  # noqa: E402
import openvino  # noqa: E402
import torch  # noqa: E402
from sentence_transformers import SentenceTransformer  # noqa: E402

CALIBRATION = Path(__file__).with_name("calibration.txt")
# From so many words on, the table of their vectors is most of the model: it is stored in 16 bits.
LARGE_VOCABULARY = 100_000
INPUTS = ["input_ids", "attention_mask", "token_type_ids"]
# Of many lengths, so that padding and truncation are part of the comparison.
CHECK_TEXTS = [
    "",
    "Yes.",
    "Net revenue rose by 4.2 % to $1,234.5 million in 2023.",
    "The keeper wrote down wind and water, hour by hour.",
    "Die Brücke über den Fluß wurde im Jahr 1893 gebaut — und 1945 zerstört.",
    "水 is written with four strokes; Ελλάδα has six letters.",
    "| Year | Revenue |\n|---|---|\n| 2022 | 17,606 |\n| 2023 | 19,409 |",
    "A lighthouse stands on the rock, and on clear nights its light is seen from the other shore. " * 4,
    "The board approved the plan; the auditors, who had been asked twice, raised no objection. " * 12,
    "word " * 1500,
]


class Whole(torch.nn.Module):
    """The model from token ids to vectors."""

    def __init__(self, model: SentenceTransformer, inputs: list[str]) -> None:
        super().__init__()
        self.model = model
        self.inputs = inputs

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return unit vectors (texts, dimensions) and, if the model has them, (texts, tokens, size)."""
        features = self.model(dict(zip(self.inputs, tensors, strict=True)))
        vectors = torch.nn.functional.normalize(features["sentence_embedding"], dim=-1)
        tokens = features.get("token_embeddings")
        return (vectors,) if tokens is None else (vectors, tokens)


def main() -> None:
    """Convert, or exit with a message."""
    source, target = map(Path, sys.argv[1:3])
    int8 = sys.argv[3:] == ["int8"]
    # The graph of a model in half precision has other vectors than the model.
    single = {"dtype": "float32"}
    model = SentenceTransformer(str(source), device="cpu", model_kwargs=single).eval()
    tokenizer = getattr(model.tokenizer, "backend_tokenizer", None)
    if tokenizer is None:
        sys.exit("its tokenizer is not one of the tokenizers library")
    sample = model.tokenizer(["a short text", "a text of some more words"], padding=True, return_tensors="pt")
    inputs = [name for name in INPUTS if name in sample]
    target.mkdir()
    with torch.no_grad():
        graph = openvino.convert_model(
            Whole(model, inputs).eval(), example_input=tuple(sample[name] for name in inputs)
        )
    for port, name in zip(graph.inputs, inputs, strict=True):
        port.get_tensor().set_names({name})
        port.get_node().set_partial_shape(openvino.PartialShape([-1, -1]))
    graph.validate_nodes_and_infer_types()
    if int8:
        graph = quantise(graph, model, inputs)
    is_large = len(model.tokenizer) >= LARGE_VOCABULARY
    openvino.save_model(graph, target / "model.xml", compress_to_fp16=is_large)
    tokenizer.save(str(target / "tokenizer.json"))
    (target / "graph.json").write_text(json.dumps(facts(model, inputs)))


def quantise(graph: Any, model: SentenceTransformer, inputs: list[str]) -> Any:
    """Return the graph with 8-bit multiplications: SmoothQuant and bias correction, by NNCF."""
    try:
        import nncf
    except ImportError as error:
        sys.exit(f"int8 needs the package nncf: pip install nncf ({error})")
    ranges = nncf.quantization.range_estimator.RangeEstimatorParametersSet
    # The largest number seen, not the mean over the texts: some questions have numbers far beyond it, which
    # would be cut. 8 bits of the table of words would become 32 again in memory, and save no time.
    return nncf.quantize(
        graph,
        nncf.Dataset(list(calibration_inputs(model, inputs))),
        model_type=nncf.ModelType.TRANSFORMER,
        preset=nncf.QuantizationPreset.MIXED,
        advanced_parameters=nncf.AdvancedQuantizationParameters(
            activations_range_estimator_params=ranges.MINMAX
        ),
        ignored_scope=nncf.IgnoredScope(types=["Gather"], validate=False),
    )


def calibration_inputs(model: SentenceTransformer, inputs: list[str]) -> Iterator[dict[str, Any]]:
    """Yield each text as a batch of its own, half of them as questions."""
    for number, text in enumerate(filter(None, CALIBRATION.read_text("utf-8").split("\n\n"))):
        prompt = model.prompts.get("query" if number % 2 else "document") or ""
        read = model.tokenizer([prompt + text], truncation=True, max_length=256, return_tensors="np")
        yield {name: read[name].astype(np.int64) for name in inputs}


def facts(model: SentenceTransformer, inputs: list[str]) -> dict[str, Any]:
    """Return what the graph does not contain: the fields of `kb.embedding.conversion.Graph`."""
    prompts = model.prompts
    documents = next((prompts[name] for name in ("document", "passage", "corpus") if prompts.get(name)), "")
    vectors = model.encode_document(CHECK_TEXTS, normalize_embeddings=True, show_progress_bar=False)
    return {
        "inputs": inputs,
        "dimensions": int(model.get_embedding_dimension() or vectors.shape[1]),
        "max_tokens": int(model.max_seq_length or 512),
        "padding_id": int(model.tokenizer.pad_token_id or 0),
        "document_prompt": documents,
        "query_prompt": prompts.get("query") or "",
        "check_texts": CHECK_TEXTS,
        "check_vectors": vectors.tolist(),
    }


if __name__ == "__main__":
    main()
