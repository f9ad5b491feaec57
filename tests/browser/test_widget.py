"""A widget in a page of another site, under that site's own content security policy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from accounts.access.keys import create_key
from accounts.models import User, Workspace
from assistants.models import Assistant, AssistantVersion, Binding, BindingKind, Visibility
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.test_accessibility import violations
from tests.factories import indexed_document
from tests.testing.live import LiveServer
from tests.testing.loopback import LoopbackServer
from tests.testing.paths import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
REFERENCE = (ROOT / "docs/reference/widget.md").read_text("utf-8")
[EXAMPLE] = re.findall(r"^```python\n(.*?)^```$", REFERENCE, re.MULTILINE | re.DOTALL)
LIT = "The lighthouse of Punta Brava was lit for the first time on 4 August 1868."
WHEN = "When was the lighthouse of Punta Brava lit?"


@dataclass
class Shop(LoopbackServer):
    """A site with a widget: its pages, and the address where its server makes tokens."""

    locus: str
    key: str
    binding: str = ""
    language: str = "en"

    def handler(self) -> type[BaseHTTPRequestHandler]:
        """Answer `/` with the page, and `POST /locus-token` with a token for the visitor."""
        shop = self

        class Answering(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(200, shop.page(), "text/html; charset=utf-8")

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, token = shop.token(body.get("session_id"))
                self._answer(status, token, "application/json")

            def _answer(self, status: int, body: bytes, kind: str) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                # Nothing inline, and of Locus only what a widget needs.
                own = f"script-src {shop.locus}; connect-src 'self' {shop.locus}"
                policy = f"default-src 'none'; img-src data:; {own}"
                self.send_header("Content-Security-Policy", policy)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: object) -> None:
                """Say nothing."""

        return Answering

    def page(self) -> bytes:
        """Return a page with the script tag."""
        named = f'data-binding="{self.binding}" data-token="/locus-token"'
        tag = f'<script src="{self.locus}/widget.js" {named} defer></script>'
        icon = '<link rel="icon" href="data:,">'
        head = f'<!doctype html><html lang="{self.language}"><title>Shop</title>{icon}{tag}'
        return f"{head}<main><h1>Shop</h1><p>Lamps.</p></main></html>".encode()

    def token(self, session_id: str | None) -> tuple[int, bytes]:
        """Return what the example of the reference answers: the key never leaves the server."""
        names: dict[str, Any] = {"LOCUS": self.locus, "KEY": self.key, "BINDING_ID": self.binding}
        exec(EXAMPLE, names)
        try:
            return 200, json.dumps(names["token_for"]("visitor-1", session_id)).encode()
        except httpx.HTTPStatusError as error:
            return error.response.status_code, error.response.content


@pytest.fixture
def shop(live: LiveServer, reader: User) -> Iterator[Shop]:
    """A shop whose widget answers from one document."""
    workspace = reader.personal_workspace
    Workspace.objects.filter(pk=workspace.pk).update(share_with_external_users=True)
    indexed_document(workspace, LIT, name="lamps.pdf")
    made = Assistant.unscoped.create(
        workspace=workspace, user=reader, name="Keeper", visibility=Visibility.WORKSPACE
    )
    AssistantVersion.objects.create(assistant=made, number=1, name="Keeper", settings={"starters": [WHEN]})
    with Shop(live.url, create_key(reader, "shop")[1]) as running:
        bound = Binding.objects.create(assistant=made, kind=BindingKind.WIDGET, origins=[running.address])
        running.binding = str(bound.pk)
        yield running


@pytest.mark.parametrize(("theme", "viewport"), [("light", DESKTOP), ("dark", PHONE)])
def test_a_visitor_asks_by_keyboard(page: Page, shop: Shop, theme: str, viewport: dict[str, int]) -> None:
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(viewport)
    page.goto(shop.address)
    button = page.get_by_role("button", name="Ask Keeper")
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Keeper")
    expect(dialog.get_by_label("Your question")).to_be_focused()
    expect(dialog.get_by_role("button", name=WHEN)).to_be_visible()
    assert violations(page) == []

    page.keyboard.type(WHEN)
    page.keyboard.press("Enter")
    cited = dialog.get_by_role("button", name="Source 1: lamps.pdf")
    expect(cited).to_be_visible()
    expect(dialog.locator(".answer")).to_contain_text("4 August 1868")
    cited.press("Enter")
    place = dialog.get_by_role("region", name="Source 1: lamps.pdf")
    expect(place).to_be_focused()
    expect(place.get_by_role("heading")).to_have_text("lamps.pdf, page 1")
    expect(place.locator("blockquote").first).to_contain_text("4 August 1868")
    place.get_by_role("button", name="Show the page").press("Enter")
    expect(place.get_by_role("img", name="Page 1 of lamps.pdf")).to_be_visible()
    assert violations(page) == []

    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(button).to_be_focused()
    assert page.context.cookies() == []


def test_a_follow_up_and_the_next_page(page: Page, shop: Shop) -> None:
    page.goto(shop.address)
    page.get_by_role("button", name="Ask Keeper").click()
    dialog = page.get_by_role("dialog", name="Keeper")
    dialog.get_by_role("button", name=WHEN).click()
    expect(dialog.locator(".answer")).to_contain_text("1868")
    dialog.get_by_label("Your question").fill("Where was it lit?")
    dialog.get_by_role("button", name="Ask", exact=True).click()
    expect(dialog.locator(".answer")).to_have_count(2)
    expect(dialog.locator(".answer").last).to_contain_text("Punta Brava")
    # The conversation goes on where the visitor goes on.
    page.reload()
    page.get_by_role("button", name="Ask Keeper").click()
    expect(dialog.locator(".question")).to_have_text([WHEN, "Where was it lit?"])
    expect(dialog.get_by_role("button", name="Source 1: lamps.pdf").first).to_be_visible()


def test_who_only_looks_has_nothing_to_go_on_with(page: Page, shop: Shop) -> None:
    """The fixture `page` fails for a reply like the 404 for a conversation that nobody has begun."""
    page.goto(shop.address)
    expect(page.get_by_role("button", name="Ask Keeper")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Ask Keeper")).to_be_visible()


def test_an_answer_that_is_still_written_is_waited_for(page: Page, shop: Shop) -> None:
    page.goto(shop.address)
    page.get_by_role("button", name="Ask Keeper").click()
    dialog = page.get_by_role("dialog", name="Keeper")
    dialog.get_by_role("button", name=WHEN).click()
    expect(dialog.get_by_role("button", name="Source 1: lamps.pdf")).to_be_visible()

    def unfinished(route: Route) -> None:
        reply = route.fetch()
        body = reply.json()
        body["results"][-1]["answers"][-1] |= {"status": "running", "result": None}
        route.fulfill(response=reply, json=body)

    page.route("**/widgets/*/messages", unfinished, times=1)
    page.reload()
    page.get_by_role("button", name="Ask Keeper").click()
    expect(dialog.get_by_role("button", name="Stop")).to_be_visible()
    expect(dialog.locator(".answer")).to_contain_text("1868")
    expect(dialog.get_by_role("button", name="Stop")).to_be_hidden()


@pytest.mark.parametrize(("language", "words"), [("de", "Keeper fragen"), ("fr-CA", "Demander à Keeper")])
def test_it_speaks_the_language_of_the_page(page: Page, shop: Shop, language: str, words: str) -> None:
    shop.language = language
    page.goto(shop.address)
    expect(page.get_by_role("button", name=words)).to_be_visible()


def test_another_site_shows_nothing(page: Page, shop: Shop, problems: list[str]) -> None:
    Binding.objects.update(origins=["https://elsewhere.example"])
    with page.expect_console_message(lambda message: message.text.startswith("Locus:")):
        page.goto(shop.address)
    expect(page.locator("[data-locus-widget]")).to_have_count(0)
    problems.clear()
