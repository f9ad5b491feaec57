"""The page where a person asks."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


@login_required
def ask(request: HttpRequest) -> HttpResponse:
    """Show the question box, the answers and the viewer; `?execution=` shows an earlier answer."""
    return render(request, "search/ask.html")
