"""The tasks of text processes: functions that take `embed` last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from search.citations.resolve import judge_groups
from search.generation.base import GenerationRequest
from search.generation.extractive import extract
from search.generation.extractive.reading import DistantReading


def _extract(asked: GenerationRequest, embed: Callable[[Any], Any]) -> list[str]:
    return extract(asked, DistantReading(embed))


TASKS: Mapping[str, Callable[..., Any]] = {"extract": _extract, "verify": judge_groups}
