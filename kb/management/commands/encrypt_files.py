"""`manage.py encrypt_files`: encrypts the files that were stored before `FILE_ENCRYPTION`."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from kb.encrypted_storage import UnreadableFile
from kb.file_encryption import encrypted_storage, files_to_decrypt, files_to_encrypt, store_anew

REPORTED_EVERY = 1000


class Command(BaseCommand):
    """Stores files anew, one after the other, while Locus runs; run again it goes on."""

    help = "Encrypt stored files that are not, or not with the newest key. Needs FILE_ENCRYPTION=on."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--new-key", action="store_true", help="first make a new key for all files")
        parser.add_argument(
            "--undo", action="store_true", help="decrypt all files, before FILE_ENCRYPTION is switched off"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Store anew; exits with 1 if a file can't be read."""
        storage = encrypted_storage()
        if storage is None:
            raise CommandError("Files are not encrypted here: set FILE_ENCRYPTION=on first.")
        if options["new_key"]:
            storage.keys.add()
        undo = options["undo"]
        changed, unreadable = 0, 0
        for document in files_to_decrypt(storage) if undo else files_to_encrypt(storage):
            try:
                changed += store_anew(document, storage, storage.inner if undo else storage)
            except UnreadableFile as error:
                unreadable += 1
                self.stderr.write(str(error))
            if changed and changed % REPORTED_EVERY == 0:
                self.stdout.write(f"{changed} files")
        self.stdout.write(f"Files that are now {'decrypted' if undo else 'encrypted'}: {changed}.")
        if unreadable:
            raise CommandError(f"Files that can't be decrypted: {unreadable}.")
