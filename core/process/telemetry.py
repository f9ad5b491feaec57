"""Switches off the telemetry of libraries.

Every process calls `switch_off` before it loads a library; children get `SWITCHES` in their environment.
"""

from __future__ import annotations

import os
import sys

SWITCHES = {
    # Microsoft's collector in the Linux wheel: a device id in the home folder, and an upload for each model.
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    # Several libraries read this one: consoledonottrack.com.
    "DO_NOT_TRACK": "1",
    "SCARF_NO_ANALYTICS": "true",
}


def switch_off() -> None:
    """Forbid all telemetry in this process and in processes that inherit its environment."""
    os.environ.update(SWITCHES)
    # OpenVINO has no switch: it sends reports if this package can be imported.
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
