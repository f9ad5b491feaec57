"""What calls of chat models cost, by the price list that the model library brings; it is never fetched."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from pydantic_ai.messages import ModelResponse
from pydantic_ai.usage import RequestUsage

TOKENS_A_PICTURE = 1600
"""What providers count for an image of a megapixel, at most."""


def price_of(provider: str, model: str, input_tokens: int, output_tokens: int) -> Decimal:
    """Return the US dollars for so many tokens; 0 if nothing, or nobody knows the price."""
    usage = RequestUsage(input_tokens=input_tokens, output_tokens=output_tokens)
    response = ModelResponse([], usage=usage, model_name=model, provider_name=provider)
    return cost_of(response) or Decimal(0)


def price_at(address: str, model: str, input_tokens: int, output_tokens: int) -> Decimal:
    """Return the same for a model at an address that may be that of a known provider, or of a gateway."""
    usage = RequestUsage(input_tokens=input_tokens, output_tokens=output_tokens)
    return cost_of(ModelResponse([], usage=usage, model_name=model, provider_url=address)) or Decimal(0)


def cost_of(response: ModelResponse, *, by_address: bool = False) -> Decimal | None:
    """Return the US dollars that a response has cost; None if the price, or what it took, is unknown.

    `by_address`: as `price_at` finds it, whatever the provider is called.
    """
    priced = replace(response, provider_name=None) if by_address else response
    try:
        return priced.cost().total_price
    except (LookupError, ValueError):
        return None
