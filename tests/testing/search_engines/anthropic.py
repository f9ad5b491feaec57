"""Anthropic's Messages API with its built-in web search: `POST /v1/messages`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from tests.testing.search_engines.pages import at_any, at_none
from tests.testing.search_engines.server import Failure, ProviderDouble, Refused, Reply, Request

Domain = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.:_-]*(/\S*)?$")]


class UserLocation(BaseModel):
    model_config = ConfigDict(extra="forbid")

    type: Literal["approximate"]
    city: str | None = None
    region: str | None = None
    country: Annotated[str, Field(pattern="^[A-Z]{2}$")] | None = None
    timezone: str | None = None


class Tool(BaseModel):
    model_config = ConfigDict(extra="forbid")

    type: Literal["web_search_20250305"]
    name: Literal["web_search"]
    max_uses: Annotated[int, Field(ge=1)]
    allowed_domains: Annotated[list[Domain], Field(min_length=1)] | None = None
    blocked_domains: Annotated[list[Domain], Field(min_length=1)] | None = None
    user_location: UserLocation | None = None

    @model_validator(mode="after")
    def _one_list(self) -> Self:
        assert not (self.allowed_domains and self.blocked_domains)
        return self


class Message(BaseModel):
    role: Literal["user", "assistant"]
    content: str | list[dict[str, Any]]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    model: str
    max_tokens: Annotated[int, Field(ge=1)]
    system: str = ""
    messages: Annotated[list[Message], Field(min_length=1)]
    tools: Annotated[list[Tool], Field(min_length=1, max_length=1)]


@dataclass
class AnthropicDouble(ProviderDouble):
    pauses: int = 0
    """How often the model pauses before it is done."""
    searches: bool = True
    """Whether the model cares to search."""

    name: ClassVar[str] = "anthropic"
    method: ClassVar[str] = "POST"
    path: ClassVar[str] = "/v1/messages"

    def answer(self, request: Request) -> Reply:
        if request.headers.get("x-api-key") != self.key:
            return self._error(401, "authentication_error", "invalid x-api-key")
        if request.headers.get("anthropic-version") != "2023-06-01":
            raise Refused("anthropic-version: header is required")
        body = request.read(Body)
        said = body.messages[1].content if len(body.messages) > 1 else []
        if said != self._paused() * (len(said) // 2):
            raise Refused("the assistant's content has to come back as it was")
        if len(said) // 2 < self.pauses:
            return self._turn(self._paused(), "pause_turn", searches=0)
        return self._turn(self._found(body.tools[0]), "end_turn", searches=int(self.searches))

    def refusal(self, problem: str) -> Reply:
        return self._error(400, "invalid_request_error", problem)

    def failure(self, failure: Failure) -> Reply | None:
        match failure:
            case Failure.RATE_LIMITED:
                return self._error(429, "rate_limit_error", "Too many requests.", {"retry-after": "9"})
            case Failure.QUOTA:
                text = "Your credit balance is too low to access the Anthropic API."
                return self._error(400, "invalid_request_error", text)
            case Failure.BAD_KEY:
                return self._error(401, "authentication_error", "invalid x-api-key")
            case Failure.FORBIDDEN:
                return self._error(403, "permission_error", "Web search is not enabled.")
            case Failure.INVALID:
                return self._error(413, "request_too_large", "Request exceeds the maximum size.")
            case Failure.ERROR_IN_200:
                return self.search_error("unavailable")
            case Failure.OVERLOADED:
                return self._error(529, "overloaded_error", "Overloaded")
        return None

    def search_error(self, code: str) -> Reply:
        """Reply with an error of the search, which comes with HTTP 200."""
        error = {"type": "web_search_tool_result_error", "error_code": code}
        block = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": error}
        return self._turn([block], "end_turn", searches=0)

    def _paused(self) -> list[dict[str, Any]]:
        use = {"type": "server_tool_use", "id": "srvtoolu_0", "name": "web_search", "input": {"query": "tea"}}
        return [{"type": "text", "text": "One moment."}, use]

    def _found(self, tool: Tool) -> list[dict[str, Any]]:
        if not self.searches:
            return [{"type": "text", "text": "I know that without a search."}]
        found = at_none(self.pages, tool.blocked_domains or [])
        if tool.allowed_domains:
            found = at_any(found, tool.allowed_domains)
        results = [
            {
                "type": "web_search_result",
                "url": page.url,
                "title": page.title,
                "page_age": page.published and page.published.strftime("%B %d, %Y"),
                "encrypted_content": "Eq…",
            }
            for page in found
        ]
        citations = [
            {
                "type": "web_search_result_location",
                "url": page.url,
                "title": page.title,
                "cited_text": page.snippet,
                "encrypted_index": "Eo…",
            }
            for page in found
            if page.snippet
        ]
        return [
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tea"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": results},
            *({"type": "text", "text": "So it is.", "citations": [each]} for each in citations),
        ]

    def _turn(self, content: list[dict[str, Any]], reason: str, *, searches: int) -> Reply:
        usage = {
            "input_tokens": 6000,
            "output_tokens": 900,
            "server_tool_use": {"web_search_requests": searches, "web_fetch_requests": 0},
        }
        return Reply(200, {"content": content, "stop_reason": reason, "usage": usage})

    def _error(self, status: int, kind: str, text: str, headers: dict[str, str] | None = None) -> Reply:
        error = {"type": kind, "message": text + self.said_besides}
        return Reply(status, {"type": "error", "error": error, "request_id": "req_1"}, headers or {})
