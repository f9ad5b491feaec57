"""What leaves the machine with each question, in one sentence."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from django.utils.translation import gettext

from core.llm.registry import PROVIDERS, provider_named
from search.generation.base import Choice

COMPANIES = {"anthropic": "Anthropic", "openai": "OpenAI"}


def leaving_words(choice: Choice) -> str:
    """Return the sentence for the model that answers."""
    if choice.provider not in PROVIDERS:
        return gettext("Nothing leaves this machine to answer a question about your documents.")
    host = urlsplit(choice.base_url or provider_named(choice.provider).address).hostname or ""
    if _is_here(host):
        return gettext("Nothing leaves this machine: the model runs on it.")
    to = COMPANIES.get(choice.provider) if not choice.base_url else None
    words = gettext(
        "Each question, and the passages found for it, are sent to %(receiver)s. "
        "Whole documents are not sent, and nothing is sent before somebody asks."
    )
    return words % {"receiver": to or host}


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
