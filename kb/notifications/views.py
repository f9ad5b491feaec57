"""The page at the end of a mail: no more of them."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from kb.notifications.mail import unsubscribe, user_to_unsubscribe


# Mail programs post here themselves (RFC 8058): the signed address is the right to do so.
@csrf_exempt
@never_cache
@require_http_methods(["GET", "POST"])
def unsubscribe_page(request: HttpRequest, token: str) -> HttpResponse:
    """Ask whether mail about documents shall end; end it by POST, because programs follow links of mails."""
    user = user_to_unsubscribe(token)
    if user is None:
        raise Http404
    if request.method == "POST":
        unsubscribe(user)
    shown = {"email": user.email, "is_done": request.method == "POST"}
    return render(request, "kb/unsubscribe.html", shown)
