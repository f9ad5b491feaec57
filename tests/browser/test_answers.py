"""What an answer offers: numbers, cards of citations, copies, formulas, other ways to ask, paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from accounts.models import User
from tests.browser.conftest import PHONE
from tests.browser.test_accessibility import violations
from tests.browser.test_ask_page import Script, asked, read_until_text, result
from tests.browser.test_journey import QUESTION, ask, report, upload_and_wait
from tests.testing.live import LiveServer

__all__ = ["asked", "report"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ONE, TWO = '<citation id="c1">[1]</citation>', '<citation id="c2">[2]</citation>'
CITED = f"Two {TWO}, one {ONE}, two {TWO}."
FORMULAS = "It is $E = mc^2$ <source_1>, for $5 or $6.\n\n$$\\sum_{i=1}^n i = \\frac{n(n+1)}{2}$$\n"


def completed(page: Page, asked: Callable[[str], Script], response: str, *used: int) -> Script:
    """Ask something and let it be answered."""
    script = asked("What do the reports say?")
    script.send(*read_until_text("Words."), ("tool_end", result(response, *used)))
    expect(page.locator(".turn")).to_have_attribute("data-status", "completed")
    return script


def test_citations_are_numbered_as_they_appear(logged_in: Page, asked: Callable[[str], Script]) -> None:
    """Whatever rank a source had: the text, the list and the copy say the same numbers."""
    page = logged_in
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    completed(page, asked, CITED, 1, 2)
    expect(page.locator(".answer .cite")).to_have_text(["1", "2", "1"])
    entries = page.locator(".sources .source")
    expect(entries).to_have_text([re.compile("1report 2.pdf"), re.compile("2report 1.pdf")])
    page.get_by_text("Copy", exact=True).click()
    page.get_by_role("button", name="With citations", exact=True).click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "Two [1], one [2], two [1].\n\nSources:\n\n1. report 2.pdf\n2. report 1.pdf"
    page.get_by_text("Copy", exact=True).click()
    page.get_by_role("button", name="Without citations", exact=True).click()
    page.wait_for_function("navigator.clipboard.readText().then((text) => text === 'Two, one, two.')")


def test_the_tab_and_the_words_below_the_question(logged_in: Page, asked: Callable[[str], Script]) -> None:
    """The tab is called as the question is; what the engine did is behind a sign."""
    page = logged_in
    completed(page, asked, CITED, 1, 2)
    expect(page).to_have_title("What do the reports say? · Locus")
    expect(page.locator(".progress")).to_have_text("Read 2 passages in 2 documentsWritten by scripted")
    facts = page.locator(".engine dl")
    expect(facts).to_be_hidden()
    page.locator(".engine summary").click()
    expect(facts).to_contain_text("1 is rank 2, 2 is rank 1")
    page.keyboard.press("Escape")
    expect(facts).to_be_hidden()


def test_names_of_characters_are_read_and_html_stays_text(
    logged_in: Page, asked: Callable[[str], Script]
) -> None:
    """The browser knows the names; what they stand for is never an element."""
    answer = "M&uuml;ller &amp; S&ouml;hne &notice; &lt;b&gt; <i>x</i> `&euro;` " + CITED
    completed(logged_in, asked, answer, 1, 2)
    shown = logged_in.locator(".answer")
    expect(shown).to_contain_text("Müller & Söhne &notice; <b> <i>x</i> &euro;")
    expect(shown.locator("b, i")).to_have_count(0)
    expect(shown.locator("code")).to_have_text("&euro;")


def test_formulas_are_drawn(logged_in: Page, asked: Callable[[str], Script]) -> None:
    """Prices stay prices; the library is loaded when the first formula comes."""
    page = logged_in
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url) if "temml" in request.url else None)
    script = asked("What is the formula?")
    script.send(*read_until_text("Words without any. "))
    expect(page.locator(".answer")).to_contain_text("Words")
    assert loaded == []
    script.send(("tool_partial_update", {"content": FORMULAS, "output_key": "response"}))
    expect(page.locator(".answer math")).to_have_count(2)
    expect(page.locator(".answer")).to_contain_text("for $5 or $6.")
    script.send(("tool_end", result(FORMULAS.replace("<source_1>", '<citation id="c1">[1]</citation>'), 1)))
    expect(page.locator(".turn")).to_have_attribute("data-status", "completed")
    expect(page.locator(".answer math")).to_have_count(2)
    assert len(loaded) == 1
    assert violations(page) == []


def test_without_an_answer_the_closest_passages_are_open(
    logged_in: Page, asked: Callable[[str], Script]
) -> None:
    """They are told from sources, and the page says what else can be tried."""
    page = logged_in
    completed(page, asked, "I found no answer to this in these documents.")
    expect(page.get_by_role("heading", name="Closest passages, none may answer this")).to_be_visible()
    expect(page.locator(".source-preview")).to_have_text(["Words.", "Words."])
    page.get_by_role("button", name="Ask in other words").click()
    expect(page.get_by_label("Your question", exact=True)).to_have_value("What do the reports say?")
    expect(page.get_by_label("Your question", exact=True)).to_be_focused()


def test_the_sentence_that_comes_nearest_is_marked(logged_in: Page, asked: Callable[[str], Script]) -> None:
    page = logged_in
    script = asked("May I keep a dog?")
    found = result("I found no answer to this in these documents.")
    placed = {"text": "No dogs.", "bbox": None, "start_time": None, "end_time": None}
    found["contexts"][0] |= {
        "text_preview": "It is quiet. No dogs. No cats.",
        "closest": placed | {"chunk_start": 413, "chunk_end": 421},
    }
    script.send(*read_until_text("I found no answer"), ("tool_end", found))
    expect(page.locator(".source-preview").first).to_have_text("… It is quiet. No dogs. No cats.")
    expect(page.locator(".source-preview mark")).to_have_text(["No dogs."])
    assert violations(page) == []


def test_nothing_found_says_where_else_to_look(logged_in: Page, asked: Callable[[str], Script]) -> None:
    """No passage, no list; a narrow scope can be widened."""
    page = logged_in
    script = asked("What do the reports say?")
    nothing = result("I found no answer to this in these documents.") | {"contexts": []}
    script.send(("tool_end", nothing))
    expect(page.locator(".turn")).to_have_attribute("data-outcome", "nothing")
    expect(page.locator(".source")).to_have_count(0)
    expect(page.get_by_text("What you can try:")).to_be_visible()


def test_a_question_can_be_edited_and_an_answer_tried_again(
    logged_in: Page, asked: Callable[[str], Script]
) -> None:
    """Escape leaves the question as it was."""
    page = logged_in
    script = completed(page, asked, CITED, 1, 2)
    page.get_by_role("button", name="Edit the question").click()
    field = page.get_by_label("Edit your question")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Edit the question")).to_be_focused()
    page.keyboard.press("Enter")
    field.fill("What does the second report say?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="What does the second report say?")).to_be_visible()
    # It is another version of the first question, not one more question.
    expect(page.locator(".turn")).to_have_count(1)
    while not any("second report" in message for message in script.received):
        page.wait_for_timeout(20)


# --- The card of a citation --------------------------------------------------------------------------------


def test_the_card_of_a_citation(logged_in: Page, report: Path) -> None:
    """By mouse and keyboard: document, page, quote and how it looks; Escape closes only the card."""
    page = logged_in
    upload_and_wait(page, report)
    ask(page, QUESTION)
    cite, card = page.locator(".answer .cite").first, page.locator(".citation-card")
    cite.hover()
    expect(card).to_contain_text("harbour.pdf")
    expect(card).to_contain_text("page 2")
    expect(card.locator(".card-quote")).to_contain_text("4 August 1868")
    expect(card.locator(".card-page:not(.is-loading)")).to_be_visible()
    mark = card.locator(".card-mark").first.bounding_box()
    cut = card.locator(".card-page").bounding_box()
    assert mark is not None
    assert cut is not None
    assert cut["y"] <= mark["y"] < cut["y"] + cut["height"]
    assert violations(page) == []
    # The pointer may go into the card.
    card.hover()
    page.wait_for_timeout(400)
    expect(card).to_be_visible()
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    page.mouse.move(5, 5)
    page.get_by_label("Your question", exact=True).focus()
    for _ in range(30):
        page.keyboard.press("Shift+Tab")
        if cite.evaluate("(chip) => chip === document.activeElement"):
            break
    expect(card).to_be_visible()
    expect(cite).to_have_attribute("aria-describedby", "citation-card")
    page.keyboard.press("Enter")
    expect(card).to_be_hidden()
    expect(page.locator(".viewer")).to_be_visible()


@pytest.fixture
def touched(chromium: Browser, live: LiveServer, logged_in: Page) -> Iterator[Page]:
    """A phone with a finger, logged in."""
    phone = chromium.new_context(
        base_url=live.url, viewport=PHONE, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    phone.add_cookies(logged_in.context.cookies())
    yield phone.new_page()
    phone.close()


def test_the_first_tap_shows_the_card_the_next_opens_the_place(
    touched: Page, logged_in: Page, report: Path
) -> None:
    """A finger can't hover."""
    upload_and_wait(logged_in, report)
    page = touched
    ask(page, QUESTION)
    page.locator(".answer .cite").first.tap()
    card = page.get_by_role("dialog", name="Source 1")
    expect(card).to_contain_text("4 August 1868")
    expect(page.locator(".viewer")).to_be_hidden()
    box = card.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]
    page.locator(".question").first.tap()
    expect(card).to_be_hidden()
    page.locator(".answer .cite").first.tap()
    card.get_by_role("button", name="Show the place").tap()
    expect(page.locator(".viewer")).to_be_visible()


def test_on_paper_are_the_question_the_answer_and_its_sources(
    logged_in: Page, asked: Callable[[str], Script], reader: User
) -> None:
    """Menus, lists and buttons stay on the screen."""
    page = logged_in
    completed(page, asked, CITED, 1, 2)
    page.emulate_media(media="print", color_scheme="dark")
    for shown in (".question", ".answer", ".source-list"):
        expect(page.locator(shown).first).to_be_visible()
    for hidden in (".top", ".history", ".composer", ".answer-actions", ".engine"):
        expect(page.locator(hidden).first).to_be_hidden()
    assert page.evaluate("getComputedStyle(document.querySelector('.answer')).color") == "rgb(30, 27, 22)"
