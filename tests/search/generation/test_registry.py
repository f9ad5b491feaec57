"""Which generator the settings name, and what the start says about it."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from search.generation.base import Choice
from search.generation.registry import choices, generator, in_order, start

LOCAL = "http://127.0.0.1:11434/v1"


@pytest.fixture(autouse=True)
def _no_keys(settings: Settings) -> None:
    settings.ANTHROPIC_API_KEY = settings.OPENAI_API_KEY = ""


@pytest.mark.django_db
def test_nothing_needs_to_be_set(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    assert start() == "Answering with extractive, or the model that was connected on a page."
    assert start() in caplog.messages
    assert generator() is generator()


def test_the_start_names_model_and_address_but_no_secret(settings: Settings) -> None:
    settings.GENERATION_PROVIDER = "openai-compatible"
    settings.GENERATION_MODEL = "llama3.2:3b"
    settings.GENERATION_BASE_URL = "http://me:secret@127.0.0.1:11434/v1?key=secret"
    settings.GENERATION_API_KEY = "secret"
    settings.GENERATION_FALLBACKS = ["extractive"]
    told = "Answering with llama3.2:3b by openai-compatible at http://127.0.0.1:11434/v1, or else extractive."
    assert start() == told


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_the_usual_name_of_a_key_will_do_and_ours_goes_first(settings: Settings, provider: str) -> None:
    settings.GENERATION_PROVIDER = provider
    setattr(settings, f"{provider.upper()}_API_KEY", "usual")
    assert choices()[0].api_key == "usual"
    settings.GENERATION_API_KEY = "ours"
    assert choices()[0].api_key == "ours"


def test_fallbacks_have_their_own_keys_and_addresses(settings: Settings) -> None:
    settings.GENERATION_PROVIDER = "anthropic"
    settings.GENERATION_MODEL = "claude-haiku-4-5"
    settings.GENERATION_API_KEY = "for anthropic"
    settings.GENERATION_BASE_URL = "http://gateway/anthropic"
    settings.OPENAI_API_KEY = "for openai"
    settings.GENERATION_FALLBACKS = [
        "anthropic:claude-sonnet-4-5",
        " openai:gpt-5-mini",
        f"openai-compatible:llama3.2:3b@{LOCAL}",
        "extractive",
    ]
    assert choices()[1:] == [
        Choice("anthropic", "claude-sonnet-4-5", "http://gateway/anthropic", "for anthropic"),
        Choice("openai", "gpt-5-mini", "", "for openai"),
        Choice("openai-compatible", "llama3.2:3b", LOCAL, ""),
        Choice("extractive"),
    ]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"GENERATION_PROVIDER": "best"}, "GENERATION_PROVIDER .* “best”"),
        ({"GENERATION_MODEL": "gpt-5-mini"}, "GENERATION_PROVIDER extractive has no model"),
        ({"GENERATION_PROVIDER": "openai"}, "GENERATION_MODEL"),
        ({"GENERATION_PROVIDER": "openai", "GENERATION_MODEL": "x"}, "OPENAI_API_KEY"),
        ({"GENERATION_PROVIDER": "openai-compatible", "GENERATION_MODEL": "x"}, "GENERATION_BASE_URL"),
        ({"GENERATION_FALLBACKS": ["openai"]}, "GENERATION_FALLBACKS"),
        ({"GENERATION_FALLBACKS": ["openai:gpt-5-mini"]}, "OPENAI_API_KEY"),
        ({"GENERATION_FALLBACKS": ["best:x"]}, "GENERATION_FALLBACKS .* “best”"),
        ({"GENERATION_FALLBACKS": ["a@b"]}, "“a@b” is not PROVIDER:MODEL"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_what_can_not_be_served_is_an_error_that_names_the_setting(
    settings: Settings, wrong: dict[str, object], told: str
) -> None:
    for name, value in wrong.items():
        setattr(settings, name, value)
    with pytest.raises(ImproperlyConfigured, match=told):
        start()


def test_a_key_shows_in_no_repr() -> None:
    assert "secret" not in repr(Choice("openai", "x", "", "secret"))


def test_who_quotes_loads_no_client_of_models() -> None:
    script = (
        "import django, sys; django.setup(); from search.generation.registry import start; start(); "
        "print({'pydantic_ai', 'openai', 'anthropic'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("set()")


def test_who_is_preferred_is_asked_first(settings: Settings) -> None:
    settings.GENERATION_PROVIDER = "openai-compatible"
    settings.GENERATION_MODEL = "llama3.2:3b"
    settings.GENERATION_BASE_URL = LOCAL
    settings.GENERATION_FALLBACKS = ["openai-compatible:qwen3:8b", "extractive"]
    assert generator().name == "llama3.2:3b"
    assert [generator(name).name for name in ("qwen3:8b", "extractive", "gone")] == [
        *("qwen3:8b", "extractive", "llama3.2:3b")
    ]
    in_turn = [each.name for each in in_order(choices(), ("extractive", "gone", "qwen3:8b", "extractive"))]
    assert in_turn == ["extractive", "qwen3:8b", "llama3.2:3b"]
    assert generator("qwen3:8b").describe().count(", or else ") == 2
