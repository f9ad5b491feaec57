"""The tasks of text processes: functions that take `embed` last."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from search.citations.resolve import judge_groups
from search.closest import places_of_closest
from search.contexts import Context
from search.generation.base import GenerationRequest
from search.generation.extractive import extract
from search.generation.extractive.reading import DistantReading


def _extract(asked: GenerationRequest, embed: Callable[[Any], Any]) -> list[str]:
    return extract(asked, DistantReading(asked.question, embed))


def _closest(question: str, contexts: Sequence[Context], embed: Callable[[Any], Any]) -> dict[int, int]:
    return places_of_closest(question, contexts, DistantReading(question, embed))


TASKS: Mapping[str, Callable[..., Any]] = {"extract": _extract, "verify": judge_groups, "closest": _closest}
