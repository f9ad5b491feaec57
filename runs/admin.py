"""Executions in the admin panel: how each answer came about. Its words are shown on request, and that is
recorded."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern
from unfold.admin import ModelAdmin

from accounts.admin_records import RecordButton, RecordFact, RecordPages, Tab
from accounts.audit.recording import record
from accounts.models import AuditAction, User
from core.languages.numbers import price
from kb.document_facts import admin_link, moment
from kb.models import Document
from runs.explanation import (
    answer_parts,
    charges_of,
    counts_of,
    events_of,
    kept_sources,
    question_of,
    quotes_of,
    stage_times,
    verdicts_of,
)
from runs.lifecycle import cancel, cost_of
from runs.models import LIVE, Execution

MAX_REASON = 300


@admin.register(Execution)
class ExecutionAdmin(RecordPages, ModelAdmin):  # type: ignore[misc]
    """Who ran what, when, how it ended and why it was so; words only after a recorded request."""

    list_display = ["created_at", "tool", "state", "seconds", "dollars", "asked_by", "workspace"]
    list_filter = ["tool", "status", "created_at"]
    search_fields = ["id", "user__email", "workspace__name", "external_user_id"]
    list_select_related = ["user", "workspace", "workspace__personal_of"]
    list_per_page = 50
    show_full_result_count = False
    tabs = [
        Tab("overview", "Overview", "runs/admin/overview.html"),
        Tab("why", "Why this answer", "runs/admin/why.html"),
        Tab("events", "Events", "runs/admin/events.html"),
        Tab("content", "Content", "runs/admin/content.html"),
    ]
    buttons = [RecordButton("cancel", "Cancel", "change")]

    # --- Who may do what ---------------------------------------------------------------------------------

    def has_delete_permission(self, request: HttpRequest, obj: Execution | None = None) -> bool:
        """Refuse: those who asked delete what they asked."""
        return False

    # --- The list ----------------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Execution]:
        """Return executions of every tenant: the admin panel is for staff."""
        return (
            Execution.unscoped.annotate(took=F("finished_at") - F("created_at"))
            .defer("inputs", "result", "trace", "error", "usage")
            .order_by("-created_at", "id")
        )

    @admin.display(description="state", ordering="status")
    def state(self, execution: Execution) -> str:
        """Return the status."""
        return execution.get_status_display()

    @admin.display(description="seconds", ordering="took")
    def seconds(self, execution: Any) -> str:
        """Return how long it took."""
        took: timedelta | None = execution.took
        return "" if took is None else f"{took.total_seconds():.1f}"

    @admin.display(description="cost", ordering="cost")
    def dollars(self, execution: Execution) -> str:
        """Return what it cost, as far as it is known."""
        return "" if execution.cost is None else price(Decimal(execution.cost))

    @admin.display(description="asked by", ordering="user__email")
    def asked_by(self, execution: Execution) -> str:
        """Return the user, and for which of its external users."""
        user = str(execution.user)
        return f"{user} for {execution.external_user_id}" if execution.external_user_id else user

    # --- The page ----------------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        """Add the buttons' addresses."""
        own = [
            self.record_path("cancel", self.cancel_view),
            self.record_path("content", self.content_view),
        ]
        return own + list(super().get_urls())

    def shown_buttons(self, request: HttpRequest, obj: Execution) -> list[RecordButton]:
        """Return Cancel only while it runs."""
        return list(self.buttons) if obj.status in LIVE else []

    def tab_context(self, request: HttpRequest, obj: Execution, tab: str) -> dict[str, Any]:
        """Return what a tab shows; none of it is content."""
        if tab == "why":
            may_see_documents = request.user.has_perm("kb.view_document")
            may_see_charges = request.user.has_perm("kb.view_charge")
            return {
                "counts": counts_of(obj),
                "sources": kept_sources(obj),
                "may_see_documents": may_see_documents,
                "charges": charges_of(obj) if may_see_charges else [],
                "has_trace": obj.trace is not None,
            }
        if tab == "events":
            return {"events": events_of(obj), "last_seq": obj.last_seq}
        if tab == "content":
            return {"content_address": self.address("content", obj), "max_reason": MAX_REASON}
        return {"facts": _facts(request, obj), "stages": stage_times(obj), "execution": obj}

    def cancel_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Cancel the execution."""
        execution: Execution = self.posted_row(request, object_id, "change")
        cancel(execution)
        self.log_change(request, execution, "Cancelled.")
        return HttpResponseRedirect(self.address("change", execution))

    def content_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show question, answer and events, once a reason is given; each time is recorded."""
        if request.method != "POST" or not self.has_view_permission(request):
            raise PermissionDenied
        execution: Execution = self.row(request, object_id)
        reason = request.POST.get("reason", "").strip()
        tab = {"tab": self.tabs[-1]}
        if not 3 <= len(reason) <= MAX_REASON:
            shown = self.tab_context(request, execution, "content") | tab | {"is_unfit": True}
            return self.record_page(request, execution, shown)
        self._record_view(request, execution, reason)
        shown = {
            "is_shown": True,
            "question": question_of(execution),
            "inputs": _json(execution.inputs),
            "feedback": execution.feedback,
            "answer": list(answer_parts(execution)),
            "quotes": quotes_of(execution),
            "verdicts": verdicts_of(execution),
            "events": events_of(execution),
            "trace": _json(execution.trace),
            "result": _json(execution.result),
        }
        return self.record_page(request, execution, shown | tab)

    @transaction.atomic
    def _record_view(self, request: HttpRequest, execution: Execution, reason: str) -> None:
        assert isinstance(request.user, User)
        record(
            AuditAction.CONTENT_VIEWED,
            request.user,
            workspace_id=execution.workspace_id,
            target=("execution", execution.pk),
            reason=reason,
            asked_by=execution.user_id,
        )
        self.log_change(request, execution, f"Content viewed: {reason}")


def _facts(request: HttpRequest, execution: Execution) -> list[RecordFact]:
    usage, error = execution.usage or {}, execution.error or {}
    cost = cost_of(execution)
    took = execution.finished_at - execution.created_at if execution.finished_at else None
    facts = [
        RecordFact("Tool", execution.tool),
        RecordFact("Asked by", execution.user, admin_link(request, execution.user)),
        RecordFact("For the external user", execution.external_user_id),
        RecordFact("With the API key", execution.key, admin_link(request, execution.key)),
        RecordFact("Workspace", execution.workspace, admin_link(request, execution.workspace)),
        RecordFact("In a conversation", execution.session_id),
        RecordFact("Status", execution.get_status_display()),
        RecordFact("Error", f"{error['message']} ({error['code']})" if error else None),
        RecordFact("Began", moment(execution.created_at)),
        RecordFact("Ended", moment(execution.finished_at) if execution.finished_at else None),
        RecordFact("Took", f"{took.total_seconds():.1f} seconds" if took else None),
        RecordFact("Model", (execution.result or {}).get("model")),
        RecordFact("Prompt", _tokens(usage.get("input_tokens"))),
        RecordFact("Answer", _tokens(usage.get("output_tokens"))),
        RecordFact("Cost", "unknown" if cost is None else price(Decimal(cost))),
        RecordFact("From the address", execution.address),
        RecordFact("Request", execution.request_id),
        RecordFact("Rated", _rating(execution.feedback)),
        RecordFact("Documents read", Document.unscoped.filter(pk__in=execution.read_documents).count()),
        RecordFact("Events", execution.last_seq),
    ]
    return [fact for fact in facts if fact.value not in (None, "")]


def _rating(feedback: dict[str, Any] | None) -> str | None:
    """Return a rating without its comment, which is content."""
    if not feedback:
        return None
    reasons = ", ".join(reason.replace("_", " ") for reason in feedback["reasons"])
    return {"up": "good", "down": "bad"}[feedback["rating"]] + (f": {reasons}" if reasons else "")


def _tokens(number: int | None) -> str:
    return "" if number is None else f"{number:,} tokens"


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
