"""Scripts of ours that run as processes of their own, because what they load would stay in memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def why_script_failed(script: Path, *arguments: str, **variables: str) -> str | None:
    """Run a Python script to its end; return the last line of its errors if it failed, else None.

    `variables` are added to the environment.
    """
    # -P: otherwise the script's own folder comes first, and a module of ours may hide a package of its name.
    done = subprocess.run(  # noqa: S603 - our own scripts
        [sys.executable, "-P", str(script), *arguments],
        env=os.environ | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return None
    return (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
