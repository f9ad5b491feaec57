"""Verification where it can be timed out: a text that takes too long costs its citations, and nobody else."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from core.errors import Timeout
from search.citations.resolve import Resolved, resolve, unverified
from search.citations.support import Embed
from search.contexts import Context
from search.text_processes import text_processes

logger = logging.getLogger(__name__)


def verified(raw: str, contexts: Sequence[Context], question: str, embed: Embed) -> Resolved:
    """Return what `resolve` does, worked out in a process with a deadline; without citations if that passes.

    For a thread: it waits.
    """
    if "<source_" not in raw:
        return resolve(raw, contexts, question, embed)
    sent = [context.portable() for context in contexts]
    try:
        resolved: Resolved = text_processes.run("verify", raw, sent, question, embed=embed)
    except Timeout:
        logger.warning("The citations of an answer could not be checked in time, and are left out.")
        return unverified(raw)
    return resolved
