"""The ways in which an assistant is reached: made, set by themselves, shown with what counts, and ended."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import ApiKey
from assistants.configuration.bindings import change_binding, create_binding, delete_binding
from assistants.configuration.resolving import as_configured, version_of, visible_assistant
from assistants.configuration.schemas import BindingPatch, NewBinding
from assistants.configuration.settings import AssistantSettings, BindingOverrides, read_settings
from assistants.models import Assistant, Binding, BindingKind
from assistants.pages.assistants import changeable_or_404, principal_of_reader
from assistants.pages.fields import sent_settings, shown_fields, with_valid
from assistants.pages.words import SETTINGS, WAYS, setting_in_words
from core.api.validation import validated
from core.errors import LocusError, NotFound


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def bindings(request: HttpRequest, id: UUID) -> HttpResponse:
    """List the ways in which an assistant is reached, to those who may change it; add one."""
    row = changeable_or_404(request, id)
    error = ""
    if request.method == "POST":
        try:
            made = _add(request, row)
        except LocusError as refused:
            error = refused.message
        else:
            return redirect("assistant_binding", made.pk)
    shown = {
        "assistant": row,
        "bindings": [
            (each, _name(request, each), [SETTINGS[name] for name in each.overrides]) for each in _of(row)
        ],
        "ways": WAYS.items(),
        "keys": ApiKey.objects.filter(user_id=principal_of_reader(request).user_id).order_by("name"),
        "kind": request.POST.get("kind", request.GET.get("kind", "")),
        "origins": request.POST.get("origins", ""),
        "error": error,
    }
    return render(request, "assistants/bindings.html", shown, status=400 if error else 200)


def _add(request: HttpRequest, row: Assistant) -> Binding:
    sent = request.POST
    body: dict[str, Any] = {"kind": sent.get("kind", "")}
    if body["kind"] == BindingKind.API_KEY and sent.get("key"):
        body["key_id"] = sent["key"]
    if body["kind"] == BindingKind.WIDGET:
        body["allowed_origins"] = _origins(sent)
    new = validated(NewBinding, body)
    return create_binding(principal_of_reader(request), row, new.columns(), new.overrides)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def binding(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show what a way sets by itself, and what it inherits; change it as is sent."""
    row, found = _found(request, id)
    inherited = read_settings(version_of(row, row.version).settings)
    own = set(found.overrides)
    settings = read_settings(inherited.as_stored(), found.overrides)
    error = ""
    if request.method == "POST":
        own = set(request.POST.getlist("own")) & set(SETTINGS)
        values = sent_settings(principal_of_reader(request), settings, request.POST, own)
        settings = with_valid(settings, values)
        try:
            _change(request, found, values)
        except LocusError as refused:
            error = refused.message
        else:
            messages.success(request, gettext("It is saved."))
            return redirect("assistant_bindings", row.pk)
    shown = {
        "assistant": row,
        "binding": found,
        "name": _name(request, found),
        "groups": _groups(inherited, own),
        "snippet": _snippet(request, found) if found.kind == BindingKind.WIDGET else "",
        "origins": request.POST.get("origins", "\n".join(found.origins)),
        "error": error,
        **shown_fields(principal_of_reader(request), settings),
    }
    return render(request, "assistants/binding.html", shown, status=400 if error else 200)


def _groups(inherited: AssistantSettings, own: set[str]) -> list[tuple[str, Any, bool, str]]:
    """Return for each setting its name, its words, whether it is the way's own, and what it would inherit."""
    return [(name, words, name in own, setting_in_words(inherited, name)) for name, words in SETTINGS.items()]


def _change(request: HttpRequest, found: Binding, values: dict[str, Any]) -> None:
    body: dict[str, Any] = {"overrides": values}
    if found.kind == BindingKind.WIDGET:
        body["allowed_origins"] = _origins(request.POST)
    patch = validated(BindingPatch, body)
    overrides: BindingOverrides = patch.overrides
    change_binding(principal_of_reader(request), found, patch.columns(), overrides)


@login_required
@require_POST
def end_binding(request: HttpRequest, id: UUID) -> HttpResponse:
    """End a way: it counts as any other from now on."""
    row, found = _found(request, id)
    delete_binding(principal_of_reader(request), found)
    messages.success(request, gettext("“%(name)s” is no longer reached in this way.") % {"name": row.name})
    return redirect("assistant_bindings", row.pk)


@login_required
@require_safe
def resolved(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show what counts for a request by each way of reaching an assistant."""
    try:
        row = visible_assistant(principal_of_reader(request), id)
    except NotFound:
        raise Http404 from None
    version = version_of(row, row.version)
    found = list(_of(row))
    columns = [as_configured(row, version, None), *(as_configured(row, version, each) for each in found)]
    labels = [gettext("Assistant"), *(WAYS[BindingKind(each.kind)] for each in found)]
    own = [{}, *(each.overrides for each in found)]
    table = [
        (
            words,
            [
                (setting_in_words(column.settings, name), name in overrides, label)
                for column, overrides, label in zip(columns, own, labels, strict=True)
            ],
        )
        for name, words in SETTINGS.items()
    ]
    ways = [(_name(request, each), each.origins) for each in found]
    return render(request, "assistants/resolved.html", {"assistant": row, "table": table, "ways": ways})


def _of(row: Assistant) -> Any:
    return row.bindings.select_related("key")


def _found(request: HttpRequest, id: UUID) -> tuple[Assistant, Binding]:
    seen = Assistant.objects.addressable_by(principal_of_reader(request))
    found = Binding.objects.filter(pk=id, assistant__in=seen).first()
    if found is None:
        raise Http404
    return changeable_or_404(request, found.assistant_id), found


def _name(request: HttpRequest, found: Binding) -> str:
    """Return a way in words; what a key is called is its owner's."""
    words = str(WAYS[BindingKind(found.kind)])
    is_own = found.key is not None and found.key.user == request.user
    return f"{words} {found.key.name}" if is_own and found.key else words


def _snippet(request: HttpRequest, found: Binding) -> str:
    """Return the script tag that embeds a widget. The site's own server answers `data-token`."""
    script = request.build_absolute_uri("/widget.js")
    return f'<script src="{script}" data-binding="{found.pk}" data-token="/locus-token" defer></script>'


def _origins(sent: QueryDict) -> list[str]:
    return sent.get("origins", "").split()
