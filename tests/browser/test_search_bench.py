"""The search bench: what each stage found for a question, and why, for those who look after a workspace."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from accounts.models import User, Workspace
from kb.models import Document
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.test_accessibility import violations
from tests.factories import indexed_document

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSAGES = {
    "solar.pdf": "The solar farm in Almería made 42 gigawatt hours in 2023. Its revenue was 3 million euros.",
    "wind.pdf": "Wind turbines off the coast earned more than ever before, the treasurer reports.",
    "roses.pdf": "Tea roses need a sheltered, sunny bed. They are pruned in late winter.",
    "printer.pdf": "Error E-505 means that the paper tray is empty. Error E-506 means that it is open.",
    "ferry.pdf": "The ferry leaves at noon. Its revenue pays for the lighthouse.",
    "minutes.pdf": "The council spoke of revenue, of the ferry, of roses and of the solar farm.",
}
QUESTION = "What was the reveneu of the solar farm?"


@pytest.fixture
def library(reader: User) -> dict[str, Document]:
    """Some documents in the reader's own workspace."""
    return {
        name: indexed_document(reader.personal_workspace, text, name=name) for name, text in PASSAGES.items()
    }


def ask(page: Page, question: str) -> None:
    """Ask on the bench that is open, and wait for what it shows."""
    page.get_by_label("Question", exact=True).fill(question)
    page.keyboard.press("Enter")
    expect(page.locator("[data-part=summary]")).to_contain_text("candidate")


def open_bench(page: Page, question: str = QUESTION) -> None:
    page.goto("/")
    page.get_by_label("Account").click()
    page.get_by_role("link", name="Search bench").click()
    expect(page.get_by_role("heading", name="Search bench")).to_be_visible()
    ask(page, question)


def test_it_shows_what_each_stage_found_and_why(logged_in: Page, library: dict[str, Document]) -> None:
    page = logged_in
    open_bench(page)
    expect(page.locator("[data-part=summary]")).to_have_text(
        re.compile(r"6 results of 6 candidates, .*reranked.*, in [\d,.]+ ms\.")
    )
    expect(page.locator(".times-legend")).to_contain_text("meaning of the question")
    expect(page.locator(".read-word", has_text="reveneu")).to_contain_text(
        "read as “revenu”, in 3 candidates"
    )
    expect(page.locator(".read-word.is-silent").first).to_contain_text("too common to count")
    by_words = page.get_by_role("list", name="Ranks: Words").get_by_role("button")
    expect(by_words.first).to_have_text(re.compile(r"Result \dpage 1 · (solar|minutes)\.pdf scores \d\.\d\d"))
    expect(by_words).to_have_count(3)
    expect(page.get_by_role("list", name="Ranks: Meaning").get_by_role("button")).to_have_count(6)
    page.get_by_text("What counts in each stage").click()
    expect(page.get_by_text("Rare words count more.")).to_be_visible()
    solar = page.locator(".hit", has_text="Almería")
    expect(solar.locator("mark")).to_have_text(["solar", "farm", "revenue"])
    expect(solar.locator(".hit-scores")).to_contain_text(re.compile(r"Words\s*#\d \d+\.\d\d"))
    assert violations(page) == []


def test_a_chunk_is_followed_through_all_stages(logged_in: Page, library: dict[str, Document]) -> None:
    page = logged_in
    open_bench(page)
    ferry = page.get_by_role("list", name="Ranks: Words").get_by_role("button", name="ferry.pdf")
    ferry.hover()
    followed = page.locator(".is-followed")
    expect(page.locator("button.is-followed")).to_have_count(page.locator(".stage").count())
    expect(page.locator("li.hit.is-followed")).to_contain_text("ferry.pdf")
    page.get_by_role("heading", name="Search bench").hover()
    expect(followed).to_have_count(0)
    ferry.focus()
    expect(page.locator("path.is-followed")).to_have_count(page.locator(".stage").count() - 1)
    page.keyboard.press("Enter")
    expect(page.locator("li.hit:focus")).to_contain_text("ferry.pdf")


def test_a_result_leads_to_its_place(logged_in: Page, library: dict[str, Document]) -> None:
    page = logged_in
    open_bench(page, "E-505")
    page.locator(".hit").first.get_by_role("link", name="printer.pdf").click()
    page.locator("[data-drawn]").first.wait_for()
    expect(page.locator("[data-place=quote]").first).to_be_visible()


def test_filters_narrow_and_mistakes_in_them_are_told(logged_in: Page, library: dict[str, Document]) -> None:
    page = logged_in
    roses = library["roses.pdf"]
    roses.tags, roses.metadata = ["garden"], {"year": 2023}
    roses.save()
    open_bench(page)
    page.get_by_text("Filters and reranking").click()
    page.get_by_label("Any of these tags").fill("garden, energy")
    page.get_by_label("All of this metadata").fill("year=2023")
    ask(page, QUESTION)
    expect(page.locator("[data-part=summary]")).to_contain_text("1 result of 1 candidate")
    page.get_by_label("Added on or after").fill("2999-01-01")
    page.get_by_label("Question", exact=True).press("Enter")
    expect(page.get_by_role("heading", name="Nothing was found")).to_be_visible()
    page.get_by_label("Added on or after").fill("")
    page.route("**/api/v1/search", lambda route: route.fulfill(status=200, json=WRONG))
    page.get_by_label("Question", exact=True).press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()


WRONG: dict[str, Any] = {}


def test_it_answers_what_was_sent_before_its_script_was_there(
    logged_in: Page, library: dict[str, Document]
) -> None:
    page = logged_in
    open_bench(page)
    page.get_by_text("Filters and reranking").click()
    page.get_by_label("Any of these kinds").fill("pdf")
    page.get_by_label("Question", exact=True).fill("E-505")
    # `submit()` asks no listener: it sends the form as a browser does while the script is still on its way.
    page.locator("form[role=search]").evaluate("(form) => form.submit()")
    page.wait_for_url(re.compile(r"q=E-505"))
    expect(page.locator("[data-part=summary]")).to_contain_text("candidate")
    expect(page.locator(".hit").first).to_contain_text("printer.pdf")
    expect(page.get_by_label("Any of these kinds")).to_have_value("pdf")
    assert page.url.endswith("/search-bench?q=E-505&kinds=pdf")


def test_a_question_can_be_linked_to(logged_in: Page, reader: User, library: dict[str, Document]) -> None:
    page = logged_in
    page.goto("/search-bench?q=ferry")
    expect(page.locator(".hit", has_text="ferry.pdf").first).to_be_visible()
    other = Workspace.create_for(reader, name="Harbour")
    indexed_document(other, "The harbour master counts ships.", name="ships.pdf")
    page.goto(f"/workspaces/{reader.personal_workspace.pk}/search-bench?q=ships")
    expect(page.locator(".hit").first).to_be_visible()
    expect(page.locator(".hit", has_text="ships.pdf")).to_have_count(0)
    page.get_by_label("Workspace").select_option("Harbour")
    expect(page.locator(".hit")).to_contain_text("ships.pdf")
    assert page.url.endswith(f"/workspaces/{other.pk}/search-bench?q=ships")


@pytest.mark.parametrize(
    ("theme", "viewport"), [("dark", DESKTOP), ("light", PHONE)], ids=["dark desk", "light phone"]
)
def test_it_suits_every_screen(
    logged_in: Page, library: dict[str, Document], theme: Any, viewport: Any
) -> None:
    page = logged_in
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(viewport)
    open_bench(page)
    page.get_by_text("Filters and reranking").click()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


@pytest.mark.parametrize("address", ["/search", "/workspaces/{}/search-bench"])
def test_what_was_typed_before_the_script_was_there_stays(
    logged_in: Page, reader: User, library: dict[str, Document], address: str
) -> None:
    page = logged_in
    held: list[Route] = []
    page.route(re.compile(r"/page-search\w*\."), lambda route: held.append(route))
    page.goto(address.format(reader.personal_workspace.pk), wait_until="commit")
    field = page.locator("input[name=q]")
    field.fill("E-505")
    assert held
    for route in held:
        route.continue_()
    page.wait_for_load_state()
    expect(field).to_have_value("E-505")
    field.press("Enter")
    expect(page.locator(".hit").first).to_contain_text("printer.pdf")
