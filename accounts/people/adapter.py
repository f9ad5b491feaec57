"""Changes to the behaviour of allauth's pages."""

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
    """A login refused before its password was checked."""

    def __init__(self, reason: LocusError) -> None:
        super().__init__(reason.message, code=reason.code)
        self.reason = reason


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Sign-up is closed unless the operator opens it; logins are counted; e-mails are sent in a thread."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Whether anybody may create an account (`SIGNUP_OPEN`)."""
        return bool(settings.SIGNUP_OPEN)

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address under which attempts are counted."""
        return client_address(request)

    def authenticate(self, request: HttpRequest, **credentials: Any) -> AbstractBaseUser | None:
        """Return the user with this password, or None; raise `TooManyLogins` without checking it."""
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
        """Send an e-mail in a separate thread: the duration must not reveal whether the account exists."""
        context = {"request": self.request, "email": email, "host": self.request.get_host()} | context
        mail = self.render_mail(template_prefix, email, context)
        threading.Thread(target=_send, args=[mail], name="send mail", daemon=True).start()


def _send(mail: EmailMessage) -> None:
    try:
        mail.send()
    except Exception as error:  # noqa: BLE001
        # Neither the e-mail nor the error's own text, which may contain the address, may be logged.
        logger.error("A mail could not be sent: %s. Check the settings EMAIL_….", type(error).__name__)
