"""Changes to the behaviour of allauth's pages."""

from __future__ import annotations

import logging
import threading
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from django import forms
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.mail import EmailMessage
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.translation import gettext, gettext_lazy

from accounts.access.logins import login_attempt
from accounts.people.invitations import invited_address
from accounts.people.reader_language import mail_language
from core.errors import LocusError, Overloaded, RateLimited
from core.http.client_address import UNKNOWN, client_address

logger = logging.getLogger(__name__)


WAYS = {
    "reauthenticate": gettext_lazy("Use your password"),
    "mfa_reauthenticate": gettext_lazy("Use a code"),
    "mfa_reauthenticate:webauthn": gettext_lazy("Use a passkey"),
}


class TooManyLogins(forms.ValidationError):
    """A login refused before its password was checked."""

    def __init__(self, reason: LocusError) -> None:
        super().__init__(reason.message, code=reason.code)
        self.reason = reason


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Sign-up is closed unless the operator opens it; logins are counted; e-mails are sent in a thread."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "incorrect_password": gettext_lazy("This is not your password."),
        "email_password_mismatch": gettext_lazy("The email address or the password is not correct."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Whether anybody may create an account (`SIGNUP_OPEN`), or this browser has opened an invitation."""
        return settings.SIGNUP_OPEN or invited_address(request) is not None

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address under which attempts are counted and sessions are listed."""
        address = client_address(request)
        return "::" if address == UNKNOWN else address

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

    def reauthenticate(self, user: AbstractBaseUser, password: str) -> bool:
        """Return whether this is the user's password; attempts count like logins."""
        found = self.authenticate(context.request, email=getattr(user, "email", ""), password=password)
        return found is not None and found.pk == user.pk

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """Return the ways in which a user can prove who they are, in our words."""
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        return [method | {"description": str(WAYS[method["id"]])} for method in methods]

    def respond_user_inactive(self, request: HttpRequest, user: AbstractBaseUser) -> HttpResponse:
        """Answer somebody whose account was switched off."""
        reason = gettext("Your account is switched off. Ask your administrator.")
        return render(request, "account/login_refused.html", {"reason": reason}, status=403)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send an e-mail in a separate thread: the duration must not reveal whether the account exists."""
        context = {"request": self.request, "email": email, "host": self.request.get_host()} | context
        with translation.override(mail_language(self.request, email)):
            mail = self.render_mail(template_prefix, email, context)
        threading.Thread(target=_send, args=[mail], name="send mail", daemon=True).start()


def _send(mail: EmailMessage) -> None:
    try:
        mail.send()
    except Exception as error:  # noqa: BLE001
        # Neither the e-mail nor the error's own text, which may contain the address, may be logged.
        logger.error("A mail could not be sent: %s. Check the settings EMAIL_….", type(error).__name__)
