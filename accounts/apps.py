"""Django's view of the app."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Who is asking and what they may see."""

    name = "accounts"
    verbose_name = "People"

    def ready(self) -> None:
        """Make the schema of the API know the ways to authenticate."""
        from accounts.access import openapi  # noqa: F401
