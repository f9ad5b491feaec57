"""Tools, ways and settings of assistants in words."""

from __future__ import annotations

from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_lazy

from assistants.configuration.settings import AssistantSettings
from assistants.models import BindingKind
from core.api.validation import ApiModel
from search.web.preferences import are_web_tools_offered

TOOLS = {
    "rag_search": gettext_lazy("search documents"),
    "list_documents": gettext_lazy("list documents"),
    "read_document": gettext_lazy("read documents page by page"),
    "web_search": gettext_lazy("search the web"),
    "web_fetch": gettext_lazy("read pages of the web"),
}
WAYS = {
    BindingKind.PAGE: gettext_lazy("These pages"),
    BindingKind.API_KEY: gettext_lazy("API key"),
    BindingKind.WEBSOCKET: gettext_lazy("Websocket"),
    BindingKind.MCP: gettext_lazy("MCP"),
    BindingKind.WIDGET: gettext_lazy("Widget"),
}
SETTINGS = {
    "instructions": gettext_lazy("Instructions"),
    "model": gettext_lazy("Model"),
    "fallbacks": gettext_lazy("Models that step in"),
    "tools": gettext_lazy("Tools"),
    "scope": gettext_lazy("Documents"),
    "web": gettext_lazy("Web"),
    "style": gettext_lazy("Style"),
    "limits": gettext_lazy("Limits"),
    "starters": gettext_lazy("Questions to begin with"),
}


PARTS = {
    "workspace_ids": gettext_lazy("Workspaces"),
    "collection_ids": gettext_lazy("Collections"),
    "document_ids": gettext_lazy("Documents"),
    "tags": gettext_lazy("Tags"),
    "enabled": gettext_lazy("Search the web"),
    "whitelisted_domains": gettext_lazy("Only pages of these sites"),
    "search_domain_filter": gettext_lazy("Only pages of these sites"),
    "denied": gettext_lazy("Never pages of these sites"),
    "provider": gettext_lazy("Search engine"),
    "expand": gettext_lazy("Read the three best pages whole"),
    "count": gettext_lazy("Results to look at"),
    "country": gettext_lazy("Country"),
    "language": gettext_lazy("Language"),
    "temperature": gettext_lazy("Temperature"),
    "max_output_tokens": gettext_lazy("Tokens of an answer, at most"),
    "reflection": gettext_lazy("Begin with what it makes of the question"),
    "max_steps": gettext_lazy("Searches for one question, at most"),
    "max_seconds": gettext_lazy("Seconds for searching, at most"),
    "max_cost": gettext_lazy("US dollars for one question, at most"),
}
"""The parts of settings, in the words of their fields and in their order."""


def offered_tools() -> dict[str, Any]:
    """Return the agent's tools that this deployment has, with their words."""
    offered = are_web_tools_offered()
    return {name: words for name, words in TOOLS.items() if offered or not name.startswith("web_")}


def setting_in_words(settings: AssistantSettings, name: str) -> str:
    """Return a setting in words; empty where it narrows or sets nothing."""
    value = getattr(settings, name)
    if name == "tools":
        return ", ".join(str(TOOLS[tool]) for tool in value)
    if isinstance(value, ApiModel):
        parts = _parts(value)
        return "; ".join(f"{PARTS[part]}: {parts[part]}" for part in PARTS if part in parts)
    return ", ".join(value) if isinstance(value, list) else value or ""


def _parts(value: ApiModel) -> dict[str, str]:
    """Return what is given of a setting; that the web may be searched is usual, and goes without saying."""
    given = value.model_dump(mode="json", exclude_none=True)
    if given.get("enabled"):
        del given["enabled"]
    sites = given.get("search_domain_filter")
    if sites and sites[0].startswith("-"):
        del given["search_domain_filter"]
        given["denied"] = [site.removeprefix("-") for site in sites]
    return {part: _in_words(part, item) for part, item in given.items()}


def _in_words(part: str, value: Any) -> str:
    match value:
        case bool():
            return gettext("Yes") if value else gettext("No")
        case int() | float():
            return number_format(value)
        case list():
            # Nobody knows ids by heart.
            return number_format(len(value)) if part.endswith("_ids") else ", ".join(value)
    return str(value)
