"""What the dashboard's template gets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.http import HttpRequest
from django.utils.timesince import timesince

from accounts.models.ledger import Balance
from locus.components.listing import models_in_force
from locus.dashboard.figures import Figures, day_before, figures
from locus.dashboard.plots import LatencyPlot, RunPlot
from search.web.usage.spent import limit_of

RECENT = 8
ACTIONS = {ADDITION: "Added", CHANGE: "Changed", DELETION: "Deleted"}


@dataclass(frozen=True, slots=True)
class RecentAction:
    """What somebody did in the panel, and to what."""

    action_time: datetime
    action: str
    kind: str
    name: str
    detail: str
    address: str


def dashboard_context(request: HttpRequest) -> dict[str, Any]:
    """Return figures, plots, models, and what the administrator did lately."""
    found = figures()
    states = found.states or ()
    may_see_models = request.user.has_perm("locus.view_components")
    return {
        "figures": found,
        "documents": sum(state.number for state in states),
        "bytes": sum(state.bytes for state in states),
        "oldest_in_words": _oldest_in_words(found),
        "today": found.days[-1] if found.days else None,
        "day_before": day_before(found.at).isoformat(),
        "runs": RunPlot.of(found.days) if found.days else None,
        "latency": LatencyPlot.of(found.days) if found.days else None,
        "limit": limit_of(Balance.unscoped.filter(workspace=None), settings.MAX_COST),
        "components": models_in_force() if may_see_models else [],
        "locus_version": settings.VERSION,
        "recent": _recent_actions(request.user.pk),
    }


def _oldest_in_words(found: Figures) -> str:
    oldest = found.queue.oldest if found.queue else None
    if oldest is None:
        return "nothing waits"
    if oldest < timedelta(minutes=1):
        return f"{oldest.total_seconds():.0f} s"
    return timesince(found.at - oldest, found.at, depth=1)


def _recent_actions(user_id: Any) -> list[RecentAction]:
    entries = LogEntry.objects.filter(user_id=user_id).select_related("content_type")[:RECENT]
    return [
        RecentAction(
            entry.action_time,
            ACTIONS.get(entry.action_flag, "Did something to"),
            str(entry.content_type.name) if entry.content_type else "",
            entry.object_repr,
            entry.get_change_message() if entry.action_flag == CHANGE else "",
            "" if entry.action_flag == DELETION else entry.get_admin_url() or "",
        )
        for entry in entries
    ]
