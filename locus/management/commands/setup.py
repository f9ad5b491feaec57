"""`manage.py setup`: prepares an installation whose processes something else runs (containers, systemd)."""

from typing import Any

from django.core.management.base import BaseCommand
from rich.console import Console

from locus.serve.installation import install


class Command(BaseCommand):
    """Migrates, collects static files, and on the first run creates the administrator and the demo."""

    help = "Bring database and static files up to date; create the administrator on the first run."

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the setup."""
        install(Console())
