"""`/api/v1/tools` and `/api/v1/executions`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import close_old_connections
from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.utils import OpenApiParameter
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.access.right_watch import require_right
from accounts.idempotency import IDEMPOTENCY_KEY, idempotency_key
from accounts.principal import Principal
from core.api.lists import ListQuery, page_of
from core.api.operations import ApiQuery, ReadBody, operation, respond
from core.api.sse import AnyAccept, StreamQuery, count_stream, sse_response
from core.api.validation import DIGITS, decimal_number
from core.errors import ValidationError, status_of
from runs.following import follow, wait_until_ended
from runs.journal import StoredEvent
from runs.lifecycle import (
    cancel,
    cost_of,
    delete_execution,
    is_at_end,
    own_execution,
    require_events,
    visible_execution,
)
from runs.models import Execution, ExecutionStatus
from runs.registry import Tool, offered_tools, tool_named
from runs.request import Call
from runs.schemas import (
    RUN_ERRORS,
    Accepted,
    DeletedExecution,
    DeletedRows,
    Execute,
    ExecutionDetails,
    ExecutionList,
    ExecutionSummary,
    Feedback,
    FeedbackDetails,
    ToolCall,
    ToolDescription,
    ToolEvent,
    ToolList,
    ToolResult,
)
from runs.withholding import hidden_documents, shown_inputs, shown_result, withhold, withhold_trace

HEADER = "X-Execution-Id"


class WorkspaceQuery(ApiQuery):
    """For which workspace tools are described."""

    workspace_id: UUID | None = Field(None, description="By default the caller's own.")


class ToolsQuery(WorkspaceQuery, ListQuery):
    """The same for the list of tools."""


class ExecutionQuery(ListQuery):
    """Which executions are listed."""

    tool: list[str] = Field(default_factory=list, description="Only executions of these tools.")


class EventsQuery(StreamQuery):
    """Which events are replayed."""

    after: Annotated[int, Field(ge=0), DIGITS] = Field(0, description="Only events with higher numbers.")


LAST_EVENT_ID = OpenApiParameter(
    "Last-Event-ID",
    {"type": "integer", "minimum": 0},
    OpenApiParameter.HEADER,
    description="The same, as browsers say it when they come back; goes before `after`.",
)


class ToolsView(APIView):
    """The tools."""

    @operation(
        "tools_list",
        tag="Tools",
        query=ToolsQuery,
        answers={200: ToolList},
        fails=(404,),
    )
    def get(self, request: Request, query: ToolsQuery) -> ToolList:
        """List the tools with their input schemas, and whether a workspace has them switched on."""
        described = partial(_described, principal_of(request), query)
        return page_of(ToolList, offered_tools(), described, request, query)


class ToolView(APIView):
    """One tool."""

    content_negotiation_class = AnyAccept
    # Asking needs no more than reading.
    required_scope = "read"

    @operation("tools_read", tag="Tools", query=WorkspaceQuery, answers={200: ToolDescription}, fails=(404,))
    def get(self, request: Request, name: str, query: WorkspaceQuery) -> ToolDescription:
        """Describe the tool."""
        return _described(principal_of(request), query, tool_named(name))

    @operation(
        "tools_run",
        tag="Tools",
        query=StreamQuery,
        headers=[IDEMPOTENCY_KEY],
        body=ToolCall,
        answers={(200, "application/json"): ToolResult, (200, "text/event-stream"): ToolEvent},
        fails=RUN_ERRORS,
    )
    def post(self, request: Request, name: str, query: StreamQuery) -> HttpResponseBase:
        """Run the tool; `stream: true` answers with Server-Sent Events, else with the result."""
        return reply_to(request, Call.parse(principal_of(request), tool_named(name), request.data), query)


def _described(principal: Principal, query: WorkspaceQuery, tool: Tool) -> ToolDescription:
    return ToolDescription.of(tool, principal, query.workspace_id or principal.default_workspace_id())


def reply_to(request: Request, call: Call, query: StreamQuery) -> HttpResponseBase:
    """Run a tool, and reply with its result or, if the call wants that, with the stream of its events."""
    if call.stream:
        count_stream(request, call.principal.user_id)
    execution = begin_or_find(request, call)
    response: HttpResponseBase
    if call.stream:
        response = sse_response(_replay_events(call.principal, execution, 0), query.sse_max_bytes)
    else:
        response = _result_reply(call, execution)
    response[HEADER] = execution.pk
    return response


def reply_accepted(request: Request, call: Call) -> Response:
    """Start a tool, and reply where to follow it."""
    execution = begin_or_find(request, call)
    details = request.build_absolute_uri(f"/api/v1/executions/{execution.pk}")
    accepted = Accepted(
        execution_id=execution.pk,
        # The initial status, also when the same request comes again.
        status=ExecutionStatus.QUEUED,
        details_url=details,
        stream_url=f"{details}/events",
    )
    return respond(accepted, 202, {HEADER: execution.pk, "Location": details})


def inputs_of(request: Request) -> dict[str, Any]:
    """Return the body `{"inputs": {…}, …}` as the tool itself takes it; raise `ValidationError`."""
    body = request.data if isinstance(request.data, dict) else {}
    rest = {key: value for key, value in body.items() if key != "inputs"}
    inputs = body.get("inputs")
    if not isinstance(inputs, dict):
        raise ValidationError("inputs must be an object.", param="inputs")
    return inputs | rest


def begin_or_find(request: Request, call: Call, *, is_only: bool = True) -> Execution:
    """Return the request's execution: a new one, or that of the same `Idempotency-Key`.

    A request that runs several has no such key.
    """
    key = idempotency_key(request, call.principal, lambda: request.data) if is_only else None
    execution, is_new = call.begin(key)
    if is_new:
        async_to_sync(call.launch)(execution)
    return execution


def _replay_events(
    principal: Principal, execution: Execution, after: int
) -> AsyncIterator[StoredEvent | None]:
    require_events(execution, after)
    return follow(principal, execution.pk, after, settings.SSE_PING_SECS)


def _result_reply(call: Call, execution: Execution) -> Response:
    # Other requests can use the view's connection while a model writes.
    close_old_connections()
    finished = async_to_sync(wait_until_ended)(execution.pk)
    require_right(call.principal)
    if finished.error:
        return Response({"error": finished.error}, status=status_of(finished.error["code"]))
    return Response(shown_result(call.principal, finished))


class ExecuteView(APIView):
    """Run a tool without waiting."""

    required_scope = "read"

    @operation(
        "tools_execute",
        tag="Tools",
        headers=[IDEMPOTENCY_KEY],
        body=Execute,
        answers={202: Accepted},
        fails=RUN_ERRORS,
    )
    def post(self, request: Request, name: str) -> Response:
        """Start the tool with `{"inputs": {…}}` and say where to follow it."""
        call = Call.parse(principal_of(request), tool_named(name), inputs_of(request))
        return reply_accepted(request, call)


class ExecutionsView(APIView):
    """The caller's executions."""

    @operation(
        "executions_list",
        tag="Executions",
        query=ExecutionQuery,
        answers={200: ExecutionList},
        fails=(404,),
    )
    def get(self, request: Request, query: ExecutionQuery) -> ExecutionList:
        """List the caller's executions, newest first: those of the tools that are named, or all."""
        principal = principal_of(request)
        executions = Execution.objects.restricted_to(principal)
        if query.tool:
            executions = executions.filter(tool__in={tool_named(tool).name for tool in query.tool})
        shown = partial(_summary, principal)
        return page_of(ExecutionList, executions, shown, request, query)


class ExecutionView(APIView):
    """One execution."""

    # A user who may ask may also delete the answers.
    required_scope = "read"

    @operation("executions_read", tag="Executions", answers={200: ExecutionDetails}, fails=(404,))
    def get(self, request: Request, id: str) -> Response:
        """Return status, inputs, result, usage, cost, error and trace."""
        principal = principal_of(request)
        return _details(principal, visible_execution(principal, id))

    @operation("executions_delete", tag="Executions", answers={200: DeletedExecution}, fails=(404,))
    def delete(self, request: Request, id: str) -> DeletedExecution:
        """Delete the execution with its events, cancelled first if it is running; return a receipt."""
        rows = delete_execution(own_execution(principal_of(request), id))
        return DeletedExecution(deleted=DeletedRows(**rows))


class ExecutionCancelView(APIView):
    """Stop an execution."""

    required_scope = "read"

    @operation(
        "executions_cancel",
        tag="Executions",
        answers={200: ExecutionDetails},
        fails=(404,),
    )
    def post(self, request: Request, id: str) -> Response:
        """Cancel the execution; a finished one stays as it is."""
        principal = principal_of(request)
        return _details(principal, cancel(own_execution(principal, id)))


class ExecutionFeedbackView(APIView):
    """What the person who asked says of an answer."""

    required_scope = "read"

    @operation(
        "executions_feedback",
        tag="Executions",
        body=Feedback,
        answers={200: FeedbackDetails},
        fails=(404,),
    )
    def put(self, request: Request, id: str, read_body: ReadBody[Feedback]) -> FeedbackDetails:
        """Rate the answer; it replaces an earlier rating, and is kept with the trace."""
        execution = own_execution(principal_of(request), id)
        execution.feedback = read_body().as_column()
        execution.save(update_fields=["feedback"])
        return FeedbackDetails.model_validate(execution.feedback)

    @operation("executions_feedback_delete", tag="Executions", answers={204: None}, fails=(404,))
    def delete(self, request: Request, id: str) -> HttpResponse:
        """Take the rating back."""
        execution = own_execution(principal_of(request), id)
        execution.feedback = None
        execution.save(update_fields=["feedback"])
        return HttpResponse(status=204)


class ExecutionEventsView(APIView):
    """An execution's events."""

    content_negotiation_class = AnyAccept

    @operation(
        "executions_events",
        address_token=True,
        tag="Executions",
        query=EventsQuery,
        headers=[LAST_EVENT_ID],
        answers={(200, "text/event-stream"): ToolEvent, 204: None},
        fails=(404, 410),
    )
    def get(self, request: Request, id: str, query: EventsQuery) -> HttpResponseBase:
        """Replay the events after `Last-Event-ID` or `?after=`, then follow.

        204 if there are no more; 410 `events_expired` if they are no longer kept.
        """
        principal = principal_of(request)
        execution = visible_execution(principal, id)
        after = _after(request, query)
        if is_at_end(execution, after):
            return HttpResponse(status=204)
        count_stream(request, principal.user_id)
        response = sse_response(_replay_events(principal, execution, after), query.sse_max_bytes)
        response[HEADER] = execution.pk
        return response


def _after(request: Request, query: EventsQuery) -> int:
    last = request.headers.get("Last-Event-ID")
    number = query.after if last is None else decimal_number(last)
    if number is None:
        raise ValidationError("Last-Event-ID must be a sequence number.", param="Last-Event-ID")
    return number


def _details(principal: Principal, execution: Execution) -> Response:
    hidden = hidden_documents(principal, execution.read_documents)
    # As the tool's models wrote them when the run ended, perhaps in an earlier version.
    is_own = execution.user_id == principal.user_id
    stored = {
        "result": withhold(execution.result, hidden),
        "usage": execution.usage,
        "error": execution.error,
        "feedback": execution.feedback if is_own else None,
        "trace": withhold_trace(execution.trace, hidden),
    }
    return Response(_summary(principal, execution).as_json() | stored | {"cost": cost_of(execution)})


def _summary(principal: Principal, execution: Execution) -> ExecutionSummary:
    return ExecutionSummary(
        id=execution.pk,
        execution_id=execution.pk,
        tool=execution.tool,
        status=ExecutionStatus(execution.status),
        inputs=shown_inputs(principal, execution),
        workspace_id=execution.workspace_id,
        external_user_id=execution.external_user_id,
        session_id=execution.session_id,
        created_at=execution.created_at,
        finished_at=execution.finished_at,
    )
