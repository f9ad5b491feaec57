"""Limits log lines that strangers can cause, so that they can't fill the log."""

from __future__ import annotations

import logging
import time
from threading import Lock

LINES, SECS = 10, 60.0


class FloodFilter(logging.Filter):
    """Lets `LINES` records pass in `SECS` seconds; the next one afterwards counts those left out."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()
        self._since, self._seen = float("-inf"), 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to write the record; errors are always written."""
        if record.levelno >= logging.ERROR:
            return True
        with self._lock:
            now = time.monotonic()
            left_out = max(0, self._seen - LINES)
            if now - self._since >= SECS:
                self._since, self._seen = now, 0
                if left_out:
                    record.msg = f"{record.getMessage()} (and {left_out} more lines like this before)"
                    record.args = None
            self._seen += 1
            return self._seen <= LINES
