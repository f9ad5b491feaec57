"""Tools, ways and settings of assistants in words."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy

from assistants.configuration.settings import AssistantSettings
from assistants.models import BindingKind
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


def offered_tools() -> dict[str, Any]:
    """Return the agent's tools that this deployment has, with their words."""
    offered = are_web_tools_offered()
    return {name: words for name, words in TOOLS.items() if offered or not name.startswith("web_")}


def setting_in_words(settings: AssistantSettings, name: str) -> str:
    """Return a setting in words; empty where it narrows or sets nothing."""
    value = getattr(settings, name)
    if name == "tools":
        return ", ".join(str(TOOLS[tool]) for tool in value)
    if hasattr(value, "model_dump"):
        given = value.model_dump(mode="json", exclude_none=True)
        return ", ".join(f"{key}: {_one(item)}" for key, item in given.items())
    return ", ".join(value) if isinstance(value, list) else value or ""


def _one(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
