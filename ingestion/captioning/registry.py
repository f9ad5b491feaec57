"""From the settings to the one captioner of this process."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from ingestion.captioning.base import MODELS

if TYPE_CHECKING:
    from ingestion.captioning.model import Captioner


def captioner() -> Captioner | None:
    """Return who describes pictures, None if the settings name nobody; raise `ImproperlyConfigured`."""
    provider = settings.VISION_PROVIDER
    if not provider:
        return None
    key = settings.VISION_API_KEY or _usual_key(provider)
    return _loaded(provider, settings.VISION_MODEL, settings.VISION_BASE_URL, key)


def start() -> str:
    """Check the settings; return the sentence to report, empty if nobody describes pictures."""
    chosen = captioner()
    return f"Pictures are described by {chosen.describe()}." if chosen else ""


@cache
def _loaded(provider: str, model: str, address: str, key: str) -> Captioner:
    if provider not in MODELS:
        raise ImproperlyConfigured(f"VISION_PROVIDER must be one of {', '.join(MODELS)}, not “{provider}”.")
    if not model:
        raise ImproperlyConfigured(f"VISION_PROVIDER {provider} needs the name of a model: VISION_MODEL.")
    if provider == "openai-compatible":
        if not address:
            raise ImproperlyConfigured(
                "VISION_PROVIDER openai-compatible needs an address: VISION_BASE_URL, "
                "e.g. http://127.0.0.1:11434/v1."
            )
    elif not key:
        raise ImproperlyConfigured(f"VISION_PROVIDER {provider} needs a key: VISION_API_KEY.")
    # The model library takes half a second to load, and most installations don't need it here.
    from ingestion.captioning.model import Captioner

    return Captioner(provider, model, address, key)


def _usual_key(provider: str) -> str:
    keys: dict[str, str] = {"anthropic": settings.ANTHROPIC_API_KEY, "openai": settings.OPENAI_API_KEY}
    return keys.get(provider, "")
