"""The audit log in the admin panel: found by filters, never changed, exported."""

from __future__ import annotations

import csv
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from django.urls import reverse

from accounts.audit.recording import record
from accounts.models import AuditAction, AuditEntry, User
from tests.conftest import Cast, make_cast
from tests.locus.staff import staff_client

VIEW = "accounts.view_auditentry"
LIST = "admin:accounts_auditentry_changelist"

pytestmark = pytest.mark.usefixtures("static_files")


def fill(cast: Cast) -> None:
    record(
        AuditAction.WORKSPACE_CHANGED,
        cast.alice,
        workspace_id=cast.team.pk,
        target=("workspace", cast.team.pk),
        name="Team",
    )
    record(AuditAction.LOGIN_FAILED, None, target=("user", "=2+2"), count=3)


def test_entries_are_found_by_filters(cast: Cast) -> None:
    fill(cast)
    client = staff_client(VIEW)

    def count(**filters: Any) -> int:
        return len(client.get(reverse(LIST), filters).context["cl"].result_list)

    # Theirs is the third: they have just logged in.
    assert count() == 3
    assert count(action__exact="login.failed") == 1
    assert count(workspace=str(cast.team.pk)) == 1
    assert count(workspace="nonsense") == 0
    assert count(target_type="workspace") == 1
    assert count(q="alice@") == 1
    assert count(q=str(cast.team.pk)) == 1
    assert count(at__gte="2100-01-01 00:00:00+00:00") == 0
    assert str(cast.team) in client.get(reverse(LIST)).content.decode()


def test_an_entry_is_shown_in_words_and_links_only_where_one_may_go(cast: Cast) -> None:
    fill(cast)
    entry = AuditEntry.unscoped.get(action=AuditAction.WORKSPACE_CHANGED)
    page = reverse("admin:accounts_auditentry_change", args=[entry.pk])
    link = reverse("admin:accounts_workspace_change", args=[cast.team.pk])
    text = staff_client(VIEW).get(page).content.decode()
    assert "Workspace changed" in text
    assert "alice@example.org" in text
    assert link not in text
    client = staff_client(VIEW, "accounts.view_workspace", email="2@example.org")
    assert link in client.get(page).content.decode()


def test_nobody_changes_it(cast: Cast) -> None:
    fill(cast)
    entry = AuditEntry.unscoped.first()
    assert entry is not None
    root = staff_client()
    User.objects.filter(email="staff@example.org").update(is_superuser=True)
    for name in ("delete",):
        assert root.get(reverse(f"admin:accounts_auditentry_{name}", args=[entry.pk])).status_code == 403
    assert root.post(reverse("admin:accounts_auditentry_change", args=[entry.pk]), {}).status_code == 405
    assert root.get(reverse("admin:accounts_auditentry_add")).status_code == 403
    assert "delete_selected" not in root.get(reverse(LIST)).content.decode()


@pytest.mark.django_db(transaction=True)
async def test_the_export_streams_what_the_filters_choose_and_is_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("accounts.audit_admin.AT_ONCE", 2)
    cast = await sync_to_async(make_cast)()
    for _ in range(3):
        await sync_to_async(fill)(cast)
    staff = await sync_to_async(staff_client)(VIEW)
    client = AsyncClient()
    client.cookies = staff.cookies
    response: Any = await client.get(
        reverse("admin:accounts_auditentry_export"), {"action__exact": "login.failed"}
    )
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    text = b"".join([part async for part in response.streaming_content]).decode()
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["action"] for row in rows] == ["login.failed"] * 3
    # A spreadsheet would calculate it.
    assert {row["target"] for row in rows} == {"'=2+2"}
    entry = await AuditEntry.unscoped.aget(action=AuditAction.CONTENT_VIEWED)
    assert entry.details == {"filters": {"action__exact": "login.failed"}}


def test_the_export_needs_the_permission(cast: Cast) -> None:
    assert staff_client().get(reverse("admin:accounts_auditentry_export")).status_code == 403
