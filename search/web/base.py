"""Values that pass between the steps of a web search."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import ClassVar, Self

from search.web.domains import DomainRule


class Outcome(StrEnum):
    """How a provider did in one search (contract §6)."""

    OK = "ok"
    EMPTY = "empty"
    INVALID_REQUEST = "invalid_request"
    """It will not take this query; another provider may."""
    RATE_LIMITED = "rate_limited"
    BOT_CHALLENGE = "bot_challenge"
    AUTH = "auth"
    QUOTA = "quota"
    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"
    BAD_RESPONSE = "bad_response"
    """What it said is not what it documents."""


class ProviderFailed(Exception):
    """A provider returned no hits; `message` is for people and contains no key.

    `counts` says whether the circuit breaker counts it (wrong input and wrong keys say nothing about the
    provider's health). `retry_after` is in seconds, if the provider asked for a delay.
    """

    def __init__(
        self, outcome: Outcome, message: str, *, counts: bool = True, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.message = message
        self.counts = counts
        self.retry_after = retry_after


class Refusal(StrEnum):
    """Why there is no page."""

    BLOCKED_URL = "blocked_url"
    UNREACHABLE_URL = "unreachable_url"
    TOO_LARGE = "too_large"
    UNSUPPORTED_TYPE = "unsupported_type"
    ROBOTS_DISALLOWED = "robots_disallowed"
    BOT_WALL = "bot_wall"
    UNREADABLE = "unreadable"
    TIMEOUT = "timeout"


class Recency(StrEnum):
    """How long ago something may have been published."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class DateRange:
    """Days, both ends included; None is open."""

    after: date | None = None
    before: date | None = None

    def __bool__(self) -> bool:
        return self.after is not None or self.before is not None


@dataclass(frozen=True, slots=True)
class Location:
    """Where the person who asks is: ISO 3166-1 alpha-2, names, degrees; coordinates come together or not."""

    country: str | None = None
    region: str | None = None
    city: str | None = None
    latitude: float | None = None
    longitude: float | None = None


@dataclass(frozen=True, slots=True)
class WebQuery:
    """One search, as every provider gets it: validated, its synonyms resolved."""

    text: str
    count: int
    """How many hits are wanted, 1 to 20."""
    recency: Recency | None = None
    published: DateRange = field(default_factory=DateRange)
    updated: DateRange = field(default_factory=DateRange)
    allow: tuple[tuple[DomainRule, ...], ...] = ()
    """A hit must match one rule of each of these lists."""
    deny: tuple[DomainRule, ...] = ()
    prefer: tuple[DomainRule, ...] = ()
    """Hits that match one of these go up, others stay."""
    country: str | None = None
    """ISO 3166-1 alpha-2, upper case."""
    language: str | None = None
    """ISO 639-1, lower case."""
    location: Location | None = None
    max_tokens: int | None = None
    """How much text all hits together may bring, where a provider sends pages; None is for it to choose."""
    max_tokens_per_page: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of a provider; its texts are untrusted until `sanitise_hit` has cleaned them."""

    title: str
    url: str
    snippet: str
    site_name: str | None = None
    published_at: date | None = None
    published_time: datetime | None = None
    """The moment, aware, where more than the day is known."""
    last_updated: date | None = None
    engine: str | None = None
    score: float | None = None
    """As the provider gives it, 0 to 1; null where it only ranks."""


@dataclass(frozen=True, slots=True)
class SearchHits:
    """A provider's answer: its hits, best first, and the filters it ignored."""

    hits: tuple[Hit, ...]
    ignored_filters: tuple[str, ...] = ()
    """Names of `WebQuery` fields that neither the provider nor a look at the hits can honour."""
    calls: int = 1
    """How many calls the provider will bill."""
    extra_cost: Decimal = Decimal(0)
    """US dollars beyond the price of the calls: a model's tokens."""


class Provider(ABC):
    """A search engine on the web. Asynchronous, without state between searches, safe to share."""

    name: ClassVar[str]
    label: ClassVar[str]
    """What people call it; pages know it too (`frontend/src/web-providers.js`)."""
    price: ClassVar[Decimal]
    """US dollars for one call, as its price list says; settings may say otherwise."""
    likely_extra: ClassVar[Decimal] = Decimal(0)
    """US dollars that a search is likely to cost beyond its calls, to reserve them beforehand."""

    @classmethod
    @abstractmethod
    def configured(cls) -> Self | None:
        """Return the provider as the settings describe it, or None where they name no key or address."""

    def most_calls(self, query: WebQuery) -> int:
        """Return how many calls the search may be billed as, at most."""
        return 1

    @abstractmethod
    async def search(self, query: WebQuery) -> SearchHits:
        """Return clean hits that match the query, at most `query.count`; an empty result is no failure.

        Raises `ProviderFailed` if there is no answer.
        """
