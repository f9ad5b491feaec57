"""A chat model, a search engine and a site, for the agent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import stamina
from pytest_django import Settings

from core.llm.gateway import ATTEMPTS
from tests.search.web.conftest import brave, people, site  # noqa: F401 - fixtures
from tests.testing.chat_models import OpenAiProvider

MODEL = "llama3.2:3b"


@pytest.fixture
def model(settings: Settings) -> Iterator[OpenAiProvider]:
    """Run a chat model that answers as its turns say."""
    with OpenAiProvider() as running, stamina.set_testing(True, attempts=ATTEMPTS):
        settings.GENERATION_PROVIDER = "openai-compatible"
        settings.GENERATION_MODEL = MODEL
        settings.GENERATION_BASE_URL = running.url
        yield running
