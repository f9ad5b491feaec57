"""`web_fetch`: one page of the web as text, for people, programs and models (contract §6)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Annotated
from uuid import UUID

from django.conf import settings
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from accounts.principal import Principal
from core.errors import LocusError, ProviderError, Timeout, ValidationError
from core.fetch import MAX_URL, DeniedUrl, InvalidUrl, web_url
from runs.context import Run
from runs.events import ToolEnd, ToolUpdate, Yielded
from search.web.base import Refusal
from search.web.events import WebPage, WebPhase
from search.web.filters import allowed_here
from search.web.pages import FetchedPage, MayRead, PageDenied, PageFailed, fetch_page
from search.web.preferences import enabled_settings

DEFAULT_TOKENS = 4000
MOST_TOKENS = 20_000
DESCRIPTION = "Fetches a page of the web, or a PDF, and returns what it says as plain text."


def _web_url(url: str) -> str:
    try:
        return str(web_url(url))
    except InvalidUrl as error:
        raise as_locus_error(PageFailed(Refusal.BLOCKED_URL, error.message)) from None


class WebFetchInput(BaseModel):
    """What `web_fetch` takes; the URL is in its normal form."""

    model_config = ConfigDict(extra="forbid")

    url: Annotated[str, AfterValidator(_web_url)] = Field(
        max_length=MAX_URL, description="The address of the page: http or https."
    )
    max_tokens: int | None = Field(
        None, ge=1, le=MOST_TOKENS, strict=True, description="How much of its text, from the beginning."
    )

    def check_visible(self, principal: Principal) -> None:
        """Do nothing: the web is everybody's."""


def admit(principal: Principal, inputs: WebFetchInput, workspace_id: UUID) -> None:
    """Raise `ToolDisabled` where the workspace has not switched the web on, and what forbids the address."""
    enabled_settings(principal, workspace_id)
    if not allowed_here(inputs.url):
        raise as_locus_error(PageDenied(Refusal.BLOCKED_URL, DeniedUrl.default_message))


async def run(principal: Principal, inputs: WebFetchInput, run: Run) -> AsyncIterator[Yielded]:
    """Yield that the page is being fetched, and the page."""
    started = {"url_count": 1}
    yield ToolUpdate(
        data=WebPhase(execution_id=run.execution_id, phase="SCRAPING_URLS", status="started", data=started)
    )
    page = await web_fetch(inputs)
    yield ToolUpdate(data=WebPhase(phase="SCRAPING_URLS", status="completed", data={"scraped_count": 1}))
    yield ToolEnd(data=WebPage(**asdict(page), execution_id=run.execution_id))


async def web_fetch(inputs: WebFetchInput, may_read: MayRead = allowed_here) -> FetchedPage:
    """Return the page, or raise the `LocusError` that says why there is none, with `details.reason`.

    `may_read` holds for each address that the page's redirects lead to.
    """
    try:
        return await fetch_page(
            inputs.url,
            max_tokens=inputs.max_tokens or DEFAULT_TOKENS,
            timeout_secs=settings.WEB_FETCH_TIMEOUT_SECS,
            may_read=may_read,
        )
    except PageFailed as failure:
        raise as_locus_error(failure) from None


def as_locus_error(failure: PageFailed) -> LocusError:
    """Return the error for the tool's caller: whose fault it is, and the reason in `details.reason`."""
    details = {"reason": failure.reason.value}
    if failure.reason is Refusal.BLOCKED_URL:
        return ValidationError(failure.message, param="url", details=details)
    error = Timeout if failure.reason is Refusal.TIMEOUT else ProviderError
    return error(failure.message, details=details)
