"""The list of pages. Every address of the URL configuration is here, or in `WITHOUT_PAGE` with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from playwright.sync_api import Page

from tests.testing.pages.content import GUARDED, NEWCOMER, NOBODY, OWNER, PASSWORD, QUESTION

RECORDS = {
    "accounts/auditentry": "audit",
    "accounts/apikey": "key",
    "accounts/user": "colleague",
    "accounts/workspace": "workspace",
    "accounts/preferences": "preferences",
    "kb/document": "report",
    "kb/embeddingspace": "space",
    "kb/charge": "charge",
    "search/execution": "execution",
    "assistants/assistant": "assistant",
    "search/breaker": "breaker",
    "locus/queuedjob": "job",
}
"""The tables of the admin panel, and what has the id of a row of each."""
CAN_ADD = {"accounts/user", "accounts/workspace"}
CAN_DELETE = {"accounts/apikey", "accounts/user", "accounts/workspace", "kb/document", "kb/embeddingspace"}
CAN_DELETE |= {"accounts/preferences", "search/breaker"}


@dataclass(frozen=True)
class PageCase:
    """A page as somebody sees it; `name` is that of its picture."""

    name: str
    pattern: str
    """What the URL configuration has for it."""
    address: str = ""
    """With `{names}` of ids; without one, the pattern itself."""
    visitor: str = OWNER
    ready: str = "main"
    """A selector of what is seen once the page is complete."""
    act: Callable[[Page], None] | None = None
    """What is done on it before it is looked at."""
    status: int = 200
    """The answer's HTTP status."""

    @property
    def is_admin(self) -> bool:
        """Whether it has the frame of the admin panel's theme: who is refused there sees Locus's own page."""
        return self.pattern.startswith("admin/") and self.status == 200

    def path(self, ids: dict[str, str]) -> str:
        """Return the address with ids in it."""
        return "/" + (self.address or self.pattern).format(**ids)


# --- What is done on pages --------------------------------------------------------------------------------


def _ask(page: Page, question: str = QUESTION) -> None:
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    page.locator(".turn[data-status=completed]").first.wait_for(timeout=60_000)


def _ask_what_is_not_there(page: Page) -> None:
    _ask(page, "What did the moon landing cost?")


def _open_citation(page: Page) -> None:
    page.locator(".cite").first.click()
    page.locator("[data-viewer] [data-drawn], [data-viewer] mark").first.wait_for()


def _ask_what_is_not_said(page: Page) -> None:
    _ask(page, "What did the lighthouse on Gull Island cost?")


def _ask_what_is_worked_out(page: Page) -> None:
    _ask(page, "How many more tonnes did the Ellen carry than the Aurora?")


def _ask_and_open(page: Page) -> None:
    _ask(page)
    _open_citation(page)


def _open_account_menu(page: Page) -> None:
    page.get_by_label("Account", exact=True).click()


def _open_palette(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.locator("dialog[open]").wait_for()


def _open_shortcuts(page: Page) -> None:
    page.keyboard.press("?")
    page.locator("dialog[open]").wait_for()


def _start_new_key(page: Page) -> None:
    page.get_by_role("button", name="New key").click()


def _enter_wrong_password(page: Page) -> None:
    page.get_by_label("Email").fill("nobody@example.org")
    page.get_by_label("Password").fill("not this one")
    page.get_by_role("button", name="Log in", exact=True).click()
    page.locator("[role=alert], .errorlist").first.wait_for()


def _log_in_with_code(page: Page) -> None:
    page.get_by_label("Email").fill(GUARDED)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in", exact=True).click()
    page.wait_for_url("**/login/second-factor/**")


def _show_as_pictures(page: Page) -> None:
    page.get_by_role("button", name="As pictures").click()
    page.wait_for_timeout(500)


def _search(page: Page) -> None:
    page.locator("input[name=q]").fill("lighthouse keepers")
    page.keyboard.press("Enter")
    page.locator("[data-part=hits] > *").first.wait_for(timeout=60_000)


def _search_bench(page: Page) -> None:
    page.locator("main form input:visible, main form textarea:visible").first.fill(QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_timeout(3000)


# --- Pages ------------------------------------------------------------------------------------------------

DRAWN = "[data-drawn]"
ROW = "[data-document]"


def _own_pages() -> Iterator[PageCase]:
    yield PageCase("ask-newcomer", "", visitor=NEWCOMER)
    yield PageCase("ask", "")
    yield PageCase("ask-answer", "", act=_ask)
    yield PageCase("ask-citation", "", act=_ask_and_open)
    yield PageCase("ask-nothing-found", "", act=_ask_what_is_not_there)
    yield PageCase("ask-closest", "", act=_ask_what_is_not_said)
    yield PageCase("ask-worked-out", "", act=_ask_what_is_worked_out)
    conversation, answered = "c/<uuid:id>", ".turn[data-status=completed]"
    yield PageCase("conversation", conversation, "c/{session}", ready=answered)
    yield PageCase("conversation-citation", conversation, "c/{session}", ready=answered, act=_open_citation)
    yield PageCase("menu", "help", act=_open_account_menu)
    yield PageCase("palette", "help", act=_open_palette)
    yield PageCase("shortcuts", "help", act=_open_shortcuts)
    yield PageCase("documents", "documents/", ready=ROW)
    yield PageCase("documents-pictures", "documents/", ready=ROW, act=_show_as_pictures)
    yield PageCase("documents-newcomer", "documents/", visitor=NEWCOMER)
    document = "documents/<uuid:id>"
    yield PageCase("document-pdf", document, "documents/{report_pdf}", ready=DRAWN)
    yield PageCase("document-scan", document, "documents/{scan_pdf}", ready=DRAWN)
    yield PageCase("document-picture", document, "documents/{scan_png}", ready=DRAWN)
    texts = (
        "notes_md",
        "harbour_docx",
        "harbour_slides_pptx",
        "arrivals_xlsx",
        "supply_boat_eml",
        "timetable_txt",
    )
    for kind in texts:
        yield PageCase(f"document-{kind.rpartition('_')[2]}", document, f"documents/{{{kind}}}")
    yield PageCase("document-html", document, "documents/{island_html}")
    yield PageCase("document-recording", document, "documents/{speech_opus}")
    yield PageCase("document-failed", document, "documents/{encrypted_pdf}")
    yield PageCase("search", "search")
    yield PageCase("search-hits", "search", act=_search)
    bench = "workspaces/<uuid:id>/search-bench"
    yield PageCase("search-bench", bench, "workspaces/{workspace}/search-bench")
    yield PageCase("search-bench-stages", bench, "workspaces/{workspace}/search-bench", act=_search_bench)
    yield PageCase("help", "help")
    yield PageCase("connect-model", "connect-model")
    yield PageCase("reference", "api/docs", visitor=NOBODY)
    yield PageCase(
        "not-found", "documents/<uuid:id>", "documents/00000000-0000-4000-8000-000000000000", status=404
    )


def _workspace_pages() -> Iterator[PageCase]:
    yield PageCase("workspaces", "workspaces")
    yield PageCase("assistants", "assistants")
    yield PageCase("assistants-empty", "assistants", visitor=NEWCOMER)
    yield PageCase("assistant-new", "assistants/new")
    yield PageCase("assistant", "assistants/<uuid:id>", "assistants/{assistant}")
    bindings = "assistants/<uuid:id>/bindings"
    yield PageCase("assistant-bindings", bindings, "assistants/{assistant}/bindings")
    yield PageCase("assistant-binding", "bindings/<uuid:id>", "bindings/{binding}")
    yield PageCase("assistant-widget", "bindings/<uuid:id>", "bindings/{widget}")
    yield PageCase("assistant-resolved", "assistants/<uuid:id>/resolved", "assistants/{assistant}/resolved")
    yield PageCase("ask-assistant", "", "?assistant={assistant}")
    yield PageCase("workspace", "workspaces/<uuid:id>", "workspaces/{workspace}")
    for page in (
        "members",
        "usage",
        "activity",
        "external-users",
        "settings",
        "web",
        "webhooks",
        "tool-servers",
    ):
        yield PageCase(
            f"workspace-{page}", f"workspaces/<uuid:id>/{page}", f"workspaces/{{workspace}}/{page}"
        )
    invitation = "invitations/<str:secret>"
    yield PageCase("invitation", invitation, "invitations/{invitation}", visitor=NEWCOMER)
    yield PageCase("invitation-nobody", invitation, "invitations/{invitation}", visitor=NOBODY)


def _account_pages() -> Iterator[PageCase]:
    yield PageCase("keys", "keys/")
    yield PageCase("keys-new", "keys/", act=_start_new_key)
    yield PageCase("keys-newcomer", "keys/", visitor=NEWCOMER)
    yield PageCase("preferences", "preferences")
    yield PageCase("usage", "usage")
    for page in (
        "profile/",
        "profile/address/",
        "reauthenticate/",
        "reauthenticate/code/",
        "reauthenticate/passkey/",
        "password/change/",
        "security/",
        "security/recovery-codes/",
        "security/recovery-codes/new/",
        "security/passkeys/add/",
        "data/",
        "data/delete/",
        "sessions/",
        "programs/",
        "logout/",
    ):
        yield PageCase(page.strip("/").replace("/", "-"), f"accounts/{page}")
    yield PageCase("programs-newcomer", "accounts/programs/", visitor=NEWCOMER)
    yield PageCase("program-question", "oauth/authorize", "oauth/authorize?{program_question}")
    yield PageCase("program-refused", "oauth/authorize", "oauth/authorize?client_id=x", status=400)
    yield PageCase("security-app-add", "accounts/security/app/add/", visitor=NEWCOMER)
    yield PageCase(
        "profile-address-confirm",
        "accounts/profile/address/<str:token>/",
        "accounts/profile/address/{address}/",
    )
    for verb in ("name", "remove"):
        pattern = f"accounts/security/passkeys/<int:pk>/{verb}/"
        yield PageCase(f"passkey-{verb}", pattern, f"accounts/security/passkeys/{{passkey}}/{verb}/")


def _entrance_pages() -> Iterator[PageCase]:
    for page in ("login/", "signup/", "password/reset/", "password/reset/done/", "password/reset/key/done/"):
        yield PageCase(page.strip("/").replace("/", "-"), f"accounts/{page}", visitor=NOBODY)
    yield PageCase("login-refused", "accounts/login/", visitor=NOBODY, act=_enter_wrong_password)
    yield PageCase(
        "login-code",
        "accounts/login/second-factor/",
        "accounts/login/",
        visitor=NOBODY,
        act=_log_in_with_code,
    )
    yield PageCase(
        "password-reset-link",
        r"accounts/^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        "accounts/password/reset/key/{uid}-{reset}/",
        visitor=NOBODY,
    )
    yield PageCase("unsubscribe", "unsubscribe/<str:token>", "unsubscribe/{unsubscribe}", visitor=NOBODY)
    yield PageCase("confirm-email", "accounts/confirm-email/", visitor=NOBODY)
    yield PageCase(
        "confirm-email-link",
        r"accounts/^confirm-email/(?P<key>[-:\w]+)/$",
        "accounts/confirm-email/{confirmation}/",
        visitor=NOBODY,
    )


def _admin_pages() -> Iterator[PageCase]:
    def case(name: str, pattern: str, address: str = "", visitor: str = OWNER) -> PageCase:
        return PageCase(
            f"admin-{name}", f"admin/{pattern}", address and f"admin/{address}", visitor, "#content"
        )

    yield case("dashboard", "")
    yield case("search", "search/", "search/?s=harbour")
    yield case("components", "components/")
    yield case("health", "health/")
    yield case("health-repair", "health/repair/")
    yield case("room", "^(?P<app_label>accounts|kb|search|assistants|locus)/$", "accounts/")
    yield PageCase("admin-refused", "admin/", visitor=NEWCOMER, status=403)
    password = "accounts/user/<id>/password/"
    yield case("user-password", password, password.replace("<id>", "{colleague}"))
    for table, row in RECORDS.items():
        name = table.rpartition("/")[2]
        yield case(name, f"{table}/")
        for verb in ("change", "history", "delete"):
            if verb != "delete" or table in CAN_DELETE:
                pattern = f"{table}/<path:object_id>/{verb}/"
                yield case(f"{name}-{verb}", pattern, pattern.replace("<path:object_id>", f"{{{row}}}"))
        if table in CAN_ADD:
            yield case(f"{name}-add", f"{table}/add/")


PAGES = [*_own_pages(), *_workspace_pages(), *_account_pages(), *_entrance_pages(), *_admin_pages()]

WITHOUT_PAGE = {
    "a redirect": [
        "search-bench",
        "share",
        "workspace-settings",
        "admin/login/",
        "admin/logout/",
        "admin/password_change/",
        "admin/password_change/done/",
        "admin/r/<path:content_type_id>/<path:object_id>/",
        *(f"admin/{table}/<path:object_id>/" for table in RECORDS),
    ],
    "only takes a form": [
        "accounts/security/app/remove/",
        "assistants/<uuid:id>/delete",
        "bindings/<uuid:id>/end",
        "admin/components/<slug:code>/test/",
        "admin/health/examine/",
        "admin/accounts/user/<path:object_id>/activity/",
        "admin/accounts/user/<path:object_id>/end-sessions/",
        "admin/accounts/user/<path:object_id>/reset-second-factor/",
        "admin/accounts/user/<path:object_id>/invite/",
        "admin/accounts/workspace/<uuid:id>/restore/",
        "admin/kb/document/<path:object_id>/reprocess/",
        "admin/kb/document/<path:object_id>/cancel/",
        "admin/search/execution/<path:object_id>/cancel/",
        "admin/search/execution/<path:object_id>/content/",
        "admin/locus/queuedjob/document/<uuid:id>/retry/",
        "admin/locus/queuedjob/document/<uuid:id>/dismiss/",
        "admin/locus/queuedjob/<path:object_id>/retry/",
        "admin/locus/queuedjob/<path:object_id>/dismiss/",
    ],
    "a file, or data for a script": [
        "chunks/<str:id>",
        "widget.js",
        "api/schema",
        "health",
        "healthz",
        "readyz",
        "metrics",
        "favicon.ico",
        "manifest.webmanifest",
        "service-worker.js",
        "accounts/login/passkey/",
        "accounts/data/export/",
        "admin/autocomplete/",
        "admin/jsi18n/",
        "admin/accounts/auditentry/export/",
    ],
    "for programs": [
        "v1/responses",
        "v1/agent",
        "v1/responses/<str:id>",
        "v1/responses/<str:id>/cancel",
        "v1/chat/completions",
        "chat/completions",
        "v1/models",
        "v1/embeddings",
        "v1/rerank",
        "v1/files",
        "v1/files/<str:id>",
        "v1/files/<str:id>/content",
        "v1/vector_stores",
        "v1/vector_stores/<str:id>",
        "v1/vector_stores/<str:id>/search",
        "v1/vector_stores/<str:id>/files",
        "v1/vector_stores/<str:id>/files/<str:file_id>",
        "v1/vector_stores/<str:id>/files/<str:file_id>/content",
        "v1/vector_stores/<str:id>/file_batches",
        "v1/vector_stores/<str:id>/file_batches/<str:batch_id>",
        "v1/vector_stores/<str:id>/file_batches/<str:batch_id>/files",
        "mcp",
        ".well-known/oauth-protected-resource",
        ".well-known/oauth-protected-resource/mcp",
        ".well-known/oauth-authorization-server",
        "oauth/register",
        "oauth/token",
        "oauth/revoke",
        "widgets/<uuid:id>",
        "widgets/<uuid:id>/messages",
        "widgets/<uuid:id>/stop",
        "widgets/<uuid:id>/places/<uuid:chunk_id>",
        "widgets/<uuid:id>/places/<uuid:chunk_id>/page",
    ],
    "leads to another company's login": ["accounts/oidc/login/", "accounts/oidc/callback/"],
    "refused to everybody": [
        *(f"admin/{table}/add/" for table in RECORDS if table not in CAN_ADD),
        *(f"admin/{table}/<path:object_id>/delete/" for table in RECORDS if table not in CAN_DELETE),
    ],
}
"""Addresses that show nobody a page of their own, by reason."""
