"""Models of OpenAI, and of every server that speaks its `POST /chat/completions`.

https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

import httpx2
from django.core.exceptions import ImproperlyConfigured
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from search.answer.base import Choice
from search.answer.llm import LanguageModelAnswerer

# Servers know `max_tokens`; only some know the name that OpenAI's own models ask for.
COMPATIBLE = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)


class OpenAiAnswerer(LanguageModelAnswerer):
    """OpenAI itself."""

    address = "https://api.openai.com/v1"
    key_settings = "GENERATION_API_KEY or OPENAI_API_KEY"

    def model(self, client: httpx2.AsyncClient) -> OpenAIChatModel:
        """Return the model."""
        provider = OpenAIProvider(api_key=self._key, base_url=self._url, http_client=client)
        return OpenAIChatModel(self.name, provider=provider)


class OpenAiCompatibleAnswerer(LanguageModelAnswerer):
    """Ollama, vLLM, llama.cpp and others; most need no key."""

    address = ""
    key_settings = ""

    def __init__(self, choice: Choice) -> None:
        """Check as the others do, and that there is an address."""
        super().__init__(choice)
        if not choice.base_url:
            raise ImproperlyConfigured(
                "openai-compatible needs an address: GENERATION_BASE_URL, e.g. http://127.0.0.1:11434/v1, "
                "or “openai-compatible:MODEL@ADDRESS” in GENERATION_FALLBACKS."
            )

    def model(self, client: httpx2.AsyncClient) -> OpenAIChatModel:
        """Return the model, under a name that no price list knows."""
        provider = OpenAICompatibleProvider(
            "compatible",
            api_key=self._key or None,
            base_url=self._url,
            http_client=client,
            profile=COMPATIBLE,
        )
        return OpenAIChatModel(self.name, provider=provider)
