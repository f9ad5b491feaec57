"""`/v1/responses`, also served at `/v1/agent`."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access.auth import principal_of
from accounts.principal import Principal
from assistants.gateway.conversation import conversation_of
from assistants.gateway.errors import stored_error_response
from assistants.gateway.plan import GatewayRequest, Plan, plan_of
from assistants.gateway.request import ResponsesRequest
from assistants.gateway.response import ResponseFacts, execution_of, response_of
from assistants.gateway.stream import Event, ResponseEvents, ResponseEventsForNode
from assistants.gateway.view import GatewayView, base_url_of, one_line, stream_response, wait_for
from assistants.gateway.wanted_tools import wanted_tools
from core.api.sse import count_stream
from core.api.validation import validated
from core.errors import status_of
from runs.api import HEADER, begin_or_find
from runs.lifecycle import cancel
from runs.models import Execution

OPENAI_FOR_NODE = "OpenAI/JS"
"""How OpenAI's client for Node.js and browsers names itself."""


class ResponsesView(GatewayView):
    """Answers."""

    def post(self, request: Request) -> HttpResponseBase:
        """Answer; `stream: true` with events."""
        body = validated(ResponsesRequest, request.data)
        body.require_supported()
        plan = _plan(principal_of(request), body)
        call = plan.call
        if body.stream:
            count_stream(request, call.principal.user_id)
        execution = begin_or_find(request, call)
        facts = ResponseFacts(execution, plan.model, base_url_of(request), body)
        response: HttpResponseBase
        if body.stream:
            is_node = OPENAI_FOR_NODE in request.headers.get("User-Agent", "")
            events = ResponseEventsForNode(facts) if is_node else ResponseEvents(facts)
            response = stream_response(call.principal, execution, events, _frame)
        else:
            response = _whole(call.principal, facts)
        response[HEADER] = execution.pk
        return response


def _plan(principal: Principal, body: ResponsesRequest) -> Plan:
    conversation = conversation_of(body.input, "input")
    return plan_of(
        principal,
        GatewayRequest(
            conversation,
            wanted_tools(body.tools, body.tool_choice),
            body.names_of_models(),
            body.asker_json(),
            "input",
            body.writing_style(body.instructions_with(conversation.instructions), "instructions"),
        ),
    )


def _whole(principal: Principal, facts: ResponseFacts) -> Response:
    finished = wait_for(principal, facts.execution)
    if finished.error:
        return stored_error_response(finished.error, status_of(finished.error["code"]))
    return Response(response_of(facts, finished, principal))


def _frame(number: int, event: Event) -> bytes:
    kind, data = event
    body = {"type": kind, "sequence_number": number} | data
    return f"event: {kind}\ndata: {one_line(body)}\n\n".encode()


class ResponseView(GatewayView):
    """One response."""

    def get(self, request: Request, id: str) -> Response:
        """Return a response of the caller's own, finished or not."""
        principal = principal_of(request)
        return Response(_read_again(request, principal, execution_of(principal, id)))


class ResponseCancelView(GatewayView):
    """Stop a response."""

    def post(self, request: Request, id: str) -> Response:
        """Cancel a response; one that is finished stays as it is."""
        principal = principal_of(request)
        execution = cancel(execution_of(principal, id))
        response = _read_again(request, principal, execution)
        return Response(response | {"response_id": response["id"]})


def _read_again(request: Request, principal: Principal, execution: Execution) -> dict[str, Any]:
    facts = ResponseFacts(execution, (execution.result or {}).get("model") or "locus", base_url_of(request))
    return response_of(facts, execution, principal)
