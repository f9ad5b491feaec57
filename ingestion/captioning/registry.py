"""From the settings to the one captioner of this process."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings

from core.llm.registry import chat_model, usual_key

if TYPE_CHECKING:
    from core.llm.gateway import ChatModel
    from ingestion.captioning.model import Captioner


def captioner() -> Captioner | None:
    """Return who describes pictures, None if the settings name nobody; raise `ImproperlyConfigured`."""
    if not settings.VISION_PROVIDER:
        return None
    # The model library takes half a second to load, and most installations don't need it here.
    from ingestion.captioning.model import Captioner

    return Captioner(_chosen())


def start() -> str:
    """Check the settings; return the sentence to report, empty if nobody describes pictures."""
    if not settings.VISION_PROVIDER:
        return ""
    chat = _chosen()
    where = f" at {chat.address}" if settings.VISION_BASE_URL else ""
    return f"Pictures are described by {chat.name}{where}."


def _chosen() -> ChatModel:
    provider = settings.VISION_PROVIDER
    key = settings.VISION_API_KEY or usual_key(provider)
    return _loaded(provider, settings.VISION_MODEL, settings.VISION_BASE_URL, key)


@cache
def _loaded(provider: str, model: str, address: str, key: str) -> ChatModel:
    return chat_model(provider, model, address, key, prefix="VISION")
