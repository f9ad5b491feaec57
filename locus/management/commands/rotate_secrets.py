"""`manage.py rotate_secrets`: encrypts secrets, and the keys of files, with the present `ENCRYPTION_KEY`."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from accounts.webhooks.managing import renew_secrets
from assistants.tool_servers.managing import renew_tool_secrets
from kb.file_encryption import encrypted_storage
from search.generation.connection import renew_encryption


class Command(BaseCommand):
    """Does what each start does, while Locus runs; afterwards the earlier keys can go."""

    help = "Encrypt the secrets in the database with ENCRYPTION_KEY, so that its fallbacks can be dropped."

    def handle(self, *args: Any, **options: Any) -> None:
        """Encrypt anew; exits with 1 if something can't be decrypted."""
        lost = renew_encryption() + renew_secrets() + renew_tool_secrets()
        if storage := encrypted_storage():
            lost += storage.keys.wrap_anew()
        if lost:
            raise CommandError(
                f"Secrets that no key decrypts: {lost}. Put the key that encrypted them into "
                "ENCRYPTION_KEY_FALLBACKS, or enter them again on their pages."
            )
        self.stdout.write("All secrets and keys of files are encrypted with the present ENCRYPTION_KEY.")
        if settings.ENCRYPTION_KEY_FALLBACKS:
            self.stdout.write("Once all processes have it, ENCRYPTION_KEY_FALLBACKS can be emptied.")
