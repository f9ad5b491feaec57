"""`/api/v1/tools` and `/api/v1/executions`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.conf import settings
from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.auth import parsed_session_id, principal_of
from accounts.errors import ValidationError
from accounts.identity import in_session
from accounts.principal import Principal
from accounts.rest import CursorLists, refuse_unknown_query, uuid_param
from kb.sse import AnyAccept, sse_max_bytes, sse_response
from search.executions import (
    begin,
    cancel,
    follow,
    launch,
    run_to_end,
    visible_execution,
    without_invisible,
)
from search.models import Execution, ExecutionStatus
from search.tools import TOOLS, Tool, ToolInput, tool_named

HEADER = "X-Execution-Id"


class ToolsView(APIView):
    """The tools."""

    @extend_schema(operation_id="tools_list", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """List the tools with their input schemas."""
        return Response(
            {"results": [tool.describe() for tool in TOOLS.values()], "next": None, "previous": None}
        )


@dataclass(frozen=True)
class Call:
    """A validated request to run a tool."""

    principal: Principal
    tool: Tool
    inputs: ToolInput
    workspace_id: UUID | None
    stream: bool

    @classmethod
    def read(cls, request: Request, tool: Tool, body: Any) -> Call:
        """Take apart a body that mixes a tool's inputs with the fields every tool accepts."""
        if not isinstance(body, dict):
            raise ValidationError("The body must be a JSON object.")
        inputs = dict(body)
        stream = inputs.pop("stream", False)
        if not isinstance(stream, bool):
            raise ValidationError("stream must be true or false.", param="stream")
        principal = _speaking_for(principal_of(request), inputs)
        workspace = inputs.pop("workspace_id", None)
        workspace_id = uuid_param("workspace_id", str(workspace)) if workspace is not None else None
        return cls(principal, tool, tool.parse(principal, inputs), workspace_id, stream)

    def begin(self) -> Execution:
        """Create the execution."""
        return begin(self.principal, self.tool, self.inputs, self.workspace_id)


def _speaking_for(principal: Principal, inputs: dict[str, Any]) -> Principal:
    external_user_id, session_id = inputs.pop("external_user_id", None), inputs.pop("session_id", None)
    if external_user_id is not None and not isinstance(external_user_id, str):
        raise ValidationError("external_user_id must be a string.", param="external_user_id")
    principal = principal.for_external_user(external_user_id)
    return principal if session_id is None else in_session(principal, parsed_session_id(str(session_id)))


class ToolView(APIView):
    """One tool."""

    content_negotiation_class = AnyAccept
    # Asking needs no more than reading.
    required_scope = "read"

    @extend_schema(operation_id="tools_read", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, name: str) -> Response:
        """Describe the tool."""
        return Response(tool_named(name).describe())

    @extend_schema(
        operation_id="tools_run",
        request=OpenApiTypes.OBJECT,
        responses={200: OpenApiTypes.OBJECT, (200, "text/event-stream"): str},
    )
    def post(self, request: Request, name: str) -> HttpResponseBase:
        """Run the tool; `stream: true` answers with Server-Sent Events, else with the result."""
        call = Call.read(request, tool_named(name), request.data)
        max_bytes = sse_max_bytes(request)
        execution = call.begin()
        response = _streamed(call, execution, max_bytes) if call.stream else _answered(call, execution)
        response[HEADER] = execution.pk
        return response


def _streamed(call: Call, execution: Execution, max_bytes: int) -> HttpResponseBase:
    async_to_sync(launch)(call.principal, call.tool, call.inputs, execution)
    return sse_response(follow(call.principal, execution.pk, 0, settings.SSE_PING_SECS), max_bytes)


def _answered(call: Call, execution: Execution) -> Response:
    finished = async_to_sync(run_to_end)(call.principal, call.tool, call.inputs, execution)
    if finished.status == ExecutionStatus.COMPLETED:
        return Response(finished.result)
    return Response({"error": finished.error}, status=500)


class ExecuteView(APIView):
    """Run a tool without waiting."""

    required_scope = "read"

    @extend_schema(
        operation_id="tools_execute", request=OpenApiTypes.OBJECT, responses={202: OpenApiTypes.OBJECT}
    )
    def post(self, request: Request, name: str) -> Response:
        """Start the tool with `{"inputs": {…}}` and say where to follow it."""
        body = request.data if isinstance(request.data, dict) else {}
        rest = {key: value for key, value in body.items() if key != "inputs"}
        inputs = body.get("inputs")
        if not isinstance(inputs, dict):
            raise ValidationError("inputs must be an object.", param="inputs")
        call = Call.read(request, tool_named(name), inputs | rest)
        execution = call.begin()
        async_to_sync(launch)(call.principal, call.tool, call.inputs, execution)
        details = request.build_absolute_uri(f"/api/v1/executions/{execution.pk}")
        return Response(
            {
                "execution_id": execution.pk,
                "status": execution.status,
                "details_url": details,
                "stream_url": f"{details}/events",
            },
            status=202,
            headers={HEADER: execution.pk},
        )


class ExecutionsView(APIView):
    """The caller's executions."""

    @extend_schema(
        operation_id="executions_list", parameters=[OpenApiParameter("tool")], responses=OpenApiTypes.OBJECT
    )
    def get(self, request: Request) -> Response:
        """List the caller's executions, newest first."""
        refuse_unknown_query(request, frozenset({"tool"}))
        executions = Execution.objects.restricted_to(principal_of(request))
        if "tool" in request.query_params:
            executions = executions.filter(tool=tool_named(request.query_params["tool"]).name)
        pages = CursorLists()
        rows = pages.paginate_queryset(executions, request, self)
        return pages.get_paginated_response([_summary(execution) for execution in rows or []])


class ExecutionView(APIView):
    """One execution."""

    @extend_schema(operation_id="executions_read", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, id: str) -> Response:
        """Return status, inputs and result."""
        principal = principal_of(request)
        execution = visible_execution(principal, id)
        result = without_invisible(principal, execution.result)
        return Response(_summary(execution) | {"result": result, "error": execution.error})


class CancelView(APIView):
    """Stop an execution."""

    required_scope = "read"

    @extend_schema(operation_id="executions_cancel", request=None, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, id: str) -> Response:
        """Cancel the execution; a finished one stays as it is."""
        principal = principal_of(request)
        execution = cancel(visible_execution(principal, id))
        result = without_invisible(principal, execution.result)
        return Response(_summary(execution) | {"result": result, "error": execution.error})


class ExecutionEventsView(APIView):
    """An execution's events."""

    content_negotiation_class = AnyAccept

    @extend_schema(
        operation_id="executions_events",
        parameters=[OpenApiParameter("after", int), OpenApiParameter("sse_max_bytes", int)],
        responses={(200, "text/event-stream"): str, 204: None},
    )
    def get(self, request: Request, id: str) -> HttpResponseBase:
        """Replay the events after `Last-Event-ID` or `?after=`, then follow; 204 if there are no more."""
        principal = principal_of(request)
        execution = visible_execution(principal, id)
        after = _after(request)
        if execution.finished_at and after >= execution.events.count():
            return HttpResponse(status=204)
        response = sse_response(
            follow(principal, execution.pk, after, settings.SSE_PING_SECS), sse_max_bytes(request)
        )
        response[HEADER] = execution.pk
        return response


def _after(request: Request) -> int:
    name, value = "Last-Event-ID", request.headers.get("Last-Event-ID")
    if value is None:
        name, value = "after", request.query_params.get("after", "0")
    if not value.isdecimal():
        raise ValidationError(f"{name} must be a sequence number.", param=name)
    return int(value)


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
