"""The page Search: what its filters offer, of the documents that the reader sees."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.db.models import F, Func
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language_info
from django.views.decorators.http import require_GET

from accounts.access.identity import principal_of_user
from accounts.models import User, Workspace
from accounts.principal import Principal
from kb.models import Document

MOST_TAGS = 200


@dataclass(frozen=True, slots=True)
class SearchOffers:
    """What the filters of the page offer."""

    workspaces: list[Workspace]
    kinds: list[str]
    tags: list[str]
    languages: list[tuple[str, str]]
    """Codes and names, such as `("de", "German")`."""


@require_GET
@login_required
def search_page(request: HttpRequest) -> HttpResponse:
    """Show the form; the page's script searches for what the address says, by `POST search`."""
    assert isinstance(request.user, User)
    principal = principal_of_user(request.user)
    shown = {"offers": offers_for(principal), "document": _document(principal, request.GET.get("document"))}
    return render(request, "search/search.html", shown)


def offers_for(principal: Principal) -> SearchOffers:
    """Return workspaces, and the kinds, tags and languages that documents there have."""
    documents = Document.objects.restricted_to(principal).order_by()
    kinds = documents.exclude(file_type="").values_list("file_type", flat=True).distinct()
    languages = documents.exclude(language=None).values_list("language", flat=True).distinct()
    tags = documents.annotate(tag=Func(F("tags"), function="unnest")).values_list("tag", flat=True).distinct()
    named = sorted(((code, _language_name(code)) for code in languages if code), key=lambda each: each[1])
    return SearchOffers(
        workspaces=list(Workspace.objects.filter(pk__in=principal.workspace_ids)),
        kinds=sorted(kinds),
        tags=sorted(tags[:MOST_TAGS], key=str.casefold),
        languages=named,
    )


def _language_name(code: str) -> str:
    """Return the English name of a language, or the code of one that Django does not know."""
    try:
        return str(get_language_info(code)["name"])
    except KeyError:
        return code


def _document(principal: Principal, id: str | None) -> Document | None:
    """Return the document that the search is narrowed to, if the reader sees it."""
    try:
        wanted = UUID(id or "")
    except ValueError:
        return None
    return Document.objects.restricted_to(principal).filter(pk=wanted).first()
