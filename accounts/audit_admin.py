"""The audit log in the admin panel: read-only pages, and an export."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncIterator, Iterable
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.utils import quote
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.urls import URLPattern, path, reverse
from unfold.admin import ModelAdmin
from unfold.views import ChangeList

from accounts.admin_filters import WorkspaceFilter
from accounts.admin_records import RecordFact, RecordPages, Tab
from accounts.audit.recording import record
from accounts.models import AuditAction, AuditEntry, User, Workspace
from core.threads import in_database

MOST_EXPORTED = 100_000
AT_ONCE = 2_000
SHOWN_OF_ID = 8
COLUMNS = (
    *("time_utc", "action", "user", "api_key", "external_user", "workspace"),
    *("target_type", "target", "address", "request", "details"),
)
FORMULA = ("=", "+", "-", "@", "\t", "\r")
PAGES = {
    "document": ("kb.view_document", "admin:kb_document_change"),
    "execution": ("search.view_execution", "admin:search_execution_change"),
    "job": ("locus.view_queuedjob", "admin:locus_queuedjob_change"),
    "key": ("accounts.view_apikey", "admin:accounts_apikey_change"),
    "user": ("accounts.view_user", "admin:accounts_user_change"),
    "workspace": ("accounts.view_workspace", "admin:accounts_workspace_change"),
}
"""The permission and the address of the page about what an entry names, by the type of its target."""


class AuditList(ChangeList):  # type: ignore[misc]
    """A page of entries, with the names of their workspaces from one query."""

    result_list: Any

    def get_results(self, request: HttpRequest) -> None:
        """Read the page and the names."""
        super().get_results(request)
        rows: list[Any] = list(self.result_list)
        names = _workspace_names(row.workspace_id for row in rows)
        for row in rows:
            row.workspace_name = names.get(row.workspace_id, row.workspace_id or "")
        self.result_list = rows


@admin.register(AuditEntry)
class AuditEntryAdmin(RecordPages, ModelAdmin):  # type: ignore[misc]
    """Who did what, as whom, from where. Nobody changes it."""

    list_before_template = "accounts/admin/audit_export.html"
    list_display = ["at", "action", "who", "workspace_shown", "target", "address"]
    list_filter = ["action", "at", "target_type", WorkspaceFilter]
    search_fields = ["user__email", "external_user_id", "=target_id", "=address", "=request_id"]
    search_help_text = "A person's or external user's name; the whole id of a target, an address, a request."
    list_select_related = ["user"]
    list_per_page = 100
    ordering = ["-at", "-id"]
    show_full_result_count = False
    tabs = [Tab("overview", "Overview", "accounts/admin/audit_entry.html")]

    def has_change_permission(self, request: HttpRequest, obj: AuditEntry | None = None) -> bool:
        """Refuse: a log that can be changed proves nothing."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: AuditEntry | None = None) -> bool:
        """Refuse, for the same reason."""
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEntry]:
        """Return the entries of every workspace, and those of none."""
        return AuditEntry.unscoped.all()

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """Return the list that knows names of workspaces."""
        return AuditList

    @admin.display(description="workspace")
    def workspace_shown(self, entry: Any) -> str:
        """Return the workspace's name, or its id once it is deleted."""
        return str(entry.workspace_name)

    @admin.display(description="target")
    def target(self, entry: AuditEntry) -> str:
        """Return what was acted on; ids are long, and the entry's page has them whole."""
        kind, id = entry.target_type.replace("_", " "), entry.target_id
        return f"{kind} {id if len(id) <= SHOWN_OF_ID else f'{id[:SHOWN_OF_ID]}…'}".strip()

    @admin.display(description="who", ordering="user__email")
    def who(self, entry: AuditEntry) -> str:
        """Return the user, and for which of its external users."""
        user = str(entry.user or "")
        return f"{user} for {entry.external_user_id}" if entry.external_user_id else user

    def get_urls(self) -> list[URLPattern]:
        """Add the export."""
        view = self.admin_site.admin_view(self.export_view)
        return [path("export/", view, name="accounts_auditentry_export"), *super().get_urls()]

    def record_title(self, obj: AuditEntry) -> str:
        """Return the action in words."""
        return obj.get_action_display()

    def tab_context(self, request: HttpRequest, obj: AuditEntry, tab: str) -> dict[str, Any]:
        """Return all that the entry says."""
        names = _workspace_names([obj.workspace_id])
        facts = [
            RecordFact("When", f"{obj.at:%Y-%m-%d %H:%M:%S} UTC"),
            RecordFact("What", obj.get_action_display()),
            RecordFact("Who", obj.user, _page(request, "user", obj.user_id)),
            RecordFact("With the API key", obj.key_id, _page(request, "key", obj.key_id)),
            RecordFact("For the external user", obj.external_user_id),
            RecordFact(
                "Workspace",
                names.get(obj.workspace_id, obj.workspace_id) if obj.workspace_id else None,
                _page(request, "workspace", obj.workspace_id if obj.workspace_id in names else None),
            ),
            RecordFact(
                f"Target: {obj.target_type.replace('_', ' ')}" if obj.target_type else "Target",
                obj.target_id,
                _page(request, obj.target_type, obj.target_id),
            ),
            RecordFact("From the address", obj.address),
            RecordFact("Request", obj.request_id),
            *(
                RecordFact(name.replace("_", " ").capitalize(), _said(value))
                for name, value in obj.details.items()
            ),
        ]
        return {"facts": [fact for fact in facts if fact.value not in (None, "")]}

    def export_view(self, request: HttpRequest) -> HttpResponseBase:
        """Send the filtered entries as CSV, newest first, at most `MOST_EXPORTED`."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        assert isinstance(request.user, User)
        chosen = self.get_changelist_instance(request).get_queryset(request)
        record(
            AuditAction.CONTENT_VIEWED,
            request.user,
            target=("audit_log", "csv"),
            filters={name: str(value) for name, value in request.GET.items()},
        )
        return StreamingHttpResponse(
            _csv_of(chosen.select_related("user").order_by("-at", "-id")),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": 'attachment; filename="audit-log.csv"'},
        )


async def _csv_of(entries: QuerySet[AuditEntry]) -> AsyncIterator[bytes]:
    yield _line(COLUMNS)
    last: AuditEntry | None = None
    for _ in range(MOST_EXPORTED // AT_ONCE):
        rows: list[AuditEntry] = await in_database(_after, entries, last)
        if not rows:
            return
        last = rows[-1]
        yield b"".join(map(_row, rows))


def _after(entries: QuerySet[AuditEntry], last: AuditEntry | None) -> list[AuditEntry]:
    older = entries if last is None else entries.filter(Q(at__lt=last.at) | Q(at=last.at, pk__lt=last.pk))
    return list(older[:AT_ONCE])


def _row(entry: AuditEntry) -> bytes:
    return _line(
        [
            *(entry.at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), entry.action),
            *(entry.user.email if entry.user else "", entry.key_id or "", entry.external_user_id or ""),
            *(entry.workspace_id or "", entry.target_type, entry.target_id, entry.address, entry.request_id),
            json.dumps(entry.details, ensure_ascii=False),
        ]
    )


def _line(cells: Iterable[object]) -> bytes:
    """Return a line of CSV; a text that a spreadsheet would take for a formula gets an apostrophe."""
    written = io.StringIO()
    texts = map(str, cells)
    csv.writer(written).writerow(
        f"'{text}" if text.startswith(("=", "+", "-", "@", "\t")) else text for text in texts
    )
    return written.getvalue().encode()


def _page(request: HttpRequest, kind: str, id: object) -> str:
    """Return the address of the page about something, if the user may open it."""
    permission, address = PAGES.get(kind, ("", ""))
    if not id or not permission or not request.user.has_perm(permission):
        return ""
    return reverse(address, args=[quote(str(id))])


def _workspace_names(ids: Iterable[UUID | None]) -> dict[UUID | None, str]:
    rows = Workspace.objects.filter(pk__in={id for id in ids if id}).select_related("personal_of")
    return {row.pk: str(row) for row in rows}


def _said(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
