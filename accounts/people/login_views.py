"""Logging in, second factors and changing one's password: allauth's views, with what Locus adds."""

from __future__ import annotations

from typing import Any

from allauth.account import views
from allauth.mfa.base import views as base
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from accounts.access.logins import remember_browser
from core.errors import LocusError


class LoginView(views.LoginView):  # type: ignore[misc]
    """Remembers the browser after a login, and answers 429 or 503 after too many attempts."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add to the page the other ways in."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | {
            "is_open_for_signup": settings.SIGNUP_OPEN,
            "oidc_name": settings.OIDC_NAME if settings.OIDC_ISSUER else "",
        }

    def form_valid(self, form: Any) -> HttpResponse:
        """Log in."""
        response: HttpResponse = super().form_valid(form)
        remember_browser(response, form.cleaned_data["login"])
        return response

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show what is wrong, with 429 or 503 if the password was not even checked."""
        response: HttpResponse = super().form_invalid(form)
        return with_status_of_refusal(self.request, response)


class SecondFactorView(base.AuthenticateView):  # type: ignore[misc]
    """Asks for a code or passkey after the password, and answers 429 after too many attempts."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add to the page whether a passkey can be used."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        passkeys = Authenticator.objects.filter(user=self.stage.login.user, type=Authenticator.Type.WEBAUTHN)
        return context | {"has_passkeys": passkeys.exists()}

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show what is wrong."""
        return with_status_of_refusal(self.request, super().form_invalid(form))


class ReauthenticateView(views.ReauthenticateView):  # type: ignore[misc]
    """Asks for the password before a change, and answers 429 after too many attempts."""

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show what is wrong."""
        return with_status_of_refusal(self.request, super().form_invalid(form))


class ReauthenticateByCodeView(base.ReauthenticateView):  # type: ignore[misc]
    """Asks for a code before a change, and answers 429 after too many attempts."""

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show what is wrong."""
        return with_status_of_refusal(self.request, super().form_invalid(form))


def with_status_of_refusal(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Return the page with 429 or 503 if the password or code was not even checked."""
    refused: LocusError | None = getattr(request, "refused_login", None)
    if refused is not None:
        response.status_code = refused.status
        for name, value in refused.headers.items():
            response[name] = value
    return response


class PasswordChangeView(views.PasswordChangeView):  # type: ignore[misc]
    """Changes the password of a user who has one."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer; a user without a password gets one from an administrator."""
        if not isinstance(request.user, AbstractBaseUser) or not request.user.has_usable_password():
            raise Http404
        response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return response
