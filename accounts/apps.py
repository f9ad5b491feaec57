"""Django's view of the app."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AccountsConfig(AppConfig):
    """People, access, settings, and the ledger."""

    name = "accounts"
    verbose_name = "People"

    def ready(self) -> None:
        """Register the API's authentication schemes, what a deletion of users removes, the audit, and the
        handler that keeps row-level security up to date."""
        from accounts import row_security
        from accounts.access import openapi  # noqa: F401
        from accounts.people import login_audit
        from accounts.people.deletion import removers
        from accounts.usage.forgetting import forget_users

        removers.append(forget_users)
        login_audit.connect()
        post_migrate.connect(row_security.apply, sender=self)
