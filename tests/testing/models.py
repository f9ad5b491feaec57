"""Converted embedding models that outlive a run of the tests."""

from __future__ import annotations

from pathlib import Path

from tests.testing.paths import ROOT

KEPT = ROOT / ".cache" / "models"


def keep_models(data_dir: Path) -> None:
    """Let a data folder share the models that were converted before.

    Conversion takes longer than most tests. The names of converted models tell their versions, and no two
    processes convert the same model at once.
    """
    KEPT.mkdir(parents=True, exist_ok=True)
    (data_dir / "cache").mkdir()
    (data_dir / "cache" / "models").symlink_to(KEPT)
