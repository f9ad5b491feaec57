"""Libraries that report to their makers, and the switches by which each is told not to.

Whatever loads a library calls `switch_off` before; children get `SWITCHES` with their environment.
"""

from __future__ import annotations

import os
import sys

SWITCHES = {
    # Microsoft's collector in the Linux wheel: a device id in the home folder, and an upload for each model.
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    # Asked by several: consoledonottrack.com.
    "DO_NOT_TRACK": "1",
    "SCARF_NO_ANALYTICS": "true",
}


def switch_off() -> None:
    """Forbid all reporting in this process and in what inherits its environment."""
    os.environ.update(SWITCHES)
    # OpenVINO has no switch: it reports if this package can be imported.
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
