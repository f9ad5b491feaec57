"""What the rooms above `accounts` know about users and workspaces, for their pages in the admin panel."""

from __future__ import annotations

from django.db.models import Count, Q, Sum
from django.http import HttpRequest
from django.urls import reverse

from accounts.admin_facts import FactGroup, user_facts, workspace_facts
from accounts.admin_records import RecordFact
from accounts.models import User, Workspace
from core.languages.numbers import size_in_words
from kb.models import Document, Status
from runs.models import Execution

MOST_COUNTED = 100_000


def register() -> None:
    """Add these facts to the pages."""
    workspace_facts.insert(0, documents_of_workspace)
    user_facts.append(executions_of_user)


def documents_of_workspace(workspace: Workspace, request: HttpRequest) -> FactGroup:
    """Return the documents by state, each with a link to the list, and the bytes of their files."""
    address = f"{reverse('admin:kb_document_changelist')}?workspace={workspace.pk}"
    documents = Document.unscoped.filter(workspace=workspace.pk)
    rows = documents.order_by().values_list("status").annotate(Count("pk"), Sum("size"))
    found = {status: (number, size or 0) for status, number, size in rows}
    states = [
        RecordFact(
            Status(status).label.capitalize(), f"{found[status][0]:,}", f"{address}&status__exact={status}"
        )
        for status in Status.values
        if status in found
    ]
    total = RecordFact("All", f"{sum(number for number, _ in found.values()):,}", address)
    size = RecordFact("Files", size_in_words(sum(size for _, size in found.values())))
    return FactGroup("Documents", "kb.view_document", [total, *states, size])


def executions_of_user(user: User, request: HttpRequest) -> FactGroup:
    """Return how many kept executions the user has, at most `MOST_COUNTED`."""
    number = Execution.unscoped.filter(Q(user=user.pk)).order_by()[:MOST_COUNTED].count()
    shown = f"over {number:,}" if number == MOST_COUNTED else f"{number:,}"
    address = f"{reverse('admin:search_execution_changelist')}?user__id__exact={user.pk}"
    return FactGroup("Questions", "search.view_execution", [RecordFact("Kept executions", shown, address)])
