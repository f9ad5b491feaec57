"""From the settings, or the model connected on a page, to the one generator of this process."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Sequence
from functools import cache

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from core.llm.registry import PROVIDERS, usual_key
from search.generation.base import Choice, Generator
from search.generation.chain import Chain
from search.generation.connection import connected_choice

EXTRACTIVE = "extractive"
GENERATORS = {
    EXTRACTIVE: "search.generation.extractive.ExtractiveGenerator",
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


def generator(*preferred: str) -> Generator:
    """Return the generator of `choices()`, loaded once per process; the choices of these names go first.

    It may ask the database.
    """
    chosen = in_order(choices(), preferred)
    with _loading:
        return resident(*chosen)


def in_order(offered: Sequence[Choice], preferred: Sequence[str]) -> list[Choice]:
    """Return the choices, those of the preferred names first, in the order of the names."""
    places = {name: place for place, name in reversed(list(enumerate(preferred)))}
    return sorted(offered, key=lambda choice: places.get(choice.name, len(preferred)))


def choices() -> list[Choice]:
    """Return the first choice, then its fallbacks: as the settings name them, or else the page "Connect a
    model". That is read in the database, so that a change counts at once in every process."""
    return _with_fallbacks(environment_choice() or connected_choice() or Choice(EXTRACTIVE))


def environment_choice() -> Choice | None:
    """Return what the settings name; None if they leave it to the page."""
    provider = settings.GENERATION_PROVIDER or (EXTRACTIVE if settings.GENERATION_MODEL else "")
    if not provider:
        return None
    if provider == EXTRACTIVE and settings.GENERATION_MODEL:
        raise ImproperlyConfigured(
            f"GENERATION_MODEL is “{settings.GENERATION_MODEL}”, but GENERATION_PROVIDER extractive has no "
            f"model: name one of {', '.join(GENERATORS)}."
        )
    key = settings.GENERATION_API_KEY or usual_key(provider)
    return Choice(provider, settings.GENERATION_MODEL, settings.GENERATION_BASE_URL, key)


def start() -> str:
    """Load the generator of the settings; return the line to report. For every process that answers, at its
    start.

    Raise `ImproperlyConfigured` if the settings can't be served. No provider is asked anything, nor is the
    database: what was connected on the page must not keep a server from starting.
    """
    named = environment_choice()
    with _loading:
        report = f"Answering with {resident(*_with_fallbacks(named or Choice(EXTRACTIVE))).describe()}"
    report += "." if named else ", or the model that was connected on a page."
    logger.info(report)
    return report


def _with_fallbacks(first: Choice) -> list[Choice]:
    return [first, *(_fallback(entry, first) for entry in settings.GENERATION_FALLBACKS)]


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
