"""The admin panel's pages about documents, failed work, executions and the audit log, and the API reference.

The `page` fixture fails a test whose page has an error in its console; what the content security policy
refuses is one.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.utils import quote
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, ViewportSize, expect

from accounts.audit.recording import record
from accounts.models import AuditAction, AuditEntry, User
from kb.jobs import INGEST_TASK, defer_for_document
from kb.models import Document, JobFailure, Status
from locus.models import QueuedJob
from runs.models import Execution, ExecutionEvent
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.test_accessibility import AXE, RULES
from tests.factories import indexed_document, stored_document
from tests.testing.live import LiveServer

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LOOKS = [
    pytest.param("light", DESKTOP, id="light desk", marks=pytest.mark.slow("pages")),
    pytest.param("dark", PHONE, id="dark phone"),
]


@pytest.fixture
def administrator(reader: User, live: LiveServer, page: Page) -> User:
    """The reader as superuser, logged in."""
    reader.is_staff = reader.is_superuser = True
    reader.save()
    client = Client()
    client.force_login(reader)
    cookie = {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live.url}
    page.context.add_cookies([cookie])  # type: ignore[list-item]
    return reader


@pytest.fixture
def document(administrator: User) -> Document:
    """A document with a quality report, beside one that failed."""
    workspace = administrator.personal_workspace
    failed = {"status": Status.FAILED, "error_code": "encrypted", "error_message": "Remove the password."}
    stored_document(workspace, "a very long name of a document that failed some time ago.pdf", b"x", **failed)
    found = indexed_document(workspace)
    found.quality = {
        "unit": "page",
        "units": {"total": 3, "text": 1, "ocr": 1, "blank": 1},
        "recognised": [{"number": 2, "confidence": 0.6}],
        "without_text": [3],
        "characters": 90,
    }
    found.save()
    record(
        AuditAction.DOCUMENT_CHANGED, administrator, workspace_id=workspace.pk, target=("document", found.pk)
    )
    return found


@pytest.fixture
def failed_job(document: Document) -> Any:
    """A job that failed."""
    # In one transaction: the worker must not see it while it waits.
    with transaction.atomic(), connection.cursor() as cursor:
        defer_for_document(INGEST_TASK, document.pk)
        cursor.execute("UPDATE procrastinate_jobs SET status = 'doing'")
        cursor.execute("UPDATE procrastinate_jobs SET status = 'failed'")
    job: Any = QueuedJob.objects.get()
    JobFailure.objects.create(job_id=job.pk, reason="OperationalError in kb/documents.py, line 9: disk full")
    return job


@pytest.fixture
def execution(document: Document, administrator: User) -> Execution:
    """An answered question."""
    source = {"rank": 1, "document_id": str(document.pk), "page_number": 1, "score": 1.2, "rerank_score": 0.7}
    quote = {"text": "It produced 42 gigawatt hours."}
    made = Execution.unscoped.create(
        tool="rag_search",
        user=administrator,
        workspace=administrator.personal_workspace,
        inputs={"query": "How much?"},
        read_documents=[document.pk],
        status="completed",
        result={
            "response": 'It produced 42 gigawatt hours <citation id="x">[1]</citation>.',
            "contexts": [source | {"used_in_response": True, "quotes": [quote]}],
            "model": "extractive",
        },
        usage={"input_tokens": 1200, "output_tokens": 90},
        trace={
            "timings": {"retrieval": 0.4, "generation": 0.6, "total": 1.0, "retrieval.words": 0.1},
            "steps": {
                "retrieved": 21,
                "kept": [{"rank": 1}],
                "citations": [
                    {"statement": "It produced 42 gigawatt hours", "asked": 1, "cited": 1, "outcome": "held"}
                ],
            },
        },
        last_seq=1,
    )
    data = {"phase": "RETRIEVAL", "status": "completed", "data": {"retrieved_count": 21}}
    ExecutionEvent.objects.create(execution=made, seq=1, event="tool_update", data=data)
    return made


def problems_of(page: Page, part: str = "#content") -> list[str]:
    """Return what axe finds wrong in a part of the page, and whether the page is wider than the window."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("([part, rules]) => axe.run(part, rules)", [part, RULES])["violations"]
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return [f"{page.url}: {one['help']} {[node['target'] for node in one['nodes']]}" for one in found] + (
        [f"{page.url} is too wide"] if wide else []
    )


def of(name: str, row: Any) -> str:
    return reverse(f"admin:{name}", args=[quote(row.pk)])


@pytest.mark.parametrize(("theme", "viewport"), LOOKS)
def test_every_page_is_accessible_and_strict(
    page: Page, failed_job: Any, execution: Execution, document: Document, theme: str, viewport: ViewportSize
) -> None:
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(viewport)
    entry = AuditEntry.unscoped.first()
    addresses = [
        *(
            of("kb_document_change", document) + f"?tab={tab}"
            for tab in ("overview", "quality", "events", "raw")
        ),
        of("kb_document_delete", document),
        reverse("admin:locus_queuedjob_changelist"),
        of("locus_queuedjob_change", failed_job),
        *(
            of("search_execution_change", execution) + f"?tab={tab}"
            for tab in ("overview", "why", "events", "content")
        ),
        of("accounts_auditentry_change", entry),
    ]
    found = []
    for address in addresses:
        page.goto(address)
        page.wait_for_load_state("networkidle")
        # The list itself is the theme's.
        part = ".admin-page" if "queuedjob/" in address else "#content"
        found += problems_of(page, part)
    assert found == []


def test_every_list_and_form_obeys_the_policy(page: Page, failed_job: Any, execution: Execution) -> None:
    """The page fixture sees each violation; the theme's own scripts must work without `eval`."""
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        page.goto(reverse(f"{name}_changelist"))
        page.wait_for_load_state("networkidle")
        policy = page.request.get(reverse(f"{name}_changelist")).headers["content-security-policy"]
        assert "unsafe" not in policy
        manager = getattr(model, "unscoped", None) or model._default_manager
        if row := manager.first():
            page.goto(reverse(f"{name}_change", args=[quote(row.pk)]))
            page.wait_for_load_state("networkidle")
    for name in ("accounts_user_add", "accounts_workspace_add"):
        page.goto(reverse(f"admin:{name}"))
        page.wait_for_load_state("networkidle")


def test_the_theme_works_without_eval(page: Page, document: Document) -> None:
    page.goto(reverse("admin:kb_document_changelist"))
    page.locator("input.action-select").first.check()
    page.locator("select[name=action]").select_option("reprocess_selected")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("queued to be processed again.")).to_be_visible()
    page.set_viewport_size(PHONE)
    expect(page.get_by_role("link", name="Failed work")).not_to_be_visible()
    page.get_by_role("button", name="Show or hide the navigation").click()
    page.get_by_role("link", name="Failed work").click()
    expect(page.get_by_role("heading", name="Documents that failed")).to_be_visible()


def test_the_quality_report_is_the_products(page: Page, document: Document) -> None:
    page.goto(of("kb_document_change", document) + "?tab=quality")
    expect(page.get_by_text("1 page recognised")).to_be_visible()
    expect(page.locator(".strip .unit")).to_have_count(3)


def test_failed_work_is_retried_and_dismissed(page: Page, failed_job: Any) -> None:
    page.goto(reverse("admin:locus_queuedjob_changelist"))
    expect(page.get_by_text("disk full")).to_be_visible()
    page.get_by_role("button", name="Dismiss a very long name").click()
    expect(page.get_by_text("1 document dismissed.")).to_be_visible()
    expect(page.get_by_text("No document has failed")).to_be_visible()
    page.get_by_role("link", name="Read a document").click()
    page.get_by_role("button", name="Retry").click()
    expect(page.get_by_text("1 job queued anew.")).to_be_visible()


def test_words_are_shown_for_a_reason(page: Page, execution: Execution) -> None:
    page.goto(of("search_execution_change", execution) + "?tab=content")
    expect(page.get_by_text("gigawatt")).not_to_be_visible()
    page.get_by_label("Why do you need to see them?").fill("ticket 17")
    page.get_by_role("button", name="Show the content").click()
    expect(page.get_by_text("This view is in the audit log")).to_be_visible()
    expect(page.get_by_text("How much?", exact=True)).to_be_visible()
    assert problems_of(page) == []
    page.goto(reverse("admin:accounts_auditentry_changelist"))
    page.get_by_text("Content viewed by staff").first.wait_for()


@pytest.mark.parametrize(("theme", "viewport"), LOOKS)
def test_the_api_reference(page: Page, live: LiveServer, theme: str, viewport: ViewportSize) -> None:
    foreign: list[str] = []
    page.on(
        "request", lambda asked: foreign.append(asked.url) if not asked.url.startswith(live.url) else None
    )
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(viewport)
    page.goto("/api/docs")
    page.wait_for_load_state("networkidle")
    assert problems_of(page, "body") == []
    assert "unsafe" not in page.request.get("/api/docs").headers["content-security-policy"]
    assert [url for url in foreign if not url.startswith(live.url)] == []


def test_an_operation_is_tried(logged_in: Page, reader: User) -> None:
    page = logged_in
    page.goto("/api/docs#me")
    entry = page.locator("#me")
    entry.get_by_text("Python", exact=True).click()
    expect(entry.get_by_text("requests.get(")).to_be_visible()
    expect(entry.locator("[data-sample=curl] pre")).not_to_be_visible()
    entry.get_by_text("Try it").click()
    entry.get_by_role("button", name="Send").click()
    expect(entry.locator(".try-reply")).to_contain_text("reader@example.org")
    assert problems_of(page, "#me") == []
    page.reload()
    expect(page.locator("#me").get_by_text("requests.get(")).to_be_visible()
    page.get_by_role("link", name="Documents").first.click()
    page.wait_for_url("**/documents/")
