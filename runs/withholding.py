"""What a stored result or event shows to a reader who no longer sees all documents that the run has read.

Contexts of such documents keep only rank and document. Text that was made from all contexts, whole or in
partials, is withheld as soon as one document is hidden (contract §2). When a document is deleted,
`runs.scrubbing` does the same permanently.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from accounts.principal import Principal
from kb.models import Document
from runs.models import Execution

WITHHELD = {"unavailable": True}
HIDDEN = {"text_preview": None, "quote": None, "quotes": None, "bbox": None} | WITHHELD
MADE_OF_ALL = ("response", "content", "asked", "query", "function_calls")
"""The fields whose text may come from any document that was read: of a result, of a partial, of an event.

A self-contained question (`asked`, and `query` of a tool that was asked it) may repeat words of the documents
that earlier answers have read. The query of a run that has read no document is its user's own.
"""


def hidden_documents(principal: Principal, read: Collection[UUID]) -> frozenset[str]:
    """Return the documents that a run has read and the reader does not see now."""
    if not read:
        return frozenset()
    seen = Document.objects.addressable_by(principal).filter(pk__in=read).values_list("pk", flat=True)
    return frozenset(map(str, set(read) - set(seen)))


def withhold(data: Any, hidden: Collection[str]) -> Any:
    """Return an event's data or a result without what comes from hidden documents."""
    if not data or not hidden:
        return data
    shown = dict(data)
    if data.get("contexts"):
        shown["contexts"] = [_context(context, hidden) for context in data["contexts"]]
    for name in MADE_OF_ALL:
        if name in data:
            shown |= {name: None} | WITHHELD
    return shown


def _context(context: dict[str, Any], hidden: Collection[str]) -> dict[str, Any]:
    if context["document_id"] not in hidden:
        return context
    return {"rank": context["rank"], "document_id": context["document_id"], **HIDDEN}


def withhold_trace(trace: Any, hidden: Collection[str]) -> Any:
    """Return a trace without the statements of the answer."""
    if not trace or not hidden:
        return trace
    steps = {name: step for name, step in trace["steps"].items() if name != "citations"}
    return trace | {"steps": steps} | WITHHELD


def shown_result(principal: Principal, execution: Execution) -> Any:
    """Return an execution's result as a reader may see it now."""
    return withhold(execution.result, hidden_documents(principal, execution.read_documents))


def shown_inputs(principal: Principal, execution: Execution) -> dict[str, Any]:
    """Return the inputs, unless the reader's key may not see a workspace that was searched.

    A question contains its author's words, not a document's. But a key that is narrowed to some workspaces
    should not read what was asked in others.
    """
    if not may_see_inputs(principal, execution):
        return {"query": None} | WITHHELD
    inputs: dict[str, Any] = execution.inputs
    return inputs


def may_see_inputs(principal: Principal, execution: Execution) -> bool:
    """Return whether a reader may see what was asked: keys that see only some workspaces may not see all."""
    return not principal.narrowed or principal.workspace_ids.issuperset(execution.read_workspaces)
