"""The fields of settings: what a form shows of them, and what it sends.

Forms of assistants and of bindings have the same fields; each setting is read by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from uuid import UUID

from django.http import QueryDict
from pydantic import ValidationError

from accounts.models import Workspace
from accounts.principal import Principal
from assistants.configuration.settings import AssistantSettings
from assistants.pages.words import SETTINGS, offered_tools
from kb.models import Document, DocumentCollection
from search.preferences import generation_models
from search.web.providers.registry import offered_names

MOST_FALLBACKS = 3
"""So many are chosen on the page; the API takes more."""


# --- What is shown ---------------------------------------------------------------------------------------


def shown_fields(principal: Principal, settings: AssistantSettings) -> dict[str, Any]:
    """Return what the templates of the fields show of settings."""
    models, web = generation_models(), settings.web
    return {
        "settings": settings,
        "tools": [(name, words, name in settings.tools) for name, words in offered_tools().items()],
        "models": models,
        "fallbacks": _fallbacks_shown(settings, models),
        "starters": "\n".join(settings.starters),
        "workspaces": _workspaces_shown(principal, settings),
        "collections": _collections_shown(principal, settings),
        "documents": _documents_shown(principal, settings),
        "tags": ", ".join(settings.scope.tags or ()),
        "providers": offered_names(),
        "allowed": ", ".join(web.whitelisted_domains or ()),
        "blocked": ", ".join(entry[1:] for entry in web.search_domain_filter or () if entry[0] == "-"),
    }


def _fallbacks_shown(settings: AssistantSettings, models: list[str]) -> list[tuple[int, str]]:
    """Return for each choice of a fallback its number and the model that is chosen."""
    count = min(max(len(models) - 1, len(settings.fallbacks)), MOST_FALLBACKS)
    chosen = [*settings.fallbacks, *[""] * count]
    return list(enumerate(chosen[:count], start=1))


def _workspaces_shown(principal: Principal, settings: AssistantSettings) -> list[tuple[Workspace, bool]]:
    chosen = set(settings.scope.workspace_ids or ())
    rows = Workspace.objects.filter(pk__in=principal.workspace_ids).order_by("name", "pk")
    return [(row, row.pk in chosen) for row in rows]


def _collections_shown(
    principal: Principal, settings: AssistantSettings
) -> list[tuple[DocumentCollection, bool]]:
    chosen = set(settings.scope.collection_ids or ())
    rows = DocumentCollection.objects.restricted_to(principal).order_by("name", "pk")
    return [(row, row.pk in chosen) for row in rows]


def _documents_shown(principal: Principal, settings: AssistantSettings) -> list[tuple[UUID, str | None]]:
    """Return the chosen documents by name; None for one that is gone, or that the reader can't see."""
    ids = settings.scope.document_ids or []
    names = dict(Document.objects.restricted_to(principal).filter(pk__in=ids).values_list("pk", "name"))
    return [(id, names.get(id)) for id in ids]


# --- What is sent ----------------------------------------------------------------------------------------


def sent_settings(
    principal: Principal, before: AssistantSettings, sent: QueryDict, names: Iterable[str] = SETTINGS
) -> dict[str, Any]:
    """Return the named settings as the API takes them; what no field shows stays as it was before."""
    stored = before.as_stored()
    return {name: READERS[name](principal, stored[name], sent) for name in names}


def with_valid(settings: AssistantSettings, values: Mapping[str, Any]) -> AssistantSettings:
    """Return settings with those of the values that are valid by themselves: a form shows them again."""
    for name, value in values.items():
        try:
            settings = AssistantSettings.model_validate(settings.as_stored() | {name: value})
        except ValidationError:
            continue
    return settings


def _scope(principal: Principal, before: Mapping[str, Any], sent: QueryDict) -> dict[str, Any]:
    chosen = {
        "workspace_ids": _with_unseen(principal.roles, before["workspace_ids"], sent.getlist("workspaces")),
        "collection_ids": _with_unseen(
            _collections_of(principal), before["collection_ids"], sent.getlist("collections")
        ),
        "document_ids": sent.getlist("documents"),
        "tags": _listed(sent.get("tags", "")),
    }
    return {name: ids or None for name, ids in chosen.items()}


def _with_unseen(seen: Iterable[UUID], before: Iterable[str] | None, sent: list[str]) -> list[str]:
    """Return what is sent, with what the user can't see: without it the scope would be wider."""
    known = set(map(str, seen))
    return [*sent, *(id for id in before or () if id not in known)]


def _collections_of(principal: Principal) -> Iterable[UUID]:
    return DocumentCollection.objects.restricted_to(principal).values_list("pk", flat=True)


def _web(_principal: Principal, before: Mapping[str, Any], sent: QueryDict) -> dict[str, Any]:
    allowed, blocked = _listed(sent.get("allowed", "")), _listed(sent.get("blocked", ""))
    # The API can also set a second list of allowed sites. It stays; both kinds together are refused.
    kept = [entry for entry in before["search_domain_filter"] or () if entry[0] != "-"]
    return dict(before) | {
        "enabled": "web_enabled" in sent,
        "provider": sent.get("provider") or None,
        "count": _number(sent.get("count", "")),
        "expand": _yes_or_no(sent.get("expand", "")),
        "whitelisted_domains": allowed or None,
        "search_domain_filter": [*kept, *(f"-{site}" for site in blocked)] or None,
        "country": sent.get("country", "").strip().upper() or None,
        "language": sent.get("language", "").strip().lower() or None,
    }


def _style(_principal: Principal, _before: object, sent: QueryDict) -> dict[str, Any]:
    return {
        "temperature": _number(sent.get("temperature", "")),
        "max_output_tokens": _number(sent.get("max_output_tokens", "")),
        "reflection": _yes_or_no(sent.get("reflection", "")),
    }


def _limits(_principal: Principal, _before: object, sent: QueryDict) -> dict[str, Any]:
    limits = {name: _number(sent.get(name, "")) for name in ("max_steps", "max_seconds", "max_cost")}
    return {name: value for name, value in limits.items() if value is not None}


def _fallbacks(_principal: Principal, _before: object, sent: QueryDict) -> list[str]:
    return list(dict.fromkeys(name for name in sent.getlist("fallbacks") if name))


def _starters(_principal: Principal, _before: object, sent: QueryDict) -> list[str]:
    return [line.strip() for line in sent.get("starters", "").splitlines() if line.strip()]


READERS: Mapping[str, Callable[[Principal, Any, QueryDict], Any]] = {
    "instructions": lambda _principal, _before, sent: sent.get("instructions", ""),
    "model": lambda _principal, _before, sent: sent.get("model") or None,
    "fallbacks": _fallbacks,
    "tools": lambda _principal, _before, sent: sent.getlist("tools"),
    "scope": _scope,
    "web": _web,
    "style": _style,
    "limits": _limits,
    "starters": _starters,
}


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _yes_or_no(text: str) -> bool | None:
    return {"yes": True, "no": False}.get(text)


def _number(text: str) -> float | int | str | None:
    """Return a number as it was typed; what is none is for the validation to refuse."""
    text = text.strip().replace(",", ".")
    try:
        return int(text) if text.isascii() and text.isdigit() else float(text) if text else None
    except ValueError:
        return text
