"""Verification with a deadline: a text that takes too long loses its citations, and delays nobody else."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from core.errors import Timeout
from kb.embedding.calibration import Calibration
from search.citations.resolve import JudgedGroup, Resolved, assemble, judge_groups, unchecked_groups
from search.citations.support import Embed
from search.contexts import Context
from search.text_processes import text_processes

logger = logging.getLogger(__name__)


def verify_with_deadline(
    raw: str, contexts: Sequence[Context], question: str, calibration: Calibration, embed: Embed
) -> Resolved:
    """Run `resolve` in a process with a deadline; return the response without citations if it passes.

    Call it in a thread, because it waits.
    """
    return assemble(raw, judge_with_deadline(raw, contexts, question, calibration, 0, embed))


def judge_with_deadline(
    raw: str,
    contexts: Sequence[Context],
    question: str,
    calibration: Calibration,
    skip: int,
    embed: Embed,
) -> list[JudgedGroup]:
    """Do the same for the runs of markers but the first `skip`."""
    if "<source_" not in raw:
        return judge_groups(raw, contexts, question, calibration, skip, embed)
    sent = [context.portable() for context in contexts]
    try:
        judged: list[JudgedGroup] = text_processes.run(
            "verify", raw, sent, question, calibration, skip, embed=embed
        )
    except Timeout:
        logger.warning("The citations of an answer could not be checked in time, and are left out.")
        return unchecked_groups(raw, skip)
    return judged
