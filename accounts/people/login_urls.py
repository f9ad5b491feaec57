"""The pages of allauth that Locus offers; all others do not exist.

A page that depends on a setting answers 404 while the setting is off.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from allauth.account import views as allauth
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseBase
from django.urls import path, re_path

from accounts.access.throttling import (
    CHANGE_PASSWORD,
    RESET_OF_ACCOUNT,
    RESET_OF_ADDRESS,
    SIGN_UP,
    limit_attempts,
)
from accounts.people.login_views import LoginView, PasswordChangeView

View = Callable[..., HttpResponseBase]


def _only_if_set(setting: str, view: View) -> View:
    """Return the view; it answers 404 while a setting is empty or off."""

    @wraps(view)
    def offered(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not getattr(settings, setting):
            raise Http404
        return view(request, *args, **kwargs)

    return offered


def _only_with_mail(view: View) -> View:
    return _only_if_set("EMAIL_HOST", view)


def _user(request: HttpRequest) -> str:
    return str(request.user.pk)


def _named_account(request: HttpRequest) -> str:
    return request.POST.get("email", "").strip().lower()


sign_up = limit_attempts(SIGN_UP)(allauth.signup)
change_password = limit_attempts(CHANGE_PASSWORD, of=_user)(PasswordChangeView.as_view())
reset_password = limit_attempts(RESET_OF_ADDRESS)(
    limit_attempts(RESET_OF_ACCOUNT, of=_named_account)(allauth.password_reset)
)

urlpatterns = [
    path("login/", LoginView.as_view(), name="account_login"),
    path("logout/", allauth.logout, name="account_logout"),
    path("password/change/", login_required(change_password), name="account_change_password"),
    path("signup/", _only_if_set("SIGNUP_OPEN", sign_up), name="account_signup"),
    path("password/reset/", _only_with_mail(reset_password), name="account_reset_password"),
    path(
        "password/reset/done/",
        _only_with_mail(allauth.password_reset_done),
        name="account_reset_password_done",
    ),
    path(
        "password/reset/key/done/",
        _only_with_mail(allauth.password_reset_from_key_done),
        name="account_reset_password_from_key_done",
    ),
    re_path(
        r"^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        _only_with_mail(allauth.password_reset_from_key),
        name="account_reset_password_from_key",
    ),
    path(
        "confirm-email/",
        _only_with_mail(allauth.email_verification_sent),
        name="account_email_verification_sent",
    ),
    re_path(
        r"^confirm-email/(?P<key>[-:\w]+)/$",
        _only_with_mail(allauth.confirm_email),
        name="account_confirm_email",
    ),
]
