"""Tools that are executions: run like those of every transport, and shown to a model."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol

from django.conf import settings

from accounts.access.right_watch import require_right
from accounts.principal import Principal
from assistants.gateway.cited import cited_text, results_of_contexts, results_of_pages
from assistants.gateway.leaving import ended_if_left
from core.errors import LocusError
from core.threads import in_database
from runs.following import follow, wait_until_ended
from runs.models import Execution
from runs.registry import tool_named
from runs.request import Call
from runs.withholding import shown_result

Json = dict[str, Any]


class RunFailed(LocusError):
    """A run has ended with an error."""

    code, status, default_message = "internal", 500, "The run failed."

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(error["message"], param=error.get("param"), details=error.get("details"))
        self.stored_code = str(error["code"])


class Report(Protocol):
    """Tells the caller how far a tool is: `progress` grows, out of `total` where that is known."""

    async def __call__(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Send it, if the caller wants to know."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call of a tool by somebody's model."""

    principal: Principal
    arguments: Json
    base_url: str
    report: Report
    wants_progress: bool = False


async def run(call: ModelCall, tool: str, inputs: Json) -> Json:
    """Run a tool to its end and return its result; raise `LocusError`."""
    started, execution = await in_database(_begin, call.principal, tool, inputs)
    with ended_if_left(execution.pk):
        await started.launch(execution)
        if call.wants_progress:
            await _report_phases(call, started.principal, execution.pk)
        finished = await wait_until_ended(execution.pk)
    return await in_database(_result, started.principal, finished)


async def _report_phases(call: ModelCall, principal: Principal, execution_id: str) -> None:
    """Report each phase of a run as it happens, up to its end."""
    async with aclosing(follow(principal, execution_id, 0, settings.SSE_PING_SECS)) as events:  # type: ignore[type-var]
        async for event in events:
            if event is not None and "phase" in event.data:
                await call.report(event.seq, None, f"{event.data['phase']} {event.data['status']}")


def _begin(principal: Principal, tool: str, inputs: Json) -> tuple[Call, Execution]:
    call = Call.parse(principal, tool_named(tool), inputs)
    return call, call.begin()[0]


def _result(principal: Principal, finished: Execution) -> Json:
    require_right(principal)
    if finished.error:
        raise RunFailed(finished.error)
    result: Json = shown_result(principal, finished)
    return result


def answer_json(result: Mapping[str, Any], base_url: str) -> Json:
    """Return an answer as a model reads it: text with `[n]`, and the sources that are cited."""
    cited = cited_text(result, base_url)
    found = results_of_contexts(result.get("contexts", ()), base_url)
    found += results_of_pages(result.get("sources", ()))
    used = set(result["sources_used"])
    return {
        "answer": cited.text,
        "answered": result["answered"],
        "sources": [source for source in found if source["id"] in used],
        "execution_id": result["execution_id"],
    }
