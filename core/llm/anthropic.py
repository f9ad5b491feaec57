"""Models of Anthropic, by its Messages API (https://platform.claude.com/docs/en/api/messages)."""

from __future__ import annotations

import httpx2
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

ADDRESS = "https://api.anthropic.com"


def anthropic_model(name: str, address: str, key: str, client: httpx2.AsyncClient) -> AnthropicModel:
    """Return the model of this name, which speaks through `client`."""
    provider = AnthropicProvider(api_key=key, base_url=address or ADDRESS, http_client=client)
    return AnthropicModel(name, provider=provider)
