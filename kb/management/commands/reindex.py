"""`manage.py reindex`: fills the engine of SEARCH_ENGINE and lets searches use it, or shows the progress."""

from __future__ import annotations

import time
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser

from kb.index import switching
from kb.index.errors import EngineUnavailable
from kb.models import SearchEngine

REPORT_SECS = 10.0


class Command(BaseCommand):
    """Does in the foreground what a worker does in the background."""

    help = "Write all documents to the engine of SEARCH_ENGINE, then search there. It may be interrupted."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--status", action="store_true", help="show the engines and the progress")

    def handle(self, *args: Any, **options: Any) -> None:
        """Switch, or report."""
        try:
            report = switching.start()
            if options["status"]:
                self.stdout.write(describe(switching.state()))
                return
            self.stdout.write(report)
            self._switch()
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        except EngineUnavailable as error:
            raise CommandError(f"{error.message} The worker goes on where it stopped.") from error

    def _switch(self) -> None:
        state = switching.state()
        while state.active != state.wanted:
            row = SearchEngine.objects.get(name=state.wanted)
            if switching.fill(row, until=time.monotonic() + REPORT_SECS):
                switching.activate(row)
            state = switching.state()
            self.stdout.write(describe(state))


def describe(state: switching.EngineState) -> str:
    """Return a sentence about the engines."""
    if state.active == state.wanted:
        return f"{state.active} is searched; it has {state.total:,} documents."
    return f"{state.active} is searched; {state.wanted} has {state.done:,} of {state.total:,} documents."
