"""Section `web_search` of settings: whether and how a workspace goes to the web, and what it may spend.

Users don't choose here: the workspace pays, and answers for what leaves the house.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

from django.conf import settings
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from accounts.ledger.base import MAX_COST, MaxCost, within_quota
from accounts.preferences import Layer, Section, SettingSource, resolve, settings_of
from accounts.principal import Principal
from core.errors import NotFound, ToolDisabled
from search.web.providers.registry import AUTO, offered_names

NAME = MAX_COST.section
MOST_HITS = 20
LONGEST_TTL_SECS = 86_400


@dataclass(frozen=True, slots=True)
class WebSearchSettings:
    """What counts for one search or fetch."""

    enabled: bool
    provider: str
    """`auto`, or one of those that are configured."""
    default_count: int
    """How many hits, where the request does not say: 1 to 20."""
    cache_ttl_secs: int
    """How long what was found is found again; 0 is never."""
    expand_default: bool
    """Whether to fetch the best pages, where the request does not say."""
    scraping: bool
    """Whether answers are written from whole pages."""
    max_cost: Decimal | None
    """What the workspace may spend in all, in US dollars; None is no limit of its own."""


def web_search_settings(principal: Principal, workspace_id: UUID) -> WebSearchSettings:
    """Return what counts in a workspace; raise `NotFound` if the principal does not see it."""
    principal.require_workspace(workspace_id)
    own = Layer(SettingSource.WORKSPACE, settings_of(workspace_id)[NAME])
    values = {field: setting.value for field, setting in resolve(NAME, [own]).items()}
    chosen = None if values["max_cost"] is None else Decimal(str(values["max_cost"]))
    return WebSearchSettings(**values | {"max_cost": within_quota(workspace_id, chosen)})


def enabled_settings(principal: Principal, workspace_id: UUID) -> WebSearchSettings:
    """Return what counts where the tools may be used.

    Raise `NotFound` where the operator has removed them, or if the principal does not see the workspace, and
    `ToolDisabled` where the workspace has not switched them on.
    """
    require_web_tools()
    found = web_search_settings(principal, workspace_id)
    if not found.enabled:
        raise ToolDisabled
    return found


def is_enabled(principal: Principal, workspace_id: UUID) -> bool:
    """Tell whether a workspace has switched the tools on; raise `NotFound` if it can't be seen."""
    return web_search_settings(principal, workspace_id).enabled


def are_web_tools_offered() -> bool:
    """Tell whether the operator has left the tools that go to the web in (`WEB_TOOLS`)."""
    return bool(settings.WEB_TOOLS)


def require_web_tools() -> None:
    """Raise `NotFound` if the operator has removed the tools that go to the web."""
    if not are_web_tools_offered():
        raise NotFound


def _deployment() -> Mapping[str, Any]:
    return {
        "enabled": False,
        "provider": AUTO,
        "default_count": settings.WEB_SEARCH_RESULTS,
        "cache_ttl_secs": 600,
        "expand_default": False,
        "scraping": False,
        MAX_COST.field: MAX_COST.deployment(),
    }


def _choices() -> Mapping[str, Sequence[str]]:
    return {"provider": offered_names()}


def _must_be_offered(value: str) -> str:
    names = offered_names()
    if value not in names:
        raise ValueError(f"must be one of {', '.join(names)}")
    return value


class WebSearchSection(BaseModel):
    """What workspaces may set; null inherits."""

    model_config = ConfigDict(extra="forbid")

    enabled: bool | None = Field(None, strict=True, description="Whether the web may be searched here.")
    provider: Annotated[str, AfterValidator(_must_be_offered)] | None = Field(
        None, description="Whom to ask: one that is configured, or `auto` for the first that answers."
    )
    default_count: int | None = Field(
        None, ge=1, le=MOST_HITS, strict=True, description="How many hits, where the request does not say."
    )
    cache_ttl_secs: int | None = Field(
        None,
        ge=0,
        le=LONGEST_TTL_SECS,
        strict=True,
        description="For how many seconds the same search is not made again; 0 is off.",
    )
    expand_default: bool | None = Field(
        None, strict=True, description="Whether to fetch the best pages, where the request does not say."
    )
    scraping: bool | None = Field(
        None, strict=True, description="Whether answers are written from the pages found, not only snippets."
    )
    max_cost: MaxCost = None


WEB_SEARCH = Section(
    NAME,
    None,
    WebSearchSection,
    _deployment,
    _choices,
    template="search/web_search_settings.html",
    labels={
        "enabled": "Web search",
        "provider": "Search engine",
        "default_count": "Results of a search",
        "cache_ttl_secs": "Results kept, in seconds",
        "expand_default": "Best pages fetched",
        "scraping": "Answers from whole pages",
        MAX_COST.field: "Most to spend, in US dollars",
    },
)
