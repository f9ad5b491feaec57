"""The page “Connect a model”."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from accounts.models import User
from locus.model_connection.administrators import REFUSAL, may_connect
from locus.model_connection.shapes import ConnectionShape


@require_GET
@login_required
def connect_model(request: HttpRequest) -> HttpResponse:
    """Show which model answers, and let an administrator find, test and connect another."""
    assert isinstance(request.user, User)
    if not may_connect(request.user):
        raise PermissionDenied(REFUSAL)
    return render(request, "locus/connect_model.html", {"connection": ConnectionShape.of()})
