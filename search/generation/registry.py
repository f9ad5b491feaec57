"""From the settings to the one generator of this process."""

from __future__ import annotations

import logging
import re
import threading
from functools import cache

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from core.llm.registry import PROVIDERS, usual_key
from search.generation.base import Choice, Generator
from search.generation.chain import Chain

GENERATORS = {
    "extractive": "search.generation.extractive.ExtractiveGenerator",
    **dict.fromkeys(PROVIDERS, "search.generation.llm.LanguageModelGenerator"),
    "scripted": "search.generation.scripted.ScriptedGenerator",
}
# Model names have colons too (llama3.2:3b), and now and then an @.
_FALLBACK = re.compile(r"(?P<provider>[^:@]*)(?::(?P<model>.*?))?(?:@(?P<base_url>https?://\S+))?")

logger = logging.getLogger(__name__)
_loading = threading.Lock()


def load(*choices: Choice) -> Generator:
    """Load a generator, or several as a chain.

    Raise `ImproperlyConfigured` naming the setting if one is unknown or can't be served.
    """
    generators = [_load(choice) for choice in choices]
    return Chain(generators) if len(generators) > 1 else generators[0]


def generator(preferred: str | None = None) -> Generator:
    """Return the generator the settings name, loaded once per process; the choice of that name goes first."""
    chosen = sorted(choices(), key=lambda choice: preferred is not None and choice.name != preferred)
    with _loading:
        return resident(*chosen)


def choices() -> list[Choice]:
    """Return what the settings name: the first choice, then its fallbacks."""
    provider = settings.GENERATION_PROVIDER
    first = Choice(
        provider,
        settings.GENERATION_MODEL,
        settings.GENERATION_BASE_URL,
        settings.GENERATION_API_KEY or usual_key(provider),
    )
    if provider == "extractive" and first.model:
        raise ImproperlyConfigured(
            f"GENERATION_MODEL is “{first.model}”, but GENERATION_PROVIDER extractive has no model: "
            f"name one of {', '.join(GENERATORS)}."
        )
    return [first, *(_fallback(entry, first) for entry in settings.GENERATION_FALLBACKS)]


def start() -> str:
    """Load the generator; return the line to report. For every process that answers, at its start.

    Raise `ImproperlyConfigured` if the settings can't be served. No provider is asked anything.
    """
    report = f"Answering with {generator().describe()}."
    logger.info(report)
    return report


@cache
def resident(*chosen: Choice) -> Generator:
    """Return the one generator of these choices in this process."""
    return load(*chosen)


def _load(choice: Choice) -> Generator:
    if choice.provider not in GENERATORS:
        raise ImproperlyConfigured(
            f"GENERATION_PROVIDER and GENERATION_FALLBACKS must name one of {', '.join(GENERATORS)}, "
            f"not “{choice.provider}”."
        )
    loaded: Generator = import_string(GENERATORS[choice.provider])(choice)
    return loaded


def _fallback(entry: str, first: Choice) -> Choice:
    """Read `PROVIDER[:MODEL][@ADDRESS]`.

    Another model of the first choice's provider shares its address and key; any other has its usual ones.
    """
    named = _FALLBACK.fullmatch(entry.strip())
    if named is None:
        raise ImproperlyConfigured(f"GENERATION_FALLBACKS: “{entry}” is not PROVIDER:MODEL.")
    provider, model, base_url = (named[name] or "" for name in ("provider", "model", "base_url"))
    if provider == first.provider and base_url in ("", first.base_url):
        return Choice(provider, model, first.base_url, first.api_key)
    return Choice(provider, model, base_url, usual_key(provider))
