"""How allauth's pages behave here."""

from __future__ import annotations

import logging
import threading
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django import forms
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.mail import EmailMessage
from django.http import HttpRequest

from accounts.access.logins import login_attempt
from core.errors import LocusError, Overloaded, RateLimited
from core.http.client_address import client_address

logger = logging.getLogger(__name__)


class TooManyLogins(forms.ValidationError):
    """A login that was refused before its password was looked at."""

    def __init__(self, reason: LocusError) -> None:
        super().__init__(reason.message, code=reason.code)
        self.reason = reason


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Sign-up is closed unless the operator opens it; logins are counted; mails are sent aside."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Whether strangers may create accounts (`SIGNUP_OPEN`)."""
        return bool(settings.SIGNUP_OPEN)

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address that everything here counts by."""
        return client_address(request)

    def authenticate(self, request: HttpRequest, **credentials: Any) -> AbstractBaseUser | None:
        """Return the user whose password this is, or None; raise `TooManyLogins` without looking at it."""
        try:
            with login_attempt(request, str(credentials.get("email", ""))) as succeeded:
                user = authenticate(request, **credentials)
                if user is not None:
                    succeeded.append(True)
        except (RateLimited, Overloaded) as error:
            request.refused_login = error  # type: ignore[attr-defined]
            raise TooManyLogins(error) from None
        return user

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail in a thread of its own: how long it takes must not tell whether there is an account."""
        context = {"request": self.request, "email": email, "host": self.request.get_host()} | context
        mail = self.render_mail(template_prefix, email, context)
        threading.Thread(target=_send, args=[mail], name="send mail", daemon=True).start()


def _send(mail: EmailMessage) -> None:
    try:
        mail.send()
    except Exception as error:  # noqa: BLE001
        # Neither the mail nor the error's own words, which may hold the address, belong into the log.
        logger.error("A mail could not be sent: %s. Check the settings EMAIL_….", type(error).__name__)
