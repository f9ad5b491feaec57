"""Common parts of all search engines: a deadline, clean hits that match the query, classified failures."""

from __future__ import annotations

import asyncio
import logging
import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Self, TypeVar

from django.conf import settings
from pydantic import BaseModel, BeforeValidator
from pydantic import ValidationError as PydanticError

from search.web.base import Hit, Outcome, Provider, ProviderFailed, Recency, SearchHits, WebQuery
from search.web.filters import apply_filters, can_match
from search.web.providers.client import Client, Reply
from search.web.providers.failures import failure, outcome_of
from search.web.sanitise import clean_text, sanitise_hit

MOST_HITS = 20
LONGEST_CAUSE_BYTES = 300

Shape = TypeVar("Shape", bound=BaseModel)
# One field of one hit that is not what it should be must not cost the other hits.
Text = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]
Number = Annotated[float | None, BeforeValidator(lambda value: value if _is_number(value) else None)]
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ResultPage:
    """What an engine's reply holds: its hits as they came, and the fields of the query it has applied."""

    hits: Iterable[Hit]
    """May be made as they are read, which is done outside the event loop."""
    honoured: frozenset[str] = frozenset()
    calls: int = 1
    extra_cost: Decimal = Decimal(0)


class Engine(Provider):
    """A provider that is asked over HTTP. A subclass makes requests of queries, and hits of replies."""

    key_setting: ClassVar[str]
    address_setting: ClassVar[str]
    most_chars: ClassVar[int | None] = None
    most_words: ClassVar[int | None] = None

    def __init__(self, address: str, key: str = "") -> None:
        self.address = address.rstrip("/")
        self.key = key

    @classmethod
    def configured(cls) -> Self | None:
        """Return the engine if the settings hold its key."""
        key: str = getattr(settings, cls.key_setting)
        return cls(getattr(settings, cls.address_setting), key) if key else None

    async def search(self, query: WebQuery) -> SearchHits:
        """Ask within `WEB_SEARCH_TIMEOUT_SECS`; what nothing can match costs no call."""
        now = datetime.now(UTC)
        if not can_match(query, now):
            return SearchHits((), calls=0)
        self._check_length(query.text)
        try:
            async with asyncio.timeout(settings.WEB_SEARCH_TIMEOUT_SECS), Client(self.label) as client:
                page = await self.ask(query, client, now)
        except TimeoutError:
            raise failure(self.label, Outcome.TIMEOUT) from None
        return await asyncio.to_thread(self._found, query, page, now)

    @abstractmethod
    async def ask(self, query: WebQuery, client: Client, now: datetime) -> ResultPage:
        """Return what the engine finds; raise `ProviderFailed` if it does not answer."""

    def outcome(self, reply: Reply) -> Outcome:
        """Return what a reply means whose status is not 200."""
        return outcome_of(reply.status)

    def retry_after(self, reply: Reply) -> float | None:
        """Return in how many seconds the engine wants to be asked again, if it says so."""
        return reply.retry_after

    @property
    def secrets(self) -> Sequence[str]:
        """Texts that must never be shown, even if the engine repeats them."""
        return [self.key] if self.key else []

    def failed(self, reply: Reply) -> ProviderFailed:
        """Return the error for a reply that is a failure; the engine's message goes to the log."""
        logger.warning("%s answered HTTP %d: %s", self.label, reply.status, self._cause(reply.text))
        return failure(
            self.label,
            self.outcome(reply),
            f"HTTP {reply.status}",
            retry_after=self.retry_after(reply),
        )

    def read(self, reply: Reply, shape: type[Shape]) -> Shape:
        """Return a reply of status 200 in the shape it should have; raise `ProviderFailed` otherwise."""
        if reply.status != 200:
            raise self.failed(reply)
        try:
            return shape.model_validate(reply.json())
        except PydanticError as error:
            raise self.misunderstood(str(error.errors(include_input=False, include_url=False)[0])) from None
        except ValueError as error:
            raise self.misunderstood(f"not JSON: {error}") from None

    def misunderstood(self, problem: str) -> ProviderFailed:
        """Return the error for a reply that is not what the engine documents."""
        logger.warning("%s: %s", self.label, self._cause(problem))
        return failure(self.label, Outcome.BAD_RESPONSE)

    def _check_length(self, text: str) -> None:
        too_long = self.most_chars is not None and len(text) > self.most_chars
        if too_long or (self.most_words is not None and len(text.split()) > self.most_words):
            words = f" and {self.most_words} words" if self.most_words else ""
            raise failure(
                self.label, Outcome.INVALID_REQUEST, f"at most {self.most_chars} characters{words} long"
            )

    def _found(self, query: WebQuery, page: ResultPage, now: datetime) -> SearchHits:
        hits = tuple(hit for each in page.hits if (hit := sanitise_hit(each)))
        found = SearchHits(hits, calls=page.calls, extra_cost=page.extra_cost)
        return apply_filters(query, found, page.honoured, now)

    def _cause(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, "…")
        return clean_text(text, LONGEST_CAUSE_BYTES)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def hits_to_request(query: WebQuery) -> int:
    """Return how many hits to request if more cost nothing: the maximum if some may be filtered out."""
    looked_at: Any = query.allow or query.deny or query.prefer or query.updated
    return MOST_HITS if looked_at or query.published or query.recency else query.count


def applied_times(query: WebQuery) -> frozenset[str]:
    """Return which filters of times an engine has applied that knows days and ranges, but no hours."""
    return frozenset({"published"} if query.recency is Recency.HOUR else {"published", "recency"})


def applied_filters(**fields: object) -> frozenset[str]:
    """Return the names of those fields of the query for which something was sent."""
    return frozenset(name for name, sent in fields.items() if sent)
