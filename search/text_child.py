"""The child of `search.text_processes`: runs one task after the other until its parent disconnects."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from multiprocessing.connection import Connection
from typing import Any

from core.confinement.limits import lower_priority
from core.process.hardening import harden_this_process

GRACE_SECS = 5.0
"""The parent ends tasks that take too long. If it has died, the kernel does so a little later."""


class NoVectors(Exception):
    """The caller could not embed."""


def serve(connection: Connection[Any, Any]) -> None:
    """Do tasks until the connection ends."""
    from search.text_tasks import TASKS

    def embed(texts: Any) -> Any:
        left = signal.setitimer(signal.ITIMER_REAL, 0)[0]
        connection.send(("texts", texts))
        vectors = connection.recv()
        signal.setitimer(signal.ITIMER_REAL, max(left, GRACE_SECS))
        if vectors is None:
            raise NoVectors
        return vectors

    connection.send(None)
    while True:
        task, arguments, secs = connection.recv()
        signal.setitimer(signal.ITIMER_REAL, secs + GRACE_SECS)
        try:
            reply = "result", TASKS[task](*arguments, embed)
        except Exception:  # noqa: BLE001 - the parent raises it
            reply = "failed", traceback.format_exc()
        signal.setitimer(signal.ITIMER_REAL, 0)
        connection.send(reply)


def main() -> None:
    """Load what tasks need, and serve the descriptor that is named."""
    harden_this_process()
    lower_priority()
    # Ctrl-C is for the web process, which ends its children after answering.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "locus.settings")
    import django

    django.setup()
    try:
        serve(Connection(int(sys.argv[1])))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return


if __name__ == "__main__":
    main()
