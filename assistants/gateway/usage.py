"""What a run has taken, as the clients of these protocols read it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db.models import Sum

from accounts.models.ledger import Charge, Purpose
from core.llm.prices import price_of
from core.row_access import as_system
from runs.models import Execution, ExecutionStatus
from search.generation.registry import choices

Json = dict[str, Any]
INVOCATIONS = {"rag_search": "rag_search", "web_search": "web_search", "web_fetch": "fetch_url"}
"""By our tool, what its calls are counted as."""


def usage_of(execution: Execution) -> Json:
    """Return tokens, calls of tools and, where all prices are known, costs."""
    tokens = execution.usage or {}
    read, written = tokens.get("input_tokens", 0), tokens.get("output_tokens", 0)
    cached = dict.fromkeys(
        ("cached_tokens", "cache_write_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"), 0
    )
    usage: Json = {
        "input_tokens": read,
        "output_tokens": written,
        "total_tokens": read + written,
        "input_tokens_details": cached,
        "output_tokens_details": {"reasoning_tokens": 0},
        "tool_calls_details": {
            INVOCATIONS.get(tool, tool): {"invocation": count}
            for tool, count in Counter(called_tools(execution)).items()
        },
    }
    cost = _cost(execution, read, written)
    return usage | ({"cost": cost} if cost else {})


def called_tools(execution: Execution) -> list[str]:
    """Return the tools that were called, in their order."""
    if execution.tool in INVOCATIONS:
        return [execution.tool]
    if execution.tool == "agent":
        return [call["tool"] for call in (execution.result or {}).get("calls", ())]
    searched = {"rag_search": "documents", "web_search": "web"}
    return [tool for tool, given in searched.items() if execution.inputs.get(given) is not None]


@as_system("the costs of an execution that the caller has found")
def _cost(execution: Execution, read: int, written: int) -> Json | None:
    """Return the US dollars by what they were paid for; None where a price is unknown."""
    if execution.status != ExecutionStatus.COMPLETED or execution.cost is None:
        return None
    searches = Charge.unscoped.filter(execution_id=execution.pk, purpose=Purpose.SEARCH)
    for_tools = float(searches.aggregate(sum=Sum("amount"))["sum"] or 0)
    of_model = max(0.0, execution.cost - for_tools)
    share = _share_of_input(execution, read, written) if of_model else 0.0
    if share is None:
        return None
    return {
        "currency": "USD",
        "input_cost": round(of_model * share, 6),
        "output_cost": round(of_model * (1 - share), 6),
        "tool_calls_cost": for_tools,
        "total_cost": execution.cost,
    }


def _share_of_input(execution: Execution, read: int, written: int) -> float | None:
    """Return the share of the model's costs that reading has: 0 to 1; None where its prices are unknown."""
    model = (execution.result or {}).get("model")
    choice = next((choice for choice in choices() if choice.name == model), None)
    whole = price_of(choice.provider, choice.model, read, written) if choice else None
    return float(price_of(choice.provider, choice.model, read, 0) / whole) if choice and whole else None
