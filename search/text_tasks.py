"""The tasks of text processes: functions that take `embed` last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from search.citations.resolve import judge_groups
from search.generation.extractive import extract

TASKS: Mapping[str, Callable[..., Any]] = {"extract": extract, "verify": judge_groups}
