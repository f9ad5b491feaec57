"""The admin panel's door: one login for the whole product, and no second one."""

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
    """unfold's site, whose logins and changes of password go through our own pages and their limits."""

    # An unknown address is a 404 here as elsewhere, and one without its slash leads to the page.
    final_catch_all_view = False

    def admin_view(
        self, view: Callable[..., HttpResponse], cacheable: bool = False
    ) -> Callable[..., HttpResponse]:
        """Tell those who are logged in, but no administrators, so; a second login would not help them."""
        guarded: Callable[..., HttpResponse] = super().admin_view(view, cacheable)

        def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.user.is_authenticated and not self.has_permission(request):
                return administrators_only(request)
            return guarded(request, *args, **kwargs)

        return update_wrapper(inner, guarded)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Lead to the login of the product."""
        if self.has_permission(request):
            return redirect("admin:index")
        if request.user.is_authenticated:
            return administrators_only(request)
        return redirect_to_login(request.GET.get("next") or reverse("admin:index"))

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Lead to the page where people change their passwords."""
        return redirect("account_change_password")
