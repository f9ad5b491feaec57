"""The admin panel uses the product's login; it has none of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from unfold.sites import UnfoldAdminSite

from core.http.error_pages import administrators_only
from core.row_access import continue_as_system
from locus.admin_search import SHORTEST, find_everywhere


class LocusAdminSite(UnfoldAdminSite):  # type: ignore[misc]
    """unfold's site, whose logins and password changes use our own pages and their limits."""

    # An unknown address answers 404, and one without its slash redirects to the page, as elsewhere.
    final_catch_all_view = False

    def admin_view(
        self, view: Callable[..., HttpResponse], cacheable: bool = False
    ) -> Callable[..., HttpResponse]:
        """Show users without admin rights an error page; a second login would not help them."""
        guarded: Callable[..., HttpResponse] = super().admin_view(view, cacheable)

        def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.user.is_authenticated and not self.has_permission(request):
                return administrators_only(request)
            continue_as_system("staff look after everybody's rows, and the panel records it")
            return guarded(request, *args, **kwargs)

        return update_wrapper(inner, guarded)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Redirect to the product's login."""
        if self.has_permission(request):
            return redirect("admin:index")
        if request.user.is_authenticated:
            return administrators_only(request)
        return redirect_to_login(request.GET.get("next") or reverse("admin:index"))

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Show the dashboard."""
        # Its figures come from all rooms, and Django loads this module before their apps are ready.
        from locus.dashboard.view import dashboard_context

        shown = {"title": "Dashboard", "subtitle": None, **dashboard_context(request)}
        return TemplateResponse(request, "locus/dashboard.html", self.each_context(request) | shown)

    def extra_urls(self) -> list[URLPattern]:
        """Return the addresses of pages that belong to no table."""
        # The same.
        from locus.admin_components import components_page, test_component
        from locus.admin_health import examine_now, health_page, repair_page

        pages: list[tuple[str, Callable[..., HttpResponse], str]] = [
            ("components/", components_page, "components"),
            ("components/<slug:code>/test/", test_component, "component_test"),
            ("health/", health_page, "health"),
            ("health/examine/", examine_now, "health_examine"),
            ("health/repair/", repair_page, "health_repair"),
        ]
        return [
            path(address, self.admin_view(partial(view, site=self)), name=name)
            for address, view, name in pages
        ]

    def search(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show what the field in the side bar finds."""
        term = request.GET.get("s", "")[:200]
        shown = {
            "title": "Search",
            "search_term": term,
            "groups": find_everywhere(term, request.user),
            "shortest": SHORTEST,
        }
        return TemplateResponse(request, "locus/admin_search.html", self.each_context(request) | shown)

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Redirect to the page where people change their passwords."""
        return redirect("account_change_password")
