"""`manage.py worker`: the process that ingests documents."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.confinement import available_confinement
from core.confinement.limits import lower_priority
from core.tracing import start_tracing
from ingestion import captioning as describing
from ingestion.jobs import run_worker
from ingestion.worker_memory import TooLittleMemory, check_worker_memory
from kb.embedding import start
from kb.index import switching

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    """Runs the worker until a signal stops it."""

    help = "Ingest uploaded documents until SIGTERM or SIGINT."

    def handle(self, *args: Any, **options: Any) -> None:
        """Load the models once, then work."""
        lower_priority()
        start_tracing("locus-worker")
        confinement = available_confinement()
        for gap in confinement.missing:
            logger.warning("The sandbox for files is incomplete. %s", gap)
        confined = f"Files are read in a sandbox: {confinement}."
        # Before the models are loaded, and with them.
        _refuse_too_little_memory()
        embedding = start()
        _refuse_too_little_memory()
        starts = (embedding, switching.start(), describing.start())
        ready = " ".join(filter(None, ("Worker ready.", *starts, confined)))
        self.stdout.write(ready)
        asyncio.run(run_worker())


def _refuse_too_little_memory() -> None:
    try:
        check_worker_memory()
    except TooLittleMemory as error:
        raise CommandError(str(error)) from error
