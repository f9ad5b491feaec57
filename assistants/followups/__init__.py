"""Follow-ups that know what was said (docs/adr/0044-follow-ups.md).

question, last turns ─▶ depends on them? ─ no ─▶ as it is
                             │ yes
                             └─▶ a chat model rewrites it, or rules carry what it leaves out

base.py       turns, and what comes of a question    carrying.py   rules: what is carried, what replaced
signals.py    whether a question depends on turns    rewriting.py  by a chat model, through `core.llm`
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from assistants.followups.base import MOST_TURNS, Rewriter, SelfContained, Turn
from assistants.followups.carrying import by_rules
from core.errors import BudgetExceeded, Overloaded, ProviderError, Timeout

__all__ = ["Rewriter", "SelfContained", "Turn", "self_contained"]

MOST_CHARS = 500
"""A longer question says itself what it is about."""

logger = logging.getLogger(__name__)


async def self_contained(
    question: str, history: Sequence[Turn], *, rewriter: Rewriter | None
) -> SelfContained:
    """Return the question so that it can be searched alone; one that can already stays as it is.

    `history` is oldest first. Without a `rewriter`, or where it fails, rules decide; nothing is raised for a
    model that fails. What is returned has at most 2000 characters, unless the question itself had more.
    """
    if not history or not question.strip() or len(question) > MOST_CHARS:
        return SelfContained(question, None, carried=False, by="nothing")
    turns = history[-MOST_TURNS:]
    by_words = by_rules(question, turns)
    if rewriter is None:
        return by_words
    try:
        rewritten = await rewriter.rewrite(question, turns)
    except (ProviderError, Timeout, Overloaded, BudgetExceeded) as error:
        logger.warning("A follow-up is rewritten by rules, the model failed: %s", error.code)
        return by_words
    if rewritten == question:
        return SelfContained(question, None, carried=False, by="nothing")
    return replace(by_words, question=rewritten, carried=True, by="model")
