"""Models of OpenAI, and of every server that speaks as it does."""

from __future__ import annotations

import httpx2
from django.core.exceptions import ImproperlyConfigured
from pydantic_ai.models import Model

from core.llm.openai import ADDRESS, compatible_model, openai_model
from search.generation.base import Choice
from search.generation.llm import LanguageModelGenerator


class OpenAiGenerator(LanguageModelGenerator):
    """OpenAI itself."""

    address = ADDRESS
    key_settings = "GENERATION_API_KEY or OPENAI_API_KEY"

    def model(self, client: httpx2.AsyncClient) -> Model:
        """Return the model."""
        return openai_model(self.name, self._url, self._key, client)


class OpenAiCompatibleGenerator(LanguageModelGenerator):
    """Ollama, vLLM, llama.cpp and others; most need no key."""

    address = ""
    key_settings = ""
    sees_by_default = False

    def __init__(self, choice: Choice) -> None:
        """Check as the others do, and that there is an address."""
        super().__init__(choice)
        if not choice.base_url:
            raise ImproperlyConfigured(
                "openai-compatible needs an address: GENERATION_BASE_URL, e.g. http://127.0.0.1:11434/v1, "
                "or “openai-compatible:MODEL@ADDRESS” in GENERATION_FALLBACKS."
            )

    def model(self, client: httpx2.AsyncClient) -> Model:
        """Return the model."""
        return compatible_model(self.name, self._url, self._key, client)
