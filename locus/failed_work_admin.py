"""The page of failed work in the admin panel: failed documents and jobs, and how long the queue is."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import Max, OuterRef, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from procrastinate.contrib.django.models import ProcrastinateEvent, ProcrastinateJob
from unfold.admin import ModelAdmin
from unfold.views import ChangeList

from accounts.admin_records import RecordButton, RecordFact, RecordPages, Tab
from accounts.audit.recording import record
from accounts.models import AuditAction, User
from kb.document_admin import DocumentAdmin, dismiss_failures
from kb.document_facts import moment
from kb.document_history import JOB_EVENTS, Moment
from kb.models import Document, Status
from locus.failed_work import ENDED_BADLY, JobWords, dismiss_jobs, queue_state, retry_jobs, words_of
from locus.models import QueuedJob

DOCUMENTS_SHOWN = 20
AT_ONCE = 100
EVENTS_SHOWN = 200
STATE_WORDS = {
    "todo": "Waiting",
    "doing": "Running",
    "failed": "Failed",
    "aborted": "Stopped",
    "cancelled": "Cancelled",
    "succeeded": "Succeeded",
}

admin.site.unregister(ProcrastinateJob)


class JobStateFilter(admin.SimpleListFilter):
    """Failed jobs, unless others are asked for."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the states apart from the failed ones."""
        return [("todo", "Waiting"), ("doing", "Running")]

    def choices(self, changelist: Any) -> Any:
        """Return the choices; without any, failed jobs are shown."""
        first, *others = super().choices(changelist)
        return [first | {"display": "Failed"}, *others]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the jobs in the chosen state."""
        chosen = self.value()
        return queryset.filter(status__in=[chosen] if chosen in ("todo", "doing") else ENDED_BADLY)


class JobList(ChangeList):  # type: ignore[misc]
    """A page of jobs, with words for all of them from a few queries."""

    result_list: Any

    def get_results(self, request: HttpRequest) -> None:
        """Read the page, and the names of what its jobs are about."""
        super().get_results(request)
        rows: list[Any] = list(self.result_list)
        words = words_of(rows)
        for row in rows:
            row.words = words[row.pk]
        self.result_list = rows


@admin.register(QueuedJob)
class JobAdmin(RecordPages, ModelAdmin):  # type: ignore[misc]
    """What has failed and why, kept until somebody tries it again or dismisses it."""

    list_before_template = "admin/failed_work.html"
    change_list_template = "admin/failed_work_list.html"
    words_for_none = "No job is in this state."
    list_display = ["job", "about", "reason", "attempts", "since"]
    list_filter = [JobStateFilter, "task_name"]
    search_fields = ["task_name", "args"]
    list_per_page = 50
    list_max_show_all = AT_ONCE
    list_disable_select_all = True
    actions = ["retry_selected", "dismiss_selected"]
    show_full_result_count = False
    tabs = [Tab("overview", "Overview", "admin/job.html")]
    buttons = [RecordButton("retry", "Retry", "change"), RecordButton("dismiss", "Dismiss", "delete")]

    # --- The list ----------------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return jobs with the time of what happened to them last, newest first."""
        events = ProcrastinateEvent.objects.filter(job=OuterRef("pk")).order_by()
        last = events.values("job").annotate(last=Max("at")).values("last")
        rows: QuerySet[Any] = QueuedJob.objects.annotate(last_at=Subquery(last))
        return rows.order_by("-pk")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """Return the list that knows words for its jobs."""
        return JobList

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Leave out Django's deletion: failed jobs are dismissed, others end by themselves."""
        actions: dict[str, Any] = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the queue's state and failed documents above the failed jobs."""
        shown = {"queue": queue_state()} | self._failed_documents(request)
        response: HttpResponse = super().changelist_view(request, (extra_context or {}) | shown)
        return response

    def _failed_documents(self, request: HttpRequest) -> dict[str, Any]:
        """Return failed documents that nobody has dismissed, if the user may see documents."""
        if not self._documents.has_view_permission(request):
            return {"may_see_documents": False}
        failed = Document.unscoped.filter(status=Status.FAILED, failure_dismissed_at=None)
        rows = failed.select_related("workspace__personal_of").only(
            "name", "error_code", "error_message", "updated_at", "workspace"
        )
        address = reverse("admin:kb_document_changelist")
        return {
            "may_see_documents": True,
            "may_change_documents": self._documents.has_change_permission(request),
            "failed_documents": rows.order_by("-updated_at", "pk")[:DOCUMENTS_SHOWN],
            "failed_count": failed.count(),
            "failed_address": f"{address}?failed=open",
        }

    @property
    def _documents(self) -> DocumentAdmin:
        found: Any = self.admin_site.get_model_admin(Document)
        assert isinstance(found, DocumentAdmin)
        return found

    @admin.display(description="job", ordering="task_name")
    def job(self, row: Any) -> str:
        """Return what the job does."""
        words: JobWords = row.words
        return words.title

    @admin.display(description="about")
    def about(self, row: Any) -> str:
        """Return the document, workspaces or people it is about."""
        words: JobWords = row.words
        return words.about

    @admin.display(description="why")
    def reason(self, row: Any) -> str:
        """Return why it failed."""
        words: JobWords = row.words
        return words.reason or STATE_WORDS[row.status]

    @admin.display(description="since (UTC)", ordering="last_at")
    def since(self, row: Any) -> str:
        """Return when something happened to it last."""
        return moment(row.last_at).removesuffix(" UTC") if row.last_at else ""

    # --- The page ----------------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        """Add the buttons' addresses."""
        documents = [
            path(
                f"document/<uuid:id>/{name}/",
                self.admin_site.admin_view(view),
                name=f"failed_document_{name}",
            )
            for name, view in [("retry", self.retry_document), ("dismiss", self.dismiss_document)]
        ]
        own = [self.record_path("retry", self.retry_view), self.record_path("dismiss", self.dismiss_view)]
        return documents + own + list(super().get_urls())

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """Refuse: jobs that wait or run are not deleted."""
        raise Http404

    def record_title(self, obj: Any) -> str:
        """Return what the job does."""
        return words_of([obj])[obj.pk].title

    def shown_buttons(self, request: HttpRequest, obj: Any) -> list[RecordButton]:
        """Return the buttons only for failed jobs."""
        return list(self.buttons) if obj.status in ENDED_BADLY else []

    def tab_context(self, request: HttpRequest, obj: Any, tab: str) -> dict[str, Any]:
        """Return what is known about the job."""
        words = words_of([obj])[obj.pk]
        link = ""
        if words.document_id and self._documents.has_view_permission(request):
            link = reverse("admin:kb_document_change", args=[words.document_id])
        facts = [
            RecordFact("State", STATE_WORDS[obj.status]),
            RecordFact("Why", words.reason),
            RecordFact("About", words.about, link),
            RecordFact("Attempts", obj.attempts),
            RecordFact("Not before", moment(obj.scheduled_at) if obj.scheduled_at else None),
            RecordFact("Number", obj.pk),
        ]
        events = ProcrastinateEvent.objects.filter(job=obj, at__isnull=False).order_by("-pk")[:EVENTS_SHOWN]
        return {
            "facts": [fact for fact in facts if fact.value not in (None, "")],
            "moments": [
                Moment(each.at, JOB_EVENTS.get(each.type, each.type).capitalize()) for each in events
            ],
        }

    def retry_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Queue the job's work anew."""
        self._retry(request, [self.posted_row(request, object_id, "change")])
        return self._back()

    def dismiss_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Delete the failed job."""
        self._dismiss(request, [self.posted_row(request, object_id, "delete")])
        return self._back()

    def retry_document(self, request: HttpRequest, id: Any) -> HttpResponse:
        """Queue a failed document again."""
        self._documents.reprocess_view(request, str(id))
        return self._back()

    def dismiss_document(self, request: HttpRequest, id: Any) -> HttpResponse:
        """Take a failed document from this page."""
        dismiss_failures(self._documents, request, [self._documents.posted_row(request, str(id), "change")])
        return self._back()

    @admin.action(description="Retry", permissions=["change"])
    def retry_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Queue the work of failed jobs anew."""
        self._retry(request, list(queryset.filter(status__in=ENDED_BADLY)[:AT_ONCE]))

    @admin.action(description="Dismiss", permissions=["delete"])
    def dismiss_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete failed jobs."""
        self._dismiss(request, list(queryset.filter(status__in=ENDED_BADLY)[:AT_ONCE]))

    def _retry(self, request: HttpRequest, rows: list[Any]) -> None:
        words = words_of(rows)
        queued = retry_jobs(row.pk for row in rows)
        self._note(request, rows, words, "Queued anew")
        already = len(rows) - queued
        note = f" {already} had been queued already." if already else ""
        self.message_user(request, f"{_counted(queued)} queued anew.{note}", messages.SUCCESS)

    def _dismiss(self, request: HttpRequest, rows: list[Any]) -> None:
        words = words_of(rows)
        gone = dismiss_jobs(row.pk for row in rows)
        self._note(request, rows, words, "Dismissed")
        self.message_user(request, f"{_counted(gone)} dismissed.", messages.SUCCESS)

    def _note(self, request: HttpRequest, rows: list[Any], words: dict[int, JobWords], done: str) -> None:
        """Record in the audit log and in the panel's history what was done with failed jobs."""
        assert isinstance(request.user, User)
        for row in rows:
            record(
                AuditAction.REPAIR_STARTED,
                request.user,
                target=("job", row.pk),
                task=row.task_name,
                done=done.lower(),
            )
            self.log_change(request, row, f"{done}: {words[row.pk].title} ({words[row.pk].about}).")

    def _back(self) -> HttpResponse:
        return HttpResponseRedirect(reverse("admin:locus_queuedjob_changelist"))


def _counted(number: int) -> str:
    return "1 job" if number == 1 else f"{number:,} jobs"
