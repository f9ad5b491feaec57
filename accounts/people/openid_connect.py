"""Logins by a provider of OpenID Connect: allauth's flow, with stricter checks (ADR 36).

The id token's signature, issuer, audience and times are verified. An account is linked only if both sides,
the provider and Locus, have verified the same address.
"""

from __future__ import annotations

from typing import Any, NoReturn

import jwt
from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialLogin
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect import views
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from requests import RequestException

from accounts.models import User

PROVIDER = "oidc"
# No symmetric ones: a public key must never serve as a shared secret.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
CLOCK_SECS = 60
KEPT_CLAIMS = ("sub", "email", "email_verified", "name")
UNREACHABLE = "The login there did not work. Try again, or ask your administrator."


def log_in(request: HttpRequest) -> HttpResponse:
    """Redirect to the provider."""
    # allauth would take scopes and other parameters from the address.
    kept = QueryDict(mutable=True)
    if "next" in request.GET:
        kept["next"] = request.GET["next"]
    request.GET = kept  # type: ignore[assignment]
    try:
        response: HttpResponse = views.login(request, PROVIDER)
    except (RequestException, OAuth2Error, ValueError, KeyError):
        return refusal(request, UNREACHABLE, status=502)
    return response


def come_back(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Log in whoever comes back from the provider, or say why not."""
    try:
        # allauth's own callback would not verify the token's signature.
        view = OAuth2CallbackView.adapter_view(CheckedAdapter(request, provider_id))
        response: HttpResponse = view(request)
    except (ValueError, KeyError):
        return refusal(request, UNREACHABLE, status=502)
    return response


def refusal(request: HttpRequest, reason: str, status: int = 403) -> HttpResponse:
    """Return the page that says why nobody was logged in."""
    return render(request, "account/login_refused.html", {"reason": reason}, status=status)


class CheckedAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """Verifies what the provider sends."""

    @property
    def openid_config(self) -> dict[str, Any]:
        """Return the provider's own description; raise `OAuth2Error` if another issuer's."""
        config: dict[str, Any] = super().openid_config
        if str(config.get("issuer", "")).rstrip("/") != settings.OIDC_ISSUER:
            raise OAuth2Error("The provider names another issuer than OIDC_ISSUER.")
        return config

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **kwargs: Any) -> SocialLogin:
        """Return who the id token names; userinfo only adds an address that the token lacks."""
        claims = self._verified_claims(app, kwargs["response"].get("id_token"))
        if "email" not in claims and "userinfo_endpoint" in self.openid_config:
            info = self._fetch_user_info(token.token)
            if info.get("sub") != claims["sub"]:
                raise OAuth2Error("Userinfo is somebody else's.")
            claims = {**info, **claims}
        kept = {name: claims[name] for name in KEPT_CLAIMS if name in claims}
        # Some providers write a string.
        verified = kept.get("email_verified")
        kept["email_verified"] = verified is True or verified == "true"
        return self.get_provider().sociallogin_from_response(request, {"id_token": kept})

    def _verified_claims(self, app: Any, token: str | None) -> dict[str, Any]:
        if not token:
            raise OAuth2Error("The provider sent no id token.")
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self._signing_key(token),
                algorithms=ALGORITHMS,
                audience=app.client_id,
                issuer=self.openid_config["issuer"],
                leeway=CLOCK_SECS,
                options={"require": ["exp", "iat", "sub", "aud", "iss"]},
            )
        except jwt.PyJWTError as error:
            raise OAuth2Error("The id token is not valid.") from error
        if claims.get("azp", app.client_id) != app.client_id:
            raise OAuth2Error("The id token was made for another application.")
        return claims

    def _signing_key(self, token: str) -> jwt.PyJWK:
        from allauth.socialaccount.adapter import get_adapter

        with get_adapter().get_requests_session() as session:
            reply = session.get(self.openid_config["jwks_uri"])
            reply.raise_for_status()
        keys = jwt.PyJWKSet.from_dict(reply.json()).keys
        kid = jwt.get_unverified_header(token).get("kid")
        fitting = [key for key in keys if kid is None or key.key_id == kid]
        if len(fitting) != 1:
            raise OAuth2Error("The provider has no key that signed the id token.")
        return fitting[0]


class SocialAccountAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Decides whose account a login by the provider opens."""

    def get_provider(self, request: HttpRequest, provider: str, client_id: str | None = None) -> Any:
        """Return the provider, whose replies are verified."""
        found = super().get_provider(request, provider, client_id)
        found.oauth2_adapter_class = CheckedAdapter
        return found

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Return whether somebody without an account gets one (`OIDC_SIGNUP`)."""
        return bool(settings.OIDC_SIGNUP)

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]) -> User:
        """Fill in a new user."""
        user: User = sociallogin.user
        user.email = str(data.get("email") or "").strip().lower()
        user.name = str(data.get("name") or "")[:150]
        return user

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Refuse who may not log in, and link an existing account."""
        address = _verified_address(sociallogin)
        allowed = {domain.lower() for domain in settings.OIDC_ALLOWED_DOMAINS}
        if allowed and (address is None or address.rpartition("@")[2] not in allowed):
            self._refuse(request, "Addresses of your domain can't log in this way. Ask your administrator.")
        if sociallogin.is_existing:
            return
        if address is None:
            self._refuse(request, f"{settings.OIDC_NAME} does not say that your e-mail address is verified.")
        owner = User.objects.filter(email=address).first()
        if owner is not None:
            self._link(request, sociallogin, owner)
        elif not settings.OIDC_SIGNUP:
            self._refuse(request, f"There is no account for {address}. Ask your administrator for one.")

    def _link(self, request: HttpRequest, sociallogin: SocialLogin, owner: User) -> None:
        """Link the account of an address, unless somebody else may have entered the address here."""
        if not EmailAddress.objects.filter(user=owner, email=owner.email, verified=True).exists():
            self._refuse(
                request,
                "There is an account with your address, but nobody has confirmed the address. "
                "Ask your administrator to do so.",
            )
        if SocialAccount.objects.filter(user=owner, provider=PROVIDER).exists():
            self._refuse(request, "Your account is linked to another login there. Ask your administrator.")
        sociallogin.connect(request, owner)

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        """Show our own page; who has cancelled is back at the login."""
        if str(error) == "cancelled":
            raise ImmediateHttpResponse(redirect("account_login"))
        self._refuse(request, UNREACHABLE)

    def _refuse(self, request: HttpRequest, reason: str) -> NoReturn:
        raise ImmediateHttpResponse(refusal(request, reason))


def _verified_address(sociallogin: SocialLogin) -> str | None:
    for address in sociallogin.email_addresses:
        if address.verified is True:
            return str(address.email).strip().lower()
    return None
