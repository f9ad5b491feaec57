"""What a new user meets: first steps, connecting a model, search, the palette, help."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from kb.models import Document, Status
from search.generation.registry import resident
from tests.browser.conftest import PHONE
from tests.browser.test_accessibility import violations
from tests.factories import indexed_document
from tests.testing.chat_models import KEY, OpenAiProvider
from tests.testing.live import wait_until
from tests.testing.paths import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def newcomer(logged_in: Page, reader: User, settings: object) -> Page:
    """The tab of somebody whose guide has been added and read."""
    from locus.demo import add_guide

    settings.WELCOME_GUIDE = True  # type: ignore[attr-defined]
    assert add_guide(reader)
    return logged_in


@pytest.fixture
def administrator(logged_in: Page, reader: User) -> Page:
    reader.is_staff = reader.is_superuser = True
    reader.save()
    return logged_in


@pytest.fixture(autouse=True)
def _no_generator_of_an_earlier_test() -> Iterator[None]:
    yield
    resident.cache_clear()


def test_one_click_answers_a_question_about_the_guide(newcomer: Page) -> None:
    page = newcomer
    page.goto("/")
    steps = page.get_by_role("region", name="First steps")
    question = steps.get_by_role("button", name="How do I add a document to Locus?")
    # Until the worker has read the guide its questions can't be pressed.
    wait_until(lambda: Document.unscoped.get().status == Status.READY, "the guide is read")
    question.click()
    expect(page.locator("main")).to_contain_text("drag its file onto the Documents page")
    expect(steps).to_be_hidden()
    chip = page.locator(".cite").first.element_handle()
    expect(page.locator("#announcements")).to_have_text("Answer complete, 1 source cited.")
    # Whoever was about to click when the answer ended clicks on what is still there.
    assert chip and chip.evaluate("chip => chip.isConnected")
    chip.click()
    expect(page.locator("[data-viewer]")).to_contain_text("A guide to Locus.pdf")


def test_files_are_added_right_there(newcomer: Page, reader: User, tmp_path: Path) -> None:
    page = newcomer
    file = tmp_path / "harbour.txt"
    file.write_text("The harbour has three piers.")
    page.goto("/")
    page.locator("[data-part=stepFiles]").set_input_files(file)
    page.get_by_role("link", name="Added: see it").click()
    expect(page).to_have_title("harbour.txt · Locus")
    assert Document.unscoped.get(name="harbour.txt").workspace == reader.personal_workspace


def test_the_cards_stay_away_once_closed(newcomer: Page, reader: User) -> None:
    page = newcomer
    page.goto("/")
    with page.expect_response(lambda response: response.url.endswith("/api/v1/me")):
        page.get_by_role("button", name="Close the first steps").click()
    page.reload()
    expect(page.get_by_role("heading", name="Ask your documents")).to_be_visible()
    expect(page.locator("[data-first-steps]")).to_have_count(0)


@pytest.mark.parametrize(("theme", "viewport"), [("dark", PHONE)], ids=["dark phone"])
def test_axe_finds_nothing(newcomer: Page, reader: User, theme: str, viewport: dict[str, int]) -> None:
    page = newcomer
    reader.is_staff = reader.is_superuser = True
    reader.save()
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(viewport)
    wait_until(lambda: Document.unscoped.get().status == Status.READY, "the guide is read")
    found = []
    for address in ("/", "/search?q=delete+a+workspace", "/help", "/connect-model"):
        page.goto(address)
        page.wait_for_load_state("networkidle")
        found += violations(page)
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Page, document, conversation or action").fill("search")
    found += violations(page)
    assert found == []


def test_a_model_is_found_tested_and_used(administrator: Page, reader: User) -> None:
    page = administrator
    indexed_document(reader.personal_workspace)
    with OpenAiProvider(key=KEY) as server:
        page.goto("/connect-model")
        expect(page.get_by_text("Quoted sentences, without a language model")).to_be_visible()
        page.get_by_label("Address").fill(server.url)
        page.get_by_label("Key", exact=True).fill(KEY)
        page.get_by_role("button", name="List models").click()
        page.get_by_role("button", name="qwen3:8b").click()
        page.get_by_role("button", name="Test").click()
        expect(page.get_by_text("It works, in")).to_contain_text("The lighthouse was built in 1893.")
        page.get_by_role("button", name="Use this model").click()
        expect(page.get_by_text("qwen3:8b by openai-compatible")).to_be_visible()
        expect(page.get_by_text("Nothing leaves this machine: the model runs on it.")).to_be_visible()
        assert KEY not in page.content()
        page.get_by_role("button", name="Disconnect").click()
        page.get_by_role("dialog").get_by_role("button", name="Disconnect").click()
        expect(page.get_by_text("Quoted sentences, without a language model")).to_be_visible()


def test_search_lists_passages_and_opens_them_at_their_place(logged_in: Page, reader: User) -> None:
    page = logged_in
    indexed_document(reader.personal_workspace)
    indexed_document(reader.personal_workspace, "Tea roses need a sheltered, sunny bed.", name="roses.pdf")
    page.goto("/search")
    page.get_by_label("Search for").fill("Almería solar farm")
    page.keyboard.press("Enter")
    hits = page.locator(".search-hit")
    expect(hits.first).to_contain_text("solar farm")
    assert page.url.endswith("?q=Almer%C3%ADa+solar+farm")
    hits.first.get_by_role("link").click()
    expect(page.locator("[data-viewer]")).to_be_visible()
    page.locator("[data-place=quote], .place-text").first.wait_for()
    page.keyboard.press("Escape")
    expect(page.locator("[data-viewer]")).to_be_hidden()
    page.get_by_text("Filters").click()
    page.get_by_label("Added before").fill("2001-01-01")
    expect(page.get_by_role("heading", name="No passage was found")).to_be_visible()
    assert "before=2001-01-01" in page.url
    page.reload()
    expect(page.get_by_role("heading", name="No passage was found")).to_be_visible()
    expect(page.get_by_label("Added before")).to_have_value("2001-01-01")
    page.go_back()
    expect(hits.first).to_contain_text("solar farm")


def test_the_keyboard_reaches_pages_documents_and_actions(logged_in: Page, reader: User) -> None:
    page = logged_in
    indexed_document(reader.personal_workspace, name="Almería.pdf")
    page.goto("/documents/")
    page.locator("[data-document]").first.wait_for()
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="Almería.pdf")).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    palette = page.get_by_role("combobox", name="Page, document, conversation or action")
    palette.fill("alm")
    expect(page.get_by_role("option", name="Almería.pdf")).to_be_visible()
    palette.fill("search")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search")
    # In a field a letter is a letter.
    page.get_by_label("Search for").press_sequentially("n?/")
    expect(page.get_by_label("Search for")).to_have_value("n?/")
    page.keyboard.press("Control+k")
    palette.fill("harbour")
    page.get_by_role("option", name="Ask “harbour”").click()
    expect(page.get_by_label("Your question")).to_have_value("harbour")


def test_keys_without_ctrl_can_be_switched_off(logged_in: Page) -> None:
    page = logged_in
    page.goto("/help")
    page.keyboard.press("?")
    page.get_by_label("Keys without Ctrl or ⌘ work, too").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    page.keyboard.press("?")
    page.keyboard.press("n")
    expect(page).to_have_url("/help")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Page, document, conversation or action")).to_be_focused()


def test_the_manifest_is_read_without_complaint(logged_in: Page) -> None:
    page = logged_in
    page.goto("/help")
    session = page.context.new_cdp_session(page)
    read = session.send("Page.getAppManifest")
    assert read["errors"] == []
    assert read["url"].endswith("/manifest.webmanifest")
    assert (ROOT / "frontend" / "static" / "icon-512.png").is_file()
