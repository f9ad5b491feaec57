"""Models of Anthropic, by its Messages API (https://platform.claude.com/docs/en/api/messages)."""

from __future__ import annotations

import httpx2
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from search.answer.llm import LanguageModelAnswerer


class AnthropicAnswerer(LanguageModelAnswerer):
    """Claude."""

    address = "https://api.anthropic.com"
    key_settings = "GENERATION_API_KEY or ANTHROPIC_API_KEY"

    def model(self, client: httpx2.AsyncClient) -> AnthropicModel:
        """Return the model."""
        provider = AnthropicProvider(api_key=self._key, base_url=self._url, http_client=client)
        return AnthropicModel(self.name, provider=provider)
