"""From a request or a websocket handshake to a `Principal`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes
from uuid import UUID

from django.http import HttpRequest
from django.middleware.csrf import CsrfViewMiddleware
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from accounts.access import keys
from accounts.access.identity import in_session, principal_of_key, principal_of_user
from accounts.access.rights import still_hold
from accounts.access.second_factor import lacks_required_factor
from accounts.access.throttling import UNKNOWN_KEYS, Bucket, take
from accounts.access.tokens import authenticate_token, is_token
from accounts.access.writes import WRITER
from accounts.models import User
from accounts.principal import Principal, checked_external_user_id
from accounts.quotas.request_rates import count_request
from accounts.roles import KeyScope
from accounts.scope import continue_as
from core.api.address_token import ADDRESS_TOKEN, takes_address_token
from core.errors import Forbidden, Unauthenticated, ValidationError
from core.http.client_address import client_address, client_network

if TYPE_CHECKING:
    # REST framework imports this module while it imports its own views.
    from rest_framework.views import APIView

EXTERNAL_USER_HEADERS = frozenset({b"x-external-user-id", b"x-end-user-id", b"external_user_id"})
# Misspelt names of the two headers, without dashes and underscores.
MISSPELT_EXTERNAL_USER = frozenset(
    {b"externaluserid", b"xexternaluserid", b"enduserid", b"xenduserid", b"externaluser", b"xexternaluser"}
)
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
RawHeaders = Iterable[tuple[bytes, bytes]]


def raw_headers(request: HttpRequest) -> list[tuple[bytes, bytes]]:
    """Return the unchanged headers: Django drops names with underscores, such as `external_user_id`."""
    scope = getattr(request, "scope", None)
    if scope is not None:
        return list(scope["headers"])
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in request.headers.items()]


def path_ends_with(request: HttpRequest, value: str) -> bool:
    """Whether the address, as it was sent, ends with `value` in valid percent-encoded UTF-8.

    The server replaces what is no UTF-8, so two different addresses would name one thing.
    """
    raw = (getattr(request, "scope", None) or {}).get("raw_path")
    return raw is None or unquote_to_bytes(raw).endswith(value.encode())


def presented_key(headers: RawHeaders) -> str | None:
    """Return the API key of `Authorization: Bearer KEY` or `X-API-KEY: KEY`."""
    for name, value in headers:
        if name == b"x-api-key":
            return value.decode("latin-1").strip()
        if name == b"authorization":
            scheme, _, credentials = value.decode("latin-1").partition(" ")
            if scheme.lower() != "bearer":
                raise Unauthenticated("Use “Authorization: Bearer KEY”.")
            return credentials.strip()
    return None


def external_user_of(headers: RawHeaders) -> str | None:
    """Return the one external user in the headers; raise `ValidationError` for two or an invalid one.

    A header with a nearly right name raises too: if it were ignored, it would mean “no external user”.
    """
    headers = list(headers)
    for name, _ in headers:
        plain = name.lower().replace(b"-", b"").replace(b"_", b"")
        if plain in MISSPELT_EXTERNAL_USER and name.lower() not in EXTERNAL_USER_HEADERS:
            raise ValidationError(
                f"The header {name.decode('latin-1')} is not known: write X-External-User-Id.",
                param="external_user_id",
            )
    values = {value for name, value in headers if name in EXTERNAL_USER_HEADERS}
    if not values:
        return None
    if len(values) > 1:
        raise ValidationError("The request names two different external users.", param="external_user_id")
    try:
        return checked_external_user_id(values.pop().decode())
    except UnicodeDecodeError:
        raise ValidationError("external_user_id must be UTF-8.", param="external_user_id") from None


def presented_credential(headers: RawHeaders, address_token: str | None) -> str | None:
    """Return the key or token of the headers, or the token of the address (`?token=`).

    A key is not accepted in an address: addresses end in logs and histories, and keys last.
    """
    credential = presented_key(headers)
    if address_token is None:
        return credential
    if credential is not None:
        raise ValidationError("Send either a header or “?token=”, not both.", param="token")
    if address_token.startswith(keys.KEY_MARK) and not is_token(address_token):
        raise Unauthenticated(
            "An address takes only tokens, no API key: make a token with POST /api/v1/auth/token.",
            param="token",
        )
    if not is_token(address_token):
        raise keys.UnknownKey
    return address_token


def identify(
    headers: RawHeaders,
    user: User | None,
    session_id: str | None,
    login: str | None = None,
    address_token: str | None = None,
    *,
    by_widget: bool = False,
) -> tuple[User, Principal]:
    """Return the principal: of the key or token that was sent, else of the logged-in `user`.

    `login` is the session key of the browser in which `user` is logged in, if it is known. `address_token` is
    `?token=` where that is accepted. `by_widget` says that the address is a widget's: it takes the tokens of
    widgets and nothing else, and no other address takes those.

    Raises `Unauthenticated` if there is none, and errors of the headers.
    """
    headers = list(headers)
    external_user_id = external_user_of(headers)
    credential = presented_credential(headers, address_token)
    if credential is not None and is_token(credential):
        key, principal = authenticate_token(credential)
        user, principal = key.user, principal.for_external_user(external_user_id)
    elif credential is not None:
        key, secret_number = keys.authenticate(credential)
        user, principal = key.user, principal_of_key(key, external_user_id, secret_number)
    elif user is not None:
        if lacks_required_factor(user):
            raise Forbidden("Set up a second factor first: open the page Security of your account.")
        principal = replace(principal_of_user(user, external_user_id), login=login)
    else:
        raise Unauthenticated
    if by_widget and principal.binding_id is None:
        raise Unauthenticated("Only a token with a binding_id opens a widget.")
    if principal.binding_id is not None and not by_widget:
        raise Forbidden("This token is for a widget, and opens nothing else.")
    continue_as(principal)
    return user, principal if session_id is None else in_session(principal, parsed_session_id(session_id))


@dataclass(frozen=True)
class Caller:
    """The credentials of a request or handshake, for streams that outlive it."""

    headers: RawHeaders
    user_id: int | None
    session_id: str | None
    login: str | None = None
    """The session key of the browser, if it is known."""
    address_token: str | None = field(default=None, repr=False)
    """`?token=` where that is accepted."""

    def identify(self) -> Principal:
        """Return the current principal; raise if the key, membership or login has ended since."""
        user = None
        if self.user_id is not None:
            user = User.objects.filter(pk=self.user_id, is_active=True).first()
        principal = identify(self.headers, user, self.session_id, self.login, self.address_token)[1]
        if principal.login is not None and not still_hold([principal])[0]:
            raise Unauthenticated
        return principal


@contextmanager
def unknown_keys_counted(source: HttpRequest | Mapping[str, Any]) -> Iterator[None]:
    """Raise `RateLimited` instead of `UnknownKey` for an address that has sent many unknown keys.

    `source` is the request, or the ASGI scope of a handshake. Known keys are never refused, whatever other
    clients at the same address send.
    """
    try:
        yield
    except keys.UnknownKey:
        take(Bucket.of(UNKNOWN_KEYS, client_network(client_address(source))))
        raise


def parsed_session_id(value: str) -> UUID:
    """Return the UUID, or raise `ValidationError`."""
    try:
        return UUID(value)
    except ValueError:
        raise ValidationError("session_id must be a UUID.", param="session_id") from None


class PrincipalAuthentication(BaseAuthentication):
    """API key, token or session cookie; `request.auth` becomes the `Principal`."""

    accepts_logins = True
    by_widget = False

    def authenticate(self, request: Request) -> tuple[User, Principal] | None:
        """Return user and principal, or None for an anonymous request without credentials."""
        http = request._request
        headers = raw_headers(http)
        user = getattr(http, "user", None)
        is_login = self.accepts_logins and isinstance(user, User) and user.is_active
        cookie_user = user if is_login else None
        address_token = _address_token(request)
        if address_token is None and presented_key(headers) is None:
            if cookie_user is None:
                return None
            _enforce_csrf(http)
        with unknown_keys_counted(http):
            login = getattr(getattr(http, "session", None), "session_key", None)
            user, principal = identify(
                headers,
                cookie_user,
                http.GET.get("session_id"),
                login,
                address_token,
                by_widget=self.by_widget,
            )
        setattr(http, WRITER, principal.user_id)
        count_request(http, principal)
        return user, principal

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge that makes REST framework answer 401 rather than 403."""
        return "Bearer"


class KeyAuthentication(PrincipalAuthentication):
    """API key or token alone, where only programs ask."""

    accepts_logins = False


class WidgetAuthentication(KeyAuthentication):
    """The token of a widget alone."""

    by_widget = True


def _address_token(request: Request) -> str | None:
    """Return `?token=` if the operation takes it; elsewhere it is an unknown parameter."""
    given = request._request.GET.getlist(ADDRESS_TOKEN)
    if not given or not takes_address_token(request.parser_context["view"], request.method or ""):
        return None
    if len(set(given)) > 1:
        raise ValidationError("The address has two different tokens.", param=ADDRESS_TOKEN)
    return str(given[0])


class IsAuthenticated(BasePermission):
    """The request has a principal, and its key has the scope that the method needs."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Raise `Unauthenticated` or `Forbidden`; a view may name its own `required_scope`."""
        if not isinstance(request.auth, Principal):
            raise Unauthenticated
        implied = KeyScope.READ if request.method in SAFE_METHODS else KeyScope.WRITE
        request.auth.require_scope(getattr(view, "required_scope", None) or implied)
        return True


def principal_of(request: Request) -> Principal:
    """Return the principal of an authenticated API request."""
    assert isinstance(request.auth, Principal)
    return request.auth


class _CsrfCheck(CsrfViewMiddleware):
    def _reject(self, request: HttpRequest, reason: str) -> Any:
        return reason


def _enforce_csrf(request: HttpRequest) -> None:
    check = _CsrfCheck(lambda _request: None)  # type: ignore[arg-type]
    check.process_request(request)
    reason = check.process_view(request, None, (), {})  # type: ignore[arg-type]
    if reason:
        raise Forbidden(f"CSRF check failed: {reason} Reload the page and try again.")
