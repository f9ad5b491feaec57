"""Logins by a provider of OpenID Connect: who gets in, whose account is linked, and what is not believed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import jwt
import pytest
import requests
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from cryptography.hazmat.primitives.asymmetric import rsa
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from tests.accounts.account_pages import add_app, reauthenticate
from tests.testing.oidc_provider import CLIENT_ID, CLIENT_SECRET, KEY_ID, Claims, OidcProvider

CALLBACK = "/accounts/oidc/callback/"

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_static_files")]


def configure(settings: Settings, issuer: str) -> None:
    """Set what the environment sets."""
    settings.OIDC_ISSUER, settings.OIDC_NAME, settings.OIDC_SIGNUP = issuer, "Example login", False
    app = {
        "provider_id": "oidc",
        "name": "Example login",
        "client_id": CLIENT_ID,
        "secret": CLIENT_SECRET,
        "settings": {"server_url": issuer},
    }
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": [app]}}


@pytest.fixture
def provider(settings: Settings) -> Iterator[OidcProvider]:
    with OidcProvider(f"http://testserver{CALLBACK}") as provider:
        configure(settings, provider.address)
        yield provider
        assert provider.problems == []


def come_back(client: Client, next: str = "") -> Any:
    """Go to the provider and come back, as a browser does."""
    sent = client.get(f"/accounts/oidc/login/{f'?next={next}' if next else ''}")
    assert sent.status_code == 302, sent.content.decode()
    back = requests.get(sent["Location"], allow_redirects=False, timeout=10).headers["Location"]
    return client.get(f"{urlsplit(back).path}?{urlsplit(back).query}")


def user_in(client: Client) -> str | None:
    value: str | None = client.session.get("_auth_user_id")
    return value


def test_without_an_issuer_there_is_no_such_page(grace: User) -> None:
    assert "/accounts/oidc/" not in Client().get("/accounts/login/").content.decode()
    assert Client().get("/accounts/oidc/login/").status_code == 404
    assert Client().get(CALLBACK).status_code == 404


def test_an_account_with_the_verified_address_is_linked(provider: OidcProvider, grace: User) -> None:
    page = Client().get("/accounts/login/?next=/documents/").content.decode()
    assert 'href="/accounts/oidc/login/?next=%2Fdocuments%2F"' in page and "Log in with Example login" in page
    client = Client()
    assert come_back(client, "/documents/")["Location"] == "/documents/"
    assert user_in(client) == str(grace.pk)
    account = SocialAccount.objects.get(user=grace)
    assert (account.provider, account.uid) == ("oidc", "42")
    assert set(account.extra_data["id_token"]) == {"sub", "email", "email_verified"}
    # From now on the provider's id counts, whatever address is there.
    provider.person = {"sub": "42", "email": "new@example.org", "email_verified": True}
    again = Client()
    come_back(again)
    assert user_in(again) == str(grace.pk)


@pytest.mark.parametrize("verified", [False, None, "false", 1])
def test_an_address_that_the_provider_has_not_verified_opens_nothing(
    provider: OidcProvider, grace: User, settings: Settings, verified: Any
) -> None:
    settings.OIDC_SIGNUP = True
    provider.person |= {"email_verified": verified}
    client = Client()
    reply = come_back(client)
    assert (reply.status_code, user_in(client)) == (403, None)
    assert "does not say that your e-mail address is verified" in reply.content.decode()
    assert not SocialAccount.objects.exists() and User.objects.count() == 1


def test_an_address_that_is_not_verified_here_is_not_linked(
    provider: OidcProvider, grace: User, settings: Settings
) -> None:
    """Somebody may have signed up with another's address, and wait for its owner."""
    settings.OIDC_SIGNUP = True
    EmailAddress.objects.filter(user=grace).update(verified=False)
    client = Client()
    assert come_back(client).status_code == 403
    assert user_in(client) is None and not SocialAccount.objects.exists()


def test_a_second_person_there_does_not_get_a_linked_account(provider: OidcProvider, grace: User) -> None:
    come_back(Client())
    provider.person |= {"sub": "43"}
    client = Client()
    assert come_back(client).status_code == 403
    assert user_in(client) is None


@pytest.mark.parametrize("is_open", [True, False])
def test_strangers_get_an_account_only_where_sign_up_is_open(
    provider: OidcProvider, settings: Settings, is_open: bool
) -> None:
    settings.OIDC_SIGNUP = is_open
    provider.person = {"sub": "7", "email": "New@Example.org", "email_verified": True, "name": "Newcomer"}
    client = Client()
    reply = come_back(client)
    if not is_open:
        assert reply.status_code == 403 and not User.objects.exists()
        return
    user = User.objects.get()
    assert (user.email, user.name, user.has_usable_password()) == ("new@example.org", "Newcomer", False)
    assert EmailAddress.objects.get(user=user).verified
    assert user_in(client) == str(user.pk) and user.personal_workspace


@pytest.mark.parametrize(("address", "status"), [("a@example.org", 302), ("a@evil.org", 403)])
def test_only_addresses_of_allowed_domains_get_in(
    provider: OidcProvider, settings: Settings, address: str, status: int
) -> None:
    settings.OIDC_ALLOWED_DOMAINS = ["Example.org"]
    settings.OIDC_SIGNUP = True
    provider.person |= {"email": address}
    assert come_back(Client()).status_code == status


def test_a_domain_that_is_no_longer_allowed_ends_linked_logins(
    provider: OidcProvider, grace: User, settings: Settings
) -> None:
    come_back(Client())
    settings.OIDC_ALLOWED_DOMAINS = ["other.org"]
    assert come_back(Client()).status_code == 403


def test_who_is_deactivated_stays_out(provider: OidcProvider, grace: User) -> None:
    User.objects.update(is_active=False)
    client = Client()
    reply = come_back(client)
    assert (reply.status_code, user_in(client)) == (403, None)
    assert "switched off" in reply.content.decode()


def test_the_second_factor_is_asked_for_here_too(provider: OidcProvider, grace: User, own: Client) -> None:
    reauthenticate(own)
    add_app(own)
    client = Client()
    assert come_back(client)["Location"] == "/accounts/login/second-factor/"
    assert user_in(client) is None


def test_an_address_from_userinfo_must_be_of_the_same_person(provider: OidcProvider, grace: User) -> None:
    provider.person = {"sub": "42"}
    provider.info = {"sub": "42", "email": grace.email, "email_verified": True}
    client = Client()
    come_back(client)
    assert user_in(client) == str(grace.pk)
    SocialAccount.objects.all().delete()
    provider.info |= {"sub": "somebody else"}
    assert come_back(Client()).status_code == 403


# --- What is not believed --------------------------------------------------------------------------------


def without(name: str) -> Callable[[Claims], Claims]:
    return lambda claims: {key: value for key, value in claims.items() if key != name}


FORGERIES: dict[str, Callable[[Claims], Claims]] = {
    "expired": lambda claims: claims | {"exp": int(time.time()) - 3600},
    "other issuer": lambda claims: claims | {"iss": "https://evil.example"},
    "other audience": lambda claims: claims | {"aud": "another application"},
    "made for another": lambda claims: claims | {"aud": [CLIENT_ID, "another"], "azp": "another"},
    "no person": without("sub"),
    "no end": without("exp"),
    "no issuer": without("iss"),
    "no audience": without("aud"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_token_with_wrong_claims_opens_nothing(provider: OidcProvider, grace: User, name: str) -> None:
    provider.forge = FORGERIES[name]
    client = Client()
    assert come_back(client).status_code == 403
    assert user_in(client) is None


@pytest.mark.parametrize("way", ["another key", "no signature", "public key as secret", "unknown key id"])
def test_a_token_that_the_provider_has_not_signed_opens_nothing(
    provider: OidcProvider, grace: User, way: str
) -> None:
    def sign(claims: Claims) -> str:
        if way == "no signature":
            return jwt.encode(claims, None, algorithm="none", headers={"kid": KEY_ID})
        if way == "public key as secret":
            secret = str(provider.public_key()["n"])
            return jwt.encode(claims, secret, algorithm="HS256", headers={"kid": KEY_ID})
        if way == "unknown key id":
            return jwt.encode(claims, provider.key, algorithm="RS256", headers={"kid": "other"})
        other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        return jwt.encode(claims, other, algorithm="RS256", headers={"kid": KEY_ID})

    provider.sign = sign
    client = Client()
    assert come_back(client).status_code == 403
    assert user_in(client) is None


def test_a_provider_that_names_another_issuer_is_refused(provider: OidcProvider, grace: User) -> None:
    provider.issuer = "https://evil.example"
    assert Client().get("/accounts/oidc/login/").status_code == 502


def test_a_reply_to_another_browser_opens_nothing(provider: OidcProvider, grace: User) -> None:
    victim, attacker = Client(), Client()
    sent = attacker.get("/accounts/oidc/login/")["Location"]
    back = requests.get(sent, allow_redirects=False, timeout=10).headers["Location"]
    reply = victim.get(f"{urlsplit(back).path}?{urlsplit(back).query}")
    assert (reply.status_code, user_in(victim)) == (403, None)


def test_nothing_else_is_taken_from_the_address(provider: OidcProvider, grace: User) -> None:
    sent = Client().get(
        "/accounts/oidc/login/?process=connect&scope=admin&auth_params=prompt%3Dnone&next=//e.x"
    )
    assert "admin" not in sent["Location"] and "prompt" not in sent["Location"]


def test_who_cancels_is_back_at_the_login(provider: OidcProvider) -> None:
    provider.is_cancelled = True
    assert come_back(Client())["Location"] == "/accounts/login/"


def test_a_provider_that_is_away_is_told(settings: Settings) -> None:
    configure(settings, "http://127.0.0.1:1")
    reply = Client().get("/accounts/oidc/login/")
    assert reply.status_code == 502
    assert "Back to the login" in reply.content.decode()
