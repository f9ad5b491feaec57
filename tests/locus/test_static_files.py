"""Static files: our own compressed, so that a first start is quick."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings


def test_only_our_own_files_are_compressed(static_files: None) -> None:
    """Compressing the files of libraries took half a minute of the first start."""
    root = Path(settings.STATIC_ROOT)
    compressed = {path.relative_to(root) for path in root.rglob("*.gz")}
    assert {path.parent for path in compressed} == {Path()}
    assert any(path.name.startswith("app.") for path in compressed)
    assert (root / "drf_spectacular_sidecar").is_dir()
