"""OpenAI's filters and options of a search in files, as ours take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from assistants.gateway.errors import UnsupportedParameter
from core.api.validation import validated
from core.errors import ValidationError

ALIKE = {"eq": 1, "in": 64}
"""The comparisons that our filters have, and with how many values."""
MOST_DEPTH = 4
MOST_CONTEXTS = 20
"""Of an answer: more of them no model reads."""


class RankingOptions(BaseModel):
    """`ranking_options`."""

    model_config = ConfigDict(extra="ignore")

    ranker: str | None = None
    score_threshold: float | None = Field(None, ge=0, le=1)


class FileSearchTool(BaseModel):
    """The options of OpenAI's tool `file_search`."""

    model_config = ConfigDict(extra="ignore")

    vector_store_ids: Annotated[list[UUID], Field(min_length=1, max_length=100)]
    max_num_results: int | None = Field(None, ge=1, le=50)
    filters: Any = None
    ranking_options: RankingOptions | None = None


def documents_of_file_search(options: Mapping[str, Any], param: str) -> dict[str, Any]:
    """Return the options of `rag_search` for a tool `file_search`; `param` is where this stands."""
    asked = validated(FileSearchTool, dict(options))
    filters: dict[str, Any] = {"collection_ids": [str(id) for id in asked.vector_store_ids]}
    if metadata := metadata_of(asked.filters, f"{param}.filters"):
        filters["metadata"] = metadata
    limit = asked.max_num_results
    return {"filters": filters} | ({"limit": min(limit, MOST_CONTEXTS)} if limit else {})


def metadata_of(given: Any, param: str) -> dict[str, list[Any]]:
    """Return a comparison, or several that must all hold, as our filter of metadata.

    Raise `UnsupportedParameter` for what this can't say: a filter that is left out would widen the search.
    """
    return _conditions(given, param, 0) if given is not None else {}


def _conditions(given: Any, param: str, depth: int) -> dict[str, list[Any]]:
    kind = given.get("type") if isinstance(given, Mapping) else None
    if kind == "and" and isinstance(given.get("filters"), list) and depth < MOST_DEPTH:
        conditions: dict[str, list[Any]] = {}
        for index, each in enumerate(given["filters"]):
            for key, values in _conditions(each, f"{param}.filters[{index}]", depth + 1).items():
                known = conditions.get(key, values)
                conditions[key] = [value for value in values if value in known]
                if not conditions[key]:
                    raise ValidationError(f"No value of {key} meets both conditions.", param=param)
        return conditions
    if kind not in ALIKE:
        raise UnsupportedParameter(
            f"Filters are {', '.join(ALIKE)} and “and” here, not “{kind}”.", param=param
        )
    key, value = given.get("key"), given.get("value")
    values = value if isinstance(value, list) else [value]
    if not isinstance(key, str) or not 1 <= len(values) <= ALIKE[kind] or not all(map(_is_plain, values)):
        raise ValidationError("A filter is {type, key, value}.", param=param)
    return {key: values}


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, float))
