"""`/v1/chat/completions`, also served at `/chat/completions`, where Perplexity's client asks."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access.auth import principal_of
from accounts.principal import Principal
from assistants.gateway.completions import (
    CompletionChunks,
    CompletionFacts,
    CompletionsRequest,
    completion_of,
)
from assistants.gateway.conversation import conversation_of
from assistants.gateway.errors import stored_error_response
from assistants.gateway.plan import GatewayRequest, plan_of
from assistants.gateway.usage import usage_of
from assistants.gateway.view import GatewayView, base_url_of, one_line, stream_response, wait_for
from core.api.sse import count_stream
from core.api.validation import validated
from core.errors import status_of
from runs.api import HEADER, begin_or_find
from runs.withholding import shown_result


class CompletionsView(GatewayView):
    """Answers, in the form that most programs speak."""

    def post(self, request: Request) -> HttpResponseBase:
        """Answer the last message; `stream: true` in chunks."""
        body = validated(CompletionsRequest, request.data)
        body.require_supported()
        conversation = conversation_of(body.messages, "messages")
        asked = GatewayRequest(
            conversation,
            body.wanted_tools(),
            [body.model],
            body.asker_json(),
            "messages",
            body.writing_style(conversation.instructions, "messages"),
        )
        plan = plan_of(principal_of(request), asked)
        call = plan.call
        if body.stream:
            count_stream(request, call.principal.user_id)
        execution = begin_or_find(request, call)
        facts = CompletionFacts(execution, plan.model, base_url_of(request))
        response: HttpResponseBase
        if body.stream:
            chunks = CompletionChunks(facts, wants_usage=body.wants_usage)
            response = stream_response(call.principal, execution, chunks, _frame)
        else:
            response = _whole(call.principal, facts)
        response[HEADER] = execution.pk
        return response


def _whole(principal: Principal, facts: CompletionFacts) -> Response:
    finished = wait_for(principal, facts.execution)
    if finished.error:
        return stored_error_response(finished.error, status_of(finished.error["code"]))
    return Response(completion_of(facts, shown_result(principal, finished), usage_of(finished)))


def _frame(number: int, chunk: Any) -> bytes:
    return f"data: {one_line(chunk)}\n\n".encode()
