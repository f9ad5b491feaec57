"""Models of OpenAI, and of every server that speaks its `POST /chat/completions`.

https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

import httpx2
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

ADDRESS = "https://api.openai.com/v1"
# Servers know `max_tokens`; only some know the name that OpenAI's own models ask for.
COMPATIBLE = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)


def openai_model(name: str, address: str, key: str, client: httpx2.AsyncClient) -> OpenAIChatModel:
    """Return OpenAI's model of this name, which speaks through `client`."""
    provider = OpenAIProvider(api_key=key, base_url=address or ADDRESS, http_client=client)
    return OpenAIChatModel(name, provider=provider)


def compatible_model(name: str, address: str, key: str, client: httpx2.AsyncClient) -> OpenAIChatModel:
    """Return a model of Ollama, vLLM, llama.cpp and others, under a name that no price list knows."""
    provider = OpenAICompatibleProvider(
        "compatible", api_key=key or None, base_url=address, http_client=client, profile=COMPATIBLE
    )
    return OpenAIChatModel(name, provider=provider)
