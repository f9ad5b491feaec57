"""The admin panel uses the product's login; it has none of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from unfold.sites import UnfoldAdminSite

from core.http.error_pages import administrators_only


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
            return guarded(request, *args, **kwargs)

        return update_wrapper(inner, guarded)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Redirect to the product's login."""
        if self.has_permission(request):
            return redirect("admin:index")
        if request.user.is_authenticated:
            return administrators_only(request)
        return redirect_to_login(request.GET.get("next") or reverse("admin:index"))

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Redirect to the page where people change their passwords."""
        return redirect("account_change_password")
