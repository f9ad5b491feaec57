"""From a provider's name, as settings give it, to a chat model that can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from core.llm.base import ChatProvider

if TYPE_CHECKING:
    from core.llm.gateway import ChatModel

PROVIDERS = {
    "anthropic": "core.llm.anthropic.AnthropicChat",
    "openai": "core.llm.openai.OpenAiChat",
    "openai-compatible": "core.llm.openai_compatible.OpenAiCompatibleChat",
}


def usual_key(provider: str) -> str:
    """Return the key that the settings hold for a provider, whatever it is asked for; empty without one."""
    setting = provider_named(provider).key_setting if provider in PROVIDERS else ""
    key: str = getattr(settings, setting) if setting else ""
    return key


def chat_model(
    provider: str, name: str, address: str, key: str, *, prefix: str, priced_by_address: bool = False
) -> ChatModel:
    """Return the model of this name; an empty `address` is the provider's usual one.

    `prefix` begins the names of the settings that chose it: `GENERATION`, `VISION`, `RERANKER`. With
    `priced_by_address` the settings name no company, and the price is found by the address and the name.
    Nothing is asked. Raise `ImproperlyConfigured` naming the setting if it can't be served.
    """
    if provider not in PROVIDERS:
        raise ImproperlyConfigured(
            f"{prefix}_PROVIDER must be one of {', '.join(PROVIDERS)}, not “{provider}”."
        )
    found = provider_named(provider)
    if not name:
        raise ImproperlyConfigured(f"{provider} needs the name of a model: {prefix}_MODEL.")
    if found.key_setting and not key:
        raise ImproperlyConfigured(f"{provider} needs a key: {prefix}_API_KEY or {found.key_setting}.")
    if not (address or found.address):
        raise ImproperlyConfigured(
            f"{provider} needs an address: {prefix}_BASE_URL, e.g. http://127.0.0.1:11434/v1."
        )
    # The model library takes half a second to load, and most processes don't need it.
    from core.llm.gateway import ChatModel

    return ChatModel(
        found,
        provider,
        name,
        address or found.address,
        key,
        prefix=prefix,
        priced_by_address=priced_by_address,
    )


def provider_named(name: str) -> ChatProvider:
    """Return a provider of `PROVIDERS`."""
    provider: ChatProvider = import_string(PROVIDERS[name])()
    return provider
