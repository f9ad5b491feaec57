"""What `web_search` takes: every documented name of every filter, and what they come to (contract §6).

The same filter has several names, and may stand at the top or in `filters`. Names that say the same agree;
names that contradict each other are a `Conflict`, since either could be what is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal, Self

import langcodes
from django.conf import settings
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)

from accounts.principal import Principal
from core.errors import Conflict, ValidationError
from search.inputs import QueryText
from search.web.base import DateRange, Location, Recency, WebQuery
from search.web.domains import DomainRule
from search.web.filters import deployment_list
from search.web.providers.countries import COUNTRIES
from search.web.providers.registry import offered_names

MOST_DOMAINS = 20
MOST_TOKENS, MOST_TOKENS_PER_PAGE = 100_000, 20_000
"""The largest budgets that are taken: more than any model reads well, and little enough to count."""
TOKENS = {"low": (300, 300), "medium": (1000, 1000), "high": (4000, 4000)}
"""`max_tokens` and `max_tokens_per_page` that `search_context_size` stands for."""
_AMERICAN = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
# Which names a field of `WebQuery` comes from.
_NAMES = {
    "recency": ("time_range", "freshness", "search_recency_filter"),
    "published": ("search_after_date_filter", "search_before_date_filter"),
    "updated": ("last_updated_after_filter", "last_updated_before_filter"),
    "country": ("country",),
    "language": ("language",),
    "location": ("user_location",),
}


# --- Values ----------------------------------------------------------------------------------------------


def _day(value: object) -> object:
    """Read `MM/DD/YYYY` or ISO 8601; of a moment the day in UTC counts."""
    if type(value) is date:
        return value
    if not isinstance(value, str):
        raise ValueError("must be a date as text")
    try:
        if american := _AMERICAN.fullmatch(value.strip()):
            month, day, year = map(int, american.groups())
            return date(year, month, day)
        moment = datetime.fromisoformat(value.strip())
        return (moment.astimezone(UTC) if moment.tzinfo else moment).date()
    except (ValueError, OverflowError):
        raise ValueError("must be a date as MM/DD/YYYY or as ISO 8601 writes it") from None


def _country(value: str) -> str:
    code = {"UK": "GB"}.get(value.upper(), value.upper())
    if code not in COUNTRIES:
        raise ValueError("must be a country's code of two letters (ISO 3166-1)")
    return code


def _language(value: str) -> str:
    """Return the two letters of a language: `en` for `EN` and `eng`."""
    try:
        code = langcodes.standardize_tag(value)
    except ValueError:
        code = ""
    if len(code) != 2 or not langcodes.tag_is_valid(code):
        raise ValueError("must be a language's code of two letters (ISO 639-1)")
    return code


def _name(value: str) -> str:
    if not value.isprintable() or not value.strip():
        raise ValueError("must be a name")
    return value.strip()


def _domain(value: str) -> str:
    DomainRule.parse(value)
    return value


def _signed_domain(value: str) -> str:
    DomainRule.parse(value.removeprefix("-"))
    return value


def _provider(value: str) -> str:
    names = offered_names()
    if value not in names:
        raise ValueError(f"must be one of {', '.join(names)}")
    return value


Domain = Annotated[str, AfterValidator(_domain)]
SignedDomain = Annotated[str, AfterValidator(_signed_domain)]
Day = Annotated[date, BeforeValidator(_day), WithJsonSchema({"type": "string"})]
Country = Annotated[str, AfterValidator(_country)]
Language = Annotated[str, AfterValidator(_language)]
PlaceName = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_name)]
Tokens = Annotated[int, Field(ge=1, le=MOST_TOKENS, strict=True)]
TokensPerPage = Annotated[int, Field(ge=1, le=MOST_TOKENS_PER_PAGE, strict=True)]


# --- Shapes ----------------------------------------------------------------------------------------------


class UserLocation(BaseModel):
    """Where the person is who asks."""

    model_config = ConfigDict(extra="forbid")

    country: Country | None = Field(None, description="ISO 3166-1 alpha-2, as `US`.")
    region: PlaceName | None = Field(None, description="A region or state, as `California`.")
    city: PlaceName | None = None
    latitude: float | None = Field(None, ge=-90, le=90, strict=True, allow_inf_nan=False)
    longitude: float | None = Field(None, ge=-180, le=180, strict=True, allow_inf_nan=False)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.latitude is None) != (self.longitude is None):
            raise ValueError("latitude and longitude go together")
        if self.latitude is not None and self.country is None:
            raise ValueError("latitude and longitude need country")
        return self


class WebFilters(BaseModel):
    """Which pages count, all conditions together."""

    model_config = ConfigDict(extra="forbid")

    time_range: Literal["day", "month", "year", "none"] | None = Field(
        None, description="How old a page may be; only where a time is asked for."
    )
    freshness: Recency | None = Field(None, description="How old a page may be.")
    search_recency_filter: Recency | None = Field(None, description="How old a page may be.")
    search_after_date_filter: Day | None = Field(None, description="Published that day or later: MM/DD/YYYY.")
    search_before_date_filter: Day | None = Field(None, description="Published by that day: MM/DD/YYYY.")
    last_updated_after_filter: Day | None = Field(None, description="Changed that day or later: MM/DD/YYYY.")
    last_updated_before_filter: Day | None = Field(None, description="Last changed by that day: MM/DD/YYYY.")
    whitelisted_domains: list[Domain] | None = Field(
        None,
        min_length=1,
        max_length=MOST_DOMAINS,
        description="Only pages of these: a host, as `example.org`, a suffix, as `.gov`, or how URLs begin.",
    )
    search_domain_filter: list[SignedDomain] | None = Field(
        None,
        min_length=1,
        max_length=MOST_DOMAINS,
        description="Only pages of these domains, or, each with a leading `-`, none of these.",
    )
    country: Country | None = Field(None, description="Pages for this country: ISO 3166-1 alpha-2, as `US`.")
    language: Language | None = Field(None, description="Pages in this language: ISO 639-1, as `en`.")
    user_location: UserLocation | None = Field(None, description="Where the person is who asks.")

    @model_validator(mode="after")
    def _one_kind_of_list(self) -> Self:
        entries = self.search_domain_filter or []
        if len({entry.startswith("-") for entry in entries}) > 1:
            raise ValidationError(
                "search_domain_filter: all entries allow, or all begin with - and deny.",
                param="search_domain_filter",
            )
        return self


class WebOptions(WebFilters):
    """How the web is searched, filters at the top or in `filters`."""

    filters: WebFilters | None = Field(None, description="The same filters in an object of their own.")
    count: int | None = Field(None, ge=1, le=20, strict=True, description="How many results to look at.")
    provider: Annotated[str, AfterValidator(_provider)] | None = Field(
        None, description="Which search engine to ask: `auto`, or one that is configured."
    )
    expand: bool | None = Field(None, strict=True, description="Whether to fetch the text of the top three.")
    search_context_size: Literal["low", "medium", "high"] | None = Field(
        None, description="How much of the pages to read: 300, 1000 or 4000 tokens."
    )
    max_tokens: Tokens | None = Field(None, description="How much to read of all pages together.")
    max_tokens_per_page: TokensPerPage | None = Field(None, description="How much to read of each page.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        wanted = self._merged()
        _recency(wanted)
        for name in ("published", "updated"):
            after, before = (getattr(wanted, each) for each in _NAMES[name])
            if after and before and after > before:
                raise ValidationError(
                    f"{_NAMES[name][0]} lies after {_NAMES[name][1]}.", param=_NAMES[name][0]
                )
        return self

    def search(self, query: str) -> WebSearchInput:
        """Return the inputs of a search for `query` with these options."""
        return WebSearchInput.model_validate(self.model_dump(exclude_none=True) | {"query": query})

    @property
    def budget(self) -> tuple[int | None, int | None]:
        """`max_tokens` and `max_tokens_per_page`, given or by `search_context_size`; None if neither."""
        together, each = TOKENS.get(self.search_context_size or "", (None, None))
        return self.max_tokens or together, self.max_tokens_per_page or each

    def given_names(self, fields: Iterable[str]) -> list[str]:
        """Return what `Found.ignored_filters` names by the names that this request gave."""
        given = self._merged()
        return [name for field in fields for name in _NAMES[field] if getattr(given, name) is not None]

    def _merged(self) -> WebFilters:
        """Return the filters of both places as those of one; raise `Conflict` if the two contradict."""
        merged: dict[str, Any] = {}
        for name in WebFilters.model_fields:
            given = [getattr(place, name) for place in (self, self.filters) if place is not None]
            values = [value for value in given if value not in (None, "none")]
            if any(value != values[0] for value in values):
                raise Conflict(f"{name} is given twice, with two values.", param=f"filters.{name}")
            merged[name] = values[0] if values else None
        return WebFilters.model_construct(**merged)


class WebSearchInput(WebOptions):
    """What `web_search` takes."""

    query: QueryText = Field(description="What to search for, as specific as possible.")
    mode: Literal["answer", "results"] = Field("answer", description="A cited answer, or the results alone.")

    def check_visible(self, principal: Principal) -> None:
        """Find nothing to object to: a search of the web names no document and no workspace."""

    def web_query(self, default_count: int | None = None) -> WebQuery:
        """Return the query that providers get, with the deployment's own lists in it.

        `default_count` (else `WEB_SEARCH_RESULTS`) is for requests that give none. Raise
        `ImproperlyConfigured` if one of the deployment's lists can't be read.
        """
        wanted = self._merged()
        allowed, denied = _lists(wanted)
        max_tokens, max_tokens_per_page = self.budget
        return WebQuery(
            text=" ".join(self.query.split()),
            count=self.count or default_count or settings.WEB_SEARCH_RESULTS,
            recency=_recency(wanted),
            published=DateRange(wanted.search_after_date_filter, wanted.search_before_date_filter),
            updated=DateRange(wanted.last_updated_after_filter, wanted.last_updated_before_filter),
            allow=allowed,
            deny=(*denied, *deployment_list("BLACKLISTED_DOMAINS")),
            prefer=deployment_list("WHITELISTED_DOMAINS"),
            country=wanted.country,
            language=wanted.language,
            location=_location(wanted.user_location),
            max_tokens=max_tokens,
            max_tokens_per_page=max_tokens_per_page,
        )


# --- What they come to -----------------------------------------------------------------------------------


def _recency(filters: WebFilters) -> Recency | None:
    given = {name: Recency(value) for name in _NAMES["recency"] if (value := getattr(filters, name))}
    if len(set(given.values())) > 1:
        said = ", ".join(f"{name}: {value}" for name, value in given.items())
        raise Conflict(f"Two different times are asked for ({said}).", param=list(given)[-1])
    return next(iter(given.values()), None)


def _lists(
    filters: WebFilters,
) -> tuple[tuple[tuple[DomainRule, ...], ...], tuple[DomainRule, ...]]:
    """Return the lists that allow, of which each counts, and the one that denies."""
    signed = filters.search_domain_filter or []
    denied = [DomainRule.parse(entry[1:]) for entry in signed if entry.startswith("-")]
    lists = [filters.whitelisted_domains or [], [entry for entry in signed if not entry.startswith("-")]]
    allowed = tuple(tuple(map(DomainRule.parse, entries)) for entries in lists if entries)
    return allowed, tuple(denied)


def _location(given: UserLocation | None) -> Location | None:
    location = Location(**given.model_dump()) if given else None
    return None if location == Location() else location
