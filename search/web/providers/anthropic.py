"""The web search built into Anthropic's Messages API.

https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool

A model asks, and cites what it finds: there is no field for count, times or language, and a text only for
what it has cited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

from django.conf import settings
from pydantic import BaseModel

from core.llm.anthropic import KEY_SETTING, is_out_of_credit, messages_request
from core.llm.fencing import harmless
from core.llm.prices import price_of
from search.web import dates
from search.web.base import Hit, Location, Outcome, WebQuery
from search.web.domains import DomainRule, in_all
from search.web.filters import window
from search.web.providers.client import Client, Reply
from search.web.providers.engine import Engine, ResultPage, Text, applied_filters
from search.web.providers.failures import failure

# Newer ones filter results by code of the model's, and may leave them out of the reply.
TOOL = "web_search_20250305"
MAX_TOKENS = 1500
MOST_TURNS = 3
MOST_BLOCKED = 50
"""A deployment may deny hundreds; our own look sees to the rest."""
INSTRUCTIONS = (Path(__file__).parent / "anthropic.v1.md").read_text()
_ERRORS = {
    "invalid_tool_input": Outcome.INVALID_REQUEST,
    "query_too_long": Outcome.INVALID_REQUEST,
    "request_too_large": Outcome.INVALID_REQUEST,
    "too_many_requests": Outcome.RATE_LIMITED,
}


class _Searches(BaseModel):
    web_search_requests: int = 0


class _Usage(BaseModel):
    input_tokens: int = 0
    output_tokens: int = 0
    server_tool_use: _Searches | None = None


class _Turn(BaseModel):
    content: list[dict[str, Any]]
    stop_reason: Text = ""
    usage: _Usage


class _Result(BaseModel):
    title: Text = ""
    url: Text = ""
    page_age: Text = ""
    cited_text: Text = ""


@dataclass
class _Conversation:
    """What the model has said so far, and what that takes."""

    content: list[dict[str, Any]] = field(default_factory=list)
    searches: int = 0
    cost: Decimal = Decimal(0)

    def add(self, turn: _Turn, model: str) -> None:
        self.content += turn.content
        self.searches += turn.usage.server_tool_use.web_search_requests if turn.usage.server_tool_use else 0
        self.cost += _cost(model, turn.usage)


class Anthropic(Engine):
    """A model that searches."""

    name: ClassVar[str] = "anthropic"
    label = "Anthropic"
    price: ClassVar[Decimal] = Decimal("0.01")
    likely_extra: ClassVar[Decimal] = Decimal("0.02")
    key_setting = KEY_SETTING
    address_setting = "ANTHROPIC_BASE_URL"

    async def ask(self, query: WebQuery, client: Client, now: datetime) -> ResultPage:
        """Let the model search once; it may pause in between."""
        said = _Conversation()
        for _ in range(MOST_TURNS):
            turn = await self._turn(query, said, client, now)
            said.add(turn, settings.ANTHROPIC_SEARCH_MODEL)
            if turn.stop_reason != "pause_turn":
                break
        honoured = applied_filters(
            location=query.location, country=_whereabouts(query).get("country") == query.country
        )
        return ResultPage(self._hits(said.content), honoured, said.searches, said.cost)

    def outcome(self, reply: Reply) -> Outcome:
        """Tell an empty account from a bad request, by its words."""
        if is_out_of_credit(reply.status, reply.text):
            return Outcome.QUOTA
        return super().outcome(reply)

    async def _turn(self, query: WebQuery, said: _Conversation, client: Client, now: datetime) -> _Turn:
        messages: list[dict[str, Any]] = [{"role": "user", "content": _request(query, now)}]
        if said.content:
            messages.append({"role": "assistant", "content": said.content})
        body = {
            "model": settings.ANTHROPIC_SEARCH_MODEL,
            "max_tokens": MAX_TOKENS,
            "system": INSTRUCTIONS,
            "messages": messages,
            "tools": [_tool(query)],
        }
        url, headers = messages_request(self.address, self.key)
        return self.read(await client.post_json(url, body, headers=headers), _Turn)

    def _hits(self, content: Sequence[dict[str, Any]]) -> Iterable[Hit]:
        """Return what the searches found, with what the model has cited of it."""
        blocks = [block for block in content if block.get("type") == "web_search_tool_result"]
        if not blocks:
            raise self.misunderstood("the model did not search")
        found = [block.get("content") for block in blocks]
        results = [_Result.model_validate(each) for each in _dicts(found)]
        if not results:
            self._raise_error(found)
        cited = _cited_texts(content)
        return (_hit(result, " … ".join(cited.get(result.url, ()))) for result in results)

    def _raise_error(self, found: Iterable[Any]) -> None:
        """Raise `ProviderFailed` if a search ended with an error, which comes with HTTP 200."""
        codes = [str(each.get("error_code")) for each in found if isinstance(each, dict)]
        if codes:
            raise failure(self.label, _ERRORS.get(codes[0], Outcome.UNAVAILABLE))


def _request(query: WebQuery, now: datetime) -> str:
    """Return the query for the model, with what only it can see to."""
    days = window(query, now)
    lines = [f"Query: {harmless(query.text)}"]
    if days:
        lines.append(f"Published from {days.after or 'any day'} to {days.before or 'today'}.")
    if query.language:
        lines.append(f"Pages in the language with the ISO 639-1 code {query.language}.")
    return "\n".join(lines)


def _tool(query: WebQuery) -> dict[str, Any]:
    tool: dict[str, Any] = {"type": TOOL, "name": "web_search", "max_uses": 1}
    whereabouts = _whereabouts(query)
    return tool | _domains(query) | ({"user_location": whereabouts} if len(whereabouts) > 1 else {})


def _domains(query: WebQuery) -> dict[str, list[str]]:
    """Return one of the lists, since both together are refused: the other is left to our own look."""
    allowed = in_all(query.allow) if query.allow else ()
    if allowed:
        # Suffixes are refused, and a list without them would leave out what is wanted.
        return {} if any(rule.is_suffix for rule in allowed) else {"allowed_domains": _entries(allowed)}
    denied = [rule for rule in query.deny if not rule.is_suffix][:MOST_BLOCKED]
    return {"blocked_domains": _entries(denied)} if denied else {}


def _entries(rules: Iterable[DomainRule]) -> list[str]:
    return [str(rule) for rule in rules]


def _whereabouts(query: WebQuery) -> dict[str, str]:
    location = query.location or Location()
    country = location.country or query.country
    named = {"city": location.city, "region": location.region, "country": country}
    return {"type": "approximate", **{name: value for name, value in named.items() if value}}


def _dicts(lists: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for each in lists:
        if isinstance(each, list):
            yield from (item for item in each if isinstance(item, dict))


def _cited_texts(content: Sequence[dict[str, Any]]) -> dict[str, list[str]]:
    """Return what was cited of each URL, in order, each text once."""
    cited: dict[str, dict[str, None]] = {}
    for citation in _dicts(block.get("citations") for block in content):
        result = _Result.model_validate(citation)
        if result.cited_text:
            cited.setdefault(result.url, {})[result.cited_text] = None
    return {url: list(texts) for url, texts in cited.items()}


def _hit(result: _Result, snippet: str) -> Hit:
    return Hit(result.title, result.url, snippet, published_at=dates.words(result.page_age).day)


def _cost(model: str, usage: _Usage) -> Decimal:
    """Return what the tokens cost, as far as the price list knows the model."""
    return price_of("anthropic", model, usage.input_tokens, usage.output_tokens)
