"""The page on which people ask, with answers that the tests write: what it shows meanwhile, and after."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page, WebSocketRoute, expect

from accounts.models import User
from tests.browser.conftest import DESKTOP, PASSWORD, PHONE, hide_conversations, show_conversations
from tests.factories import indexed_document

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ACKNOWLEDGED = ("tool_update", {"phase": "PREPARATION", "status": "started", "message_id": "m1"})
STARTED = ("tool_update", {"phase": "SEARCH_PREPARATION", "status": "started"})
RANKED = {"initial_count": 9, "reranked_count": 9, "kept_count": 2}
WIDE = f"""Some words before.

```
{"const value = f(x); " * 40}
```

| {" | ".join(f"column {n}" for n in range(30))} |
|{"---|" * 30}
| {" | ".join("12,345" for _ in range(30))} |

https://example.org/{"a-very-long-path/" * 40} and `{"x" * 400}`
"""


def context(rank: int, *, used: bool) -> dict[str, Any]:
    """Return a context as the API sends it."""
    nothing = dict.fromkeys(("quote", "quotes", "bbox", "page_number", "start_time", "end_time", "picture"))
    names = {"chunk_id": f"c{rank}", "document_id": f"d{rank}", "document_name": f"report {rank}.pdf"}
    return nothing | names | {"rank": rank, "text_preview": "Words.", "used_in_response": used}


def contexts(*used: int) -> list[dict[str, Any]]:
    """Return two contexts, those of the given ranks cited."""
    return [context(rank, used=rank in used) for rank in (1, 2)]


def result(response: str, *used: int, removed: int = 0) -> dict[str, Any]:
    """Return what `tool_end` holds."""
    return {
        "response": response,
        "contexts": contexts(*used),
        "sources_used": list(used),
        "model": "scripted",
        "citations_removed": removed,
    }


def read_until_text(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the events of an answer up to its text."""
    return [
        ACKNOWLEDGED,
        STARTED,
        ("tool_update", {"phase": "RETRIEVAL", "status": "completed", "data": {"retrieved_count": 9}}),
        ("tool_update", {"phase": "RERANKING", "status": "completed", "data": RANKED}),
        ("tool_update", {"contexts": contexts(), "output_key": "contexts", "data": {}}),
        ("tool_update", {"phase": "COMPILING_RESULTS", "status": "started"}),
        ("tool_partial_update", {"content": text, "output_key": "response"}),
    ]


class Script:
    """A tool's websocket that sends what a test wants sent, when it wants it."""

    def __init__(self, page: Page) -> None:
        self._socket: WebSocketRoute | None = None
        self._seq = 0
        self.received: list[str] = []
        page.route_web_socket("**/ws/sessions/*", self._opened)

    def _opened(self, socket: WebSocketRoute) -> None:
        self._socket = socket
        socket.on_message(lambda message: self.received.append(str(message)))

    def send(self, *events: tuple[str, dict[str, Any]], execution_id: str | None = "call_1") -> None:
        """Send events in a row."""
        assert self._socket is not None
        for event, data in events:
            self._seq += 1
            message = {"event": event, "data": data, "execution_id": execution_id, "seq": self._seq}
            self._socket.send(json.dumps(message))


@pytest.fixture
def asked(logged_in: Page) -> Callable[[str], Script]:
    """Ask something whose answer the test writes."""

    def ask(question: str) -> Script:
        script = Script(logged_in)
        logged_in.goto("/")
        logged_in.get_by_label("Your question").fill(question)
        logged_in.keyboard.press("Enter")
        expect(logged_in.locator(".turn")).to_be_visible()
        logged_in.wait_for_timeout(50)
        while not script.received:
            logged_in.wait_for_timeout(20)
        return script

    return ask


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_wide_answer_scrolls_in_its_own_blocks(
    logged_in: Page, asked: Callable[[str], Script], viewport: Any
) -> None:
    """A line of code, a table or an address that can't be broken leaves the paragraphs in the window."""
    page = logged_in
    page.set_viewport_size(viewport)
    script = asked("Show me the code")
    script.send(*read_until_text(WIDE), ("tool_end", result(WIDE)))
    expect(page.locator(".turn")).to_have_attribute("data-status", "completed")
    widths = page.evaluate(
        """() => [...document.querySelectorAll(".turn, .answer, .answer > p, .answer > pre, .answer > table")]
            .map((element) => element.getBoundingClientRect().right)"""
    )
    thread = page.locator(".thread").bounding_box()
    assert thread is not None
    assert max(widths) <= thread["x"] + thread["width"]
    assert page.evaluate("document.querySelector('.thread').scrollWidth") <= thread["width"]
    assert page.locator(".answer pre").evaluate("(code) => code.scrollWidth > code.clientWidth")


def test_the_sources_tell_the_truth_while_and_after_writing(
    logged_in: Page, asked: Callable[[str], Script]
) -> None:
    """Nothing is “not cited” before the end, and a citation that is taken out is told."""
    page = logged_in
    script = asked("What do the reports say?")
    script.send(*read_until_text("One thing. <source_1> Another. <source_2>"))
    expect(page.locator(".answer .cite")).to_have_count(2)
    expect(page.locator(".sources summary")).to_have_text("2 passages read")
    page.locator(".sources summary").click()
    script.send(("tool_partial_update", {"content": " More.", "output_key": "response"}))
    expect(page.locator(".answer")).to_contain_text("More.")
    # What the reader has unfolded stays so while text comes.
    expect(page.locator(".sources details")).to_have_attribute("open", "")
    script.send(
        ("tool_end", result('One thing. <citation id="c1">[1]</citation> Another. More.', 1, removed=1))
    )
    expect(page.locator(".answer .cite")).to_have_count(1)
    expect(page.locator(".sources summary")).to_have_text("1 more passage read, not cited")
    expect(page.locator(".answer-note")).to_have_text(
        "1 citation was taken out: its source does not say that."
    )


def test_stopping_before_the_first_word(logged_in: Page, asked: Callable[[str], Script]) -> None:
    """Nothing was written, and the page says so; the next question can be typed at once."""
    page = logged_in
    script = asked("What is written?")
    script.send(ACKNOWLEDGED, STARTED)
    page.get_by_role("button", name="Stop answering").click()
    while not any('"cancel"' in message for message in script.received):
        page.wait_for_timeout(20)
    script.send(("error", {"code": "cancelled", "message": "The execution was cancelled."}))
    expect(page.locator(".answer-note")).to_contain_text("Stopped before the first word.")
    expect(page.get_by_label("Your question")).to_be_focused()
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator(".turn")).to_have_attribute("data-status", "running")
    expect(page.locator(".branch-number")).to_have_text("2/2")


def test_a_question_that_is_too_long_is_refused_in_words(logged_in: Page) -> None:
    """Nothing of what was pasted is lost, and nothing is asked."""
    page = logged_in
    page.goto("/")
    question = page.get_by_label("Your question")
    question.fill("why " * 500)
    expect(page.locator("#question-length")).to_have_text("1,999 of 2,000 characters")
    question.fill("why? " * 500)
    page.keyboard.press("Enter")
    expect(page.locator("#question-length")).to_have_text(
        "2,499 of 2,000 characters: shorten the question by 499."
    )
    expect(page.locator(".turn")).to_have_count(0)
    assert len(question.input_value()) == 2500


def test_who_was_logged_out_learns_it_and_keeps_the_question(
    page: Page, live: Any, reader: User, problems: list[str]
) -> None:
    """A session that has ended leads to the login, which says why; the typed question is kept."""
    client = Client()
    client.force_login(reader)
    page.context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live.url}]
    )
    page.goto("/")
    page.get_by_label("Your question").fill("What was I about to ask?")
    client.logout()
    page.keyboard.press("Enter")
    expect(page.get_by_text("You were logged out.")).to_be_visible()
    page.get_by_label("Email").fill(reader.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in", exact=True).click()
    expect(page.get_by_label("Your question")).to_have_value("What was I about to ask?")
    assert problems
    assert all("401" in problem for problem in problems)
    problems.clear()


def test_the_page_does_not_move_when_earlier_questions_come(logged_in: Page, reader: User) -> None:
    """The column of earlier questions has its place from the first paint, empty or not."""
    page = logged_in
    page.add_init_script(
        """window.shift = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
        }).observe({ type: "layout-shift", buffered: true });"""
    )
    indexed_document(reader.personal_workspace, "The lighthouse was lit in 1868.")
    page.goto("/")
    show_conversations(page)
    expect(page.get_by_text("Your conversations are listed here.")).to_be_visible()
    hide_conversations(page)
    before = page.locator(".conversation").bounding_box()
    page.get_by_label("Your question").fill("When was the lighthouse lit?")
    page.keyboard.press("Enter")
    expect(page.locator(".history-list a")).to_have_count(1, timeout=60_000)
    assert page.locator(".conversation").bounding_box() == before
    page.reload()
    expect(page.locator(".history-list a")).to_have_count(1)
    expect(page.locator(".turn")).to_have_attribute("data-status", "completed")
    assert page.evaluate("window.shift") < 0.1


def test_a_new_question_can_be_begun_on_a_phone(logged_in: Page) -> None:
    """The list of earlier questions offers it there as well."""
    page = logged_in
    page.set_viewport_size(PHONE)
    page.goto("/")
    page.get_by_role("button", name="Conversations", exact=True).click()
    expect(page.get_by_role("link", name="New conversation")).to_be_visible()


def test_times_stay_true(logged_in: Page, reader: User) -> None:
    """“Just now” doesn't stand for ever."""
    page = logged_in
    indexed_document(reader.personal_workspace, "The lighthouse was lit in 1868.", name="harbour.txt")
    page.clock.install()
    page.goto("/documents/")
    added = page.get_by_role("row", name="harbour.txt").locator("time")
    then = datetime.fromisoformat(str(added.get_attribute("datetime")))
    page.clock.set_system_time(then)
    page.clock.run_for(20_000)
    page.clock.run_for(180_000)
    expect(added).to_have_text("3 minutes ago")


def test_chosen_documents_stay_in_sight(logged_in: Page, reader: User) -> None:
    """Whatever is searched for next, a chosen document is shown and can be taken out."""
    page = logged_in
    for name in ("harbour.txt", "market.txt"):
        indexed_document(reader.personal_workspace, f"The book of the {name}.", name=name)
    page.goto("/")
    page.get_by_role("button", name="All documents").click()
    dialog = page.get_by_role("dialog", name="Where to look")
    dialog.get_by_label("harbour.txt", exact=True).check()
    dialog.get_by_label("Find a document by name").fill("market")
    expect(dialog.get_by_label("harbour.txt", exact=True)).to_have_count(0)
    dialog.get_by_label("market.txt", exact=True).check()
    expect(dialog.get_by_role("list", name="Chosen documents").get_by_role("listitem")).to_have_count(2)
    dialog.get_by_role("button", name="Leave out harbour.txt").click()
    dialog.get_by_role("button", name="Use this choice").click()
    expect(page.locator("[data-part=scopeLabel]")).to_have_text("market.txt")


def test_a_file_that_is_dropped_is_attached(logged_in: Page) -> None:
    """It belongs to this conversation, which it begins; it never replaces the page."""
    page = logged_in
    for viewport in (DESKTOP, PHONE):
        page.set_viewport_size(viewport)
        page.goto("/")
        left = page.evaluate(
            """() => {
              const dataTransfer = new DataTransfer();
              dataTransfer.items.add(new File(["words"], "notes.txt"));
              const options = { dataTransfer, bubbles: true, cancelable: true };
              return document.body.dispatchEvent(new DragEvent("drop", options));
            }"""
        )
        assert left is False
        expect(page.locator(".attached-file", has_text="notes.txt")).to_be_visible()
        page.wait_for_url("**/c/*")
