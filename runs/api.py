"""`/api/v1/tools` and `/api/v1/executions`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import close_old_connections
from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access.auth import principal_of
from accounts.access.right_watch import require_right
from accounts.idempotency import IDEMPOTENCY_KEY, idempotency_key
from accounts.principal import Principal
from core.api.operations import LIST_PARAMETERS, ApiView, operation
from core.api.rest import CursorLists, SequenceLists, decimal_number, uuid_param
from core.api.sse import SSE_MAX_BYTES, AnyAccept, count_stream, sse_max_bytes, sse_response
from core.errors import ValidationError, status_of
from runs.following import ended, follow
from runs.journal import StoredEvent
from runs.lifecycle import cancel, cost_of, delete_execution, is_at_end, require_events, visible_execution
from runs.models import Execution, ExecutionStatus
from runs.registry import offered_tools, tool_named
from runs.request import Call
from runs.schemas import (
    RUN_ERRORS,
    Accepted,
    DeletedExecution,
    Execute,
    ExecutionDetails,
    ExecutionList,
    ToolCall,
    ToolDescription,
    ToolEvent,
    ToolList,
    ToolResult,
)
from runs.withholding import hidden_documents, shown_inputs, shown_result, withheld, withheld_trace

HEADER = "X-Execution-Id"
WORKSPACE = OpenApiParameter("workspace_id", OpenApiTypes.UUID, description="By default the caller's own.")
AFTER = OpenApiParameter(
    "after", {"type": "integer", "minimum": 0, "default": 0}, description="Only events with higher numbers."
)
LAST_EVENT_ID = OpenApiParameter(
    "Last-Event-ID",
    {"type": "integer", "minimum": 0},
    OpenApiParameter.HEADER,
    description="The same, as browsers say it when they come back; goes before `after`.",
)


class ToolsView(ApiView):
    """The tools."""

    @operation(
        "tools_list",
        tag="Tools",
        query=[WORKSPACE, *LIST_PARAMETERS],
        answers={200: ToolList},
        fails=(404,),
    )
    def get(self, request: Request) -> Response:
        """List the tools with their input schemas, and whether a workspace has them switched on."""
        principal = principal_of(request)
        workspace_id = _workspace_id(request, principal)
        pages = SequenceLists()
        tools = pages.paginate_queryset(offered_tools(), request, self)
        return pages.get_paginated_response([tool.describe(principal, workspace_id) for tool in tools])


class ToolView(ApiView):
    """One tool."""

    content_negotiation_class = AnyAccept
    # Asking needs no more than reading.
    required_scope = "read"

    @operation("tools_read", tag="Tools", query=[WORKSPACE], answers={200: ToolDescription}, fails=(404,))
    def get(self, request: Request, name: str) -> Response:
        """Describe the tool."""
        principal = principal_of(request)
        return Response(tool_named(name).describe(principal, _workspace_id(request, principal)))

    @operation(
        "tools_run",
        tag="Tools",
        query=[SSE_MAX_BYTES],
        headers=[IDEMPOTENCY_KEY],
        request=ToolCall,
        answers={(200, "application/json"): ToolResult, (200, "text/event-stream"): ToolEvent},
        fails=RUN_ERRORS,
    )
    def post(self, request: Request, name: str) -> HttpResponseBase:
        """Run the tool; `stream: true` answers with Server-Sent Events, else with the result."""
        call = Call.read(principal_of(request), tool_named(name), request.data)
        max_bytes = sse_max_bytes(request)
        if call.stream:
            count_stream(request, call.principal.user_id)
        execution = _begun(request, call)
        response = _streamed(call, execution, max_bytes) if call.stream else _answered(call, execution)
        response[HEADER] = execution.pk
        return response


def _workspace_id(request: Request, principal: Principal) -> UUID:
    given = request.query_params.get("workspace_id")
    return principal.default_workspace_id() if given is None else uuid_param("workspace_id", given)


def _begun(request: Request, call: Call) -> Execution:
    """Return the execution that runs for the request: a new one, or that of the same `Idempotency-Key`."""
    execution, is_new = call.begin(idempotency_key(request, call.principal, lambda: request.data))
    if is_new:
        async_to_sync(call.launch)(execution)
    return execution


def _streamed(call: Call, execution: Execution, max_bytes: int) -> HttpResponseBase:
    return sse_response(_replayed(call.principal, execution, 0), max_bytes)


def _replayed(principal: Principal, execution: Execution, after: int) -> AsyncIterator[StoredEvent | None]:
    require_events(execution, after)
    return follow(principal, execution.pk, after, settings.SSE_PING_SECS)


def _answered(call: Call, execution: Execution) -> Response:
    # Others can use the view's connection while a model writes.
    close_old_connections()
    finished = async_to_sync(ended)(execution.pk)
    require_right(call.principal)
    if finished.error:
        return Response({"error": finished.error}, status=status_of(finished.error["code"]))
    return Response(shown_result(call.principal, finished))


class ExecuteView(ApiView):
    """Run a tool without waiting."""

    required_scope = "read"

    @operation(
        "tools_execute",
        tag="Tools",
        headers=[IDEMPOTENCY_KEY],
        request=Execute,
        answers={202: Accepted},
        fails=RUN_ERRORS,
    )
    def post(self, request: Request, name: str) -> Response:
        """Start the tool with `{"inputs": {…}}` and say where to follow it."""
        body = request.data if isinstance(request.data, dict) else {}
        rest = {key: value for key, value in body.items() if key != "inputs"}
        inputs = body.get("inputs")
        if not isinstance(inputs, dict):
            raise ValidationError("inputs must be an object.", param="inputs")
        call = Call.read(principal_of(request), tool_named(name), inputs | rest)
        execution = _begun(request, call)
        details = request.build_absolute_uri(f"/api/v1/executions/{execution.pk}")
        return Response(
            {
                "execution_id": execution.pk,
                # As it began, also when the same request comes again.
                "status": ExecutionStatus.QUEUED,
                "details_url": details,
                "stream_url": f"{details}/events",
            },
            status=202,
            headers={HEADER: execution.pk, "Location": details},
        )


class ExecutionsView(ApiView):
    """The caller's executions."""

    @operation(
        "executions_list",
        tag="Executions",
        query=[
            OpenApiParameter("tool", many=True, description="Only executions of these tools."),
            *LIST_PARAMETERS,
        ],
        answers={200: ExecutionList},
        fails=(404,),
    )
    def get(self, request: Request) -> Response:
        """List the caller's executions, newest first: those of the tools that are named, or all."""
        principal = principal_of(request)
        executions = Execution.objects.restricted_to(principal)
        if tools := request.query_params.getlist("tool"):
            executions = executions.filter(tool__in={tool_named(tool).name for tool in tools})
        pages = CursorLists()
        rows = pages.paginate_queryset(executions, request, self)
        return pages.get_paginated_response([_summary(principal, execution) for execution in rows or []])


class ExecutionView(ApiView):
    """One execution."""

    # Who asks may also delete what was answered.
    required_scope = "read"

    @operation("executions_read", tag="Executions", answers={200: ExecutionDetails}, fails=(404,))
    def get(self, request: Request, id: str) -> Response:
        """Return status, inputs, result, usage, cost, error and trace."""
        principal = principal_of(request)
        return Response(_details(principal, visible_execution(principal, id)))

    @operation("executions_delete", tag="Executions", answers={200: DeletedExecution}, fails=(404,))
    def delete(self, request: Request, id: str) -> Response:
        """Delete the execution with its events, cancelled first if it is running; return a receipt."""
        return Response({"deleted": delete_execution(visible_execution(principal_of(request), id))})


class ExecutionCancelView(ApiView):
    """Stop an execution."""

    required_scope = "read"

    @operation(
        "executions_cancel",
        tag="Executions",
        request=None,
        answers={200: ExecutionDetails},
        fails=(404,),
    )
    def post(self, request: Request, id: str) -> Response:
        """Cancel the execution; a finished one stays as it is."""
        principal = principal_of(request)
        return Response(_details(principal, cancel(visible_execution(principal, id))))


class ExecutionEventsView(ApiView):
    """An execution's events."""

    content_negotiation_class = AnyAccept

    @operation(
        "executions_events",
        tag="Executions",
        query=[AFTER, SSE_MAX_BYTES],
        headers=[LAST_EVENT_ID],
        answers={(200, "text/event-stream"): ToolEvent, 204: None},
        fails=(404, 410),
    )
    def get(self, request: Request, id: str) -> HttpResponseBase:
        """Replay the events after `Last-Event-ID` or `?after=`, then follow.

        204 if there are no more; 410 `events_expired` if they are no longer kept.
        """
        principal = principal_of(request)
        execution = visible_execution(principal, id)
        after, max_bytes = _after(request), sse_max_bytes(request)
        if is_at_end(execution, after):
            return HttpResponse(status=204)
        count_stream(request, principal.user_id)
        response = sse_response(_replayed(principal, execution, after), max_bytes)
        response[HEADER] = execution.pk
        return response


def _after(request: Request) -> int:
    name, value = "Last-Event-ID", request.headers.get("Last-Event-ID")
    if value is None:
        name, value = "after", request.query_params.get("after", "0")
    number = decimal_number(value)
    if number is None:
        raise ValidationError(f"{name} must be a sequence number.", param=name)
    return number


def _details(principal: Principal, execution: Execution) -> dict[str, Any]:
    hidden = hidden_documents(principal, execution.read_documents)
    return _summary(principal, execution) | {
        "result": withheld(execution.result, hidden),
        "usage": execution.usage,
        "cost": cost_of(execution),
        "error": execution.error,
        "trace": withheld_trace(execution.trace, hidden),
    }


def _summary(principal: Principal, execution: Execution) -> dict[str, Any]:
    return {
        "id": execution.pk,
        "execution_id": execution.pk,
        "tool": execution.tool,
        "status": execution.status,
        "inputs": shown_inputs(principal, execution),
        "workspace_id": str(execution.workspace_id),
        "external_user_id": execution.external_user_id,
        "session_id": str(execution.session_id) if execution.session_id else None,
        "created_at": execution.created_at,
        "finished_at": execution.finished_at,
    }
