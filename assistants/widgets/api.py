"""What a widget's script asks, with a token of that widget, from a site that may embed it."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from pydantic import BaseModel, ConfigDict, Field
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access.auth import WidgetAuthentication, principal_of
from accounts.access.throttling import AttemptLimit, Bucket, take
from accounts.models import Session
from accounts.principal import Principal
from assistants.configuration.resolving import as_configured, version_of
from assistants.models import Binding, BindingKind
from assistants.thread import ThreadView, messages_of
from assistants.widgets.cross_origin import add_headers, allowed_origin
from assistants.widgets.visitors import begun_conversation, conversation_of, visible_binding
from core.api.sse import AnyAccept, StreamQuery
from core.api.validation import validated
from core.errors import Forbidden, NotFound
from kb.api.files import page_image
from kb.api.finding import visible_chunk
from runs.api import reply_to
from runs.lifecycle import cancel, own_execution
from runs.models import CHAT, Execution, ExecutionStatus
from runs.registry import tool_named
from runs.request import Call
from runs.withholding import shown_result
from search.inputs import QueryText

VISITORS_QUESTIONS = AttemptLimit("questions of a widget's visitor", 10, 6)
"""Ten at once, and then ten a minute; the key's owner has the limits of all runs besides."""
MOST_MESSAGES = 50
PAGE_WIDTH = 800


class WidgetQuestion(BaseModel):
    """What a visitor asks."""

    model_config = ConfigDict(extra="forbid")

    content: QueryText


class StoppedRun(BaseModel):
    """Which run a visitor stops."""

    model_config = ConfigDict(extra="forbid")

    execution_id: Annotated[str, Field(max_length=100)]


class WidgetView(APIView):
    """An address of a widget: its token, its sites, and nothing else."""

    authentication_classes = [WidgetAuthentication]
    content_negotiation_class = AnyAccept
    required_scope = "read"
    # For one script of ours, that comes with it.
    schema = None
    binding: Binding

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer preflights, and let the pages of allowed sites read replies, errors included."""
        self._origin = allowed_origin(request, kwargs["id"])
        is_preflight = request.method == "OPTIONS"
        response: HttpResponseBase = (
            HttpResponse(status=204) if is_preflight else super().dispatch(request, *args, **kwargs)
        )
        add_headers(response, self._origin, preflight=is_preflight)
        return response

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raise `NotFound` for another widget than the token's, `Forbidden` for a site that may not ask."""
        super().initial(request, *args, **kwargs)
        principal, id = principal_of(request), kwargs["id"]
        if principal.binding_id != id:
            raise NotFound
        self.binding = visible_binding(principal, id)
        if self.binding.kind != BindingKind.WIDGET:
            raise NotFound
        if self._origin is None:
            raise Forbidden("This site may not embed the widget.")


class WidgetConfigView(WidgetView):
    """What the script shows before a question."""

    def get(self, request: Request, id: UUID) -> Response:
        """Return the assistant's name, its questions to begin with, and the conversation's id."""
        principal, assistant = principal_of(request), self.binding.assistant
        found = as_configured(assistant, version_of(assistant, assistant.version), self.binding)
        return Response(
            {
                "name": assistant.name,
                "description": assistant.description,
                "starters": found.settings.starters,
                "session_id": str(principal.session_id),
            }
        )


class WidgetMessagesView(WidgetView):
    """The visitor's conversation."""

    def get(self, request: Request, id: UUID) -> Response:
        """Return the newest messages with their answers, oldest first."""
        principal = principal_of(request)
        session = conversation_of(principal)
        return Response({"results": _shown(principal, session) if session else []})

    def post(self, request: Request, id: UUID) -> HttpResponseBase:
        """Ask, and answer with the events of `chat`. The first question begins the conversation."""
        principal = principal_of(request)
        question = validated(WidgetQuestion, request.data)
        take(Bucket.of(VISITORS_QUESTIONS, str(id), principal.external_user_id or ""))
        session = begun_conversation(principal, self.binding)
        body = {"content": question.content, "session_id": str(session.pk), "stream": True}
        return reply_to(request, Call.parse(principal, tool_named(CHAT), body), StreamQuery())


def _shown(principal: Principal, session: Session) -> list[dict[str, Any]]:
    rows = list(messages_of(principal, session).order_by("-created_at", "-id")[:MOST_MESSAGES])
    view = ThreadView.of(principal, session)
    return [view.shown(row) for row in reversed(rows)]


class WidgetStopView(WidgetView):
    """Stops an answer."""

    def post(self, request: Request, id: UUID) -> Response:
        """Cancel a run of the visitor's conversation; a finished one stays as it is."""
        principal = principal_of(request)
        stopped = validated(StoppedRun, request.data)
        execution = own_execution(principal, stopped.execution_id)
        if execution.session_id != principal.session_id:
            raise NotFound
        return Response({"status": cancel(execution).status})


class WidgetPlaceView(WidgetView):
    """A place that an answer of this conversation has cited."""

    def get(self, request: Request, id: UUID, chunk_id: UUID) -> Response:
        """Return the passage with the quotes and their boxes; 404 for a passage that was not cited."""
        principal = principal_of(request)
        cited = cited_context(principal, chunk_id)
        chunk = visible_chunk(principal, str(chunk_id))
        shown = ("document_name", "page_number", "start_time", "end_time", "quotes", "place")
        place = {name: cited.get(name) for name in shown}
        return Response(place | {"text": chunk.text, "has_page": bool(_page_of(cited))})


class WidgetPageView(WidgetView):
    """The page of such a place, as a picture."""

    def get(self, request: Request, id: UUID, chunk_id: UUID) -> HttpResponseBase:
        """Return the page of the first quote as PNG."""
        principal = principal_of(request)
        page = _page_of(cited_context(principal, chunk_id))
        if page is None:
            raise NotFound
        document = visible_chunk(principal, str(chunk_id)).document
        return page_image(request, principal, document, page, PAGE_WIDTH)


def cited_context(principal: Principal, chunk_id: UUID) -> dict[str, Any]:
    """Return the context that an answer of the principal's conversation has cited, or raise `NotFound`."""
    session = conversation_of(principal)
    if session is None:
        raise NotFound
    own = Execution.objects.restricted_to(principal).filter(session=session)
    answers = own.filter(status=ExecutionStatus.COMPLETED)
    for execution in answers.filter(result__contexts__contains=[{"chunk_id": str(chunk_id)}]):
        result = shown_result(principal, execution)
        for context in result.get("contexts") or ():
            is_cited = context.get("used_in_response") and not context.get("unavailable")
            if is_cited and context["chunk_id"] == str(chunk_id):
                found: dict[str, Any] = context
                return found
    raise NotFound


def _page_of(context: dict[str, Any]) -> int | None:
    """Return the page of a citation's first box; None where it has no box."""
    boxes = [box for quote in context["quotes"] or () for box in quote["bbox"] or ()]
    return boxes[0]["page_number"] if boxes else None
