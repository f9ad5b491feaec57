"""The web's cost and the state of its search engines, in the admin panel."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.admin import ModelAdmin

from accounts.models import Workspace
from accounts.models.ledger import Balance, Charge
from core.languages.numbers import price
from search.models import Breaker
from search.web.breaker import state_of
from search.web.usage.health import engine_healths, unconfigured_names
from search.web.usage.spent import USUAL, SpendingOverview, limit_of


@admin.register(Charge)
class ChargeAdmin(ModelAdmin):  # type: ignore[misc]
    """The ledger of all workspaces, below what it comes to."""

    list_before_template = "search/admin_web_use.html"
    list_display = ["created_at", "workspace", "purpose", "provider", "dollars", "settled_at"]
    list_filter = ["purpose", "created_at"]
    search_fields = ["provider", "workspace__name"]
    list_select_related = ["workspace", "workspace__personal_of"]
    fields = [*list_display, "execution_id", "lease_until"]
    readonly_fields = fields
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Charge]:
        """Return charges of every tenant: the admin panel is for staff."""
        return Charge.unscoped.order_by("-created_at", "id")

    @admin.display(description="amount", ordering="amount")
    def dollars(self, charge: Charge) -> str:
        """Return the amount in US dollars."""
        return price(charge.amount)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show what was spent in the last days above the charges."""
        now = timezone.now()
        spent = SpendingOverview.of(Charge.unscoped.all(), USUAL, now.date())
        names = {each.pk: str(each) for each in Workspace.objects.select_related("personal_of")}
        shown = {
            "spent": spent,
            "by_workspace": spent.by_workspace(names),
            "limit": limit_of(Balance.unscoped.filter(workspace=None), settings.MAX_COST),
            "healths": engine_healths(now),
            "unconfigured": unconfigured_names(),
        }
        response: HttpResponse = super().changelist_view(request, (extra_context or {}) | shown)
        return response

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: calls create charges."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Charge | None = None) -> bool:
        """Refuse: charges are not edited."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Charge | None = None) -> bool:
        """Refuse: the balances would no longer be the sums of their charges."""
        return False


@admin.register(Breaker)
class BreakerAdmin(ModelAdmin):  # type: ignore[misc]
    """Search engines in trouble. Deleting one forgets the trouble: it is asked again at once."""

    list_display = ["name", "state", "failures", "open_until", "is_refused"]
    ordering = ["name"]
    fields = list_display
    readonly_fields = list_display

    @admin.display(description="state")
    def state(self, breaker: Breaker) -> str:
        """Return the breaker's present state."""
        return state_of(breaker, timezone.now()).name.lower().replace("_", "-")

    @admin.display(description="key refused")
    def is_refused(self, breaker: Breaker) -> str:
        """Return whether a key was refused; the digest of the configuration stays hidden."""
        return "yes" if breaker.refused else "no"

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: failures create breakers."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Breaker | None = None) -> bool:
        """Refuse: the record of failures is not edited."""
        return False
