"""How allauth's pages behave here."""

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Sign-up is closed unless the operator opens it."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Whether strangers may create accounts (`SIGNUP_OPEN`)."""
        return bool(settings.SIGNUP_OPEN)
