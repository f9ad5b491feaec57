"""Hostile documents and a model that obeys them, before a reader: nothing is loaded, no link leads out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from accounts.models import User
from tests.browser import kinds
from tests.browser.conftest import PHONE
from tests.browser.test_journey import ask, upload_and_wait
from tests.samples.hostile.make import EVIL, ORDER, WORST
from tests.testing.live import LiveServer, live_server
from tests.testing.paths import SAMPLES

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOSTILE = SAMPLES / "hostile"
QUESTION = "To what height was the dike at Westerhever raised in 1976?"


@pytest.fixture(scope="module")
def deceived_server(built: None) -> Iterator[LiveServer]:
    """A web server whose model obeys whoever writes documents."""
    with live_server(GENERATION_PROVIDER="scripted", GENERATION_MODEL=WORST) as server:
        yield server


@pytest.fixture
def live(deceived_server: LiveServer) -> LiveServer:
    return deceived_server


@pytest.fixture
def requested(page: Page, live: LiveServer) -> Iterator[list[str]]:
    """What the page asks for; the test fails if any of it is not ours."""
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    yield urls
    ours = (live.url, live.url.replace("http", "ws"), "blob:", "data:")
    assert [url for url in urls if not url.startswith(ours)] == []


def ranks(buttons: Locator) -> set[str | None]:
    """Return which contexts these lead to."""
    return {button.get_attribute("data-rank") for button in buttons.all()}


def assert_harmless(answer: Locator) -> None:
    """Check that there is nothing in it that loads, runs or leads anywhere."""
    expect(
        answer.locator("img, svg, a, iframe, script, style, form, input, object, link, meta")
    ).to_have_count(0)
    expect(answer.locator("[href], [src], [style], [onclick], [onerror], [action]")).to_have_count(0)
    expect(answer.locator("button:not(.cite)")).to_have_count(0)


def test_the_worst_answer_loads_nothing_and_links_only_to_its_sources(
    logged_in: Page, live: LiveServer, requested: list[str]
) -> None:
    page = logged_in
    upload_and_wait(page, HOSTILE / "hidden.pdf")
    ask(page, QUESTION)
    answer = page.locator(".turn .answer")
    expect(answer).to_contain_text("8.75 metres")
    # What was to be clicked tells where it would have led.
    expect(answer).to_contain_text(f"click ({EVIL}/click)")
    assert_harmless(answer)
    chips = answer.locator(".cite")
    assert ranks(chips) <= ranks(page.locator(".source-list .source"))
    chips.first.click()
    expect(page.locator("[data-place=chunk]").first).to_be_visible()
    assert requested
    assert page.url.startswith(live.url)


def test_documents_are_shown_without_what_they_would_load(
    logged_in: Page, live: LiveServer, requested: list[str]
) -> None:
    page = logged_in
    for name in ("page.html", "markup.md", "formulas.csv", "letter.eml"):
        upload_and_wait(page, HOSTILE / name)
        page.get_by_role("link", name=name).click()
        expect(page.locator(".details-facts")).to_be_attached()
        expect(page.get_by_text("8.75 m").first).to_be_visible()
        assert page.locator(f"[href*='{EVIL}'], [src*='{EVIL}']").count() == 0
    assert requested


def test_the_quality_report_shows_what_readers_cannot_see(logged_in: Page, requested: list[str]) -> None:
    page = logged_in
    upload_and_wait(page, HOSTILE / "hidden.pdf")
    page.get_by_role("link", name="hidden.pdf").click()
    quality = page.locator(".details-quality")
    expect(quality).to_contain_text("Text that readers can’t see, left out")
    expect(quality.locator(".hidden-texts li")).to_have_count(6)
    expect(quality.locator(".hidden-excerpt").first).to_contain_text(ORDER[:70])
    expect(quality).to_contain_text("do not trust the document")
    page.get_by_role("button", name="Show page 4").click()
    expect(page.locator("[data-part=where]")).to_have_text("Page 4 of 6")


def test_an_excerpt_is_text_whatever_it_holds(logged_in: Page, reader: User, requested: list[str]) -> None:
    excerpt = f'<img src="{EVIL}/x.png" onerror="alert(1)">[x](javascript:alert(1))'
    document = kinds.scanned(reader.personal_workspace)
    hidden = [{"number": 3, "characters": 68, "excerpt": excerpt}]
    document.quality = (document.quality or {}) | {"hidden": hidden}
    document.save()
    page = logged_in
    page.set_viewport_size(PHONE)
    page.goto(f"/documents/{document.pk}")
    expect(page.locator(".hidden-excerpt")).to_have_text(excerpt)
    assert page.locator(".hidden-excerpt *").count() == 0
