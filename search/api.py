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
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.auth import principal_of
from accounts.errors import ValidationError, status_of
from accounts.principal import Principal
from accounts.rest import CursorLists, decimal_number, refuse_unknown_query, uuid_param
from kb.idempotency import IDEMPOTENCY_KEY, idempotency_key
from kb.sse import AnyAccept, sse_max_bytes, sse_response
from search.calls import Call
from search.executions import (
    StoredEvent,
    cancel,
    ended,
    follow,
    is_at_end,
    require_events,
    visible_execution,
    without_invisible,
)
from search.models import Execution, ExecutionStatus
from search.shapes import (
    ERRORS,
    RUN_ERRORS,
    Accepted,
    ErrorBody,
    Execute,
    ExecutionDetails,
    ExecutionList,
    ToolCall,
    ToolDescription,
    ToolEvent,
    ToolList,
    ToolResult,
)
from search.tools import offered_tools, tool_named

HEADER = "X-Execution-Id"
WORKSPACE = OpenApiParameter("workspace_id", OpenApiTypes.UUID, description="By default the caller's own.")


class ToolsView(APIView):
    """The tools."""

    @extend_schema(operation_id="tools_list", parameters=[WORKSPACE], responses={200: ToolList, **ERRORS})
    def get(self, request: Request) -> Response:
        """List the tools with their input schemas, and whether a workspace has them switched on."""
        principal = principal_of(request)
        workspace_id = _workspace_id(request, principal)
        return Response(
            {
                "results": [tool.describe(principal, workspace_id) for tool in offered_tools()],
                "next": None,
                "previous": None,
            }
        )


class ToolView(APIView):
    """One tool."""

    content_negotiation_class = AnyAccept
    # Asking needs no more than reading.
    required_scope = "read"

    @extend_schema(
        operation_id="tools_read", parameters=[WORKSPACE], responses={200: ToolDescription, **ERRORS}
    )
    def get(self, request: Request, name: str) -> Response:
        """Describe the tool."""
        principal = principal_of(request)
        return Response(tool_named(name).describe(principal, _workspace_id(request, principal)))

    @extend_schema(
        operation_id="tools_run",
        parameters=[IDEMPOTENCY_KEY, OpenApiParameter("sse_max_bytes", int)],
        request=ToolCall,
        responses={
            (200, "application/json"): ToolResult,
            (200, "text/event-stream"): ToolEvent,
            **RUN_ERRORS,
        },
    )
    def post(self, request: Request, name: str) -> HttpResponseBase:
        """Run the tool; `stream: true` answers with Server-Sent Events, else with the result."""
        call = Call.read(principal_of(request), tool_named(name), request.data)
        max_bytes = sse_max_bytes(request)
        execution = _begun(request, call)
        response = _streamed(call, execution, max_bytes) if call.stream else _answered(call, execution)
        response[HEADER] = execution.pk
        return response


def _workspace_id(request: Request, principal: Principal) -> UUID:
    given = request.query_params.get("workspace_id")
    return uuid_param("workspace_id", given) if given else principal.default_workspace_id()


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
    if finished.error:
        return Response({"error": finished.error}, status=status_of(finished.error["code"]))
    return Response(without_invisible(call.principal, finished.result))


class ExecuteView(APIView):
    """Run a tool without waiting."""

    required_scope = "read"

    @extend_schema(
        operation_id="tools_execute",
        parameters=[IDEMPOTENCY_KEY],
        request=Execute,
        responses={202: Accepted, **RUN_ERRORS},
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
            headers={HEADER: execution.pk},
        )


class ExecutionsView(APIView):
    """The caller's executions."""

    @extend_schema(
        operation_id="executions_list",
        parameters=[OpenApiParameter("tool", many=True)],
        responses={200: ExecutionList, **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """List the caller's executions, newest first: those of the tools that are named, or all."""
        refuse_unknown_query(request, frozenset({"tool"}))
        executions = Execution.objects.restricted_to(principal_of(request))
        if tools := request.query_params.getlist("tool"):
            executions = executions.filter(tool__in={tool_named(tool).name for tool in tools})
        pages = CursorLists()
        rows = pages.paginate_queryset(executions, request, self)
        return pages.get_paginated_response([_summary(execution) for execution in rows or []])


class ExecutionView(APIView):
    """One execution."""

    @extend_schema(operation_id="executions_read", responses={200: ExecutionDetails, **ERRORS})
    def get(self, request: Request, id: str) -> Response:
        """Return status, inputs, result, usage, cost, error and trace."""
        principal = principal_of(request)
        return Response(_details(principal, visible_execution(principal, id)))


class CancelView(APIView):
    """Stop an execution."""

    required_scope = "read"

    @extend_schema(
        operation_id="executions_cancel", request=None, responses={200: ExecutionDetails, **ERRORS}
    )
    def post(self, request: Request, id: str) -> Response:
        """Cancel the execution; a finished one stays as it is."""
        principal = principal_of(request)
        return Response(_details(principal, cancel(visible_execution(principal, id))))


class ExecutionEventsView(APIView):
    """An execution's events."""

    content_negotiation_class = AnyAccept

    @extend_schema(
        operation_id="executions_events",
        parameters=[OpenApiParameter("after", int), OpenApiParameter("sse_max_bytes", int)],
        responses={(200, "text/event-stream"): ToolEvent, 204: None, 410: ErrorBody, **ERRORS},
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
    return _summary(execution) | {
        "result": without_invisible(principal, execution.result),
        "usage": execution.usage,
        "cost": execution.cost,
        "error": execution.error,
        "trace": execution.trace,
    }


def _summary(execution: Execution) -> dict[str, Any]:
    return {
        "id": execution.pk,
        "execution_id": execution.pk,
        "tool": execution.tool,
        "status": execution.status,
        "inputs": execution.inputs,
        "workspace_id": str(execution.workspace_id),
        "external_user_id": execution.external_user_id,
        "session_id": str(execution.session_id) if execution.session_id else None,
        "created_at": execution.created_at,
        "finished_at": execution.finished_at,
    }
