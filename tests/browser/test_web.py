"""Asking the web in the browser: from the choice to the cited page, with a mouse, a keyboard and a phone."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, Request, WebSocketRoute, expect

from accounts.access.keys import create_key
from accounts.models import Membership, User, Workspace
from accounts.roles import Role
from tests.browser.conftest import DESKTOP, PHONE, Engines
from tests.browser.test_accessibility import violations
from tests.browser.web import (
    BUILT,
    QUESTION,
    ask_web,
    brave,
    choose,
    choose_web,
    let_search,
    live,
)
from tests.testing.search_engines import Failure, ProviderDouble

__all__ = ["brave", "live"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def searching(reader: User) -> Workspace:
    """The reader's own workspace, with the web switched on."""
    return let_search(reader.personal_workspace)


@pytest.fixture
def viewed(reader: User) -> Workspace:
    """A workspace in which the reader is a viewer, with the web switched off."""
    team = Workspace.create_for(User.objects.create_user("owner@example.org"), name="Team")
    Membership.objects.create(workspace=team, user=reader, role=Role.VIEWER)
    return team


# --- From a question to the cited page ---------------------------------------------------------------------


def test_from_a_question_to_the_cited_page(logged_in: Page, searching: Workspace) -> None:
    page = logged_in
    turn = ask_web(page)
    expect(turn.locator(".answer")).to_contain_text("The harbour lighthouse was built in 1893.")
    expect(turn.locator(".progress")).to_have_text(re.compile("Read 3 web results.*Quoted, no model"))
    expect(turn.get_by_text("Searched with Brave.", exact=True)).to_be_visible()
    cited = turn.locator(".source-list").first.get_by_role("listitem")
    expect(cited).to_have_count(1)
    expect(cited).to_contain_text("The harbour lighthouse | A history")
    expect(cited).to_contain_text("light.example")
    expect(cited.locator("mark")).to_have_text("The harbour lighthouse was built in 1893.")
    turn.get_by_text("2 more web results read, not cited").click()
    expect(turn.get_by_role("link", name="Tea & cakes")).to_be_visible()

    citation = turn.locator(".answer .cite")
    expect(citation).to_have_accessible_name(
        "Source 1, The harbour lighthouse | A history, light.example (opens in a new tab)"
    )
    opened: list[Request] = []
    page.context.on("request", lambda request: opened.append(request))
    page.context.route("https://www.light.example/**", lambda route: route.fulfill(body="The light."))
    with page.expect_popup() as popup:
        citation.click()
    assert popup.value.url == BUILT.url
    assert popup.value.evaluate("window.opener") is None
    assert "referer" not in next(each.headers for each in opened if each.url == BUILT.url)


def test_every_way_out_is_marked_as_one(logged_in: Page, searching: Workspace) -> None:
    turn = ask_web(logged_in)
    turn.get_by_text("2 more web results read, not cited").click()
    links = turn.get_by_role("link").all()
    assert len(links) == 4
    for link in links:
        expect(link).to_have_attribute("rel", "noopener noreferrer nofollow")
        expect(link).to_have_attribute("target", "_blank")


def test_pages_are_listed_before_the_answer_is_there(logged_in: Page, searching: Workspace) -> None:
    page = logged_in
    sent: list[str] = []
    held: list[tuple[WebSocketRoute, str | bytes]] = []

    def hold_back(socket: WebSocketRoute) -> None:
        """Let the page see no more than what was found, until the rest is let go."""

        def forward(message: str | bytes) -> None:
            if any('"WEB_SEARCH"' in each and '"completed"' in each for each in sent):
                held.append((socket, message))
            else:
                sent.append(str(message))
                socket.send(message)

        socket.connect_to_server().on_message(forward)

    page.route_web_socket("**/ws/sessions/*", hold_back)
    choose_web(page)
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    turn = page.locator(".turn")
    expect(turn.get_by_role("heading", name="Found")).to_be_visible()
    expect(turn.get_by_role("link", name="The harbour lighthouse | A history")).to_have_attribute(
        "href", BUILT.url
    )
    expect(turn.locator(".progress")).to_have_text("Reading 3 web results")
    expect(turn.locator(".answer")).to_have_attribute("aria-busy", "true")
    while not held or '"tool_end"' not in str(held[-1][1]):
        page.wait_for_timeout(50)
    for socket, message in held[:-1]:
        socket.send(message)
    expect(turn.locator(".answer .cite").first).to_have_attribute("href", BUILT.url)
    socket, end = held[-1]
    socket.send(end)
    expect(turn).to_have_attribute("data-status", "completed")
    expect(turn.get_by_role("heading", name="Sources")).to_be_visible()


def test_a_dropped_connection_is_taken_up_where_it_broke(logged_in: Page, searching: Workspace) -> None:
    connections: list[WebSocketRoute] = []

    def drop_the_first(socket: WebSocketRoute) -> None:
        def forward(message: str | bytes) -> None:
            socket.send(message)
            if len(connections) == 1:
                socket.close(code=1012)

        connections.append(socket)
        socket.connect_to_server().on_message(forward)

    logged_in.route_web_socket("**/ws/sessions/*", drop_the_first)
    turn = ask_web(logged_in)
    assert len(connections) == 2
    expect(turn.locator(".answer")).to_contain_text("1893")
    expect(turn).to_have_count(1)


def test_a_page_loaded_again_comes_back_to_the_running_search(
    logged_in: Page, searching: Workspace, brave: ProviderDouble
) -> None:
    brave.delay_secs = 3
    choose_web(logged_in)
    logged_in.get_by_label("Your question").fill(QUESTION)
    logged_in.keyboard.press("Enter")
    # Now the server has the question; until then it would come back as a draft.
    expect(logged_in.locator(".thread-head")).to_be_visible()
    logged_in.reload()
    turn = logged_in.locator(".turn")
    expect(turn).to_have_attribute("data-status", "completed", timeout=60_000)
    expect(turn.locator(".answer")).to_contain_text("1893")


def test_each_conversation_knows_what_its_questions_are_put_to(logged_in: Page, searching: Workspace) -> None:
    page = logged_in
    ask_web(page)
    page.goto("/")
    expect(page.get_by_role("checkbox", name="Web")).to_be_checked()
    choose(page, "Documents")
    page.get_by_label("Your question").fill("Is there a lighthouse in the documents?")
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_attribute("data-status", "completed", timeout=60_000)
    page.reload()
    expect(page.get_by_role("checkbox", name="Documents")).to_be_checked()
    expect(page.get_by_role("checkbox", name="Web")).not_to_be_checked()
    earlier = page.locator(".history-list a")
    expect(earlier).to_have_count(2)
    earlier.last.click()
    expect(page.get_by_role("checkbox", name="Web")).to_be_checked()
    expect(page.get_by_role("checkbox", name="Documents")).not_to_be_checked()
    expect(page.locator(".answer .cite")).to_have_attribute("href", BUILT.url)
    expect(page.locator(".progress")).to_have_text(re.compile("Read 3 web results"))


# --- How the search engines did ----------------------------------------------------------------------------


def test_who_was_asked_and_who_failed(
    logged_in: Page, searching: Workspace, brave: ProviderDouble, engines: Engines
) -> None:
    brave.fail(Failure.RATE_LIMITED)
    turn = ask_web(logged_in)
    expect(turn.get_by_text("Searched with Tavily; Brave was rate limited.")).to_be_visible()
    again = ask_web(logged_in)
    expect(again.get_by_text("Tavily found this lately and was not asked again.")).to_be_visible()


def test_a_search_that_fails_can_be_made_again(
    logged_in: Page, searching: Workspace, engines: Engines
) -> None:
    for engine in engines.values():
        engine.fail(Failure.SERVER_ERROR)
    turn = ask_web(logged_in, status="failed")
    told = turn.get_by_role("alert").locator("p").first
    expect(told).to_have_text(
        re.compile("^No search engine answered: Brave was not available, Tavily.*again")
    )
    logged_in.reload()
    logged_in.get_by_role("button", name="Ask again").click()
    expect(logged_in.locator(".turn")).to_have_attribute("data-status", "completed", timeout=60_000)
    expect(logged_in.locator(".branch-number")).to_have_text("2/2")
    expect(logged_in.locator(".turn .question")).to_have_text([QUESTION])


def test_who_may_raise_the_limit_is_led_to_it(logged_in: Page, searching: Workspace) -> None:
    let_search(searching, max_cost=0.001)
    turn = ask_web(logged_in, status="failed")
    expect(turn.get_by_role("alert")).to_contain_text("Its admins can raise max_cost")
    turn.get_by_role("link", name="Workspace settings").click()
    logged_in.wait_for_url(f"**/workspaces/{searching.pk}/settings")


def test_who_may_not_raise_the_limit_is_led_nowhere(logged_in: Page, searching: Workspace) -> None:
    words = "The budget of this server for searches and models is spent."
    data = {"code": "budget_exceeded", "message": words, "details": {"limit": "deployment"}}
    told = json.dumps({"event": "error", "data": data})
    logged_in.route_web_socket(
        "**/ws/sessions/*", lambda socket: socket.on_message(lambda message: socket.send(told))
    )
    turn = ask_web(logged_in, status="failed")
    expect(turn.get_by_role("alert")).to_contain_text(words)
    expect(turn.get_by_role("alert").get_by_role("link")).to_have_count(0)


def executed(page: Page, reader: User, **inputs: Any) -> str:
    """Search as a program of the reader's does, and return the execution's id."""
    _, key = create_key(reader, "a program")
    reply = page.request.post(
        "/api/v1/tools/web_search",
        data={"query": QUESTION} | inputs,
        headers={"Authorization": f"Bearer {key}"},
    )
    assert reply.ok, reply.text()
    return reply.headers["x-execution-id"]


def test_a_filter_that_nobody_could_check_is_told(
    logged_in: Page, reader: User, searching: Workspace
) -> None:
    id = executed(logged_in, reader, last_updated_after_filter="01/31/2026")
    logged_in.goto(f"/?execution={id}")
    expect(logged_in.get_by_text("Nobody could check when a page was changed")).to_be_visible()


def test_results_without_an_answer_are_listed(logged_in: Page, reader: User, searching: Workspace) -> None:
    id = executed(logged_in, reader, mode="results")
    logged_in.goto(f"/?execution={id}")
    expect(logged_in.get_by_role("heading", name="Found")).to_be_visible()
    expect(logged_in.locator(".source-list").get_by_role("link")).to_have_count(3)
    expect(logged_in.locator(".answer")).to_be_hidden()


# --- Where to look -----------------------------------------------------------------------------------------


def test_the_time_and_the_sites_reach_the_engine(
    logged_in: Page, searching: Workspace, brave: ProviderDouble
) -> None:
    page = logged_in
    choose_web(page)
    brave.requests.clear()
    page.get_by_role("button", name="Any time").click()
    page.get_by_label("How old a page may be").select_option("Past month")
    page.get_by_label("Only these sites").fill("light.example, -tea.example")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Past month · 2 sites")).to_be_visible()
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_attribute("data-status", "completed", timeout=60_000)
    [request] = brave.requests
    assert request.params["freshness"] == "pm"
    rules = request.params["goggles"].split("\n")
    assert "$site=light.example" in rules
    assert "$discard,site=tea.example" in rules
    page.get_by_role("button", name="Past month · 2 sites").click()
    page.get_by_role("button", name="Any time, all sites").click()
    page.get_by_role("button", name="Use this choice").click()
    expect(page.get_by_role("button", name="Any time", exact=True)).to_be_focused()


def test_where_it_is_off_an_admin_is_led_to_the_settings(logged_in: Page, reader: User) -> None:
    page = logged_in
    choose_web(page)
    note = page.locator("[data-part=webOff]")
    expect(note).to_have_text("Web search is off in Personal. Switch it on in the settings")
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_disabled()
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_count(0)
    expect(page.get_by_label("Your question")).to_have_value(QUESTION)
    assert violations(page) == []
    # Somebody switches it on in another tab, and comes back to this one.
    let_search(reader.personal_workspace)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(note).to_be_empty()
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()
    expect(page.get_by_label("Your question")).to_have_value(QUESTION)


def test_where_it_is_off_others_are_told_who_can_switch_it_on(
    logged_in: Page, searching: Workspace, viewed: Workspace
) -> None:
    page = logged_in
    choose_web(page)
    page.get_by_role("button", name="Personal · Any time").click()
    page.get_by_label("Workspace").select_option("Team")
    page.get_by_role("button", name="Use this choice").click()
    note = page.locator("[data-part=webOff]")
    expect(note).to_contain_text("Web search is off in Team. An admin of the workspace can switch it on.")
    expect(note.get_by_role("link")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("button", name="Team · Any time")).to_be_visible()
    page.get_by_role("button", name="Choose another workspace").click()
    page.get_by_label("Workspace").select_option("Personal")
    page.keyboard.press("Escape")
    expect(note).to_be_empty()


def test_the_workspace_that_is_chosen_asks(logged_in: Page, viewed: Workspace) -> None:
    let_search(viewed)
    page = logged_in
    choose_web(page)
    expect(page.get_by_role("button", name="Team · Any time")).to_be_visible()
    ask_web(page)
    [execution] = page.request.get("/api/v1/executions").json()["results"]
    assert execution["workspace_id"] == str(viewed.pk)


def test_who_asks_about_a_document_asks_the_documents(logged_in: Page, searching: Workspace) -> None:
    choose_web(logged_in)
    logged_in.goto("/?document=")
    expect(logged_in.get_by_role("checkbox", name="Documents")).to_be_checked()
    expect(logged_in.get_by_role("button", name="All documents")).to_be_visible()


# --- Without a mouse, on a phone, for everybody ------------------------------------------------------------


def test_by_keyboard_alone(logged_in: Page, searching: Workspace) -> None:
    page = logged_in
    page.goto("/")
    expect(page.get_by_label("Your question")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Attach a file to this conversation")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="In depth")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("checkbox", name="Documents")).to_be_focused()
    page.keyboard.press("Space")
    expect(page.get_by_role("checkbox", name="Documents")).not_to_be_checked()
    expect(page.get_by_role("checkbox", name="Web")).to_be_checked()
    expect(page.locator(".where :focus + span")).to_have_css("outline-style", "solid")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Any time")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_label("How old a page may be")).to_be_focused()
    page.keyboard.press("Escape")
    for _ in range(5):
        page.keyboard.press("Shift+Tab")
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_attribute("data-status", "completed", timeout=60_000)
    expect(page.locator("#announcements")).to_have_text("Answer complete, 1 source cited.")
    for _ in range(20):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.matches('.answer a.cite')"):
            break
    expect(page.locator("a.cite:focus")).to_have_css("outline-style", "solid")
    page.keyboard.press("Tab")
    expect(page.locator(".source-web:focus-within")).to_have_css("outline-style", "solid")


def test_stopping_a_search(logged_in: Page, searching: Workspace, brave: ProviderDouble) -> None:
    page = logged_in
    brave.delay_secs = 5.0
    choose_web(page)
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".progress")).to_contain_text("Searching the web")
    page.keyboard.press("Escape")
    expect(page.locator(".turn")).to_have_attribute("data-status", "cancelled")


@pytest.mark.parametrize(
    ("theme", "viewport"), [("light", DESKTOP), ("dark", PHONE)], ids=["light desk", "dark phone"]
)
def test_it_suits_every_screen(
    logged_in: Page, searching: Workspace, viewed: Workspace, theme: Any, viewport: Any
) -> None:
    page = logged_in
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(viewport)

    def suits() -> bool:
        composer = page.locator(".composer").bounding_box()
        assert composer
        assert composer["width"] > 300
        assert violations(page) == []
        return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))

    choose_web(page)
    assert suits()
    page.get_by_role("button", name="Any time").click()
    assert suits()
    page.keyboard.press("Escape")
    turn = ask_web(page)
    turn.get_by_text("2 more web results read, not cited").click()
    assert suits()


# --- Hostile pages -----------------------------------------------------------------------------------------


def test_a_socket_that_lies_about_addresses_leads_nowhere(logged_in: Page, searching: Workspace) -> None:
    page = logged_in
    urls = [
        "javascript:alert(1)",
        "data:text/html,x",
        "/accounts/logout/",
        "https://bank.example@evil.example/",
    ]
    sources = [
        {"rank": rank, "title": "A page", "url": url, "snippet": "Words.", "rerank_score": None}
        | {"used_in_response": True, "quote": "Words."}
        for rank, url in enumerate(urls, start=1)
    ]
    response = " ".join(
        f'<web_citation url="{url}" title="A page">[{n}]</web_citation>' for n, url in enumerate(urls, 1)
    )
    result = {
        "response": f"Words {response}",
        "sources": sources,
        "sources_used": [1, 2, 3, 4],
        "model": "m",
    } | {
        "provider": "brave",
        "providers": {"brave": "ok"},
        "from_cache": False,
        "ignored_filters": [],
    }

    def lie(socket: WebSocketRoute) -> None:
        end = {"event": "tool_end", "data": result, "execution_id": "call_x", "seq": 1}
        socket.on_message(lambda message: socket.send(json.dumps(end)))

    page.route_web_socket("**/ws/sessions/*", lie)
    page.route("**/executions/call_x", lambda route: route.fulfill(json={}))
    turn = ask_web(page)
    expect(turn.locator(".cite")).to_have_count(4)
    expect(turn.locator(".source")).to_have_count(4)
    expect(turn.locator("a")).to_have_count(0)
