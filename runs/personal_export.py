"""A person's own executions, for the export of their data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from accounts.access.identity import principal_of_user
from accounts.models import User
from accounts.people.export import lines
from core.http.zip_stream import Member
from runs.models import Execution
from runs.withholding import hidden_documents, withhold, withhold_trace


def export_executions(user: User) -> Iterator[Member]:
    """Yield the executions with inputs and results, as the person may see them now."""
    principal = principal_of_user(user)

    def shown(row: Execution) -> dict[str, Any]:
        hidden = hidden_documents(principal, row.read_documents)
        names = (
            "id",
            "tool",
            "status",
            "workspace_id",
            "session_id",
            "inputs",
            "error",
            "usage",
            "cost",
            "feedback",
        )
        return {name: getattr(row, name) for name in (*names, "created_at", "finished_at")} | {
            "result": withhold(row.result, hidden),
            "trace": withhold_trace(row.trace, hidden),
        }

    yield "executions.jsonl", lines(Execution.objects.restricted_to(principal), shown)
