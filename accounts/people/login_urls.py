"""The pages of accounts that Locus offers; all others of allauth do not exist.

A page that depends on a setting answers 404 while the setting is off.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from allauth.account import views as allauth
from allauth.account.adapter import get_adapter
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as passkeys
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseBase
from django.urls import path, re_path, reverse_lazy

from accounts.access.throttling import (
    CHANGE_ADDRESS,
    CHANGE_PASSWORD,
    EXPORT_DATA,
    OIDC_LOGIN,
    PASSKEY_LOGIN,
    RESET_OF_ACCOUNT,
    RESET_OF_ADDRESS,
    SIGN_UP,
    limit_attempts,
)
from accounts.people import account_views, openid_connect
from accounts.people.login_views import (
    LoginView,
    PasswordChangeView,
    ReauthenticateByCodeView,
    ReauthenticateView,
    SecondFactorView,
)

View = Callable[..., HttpResponseBase]
ANY = frozenset({"GET", "POST"})


def _only_if_set(setting: str, view: View) -> View:
    """Return the view; it answers 404 while a setting is empty or off."""

    @wraps(view)
    def offered(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not getattr(settings, setting):
            raise Http404
        return view(request, *args, **kwargs)

    return offered


def _only_if_open(view: View) -> View:
    """Return the sign-up; it answers 404 to who may not sign up."""

    @wraps(view)
    def offered(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not get_adapter(request).is_open_for_signup(request):
            raise Http404
        return view(request, *args, **kwargs)

    return offered


def _only_with_mail(view: View) -> View:
    return _only_if_set("EMAIL_HOST", view)


def _only_with_oidc(view: View) -> View:
    return _only_if_set("OIDC_ISSUER", view)


def _user(request: HttpRequest) -> str:
    return str(request.user.pk)


def _named_account(request: HttpRequest) -> str:
    return request.POST.get("email", "").strip().lower()


sign_up = limit_attempts(SIGN_UP)(allauth.signup)
change_password = limit_attempts(CHANGE_PASSWORD, of=_user)(PasswordChangeView.as_view())
reset_password = limit_attempts(RESET_OF_ADDRESS)(
    limit_attempts(RESET_OF_ACCOUNT, of=_named_account)(allauth.password_reset)
)
change_address = limit_attempts(CHANGE_ADDRESS, of=_user)(account_views.address)
log_in_with_passkey = limit_attempts(PASSKEY_LOGIN, methods=ANY)(passkeys.login_webauthn)
log_in_with_oidc = limit_attempts(OIDC_LOGIN, methods=ANY)(openid_connect.log_in)
export_data = limit_attempts(EXPORT_DATA, of=_user)(account_views.export)
SECURITY = reverse_lazy("mfa_index")

entrance = [
    path("login/", LoginView.as_view(), name="account_login"),
    path("login/second-factor/", SecondFactorView.as_view(), name="mfa_authenticate"),
    path("login/passkey/", log_in_with_passkey, name="mfa_login_webauthn"),
    path("oidc/login/", _only_with_oidc(log_in_with_oidc), name="oidc_login"),
    path(
        "oidc/callback/",
        _only_with_oidc(openid_connect.come_back),
        {"provider_id": openid_connect.PROVIDER},
        name="openid_connect_callback",
    ),
    path("logout/", allauth.logout, name="account_logout"),
    path("signup/", _only_if_open(sign_up), name="account_signup"),
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

# Of the logged-in user.
own = [
    path("profile/", account_views.profile, name="account_profile"),
    path("profile/address/", login_required(_only_with_mail(change_address)), name="account_change_address"),
    path(
        "profile/address/<str:token>/",
        login_required(_only_with_mail(account_views.confirm_address)),
        name="account_confirm_address",
    ),
    path("reauthenticate/", ReauthenticateView.as_view(), name="account_reauthenticate"),
    path("reauthenticate/code/", ReauthenticateByCodeView.as_view(), name="mfa_reauthenticate"),
    path("reauthenticate/passkey/", passkeys.reauthenticate_webauthn, name="mfa_reauthenticate_webauthn"),
    path("password/change/", login_required(change_password), name="account_change_password"),
    path("security/", account_views.security, name="mfa_index"),
    path("security/app/add/", totp.activate_totp, name="mfa_activate_totp"),
    path("security/app/remove/", totp.deactivate_totp, name="mfa_deactivate_totp"),
    path("security/recovery-codes/", recovery_codes.view_recovery_codes, name="mfa_view_recovery_codes"),
    path(
        "security/recovery-codes/new/",
        recovery_codes.generate_recovery_codes,
        name="mfa_generate_recovery_codes",
    ),
    path("security/passkeys/add/", passkeys.add_webauthn, name="mfa_add_webauthn"),
    path(
        "security/passkeys/<int:pk>/name/",
        passkeys.EditWebAuthnView.as_view(success_url=SECURITY),
        name="mfa_edit_webauthn",
    ),
    path(
        "security/passkeys/<int:pk>/remove/",
        passkeys.RemoveWebAuthnView.as_view(success_url=SECURITY),
        name="mfa_remove_webauthn",
    ),
    path("data/", account_views.data, name="account_data"),
    path("data/export/", export_data, name="account_export"),
    path("data/delete/", account_views.delete, name="account_delete"),
    path("sessions/", account_views.sessions, name="account_sessions"),
]

urlpatterns = [*entrance, *own]
