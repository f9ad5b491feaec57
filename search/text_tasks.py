"""What is done with text in processes of its own: functions that take `embed` last."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from search.citations.resolve import Resolved, resolve
from search.citations.support import Embed
from search.generation.base import Context
from search.generation.extractive import extract


def verify(
    raw: str, contexts: Sequence[Context], question: str, citations: Mapping[int, str], embed: Embed
) -> Resolved:
    """Return what `resolve` does; `citations` are how a response cites each rank."""
    return resolve(raw, contexts, question, embed, lambda context: citations[context.rank])


TASKS: dict[str, Callable[..., Any]] = {"extract": extract, "verify": verify}
