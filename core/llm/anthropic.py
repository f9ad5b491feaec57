"""Anthropic, by its Messages API (https://platform.claude.com/docs/en/api/messages)."""

from __future__ import annotations

from typing import ClassVar

import httpx2
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from core.llm.base import ChatProvider

ADDRESS = "https://api.anthropic.com"
KEY_SETTING = "ANTHROPIC_API_KEY"
# How a 400 reads where nothing is left to pay with.
_BILLING = ("credit balance", "billing")


class AnthropicChat(ChatProvider):
    """Claude."""

    address: ClassVar[str] = ADDRESS
    key_setting: ClassVar[str] = KEY_SETTING

    def model(self, name: str, address: str, key: str, client: httpx2.AsyncClient) -> AnthropicModel:
        """Return the model of this name, which speaks through `client`."""
        provider = AnthropicProvider(api_key=key, base_url=address, http_client=client)
        return AnthropicModel(name, provider=provider)

    def models_request(self, address: str, key: str) -> tuple[str, dict[str, str]]:
        """Return URL and headers of `GET /v1/models`, which gives the first thousand."""
        _, headers = messages_request(address, key)
        return f"{address.rstrip('/')}/v1/models?limit=1000", headers


def messages_request(address: str, key: str) -> tuple[str, dict[str, str]]:
    """Return URL and headers of a request to the Messages API, for what the model library can't ask."""
    return f"{address.rstrip('/')}/v1/messages", {"x-api-key": key, "anthropic-version": "2023-06-01"}


def is_out_of_credit(status: int, text: str) -> bool:
    """Tell an empty account from a bad request, by its words."""
    return status == 400 and any(word in text.lower() for word in _BILLING)
