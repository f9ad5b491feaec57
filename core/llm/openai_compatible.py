"""Every server that speaks OpenAI's `POST /chat/completions`: Ollama, vLLM, llama.cpp and others."""

from __future__ import annotations

from typing import ClassVar

import httpx2
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from core.llm.base import ChatProvider

# Servers know `max_tokens`; only some know the name that OpenAI's own models ask for.
_PROFILE = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)


class OpenAiCompatibleChat(ChatProvider):
    """Most need no key, and what they cost is known to those who run them alone."""

    sees: ClassVar[bool] = False
    has_prices: ClassVar[bool] = False

    def model(self, name: str, address: str, key: str, client: httpx2.AsyncClient) -> OpenAIChatModel:
        """Return the model of this name, which speaks through `client`."""
        provider = OpenAICompatibleProvider(
            "compatible", api_key=key or None, base_url=address, http_client=client, profile=_PROFILE
        )
        return OpenAIChatModel(name, provider=provider)
