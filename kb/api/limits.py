"""How much one request may bring, and how much of one workspace may wait."""

from __future__ import annotations

from collections.abc import Sized
from uuid import UUID

from django.conf import settings

from accounts.principal import Principal
from core.errors import QuotaExceeded, RateLimited, ValidationError
from kb.jobs import all_waiting_jobs, waiting_jobs

RETRY_AFTER_SECS = 60
ALWAYS = 10
"""So many jobs of a workspace may wait however many others do: the full queue is not of its making."""


def refuse_too_many(files: Sized, urls: Sized) -> None:
    """Raise `ValidationError` for more files or URLs than one request may bring."""
    for what, given, most in (
        ("files", files, settings.MAX_FILES_PER_REQUEST),
        ("urls", urls, settings.MAX_URLS_PER_REQUEST),
    ):
        if len(given) > most:
            raise too_many(what, most)


def too_many(what: str, most: int) -> ValidationError:
    """Return the error for more than so many `files` or `urls`."""
    return ValidationError(f"At most {most} {what} in one request.", param=what)


def refuse_beyond_quota(principal: Principal, workspace_id: UUID, more: int) -> None:
    """Raise `QuotaExceeded` if so many `more` documents of a workspace may not wait for the worker.

    Raise `RateLimited` if the jobs of all workspaces are too many already. Raise `NotFound` for a workspace
    that the principal can't see: it is not told how much waits there.
    """
    principal.require_workspace(workspace_id)
    most = settings.MAX_WAITING_DOCUMENTS
    waiting = waiting_jobs(workspace_id, most)
    if waiting + more > most:
        raise QuotaExceeded(
            f"At most {most} documents of a workspace may wait. Send more when some of them are done.",
            quota="waiting_documents",
            limit=most,
            used=waiting,
            retry_after=RETRY_AFTER_SECS,
        )
    in_all = settings.MAX_WAITING_JOBS
    if waiting + more > ALWAYS and all_waiting_jobs(in_all) + more > in_all:
        raise RateLimited(
            "Too many documents wait to be processed. Send more when some of them are done.",
            retry_after=RETRY_AFTER_SECS,
            details={"waiting_jobs": in_all},
        )
