"""Models of Anthropic."""

from __future__ import annotations

import httpx2
from pydantic_ai.models import Model

from core.llm.anthropic import ADDRESS, anthropic_model
from search.generation.llm import LanguageModelGenerator


class AnthropicGenerator(LanguageModelGenerator):
    """Claude."""

    address = ADDRESS
    key_settings = "GENERATION_API_KEY or ANTHROPIC_API_KEY"

    def model(self, client: httpx2.AsyncClient) -> Model:
        """Return the model."""
        return anthropic_model(self.name, self._url, self._key, client)
