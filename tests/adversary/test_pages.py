"""The adversary at the pages: every address that is not of the API, by people logged in and by nobody."""

from __future__ import annotations

import re

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from django.urls import get_resolver
from pytest import Subtests

from tests.adversary.places import pages
from tests.adversary.requests import Answer, unknown
from tests.adversary.world import SECRET, Attacker, World, lost_rows, rows

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("plain_static_files")]

OF_PROGRAMS = ("api/v1/", "v1/", "chat/completions", "mcp", "widgets/")
PUBLIC = {
    "health",
    "healthz",
    "readyz",
    "favicon.ico",
    "manifest.webmanifest",
    "service-worker.js",
    "widget.js",
    "share",
    "api/schema",
    "api/docs",
    "accounts/login/",
    "accounts/logout/",
    "accounts/signup/",
    "accounts/password/reset/",
    "accounts/password/reset/done/",
    "accounts/password/reset/key/done/",
    "accounts/confirm-email/",
    "accounts/login/second-factor/",
    "accounts/login/passkey/",
    "accounts/oidc/login/",
    "accounts/oidc/callback/",
    "admin/login/",
    "admin/logout/",
    ".well-known/oauth-protected-resource",
    ".well-known/oauth-protected-resource/mcp",
    ".well-known/oauth-authorization-server",
}
"""Pages for everybody, which show nothing of anybody."""
SIGNED = {
    r"accounts/^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$": (
        "accounts/password/reset/key/{user36}-set-password/",
        "accounts/password/reset/key/{user36}-abc123-0123456789abcdef0123456789abcdef/",
    ),
    "unsubscribe/<str:token>": ("unsubscribe/forged", f"unsubscribe/{'A' * 43}"),
    "invitations/<str:secret>": ("invitations/forged", f"invitations/{'A' * 43}"),
    r"accounts/^confirm-email/(?P<key>[-:\w]+)/$": ("accounts/confirm-email/MQ:1abcde:tampered/",),
    "accounts/profile/address/<str:token>/": ("accounts/profile/address/WzFd:1abcde:tampered/",),
}
"""Addresses with a signature or a secret, and forged ones of each."""
WITH_A_KEY = {"metrics": "needs staff or a token", "chunks/<str:id>": "the API's, at its short address"}
PEOPLE = ["charlie", "bob", "dana", "erin"]
CHANGING = re.compile(rb'csrfmiddlewaretoken" value="[^"]+"|nonce="[^"]+"|data-request="[^"]+"')


PAGES = list(pages(get_resolver().url_patterns))
ADMIN = [page for page in PAGES if page.pattern.startswith("admin/") and page.pattern not in PUBLIC]
OWN = [
    page
    for page in PAGES
    if not page.pattern.startswith((*OF_PROGRAMS, "admin/"))
    and page.pattern not in {*PUBLIC, *SIGNED, *WITH_A_KEY}
]
OF_A_THING = [page for page in OWN if "<" in page.pattern]


def test_every_address_has_a_case() -> None:
    """An address with an id whose kind nobody has named, or a second id in it."""
    assert not [page.pattern for page in OF_A_THING if page.kind is None or page.pattern.count("<") > 1]
    assert not [page.pattern for page in OWN if "(?P" in page.pattern]
    assert len(ADMIN) > 40 and len(OF_A_THING) >= 4
    # What is in a list but no longer in the URL configuration hides what takes its place.
    patterns = {page.pattern for page in PAGES}
    assert {*PUBLIC, *SIGNED, *WITH_A_KEY} <= patterns


async def fetch(attacker: Attacker | None, method: str, address: str, *ids: str) -> Answer:
    """Return the reply to somebody who is logged in, or to nobody, without the ids that the address holds."""
    client = attacker.client() if attacker else AsyncClient()
    response = await client.generic(method, address)
    if response.streaming:
        return await Answer.of(response, *ids)
    # A login comes back to the address that was asked for: that repeats an id, and tells nothing.
    location = response.headers.get("Location", "").encode()
    response.content = CHANGING.sub(b"", response.content) + location
    return await Answer.of(response, *ids)


@pytest.mark.parametrize("name", PEOPLE)
async def test_no_page_shows_what_is_not_theirs(name: str, subtests: Subtests) -> None:
    world = await sync_to_async(World)()
    attacker = await sync_to_async(world.attacker)(f"{name} logged in")
    before = await sync_to_async(rows)()
    tried = 0
    for page in OF_A_THING:
        for method in ("GET", "POST"):
            nobodys = unknown(str(page.kind))
            expected = await fetch(attacker, method, page.address(nobodys), nobodys)
            for thing in world.things:
                if thing.kind == page.kind and not attacker.sees(thing):
                    tried += 1
                    answer = await fetch(attacker, method, page.address(thing.id), thing.id)
                    with subtests.test(page=page.pattern, method=method, thing=thing.about):
                        assert answer.status in (403, 404, 405)
                        assert answer == expected
                        assert SECRET not in answer.body
    assert tried
    assert not lost_rows(before, await sync_to_async(rows)())


async def test_the_owner_gets_each_page(subtests: Subtests) -> None:
    """Or the walk above proves nothing."""
    world = await sync_to_async(World)()
    owner = await sync_to_async(world.attacker)("alice logged in")
    for page in OF_A_THING:
        thing = next(each for each in world.things if each.kind == page.kind and owner.sees(each))
        with subtests.test(page=page.pattern):
            assert (await fetch(owner, "GET", page.address(thing.id), thing.id)).status in (200, 302, 405)


async def test_nobody_who_is_not_logged_in_sees_a_page(subtests: Subtests) -> None:
    world = await sync_to_async(World)()
    ids = {thing.kind: thing.id for thing in world.things}
    for page in OWN:
        address = page.address(ids.get(str(page.kind), "x"))
        with subtests.test(page=page.pattern):
            answer = await fetch(None, "GET", address)
            # Pages that need a mail server are not there without one.
            assert answer.status in (302, 401, 404, 405)
            assert SECRET not in answer.body


@pytest.mark.parametrize("name", ["alice logged in", None])
async def test_the_admin_panel_is_for_staff(name: str | None, subtests: Subtests) -> None:
    world = await sync_to_async(World)()
    attacker = await sync_to_async(world.attacker)(name) if name else None
    before = await sync_to_async(rows)()
    for page in ADMIN:
        pattern = re.sub(r"\^\(\?P<\w+>(\w+).*", r"\1/", page.pattern)
        for thing in {thing.kind: thing for thing in world.things}.values():
            address = "/" + re.sub(r"<(\w+:)?\w+>", thing.id, pattern)
            for method in ("GET", "POST"):
                answer = await fetch(attacker, method, address, thing.id)
                with subtests.test(page=page.pattern, method=method):
                    # Where an address without a slash at its end leads, is refused then.
                    assert answer.status in (302, 403, 404)
                    assert answer.status != 302 or "/login/" in answer.body or "ID/change/" in answer.body
                    assert SECRET not in answer.body
            if "<" not in pattern:
                break
    assert not lost_rows(before, await sync_to_async(rows)())


@pytest.mark.parametrize("who", ["charlie logged in", None])
async def test_forged_signatures_open_nothing(who: str | None, subtests: Subtests) -> None:
    world = await sync_to_async(World)()
    attacker = await sync_to_async(world.attacker)(who) if who else None
    user36 = "0123456789abcdefghijklmnopqrstuvwxyz"[world.people["alice"].pk % 36]
    before = await sync_to_async(rows)()
    for addresses in SIGNED.values():
        for address in addresses:
            for method in ("GET", "POST"):
                answer = await fetch(attacker, method, "/" + address.format(user36=user36))
                with subtests.test(address=address, method=method):
                    assert answer.status in (200, 302, 403, 404)
                    assert "alice@example.org" not in answer.body
    assert not lost_rows(before, await sync_to_async(rows)())
