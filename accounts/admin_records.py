"""Pages about one row in the admin panel: tabs that show it, and buttons for what may be done with it.

Nothing is edited there, so there is no form and no Save. Each button needs its own permission; what the user
may not do is neither shown nor done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse


@dataclass(frozen=True, slots=True)
class Tab:
    """A part of the page about a row, at `?tab=NAME`; the template shows it within the page."""

    name: str
    title: str
    template: str


@dataclass(frozen=True, slots=True)
class RecordButton:
    """Something that may be done with a row, by a POST to the address of this name."""

    name: str
    title: str
    permission: str
    """`change` or `delete`, of the row's model."""
    is_dangerous: bool = False
    is_link: bool = False
    """Whether it leads to a page that asks first, instead of a POST."""


@dataclass(frozen=True, slots=True)
class RecordFact:
    """A line of a page: what is said, and where it leads."""

    label: str
    value: object
    link: str = ""


class RecordPages:
    """Part of the admin class of a model whose rows are looked at with tabs and buttons."""

    record_template = "admin/record.html"
    tabs: Sequence[Tab] = ()
    buttons: Sequence[RecordButton] = ()

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: these rows come from elsewhere."""
        return False

    def tab_context(self, request: HttpRequest, obj: Any, tab: str) -> dict[str, Any]:
        """Return what the template of a tab shows."""
        return {}

    def shown_buttons(self, request: HttpRequest, obj: Any) -> list[RecordButton]:
        """Return the buttons that make sense for the row now."""
        return list(self.buttons)

    def record_title(self, obj: Any) -> str:
        """Return the title of the page."""
        return str(obj)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show one tab of the page; the permission is checked before the row is looked for."""
        if not self.has_view_permission(request):  # type: ignore[attr-defined]
            raise PermissionDenied
        if request.method != "GET":
            return HttpResponse(status=405, headers={"Allow": "GET"})
        return self.record_page(request, self.row(request, object_id), extra_context or {})

    def record_page(
        self, request: HttpRequest, obj: Any, extra_context: Mapping[str, Any] = {}
    ) -> HttpResponse:
        """Return the page about a row with the tab that the address names."""
        named = {tab.name: tab for tab in self.tabs}
        tab = named.get(request.GET.get("tab", ""), self.tabs[0])
        site: Any = self.admin_site  # type: ignore[attr-defined]
        context = {
            **site.each_context(request),
            "opts": self.opts,  # type: ignore[attr-defined]
            "original": obj,
            "title": self.record_title(obj),
            "tabs": self.tabs,
            "tab": tab,
            "buttons": [
                {"button": button, "address": self.address(button.name, obj)}
                for button in self.shown_buttons(request, obj)
                if self.may(request, button.permission, obj)
            ],
            "media": self.media,  # type: ignore[attr-defined]
            **self.tab_context(request, obj, tab.name),
            **extra_context,
        }
        return TemplateResponse(request, self.record_template, context)

    def row(self, request: HttpRequest, object_id: str) -> Any:
        """Return the row of an address, or raise `Http404`."""
        obj = self.get_object(request, unquote(object_id))  # type: ignore[attr-defined]
        if obj is None:
            raise Http404
        return obj

    def may(self, request: HttpRequest, permission: str, obj: Any = None) -> bool:
        """Return whether the user has the permission `view`, `change` or `delete`."""
        return bool(getattr(self, f"has_{permission}_permission")(request, obj))

    def address(self, name: str, obj: models.Model) -> str:
        """Return the address of a view about a row, such as `delete`."""
        opts: Any = self.opts  # type: ignore[attr-defined]
        return reverse(f"admin:{opts.app_label}_{opts.model_name}_{name}", args=[quote(obj.pk)])

    def record_path(self, name: str, view: Any) -> URLPattern:
        """Return the route of a view about a row."""
        opts: Any = self.opts  # type: ignore[attr-defined]
        site: Any = self.admin_site  # type: ignore[attr-defined]
        guarded = site.admin_view(view)
        route: URLPattern = path(
            f"<path:object_id>/{name}/", guarded, name=f"{opts.app_label}_{opts.model_name}_{name}"
        )
        return route

    def posted_row(self, request: HttpRequest, object_id: str, permission: str) -> Any:
        """Return the row of a button's POST, or raise `PermissionDenied` or `Http404`."""
        if request.method != "POST" or not self.may(request, permission):
            raise PermissionDenied
        return self.row(request, object_id)
