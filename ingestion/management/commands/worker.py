"""`manage.py worker`: the process that ingests documents."""

from __future__ import annotations

import asyncio
from typing import Any

from django.core.management.base import BaseCommand

from ingestion import describing
from ingestion.jobs import run_worker
from kb.embedding import start


class Command(BaseCommand):
    """Run the worker until it is told to stop."""

    help = "Ingest uploaded documents until SIGTERM or SIGINT."

    def handle(self, *args: Any, **options: Any) -> None:
        """Load the models once, then work."""
        self.stdout.write(" ".join(filter(None, ("Worker ready.", start(), describing.start()))))
        asyncio.run(run_worker())
