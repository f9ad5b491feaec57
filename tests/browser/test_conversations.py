"""Conversations in the browser: the thread at its address, its list, branches, sharing and files."""

from __future__ import annotations

import re
from pathlib import Path

import pymupdf
import pytest
from django.contrib.admin.utils import quote
from django.urls import reverse
from playwright.sync_api import Page, Route, ViewportSize, WebSocketRoute, expect

from accounts.access.keys import create_key
from accounts.models import Membership, Session, User, Workspace
from accounts.roles import Role
from assistants.models import Assistant, AssistantVersion, ChatMessage, Visibility
from kb.models import Document
from runs.models import Execution
from tests.browser.conftest import DESKTOP, PHONE, hide_conversations, show_conversations
from tests.browser.test_accessibility import violations
from tests.browser.test_reading import LAYOUT_SHIFT
from tests.factories import indexed_document

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LIT = "The lighthouse of Punta Brava was lit for the first time on 4 August 1868."
BUILT = "The lighthouse of Cabo Norte was built of granite in 1901."


@pytest.fixture
def asking(logged_in: Page, reader: User) -> Page:
    """The page of somebody with a document."""
    indexed_document(reader.personal_workspace, f"{LIT} {BUILT}", name="harbour.txt")
    logged_in.goto("/")
    return logged_in


def say(page: Page, words: str, turns: int) -> None:
    """Ask, and wait for the answer; `turns` are then on the page."""
    page.get_by_label("Your question", exact=True).fill(words)
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_count(turns)
    expect(page.locator(".turn").last).to_have_attribute("data-status", "completed", timeout=60_000)


def test_a_thread_has_an_address_and_comes_back(asking: Page) -> None:
    page = asking
    say(page, "When was the lighthouse of Punta Brava lit?", 1)
    page.wait_for_url("**/c/*")
    say(page, "When was the lighthouse of Cabo Norte built?", 2)
    title = page.locator(".thread-head h1")
    expect(title).to_have_text("When was the lighthouse of Punta Brava lit?")
    expect(page.locator(".history-list a")).to_have_count(1)
    expect(page.locator(".history-list a[aria-current]")).to_have_count(1)
    page.reload()
    expect(page.locator(".turn")).to_have_count(2)
    expect(page.locator(".turn").first).to_contain_text("4 August 1868")
    expect(page.locator(".turn").last).to_contain_text("1901")
    expect(page.locator(".history-list a[aria-current]")).to_have_count(1)
    assert violations(page) == []
    show_conversations(page)
    page.get_by_role("link", name="New conversation").click()
    expect(page.get_by_role("heading", name="Ask your documents")).to_be_visible()
    expect(page.locator(".history-list a")).to_have_count(1)
    show_conversations(page)
    page.locator(".history-list a").click()
    expect(page.locator(".turn")).to_have_count(2)


def test_answers_say_which_version_of_an_assistant_gave_them(asking: Page, reader: User) -> None:
    page = asking
    guide = Assistant.unscoped.create(
        workspace=reader.personal_workspace, user=reader, name="Guide", visibility=Visibility.WORKSPACE
    )
    version = {"assistant": guide, "name": "Guide", "settings": {"tools": ["rag_search"]}}
    AssistantVersion.objects.create(number=1, **version)
    page.goto(f"/?assistant={guide.pk}")
    say(page, "When was the lighthouse of Punta Brava lit?", 1)
    AssistantVersion.objects.create(number=2, **version)
    Assistant.unscoped.filter(pk=guide.pk).update(version=2)
    say(page, "When was the lighthouse of Cabo Norte built?", 2)
    page.reload()
    for number in (1, 2):
        turn = page.locator(".turn").nth(number - 1)
        turn.get_by_label("How this answer came about").click()
        expect(turn.locator(".engine-panel")).to_contain_text(f"Guide, version {number}")


def test_edits_and_other_answers_are_branches(asking: Page) -> None:
    page = asking
    say(page, "When was the lighthouse of Punta Brava lit?", 1)
    page.locator(".turn").hover()
    page.get_by_role("button", name="Edit the question").click()
    page.get_by_label("Edit your question").fill("When was the lighthouse of Cabo Norte built?")
    page.keyboard.press("Enter")
    expect(page.locator(".answer")).to_contain_text("1901", timeout=60_000)
    expect(page.locator(".turn")).to_have_count(1)
    expect(page.locator(".branch-number")).to_have_text("2/2")
    page.get_by_role("button", name="Earlier question").click()
    expect(page.locator(".answer")).to_contain_text("4 August 1868")
    expect(page.locator(".branch-number")).to_have_text("1/2")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".branch-number")).to_have_text(["1/2", "2/2"])
    expect(page.locator(".turn")).to_have_attribute("data-status", "completed", timeout=60_000)
    page.reload()
    # The newest message is the edited one.
    expect(page.locator(".answer")).to_contain_text("1901")
    expect(page.locator(".branch-number")).to_have_text("2/2")
    assert ChatMessage.unscoped.count() == 2


def test_the_menu_renames_pins_and_deletes(asking: Page) -> None:
    page = asking
    say(page, "When was the lighthouse of Punta Brava lit?", 1)
    page.get_by_role("button", name="More for this conversation").click()
    expect(page.get_by_role("button", name="Rename", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_label("Title").fill("Lighthouses")
    page.keyboard.press("Enter")
    expect(page.locator(".thread-head h1")).to_have_text("Lighthouses")
    expect(page.locator(".history-query")).to_have_text("Lighthouses")
    page.get_by_role("button", name="More for this conversation").click()
    page.get_by_role("button", name="Pin", exact=True).click()
    expect(page.locator(".conversation-signs .icon")).to_have_count(1)
    show_conversations(page)
    page.get_by_label("Find a conversation").fill("Punta")
    expect(page.locator(".history-list a")).to_have_count(1)
    page.get_by_label("Find a conversation").fill("submarine")
    expect(page.get_by_text("No conversation has these words.")).to_be_visible()
    page.get_by_label("Find a conversation").fill("")
    hide_conversations(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="More for this conversation").click()
        page.get_by_role("link", name="Export as Markdown").click()
    assert "4 August 1868" in Path(download.value.path()).read_text()
    show_conversations(page)
    page.locator(".conversation-item").hover()
    page.get_by_role("button", name="More for “Lighthouses”").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete conversation").click()
    page.wait_for_url(re.compile(r"/$"))
    show_conversations(page)
    expect(page.get_by_text("Your conversations are listed here.")).to_be_visible()
    assert not Session.unscoped.exists()


def test_thumbs_say_why(asking: Page) -> None:
    page = asking
    say(page, "When was the lighthouse of Punta Brava lit?", 1)
    page.get_by_role("button", name="Bad answer").click()
    page.get_by_label("Something is missing").check()
    page.get_by_label("Anything else?").fill("Who lit it?")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Thank you.")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Bad answer")).to_have_attribute("aria-pressed", "true")


def test_a_shared_conversation_can_be_read(asking: Page, reader: User) -> None:
    """Its link is copied; who follows it reads, and is offered nothing to change."""
    page = asking
    owner = User.objects.create_user("owner@example.org")
    team = Workspace.create_for(owner, name="Team")
    Membership.objects.create(workspace=team, user=reader, role=Role.VIEWER)
    session = Session.unscoped.create(user=owner, workspace=team, title="Plans", shared=True)
    ChatMessage.unscoped.create(session=session, user=owner, workspace=team, content="What is planned?")
    page.goto(f"/c/{session.pk}")
    expect(
        page.get_by_text("Shared by owner@example.org. You can read it, but not ask in it.")
    ).to_be_visible()
    expect(page.get_by_role("heading", name="What is planned?")).to_be_visible()
    expect(page.locator(".composer")).to_be_hidden()
    expect(page.get_by_role("button", name="Edit the question")).to_have_count(0)
    expect(page.get_by_role("button", name="More for this conversation")).to_be_hidden()
    assert violations(page) == []
    show_conversations(page)
    hide_conversations(page)
    show_conversations(page)
    page.get_by_role("link", name="New conversation").click()
    expect(page.locator(".composer")).to_be_visible()


def test_a_file_for_one_conversation(asking: Page, tmp_path: Path) -> None:
    page = asking
    notes = tmp_path / "notes.txt"
    notes.write_text("The watchword of the harbour is mackerel.")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Attach a file to this conversation").click()
    chooser.value.set_files(notes)
    file = page.locator(".attached-file")
    expect(file).to_contain_text("notes.txt")
    expect(file.locator(".attached-state, progress")).to_have_count(0, timeout=60_000)
    say(page, "What is the watchword of the harbour?", 1)
    expect(page.locator(".answer")).to_contain_text("mackerel")
    page.reload()
    expect(file).to_contain_text("notes.txt")
    page.get_by_role("button", name="Remove notes.txt").click()
    expect(file).to_have_count(0)
    assert not Document.unscoped.filter(name="notes.txt").exists()


def test_on_a_phone(asking: Page) -> None:
    page = asking
    page.set_viewport_size(PHONE)
    say(page, "When was the lighthouse of Punta Brava lit?", 1)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    # While one reads, the box for the next question is a single row.
    page.locator(".answer").click()
    composer = page.locator(".composer").bounding_box()
    assert composer is not None
    assert composer["height"] < 70
    assert violations(page) == []
    page.get_by_label("Your question", exact=True).click()
    page.locator(".where").get_by_text("Documents").click()
    expect(page.get_by_role("checkbox", name="Documents")).not_to_be_checked()
    page.locator(".where").get_by_text("Documents").click()
    page.get_by_role("button", name="All documents").click()
    page.get_by_role("button", name="Use this choice").click()
    page.locator(".answer").click()
    page.get_by_role("button", name="Conversations", exact=True).click()
    expect(page.locator(".history-list a")).to_be_visible()
    assert violations(page) == []


# --- What leaves the page, and what comes back to it -------------------------------------------------------


def exported(page: Page, words: str) -> bytes:
    """Return the file that an entry of the conversation's menu downloads."""
    page.get_by_role("button", name="More for this conversation").click()
    with page.expect_download() as download:
        page.get_by_role("link", name=words).click()
    return Path(download.value.path()).read_bytes()


def test_the_branch_that_is_shown_is_exported(asking: Page) -> None:
    """As Markdown and as PDF: the question that was edited away is in neither."""
    page = asking
    say(page, "When was the lighthouse of Punta Brava lit?", 1)
    page.get_by_role("button", name="Edit the question").click()
    page.get_by_label("Edit your question").fill("When was the lighthouse of Cabo Norte built?")
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_attribute("data-status", "completed", timeout=60_000)
    markdown = exported(page, "Export as Markdown").decode()
    assert "## When was the lighthouse of Cabo Norte built?" in markdown
    assert "1901.[^1]" in markdown.replace(" [", "[") and "[^1]: harbour.txt" in markdown
    assert "## When was the lighthouse of Punta Brava lit?" not in markdown
    with pymupdf.open(stream=exported(page, "Export as PDF"), filetype="pdf") as drawn:
        words = drawn[0].get_text()
    assert "built of granite in 1901" in words and "harbour.txt" in words
    page.get_by_role("button", name="Earlier question").click()
    markdown = exported(page, "Export as Markdown").decode()
    assert "4 August 1868" in markdown and "1901" not in markdown


class Cable:
    """The network between page and server; it can be pulled after some messages of an answer."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.is_pulled = False
        self.pull_at = ""
        page.route_web_socket("**/ws/sessions/*", self._opened)

    def _opened(self, socket: WebSocketRoute) -> None:
        if self.is_pulled:
            socket.close(code=1012)
            return

        def forward(message: str | bytes) -> None:
            if self.is_pulled:
                return
            socket.send(message)
            if self.pull_at and self.pull_at in str(message):
                self.pull()
                socket.close(code=1012)

        socket.connect_to_server().on_message(forward)

    def pull(self) -> None:
        """Lose the network."""
        self.is_pulled, self.pull_at = True, ""
        self._page.evaluate("window.dispatchEvent(new Event('offline'))")

    def plug(self) -> None:
        """Have it back: browsers tell the page."""
        self.is_pulled = False
        self._page.evaluate("window.dispatchEvent(new Event('online'))")


def test_a_lost_network_goes_on_in_the_middle_of_an_answer(asking: Page) -> None:
    page = asking
    say(page, "When was the lighthouse of Punta Brava lit?", 1)
    cable = Cable(page)
    page.reload()
    expect(page.locator(".turn")).to_have_count(1)
    cable.pull_at = "RETRIEVAL"
    page.get_by_label("Your question", exact=True).fill("When was the lighthouse of Cabo Norte built?")
    page.keyboard.press("Enter")
    expect(page.locator(".turn.is-interrupted")).to_have_count(1)
    cable.plug()
    last = page.locator(".turn").last
    expect(last).to_have_attribute("data-status", "completed", timeout=60_000)
    expect(last).to_contain_text("1901")
    expect(page.locator(".is-interrupted")).to_have_count(0)
    assert ChatMessage.unscoped.count() == 2


def test_a_page_loaded_again_in_the_middle_of_an_answer_goes_on(asking: Page) -> None:
    page = asking
    cable = Cable(page)
    cable.pull_at = "RETRIEVAL"
    page.get_by_label("Your question", exact=True).fill("When was the lighthouse of Punta Brava lit?")
    page.keyboard.press("Enter")
    expect(page.locator(".turn.is-interrupted")).to_have_count(1)
    cable.is_pulled = False
    page.reload()
    expect(page.locator(".turn")).to_have_count(1)
    expect(page.locator(".turn")).to_have_attribute("data-status", "completed", timeout=60_000)
    expect(page.locator(".turn")).to_contain_text("4 August 1868")
    expect(page.get_by_label("Your question", exact=True)).to_have_value("")
    assert ChatMessage.unscoped.count() == 1


def test_a_question_that_did_not_arrive_is_put_back(asking: Page) -> None:
    """The connection broke after it was sent: whether it arrived is seen in the thread."""
    page = asking
    say(page, "When was the lighthouse of Punta Brava lit?", 1)
    page.route_web_socket(
        "**/ws/sessions/*", lambda socket: socket.on_message(lambda message: socket.close(code=1012))
    )
    page.reload()
    expect(page.locator(".turn")).to_have_count(1)
    question = page.get_by_label("Your question", exact=True)
    question.fill("When was the lighthouse of Cabo Norte built?")
    page.keyboard.press("Enter")
    expect(question).to_have_value("When was the lighthouse of Cabo Norte built?")
    expect(page.get_by_text("Your question did not reach the server.")).to_be_visible()
    expect(page.locator(".turn")).to_have_count(1)


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_nothing_moves_when_a_thread_is_opened(asking: Page, viewport: ViewportSize) -> None:
    page = asking
    page.set_viewport_size(viewport)
    say(page, "When was the lighthouse of Punta Brava lit?", 1)
    say(page, "When was the lighthouse of Cabo Norte built?", 2)
    page.reload()
    expect(page.locator(".turn")).to_have_count(2)
    expect(page.locator("[data-part=scopeLabel]")).to_have_text("All documents")
    assert page.evaluate(LAYOUT_SHIFT) < 0.1


# --- Who else reads it -------------------------------------------------------------------------------------


def test_a_member_reads_what_it_may_see(asking: Page, reader: User) -> None:
    """An answer from a document of the team is shown; one from the owner's own documents is not."""
    page = asking
    owner = User.objects.create_user("owner@example.org")
    team = Workspace.create_for(owner, name="Team")
    Membership.objects.create(workspace=team, user=reader, role=Role.VIEWER)
    of_team = indexed_document(team, BUILT, name="team.txt")
    of_owner = indexed_document(owner.personal_workspace, LIT, name="private.txt")
    _, key = create_key(owner, "a program")
    headers = {"Authorization": f"Bearer {key}"}
    begun = page.request.post(
        "/api/v1/sessions", data={"workspace_id": str(team.pk), "shared": True}, headers=headers
    ).json()
    for content, document in (
        ("When was the lighthouse of Cabo Norte built?", of_team),
        ("When was the lighthouse of Punta Brava lit?", of_owner),
    ):
        body = {"content": content, "document_ids": [str(document.pk)]}
        path = f"/api/v1/sessions/{begun['id']}/messages"
        assert page.request.post(path, data=body, headers=headers).ok
    page.goto(f"/c/{begun['id']}")
    first, second = page.locator(".turn").first, page.locator(".turn").last
    expect(first).to_contain_text("built of granite in 1901")
    expect(first.locator(".cite")).to_have_count(1)
    expect(second).to_contain_text("This answer can no longer be shown")
    assert "1868" not in page.content()
    assert "private.txt" not in page.content()
    assert violations(page) == []


def test_a_member_sees_an_answer_being_written(asking: Page, reader: User) -> None:
    """The page is told that the answer is still running, and takes its events from the server."""
    page = asking
    owner = User.objects.create_user("owner@example.org")
    team = Workspace.create_for(owner, name="Team")
    Membership.objects.create(workspace=team, user=reader, role=Role.VIEWER)
    indexed_document(team, BUILT, name="team.txt")
    _, key = create_key(owner, "a program")
    headers = {"Authorization": f"Bearer {key}"}
    given = {"workspace_id": str(team.pk), "shared": True}
    session = page.request.post("/api/v1/sessions", data=given, headers=headers).json()
    path = f"/api/v1/sessions/{session['id']}/messages"
    body = {"content": "When was the lighthouse of Cabo Norte built?"}
    assert page.request.post(path, data=body, headers=headers).ok

    def as_running(route: Route) -> None:
        reply = route.fetch()
        messages = reply.json()
        for answer in messages["results"][0]["answers"]:
            answer |= {"status": "running", "result": None}
        route.fulfill(response=reply, json=messages)

    page.route("**/messages?*", as_running)
    page.goto(f"/c/{session['id']}")
    turn = page.locator(".turn")
    expect(turn).to_have_attribute("data-status", "completed")
    expect(turn).to_contain_text("built of granite in 1901")
    expect(turn.locator(".cite")).to_have_count(1)
    expect(page.locator(".composer")).to_be_hidden()


def test_a_rating_and_its_reason_are_in_the_admin_panel(asking: Page, reader: User) -> None:
    page = asking
    say(page, "When was the lighthouse of Punta Brava lit?", 1)
    page.get_by_role("button", name="Bad answer").click()
    page.get_by_label("Something is missing").check()
    page.get_by_label("Anything else?").fill("Who lit it?")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Thank you.")).to_be_visible()
    reader.is_staff = reader.is_superuser = True
    reader.save()
    shown = reverse("admin:search_execution_change", args=[quote(Execution.unscoped.get().pk)])
    page.goto(shown)
    expect(page.get_by_text("bad: incomplete")).to_be_visible()
    page.goto(f"{shown}?tab=content")
    page.get_by_label("Why do you need to see them?").fill("a complaint")
    page.get_by_role("button", name="Show the content").click()
    expect(page.get_by_text("Who lit it?")).to_be_visible()
