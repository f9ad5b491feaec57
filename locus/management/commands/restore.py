"""`manage.py restore DIR`: an installation as a backup has it."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.errors import StorageUnavailable
from locus.backup.layout import BackupError, BackupFolder
from locus.backup.restoring import choose_backup, findings, restore


class Command(BaseCommand):
    """Checks a backup, restores it, and looks for faults as `doctor` does."""

    help = "Restore database and files from a folder of backups. Stop Locus first."
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("folder", type=Path)
        parser.add_argument("--backup", help="the name of one in the folder; default: the newest")
        parser.add_argument("--replace", action="store_true", help="delete what the installation has")

    def handle(self, *args: Any, **options: Any) -> None:
        """Restore; exits with 1 if anything is not as it was."""
        folder = BackupFolder(options["folder"].resolve())
        try:
            backup = choose_backup(folder, options["backup"])
            with folder.lock():
                restore(folder, backup, self.stdout.write, replace=options["replace"])
        except (BackupError, StorageUnavailable) as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{error.filename or folder.path}: {error.strerror}.") from None
        if found := findings():
            raise CommandError("Restored, but manage.py doctor finds: " + "; ".join(found))
        self.stdout.write("Files, documents, chunks, vectors and jobs agree.")
