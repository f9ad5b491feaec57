"""The link with which somebody whom an administrator has added chooses a password."""

from __future__ import annotations

from allauth.account import app_settings
from allauth.account.adapter import get_adapter
from allauth.account.utils import user_pk_to_url_str
from django.http import HttpRequest

from accounts.models import User


def mail_password_link(request: HttpRequest, user: User) -> None:
    """Mail a link to the page where a new password is set; it works once, and for days."""
    token = app_settings.PASSWORD_RESET_TOKEN_GENERATOR().make_token(user)
    adapter = get_adapter(request)
    address = adapter.get_reset_password_from_key_url(f"{user_pk_to_url_str(user)}-{token}")
    shown = {"user": user, "password_reset_url": address, "host": request.get_host()}
    adapter.send_mail("account/email/welcome", user.email, shown)
