"""One address, of a page for people and of an operation for programs."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

View = Callable[..., HttpResponseBase]


def by_method(post: View, *, otherwise: View) -> View:
    """Return a view that hands POST to one view, and other methods to another one.

    It is exempt from CSRF checks, so what POST does must not trust a login.
    """

    @csrf_exempt
    @wraps(post)
    def view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        chosen = post if request.method == "POST" else otherwise
        return chosen(request, *args, **kwargs)

    return view
