"""Django's view of the app."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """People, access, settings, and the ledger."""

    name = "accounts"
    verbose_name = "People"

    def ready(self) -> None:
        """Register the API's authentication schemes."""
        from accounts.access import openapi  # noqa: F401
