"""The page where a person keeps API keys."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


@login_required
def keys(request: HttpRequest) -> HttpResponse:
    """Show the API keys page; its data comes from the API."""
    return render(request, "accounts/keys.html")
