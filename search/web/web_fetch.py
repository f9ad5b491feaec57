"""`web_fetch`: one page of the web as text, for people, programs and models (contract §6)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict
from uuid import UUID

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field

from accounts.errors import LocusError, ProviderError, Timeout, ValidationError
from accounts.principal import Principal
from kb.fetch import MAX_URL
from search.events import ToolEnd, WebPage, Yielded
from search.run import Run
from search.web.pages import Page, PageFailed, Refusal, fetch_page
from search.web.preferences import enabled_settings

DEFAULT_TOKENS = 4000
MOST_TOKENS = 20_000
DESCRIPTION = "Fetches a page of the web, or a PDF, and returns what it says as plain text."


class WebFetchInput(BaseModel):
    """What `web_fetch` takes."""

    model_config = ConfigDict(extra="forbid")

    url: str = Field(max_length=MAX_URL, description="The address of the page: http or https.")
    max_tokens: int | None = Field(
        None, ge=1, le=MOST_TOKENS, strict=True, description="How much of its text, from the beginning."
    )

    def check_visible(self, principal: Principal) -> None:
        """Do nothing: the web is everybody's."""


def admit(principal: Principal, inputs: WebFetchInput, workspace_id: UUID) -> None:
    """Raise `ToolDisabled` where the workspace has not switched the web on."""
    enabled_settings(principal, workspace_id)


async def run(principal: Principal, inputs: WebFetchInput, run: Run) -> AsyncIterator[Yielded]:
    """Yield the page."""
    page = await web_fetch(inputs)
    yield ToolEnd(data=WebPage(**asdict(page), execution_id=run.execution_id))


async def web_fetch(inputs: WebFetchInput) -> Page:
    """Return the page, or raise the `LocusError` that says why there is none, with `details.reason`."""
    try:
        return await fetch_page(
            inputs.url,
            max_tokens=inputs.max_tokens or DEFAULT_TOKENS,
            timeout_secs=settings.WEB_FETCH_TIMEOUT_SECS,
        )
    except PageFailed as failure:
        raise as_locus_error(failure) from None


def as_locus_error(failure: PageFailed) -> LocusError:
    """Return what a caller of the tool is told: whose fault it is, and in `details.reason` which one."""
    details = {"reason": failure.reason.value}
    if failure.reason is Refusal.BLOCKED_URL:
        return ValidationError(failure.message, param="url", details=details)
    error = Timeout if failure.reason is Refusal.TIMEOUT else ProviderError
    return error(failure.message, details=details)
