"""OpenAI itself, by `POST /chat/completions` (https://platform.openai.com/docs/api-reference/chat)."""

from __future__ import annotations

from typing import ClassVar

import httpx2
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from core.llm.base import ChatProvider


class OpenAiChat(ChatProvider):
    """OpenAI's own models."""

    address: ClassVar[str] = "https://api.openai.com/v1"
    key_setting: ClassVar[str] = "OPENAI_API_KEY"

    def model(self, name: str, address: str, key: str, client: httpx2.AsyncClient) -> OpenAIChatModel:
        """Return the model of this name, which speaks through `client`."""
        provider = OpenAIProvider(api_key=key, base_url=address, http_client=client)
        return OpenAIChatModel(name, provider=provider)
