"""Tools that are executions: run like those of every transport, and shown to a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accounts.access.right_watch import require_right
from accounts.principal import Principal
from assistants.gateway.cited import cited_text, results_of_contexts, results_of_pages
from assistants.gateway.leaving import ended_if_left
from core.errors import LocusError
from core.threads import in_database
from runs.following import wait_until_ended
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


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call of a tool by somebody's model."""

    principal: Principal
    arguments: Json
    base_url: str


async def run(call: ModelCall, tool: str, inputs: Json) -> Json:
    """Run a tool to its end and return its result; raise `LocusError`."""
    started, execution = await in_database(_begin, call.principal, tool, inputs)
    await started.launch(execution)
    with ended_if_left(execution.pk):
        finished = await wait_until_ended(execution.pk)
    return await in_database(_result, started.principal, finished)


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
