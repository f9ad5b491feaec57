"""`manage.py rotate_secrets`: encrypts the secrets in the database with the present `ENCRYPTION_KEY`."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from accounts.webhooks.managing import renew_secrets
from search.generation.connection import renew_encryption


class Command(BaseCommand):
    """Does what each start does, while Locus runs; afterwards the earlier keys can go."""

    help = "Encrypt the secrets in the database with ENCRYPTION_KEY, so that its fallbacks can be dropped."

    def handle(self, *args: Any, **options: Any) -> None:
        """Encrypt anew; exits with 1 if something can't be decrypted."""
        lost = renew_encryption() + renew_secrets()
        if lost:
            raise CommandError(
                f"Secrets that no key decrypts: {lost}. Put the key that encrypted them into "
                "ENCRYPTION_KEY_FALLBACKS, or enter them again on their pages."
            )
        self.stdout.write("All secrets are encrypted with the present ENCRYPTION_KEY.")
        if settings.ENCRYPTION_KEY_FALLBACKS:
            self.stdout.write("Once all processes have it, ENCRYPTION_KEY_FALLBACKS can be emptied.")
