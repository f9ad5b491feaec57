"""`manage.py backup DIR`: database and files as they are at one moment, while Locus runs."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.errors import StorageUnavailable
from locus.backup.creating import create_backup
from locus.backup.layout import BackupError, BackupFolder
from locus.backup.restoring import check_backup


class Command(BaseCommand):
    """Adds a backup to a folder; contents of files that the folder has are not copied again."""

    help = "Back up database and files into a folder, consistent to one point in time."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("folder", type=Path)
        parser.add_argument("--keep", type=int, default=0, help="then remove all backups but the last KEEP")
        parser.add_argument(
            "--with-secrets", action="store_true", help="keep the secrets in it: who has it can use all keys"
        )
        parser.add_argument("--check", action="store_true", help="read the backup again and compare it")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the backup."""
        if options["keep"] < 0:
            raise CommandError("--keep is a number of backups.")
        folder: Path = options["folder"].resolve()
        try:
            backup = create_backup(
                folder, self.stdout.write, with_secrets=options["with_secrets"], keep=options["keep"]
            )
            if options["check"]:
                check_backup(BackupFolder(folder), backup, self.stdout.write)
        except (BackupError, StorageUnavailable) as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{folder} can’t be written: {error.strerror}.") from None
        manifest = backup.manifest()
        for name in manifest.missing:
            self.stdout.write(f"Lost before the backup: {name}. See manage.py doctor.")
        self.stdout.write(
            f"Backup {backup.folder}: {manifest.files} files, {manifest.bytes / 2**20:,.1f} MiB."
        )
        if not options["with_secrets"]:
            self.stdout.write(
                "Its secrets are not in it: keep secret_key, key_pepper and encryption_key too."
            )
