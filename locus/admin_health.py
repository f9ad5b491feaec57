"""The admin page of what the doctor finds, and its repairs; the worker does both."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.audit.recording import record
from accounts.models import AuditAction, User
from core.errors import Conflict
from kb.doctor.jobs import start_examination
from kb.models import Examination
from locus.health import has_live_worker

VIEW, REPAIR = "locus.view_health", "locus.repair"
LOOK_AGAIN_SECS = 2


@require_GET
def health_page(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """Show the last examination, or how far the present one is."""
    user = _require(request, VIEW)
    running = Examination.objects.filter(finished_at=None).first()
    shown = {
        "title": "Health",
        "running": running,
        "percent": round(100 * running.progress) if running else 0,
        "last": _last_finished(),
        "has_worker": has_live_worker(),
        "may_repair": user.has_perm(REPAIR),
        "look_again_secs": LOOK_AGAIN_SECS,
    }
    return TemplateResponse(request, "locus/admin_health.html", site.each_context(request) | shown)


@require_POST
def examine_now(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """Queue an examination, which changes nothing."""
    user = _require(request, VIEW)
    try:
        start_examination(user, is_repair=False)
    except Conflict as error:
        messages.warning(request, error.message)
    return redirect("admin:health")


@require_http_methods(["GET", "POST"])
def repair_page(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """Ask whether to repair what was found, and queue it; the audit log records who did."""
    user = _require(request, REPAIR)
    last = _last_finished()
    if request.method == "POST":
        try:
            examination = start_examination(user, is_repair=True)
        except Conflict as error:
            messages.warning(request, error.message)
        else:
            record(
                AuditAction.REPAIR_STARTED,
                user,
                target=("examination", examination.pk),
                findings=[finding["code"] for finding in last.findings] if last else [],
            )
        return redirect("admin:health")
    shown = {"title": "Repair", "last": last}
    return TemplateResponse(request, "locus/admin_repair.html", site.each_context(request) | shown)


def _last_finished() -> Examination | None:
    return Examination.objects.filter(finished_at__isnull=False).select_related("requested_by").first()


def _require(request: HttpRequest, permission: str) -> User:
    if not isinstance(request.user, User) or not request.user.has_perm(permission):
        raise PermissionDenied
    return request.user
