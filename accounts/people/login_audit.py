"""The audit log of logins, passwords and second factors, from the signals of Django and allauth."""

from __future__ import annotations

from typing import Any

from allauth.account.signals import password_changed, password_reset, password_set
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import (
    authentication_failed,
    authenticator_added,
    authenticator_removed,
    authenticator_reset,
)
from allauth.socialaccount.signals import social_account_added
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.http import HttpRequest

from accounts.audit.recording import record
from accounts.models import AuditAction, User


def connect() -> None:
    """Listen to the signals."""
    user_logged_in.connect(_logged_in, dispatch_uid="audit")
    user_logged_out.connect(_logged_out, dispatch_uid="audit")
    user_login_failed.connect(_login_failed, dispatch_uid="audit")
    authentication_failed.connect(_code_failed, dispatch_uid="audit")
    for signal in (password_changed, password_set, password_reset):
        signal.connect(_password_changed, dispatch_uid="audit")
    authenticator_added.connect(_factor_added, dispatch_uid="audit")
    authenticator_reset.connect(_factor_added, dispatch_uid="audit")
    authenticator_removed.connect(_factor_removed, dispatch_uid="audit")
    social_account_added.connect(_provider_linked, dispatch_uid="audit")


def _record(action: AuditAction, user: User | None, **details: Any) -> None:
    record(action, user, target=("user", user.pk) if user else ("", ""), **details)


def _logged_in(user: User, request: HttpRequest | None, **_: Any) -> None:
    records = getattr(request, "session", {}).get("account_authentication_methods") or []
    methods = [each["type"] if each["method"] == "mfa" else each["method"] for each in records]
    _record(AuditAction.LOGIN_SUCCEEDED, user, methods=[*methods])


def _logged_out(user: User | None, **_: Any) -> None:
    # A user who has just been deleted has no row to refer to.
    if user is not None and User.objects.filter(pk=user.pk).exists():
        _record(AuditAction.LOGIN_ENDED, user)


def _login_failed(credentials: dict[str, Any], **_: Any) -> None:
    """Name the account that somebody tried, if there is one; an unknown address may be a typed password."""
    address = str(credentials.get("email") or credentials.get("username") or "").strip().lower()
    tried = User.objects.filter(email=address).values_list("pk", flat=True).first()
    record(AuditAction.LOGIN_FAILED, None, target=("user", tried) if tried else ("", ""))


def _code_failed(user: User, authenticator: Authenticator, **_: Any) -> None:
    record(AuditAction.LOGIN_FAILED, None, target=("user", user.pk), second_factor=authenticator.type)


def _password_changed(user: User, **_: Any) -> None:
    _record(AuditAction.PASSWORD_CHANGED, user)


def _factor_added(user: User, authenticator: Authenticator, **_: Any) -> None:
    _record(AuditAction.SECOND_FACTOR_ADDED, user, type=authenticator.type)


def _factor_removed(user: User, authenticator: Authenticator, **_: Any) -> None:
    _record(AuditAction.SECOND_FACTOR_REMOVED, user, type=authenticator.type)


def _provider_linked(sociallogin: Any, **_: Any) -> None:
    _record(AuditAction.USER_CHANGED, sociallogin.user, fields=["openid_connect"])
