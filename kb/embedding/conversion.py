"""A sentence-transformers model as a graph for OpenVINO: converted once, kept in `DATA_DIR/cache/models`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from filelock import FileLock

from core.process.scripts import why_script_failed
from kb.embedding.weights import configuration_digest, weights_revision

CONVERTER = Path(__file__).with_name("convert.py")
# Part of the folders' names; change it when convert.py writes something else.
FORMAT = 3
INT8 = "int8"


@dataclass(frozen=True, slots=True)
class Graph:
    """A converted model: `model.xml` with its weights, `tokenizer.json`, and how to use them."""

    folder: Path
    inputs: list[str]
    dimensions: int
    max_tokens: int
    padding_id: int
    document_prompt: str
    query_prompt: str
    check_texts: list[str]
    check_vectors: list[list[float]]
    """The original model's vectors of `check_texts`, embedded as documents."""


def graph_of(source: Path, precision: str = "") -> Graph:
    """Return the converted model; convert it first if no process has done so.

    For `int8` this is another graph; all other precisions share one.

    Raises `ImproperlyConfigured` with the reason if it can't be converted.
    """
    key = f"{weights_revision(source)}-{configuration_digest(source)}-openvino-{FORMAT}"
    options = [INT8] if precision == INT8 else []
    key = "-".join([key, *options])
    folder = Path(settings.DATA_DIR) / "cache" / "models" / key
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not folder.is_dir():
                _convert(source, folder, options)
    facts: dict[str, Any] = json.loads((folder / "graph.json").read_text())
    return Graph(folder, **facts)


def _convert(source: Path, target: Path, options: Sequence[str]) -> None:
    """Convert in a child process: torch and the original weights would stay in this one's memory."""
    with TemporaryDirectory(dir=target.parent) as scratch:
        made = Path(scratch) / "graph"
        failure = why_script_failed(CONVERTER, str(source), str(made), *options, HF_HUB_OFFLINE="1")
        if failure is not None:
            raise ImproperlyConfigured(
                f"EMBEDDING_BACKEND openvino can't serve this EMBEDDING_MODEL: {failure}"
            )
        made.rename(target)
