"""Users' metadata of documents in JSON: its limits, and how lists and searches filter by it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Q

from core.errors import ValidationError
from core.text.visible_text import visible_labels

MAX_BYTES = 64 * 1024
MAX_DEPTH = 20
"""Of objects and lists within each other."""
MAX_FILTER_KEYS = 100
MAX_FILTER_VALUES = 100
"""For one key. The database compares every document with each of them."""
MAX_FILTER_VALUES_IN_ALL = 1000
MAX_FILTER_CHARS = 1000
"""Of a key or a value."""


def checked_metadata(value: Any, param: str = "metadata") -> dict[str, Any]:
    """Return metadata without invisible characters; raise `ValidationError` naming `param`."""
    if not isinstance(value, dict):
        raise ValidationError("metadata must be a JSON object.", param=param)
    if _depth(value) > MAX_DEPTH:
        raise ValidationError(f"metadata may be nested {MAX_DEPTH} deep.", param=param)
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except ValueError:
        # JSON's 1e999 becomes infinity, which neither JSON nor PostgreSQL can hold.
        raise ValidationError("metadata has a number that is too large.", param=param) from None
    if size > MAX_BYTES:
        raise ValidationError(f"metadata may have {MAX_BYTES // 1024} KiB.", param=param)
    shown: dict[str, Any] = visible_labels(value)
    return shown


def checked_metadata_filter(value: Any, param: str = "metadata") -> dict[str, list[Any]]:
    """Return `{key: values}` of `{key: value | [values]}`; raise `ValidationError` naming the fault."""
    if not isinstance(value, dict) or not 1 <= len(value) <= MAX_FILTER_KEYS:
        raise ValidationError(f"{param} must be an object of 1 to {MAX_FILTER_KEYS} keys.", param=param)
    for key, given in value.items():
        values = given if isinstance(given, list) else [given]
        if problem := _problem(key, values):
            raise ValidationError(f"{param}: “{key[:100]}” {problem}.", param=param)
    listed = {key: given if isinstance(given, list) else [given] for key, given in value.items()}
    if sum(map(len, listed.values())) > MAX_FILTER_VALUES_IN_ALL:
        raise ValidationError(f"{param} may have {MAX_FILTER_VALUES_IN_ALL} values in all.", param=param)
    return listed


def metadata_condition(filters: Mapping[str, Iterable[Any]]) -> Q:
    """Return the condition on documents for `{key: values}`."""
    condition = Q()
    for key, values in filters.items():
        condition &= Q(*(Q(metadata__contains={key: one}) for one in values), _connector=Q.OR)
    return condition


def _problem(key: str, values: list[Any]) -> str:
    """Return the fault of a filter; "" if there is none."""
    if not 1 <= len(values) <= MAX_FILTER_VALUES:
        return f"must have 1 to {MAX_FILTER_VALUES} values"
    if not all(map(_is_scalar, values)):
        return "must be a string, number or boolean, or a list of them"
    if any(len(text) > MAX_FILTER_CHARS for text in [key, *values] if isinstance(text, str)):
        return f"is longer than {MAX_FILTER_CHARS} characters"
    return ""


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int) or (isinstance(value, float) and abs(value) < float("inf"))


def _depth(value: Any) -> int:
    """Return the depth of nested lists and objects, without recursion, which deep values would exhaust."""
    depth, level = 0, [value]
    while level := [one for one in level if isinstance(one, dict | list)]:
        depth += 1
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
    return depth
