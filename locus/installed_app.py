"""Locus as an app: what a browser needs to install it, and what other apps share with it.

An app shares files, text and addresses by a form. A worker in the browser receives it
(`frontend/src/service-worker.js`). Any site could send that form, so nothing is added by it: the page
Documents lists what was shared, and adds it over the API once its reader has chosen a workspace. The
server gets the form only where that worker is missing.
"""

from __future__ import annotations

from pathlib import Path

from django.contrib.staticfiles import finders
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import cache_control
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods

WORKER = "service-worker.js"
SHARED = "?shared"
"""Asks the page Documents to show what was shared."""


@require_GET
@cache_control(max_age=3600)
def web_manifest(request: HttpRequest) -> HttpResponse:
    """Return what a browser needs to install Locus as an app; it asks for this without a login."""
    icons = [
        {
            "src": static(f"icon-{size}{suffix}.png"),
            "sizes": f"{size}x{size}",
            "type": "image/png",
            "purpose": purpose,
        }
        for size, suffix, purpose in [(192, "", "any"), (512, "", "any"), (512, "-maskable", "maskable")]
    ]
    manifest = {
        "id": "/",
        "name": "Locus",
        "short_name": "Locus",
        "description": gettext("Answers from your documents, each with its exact place."),
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": "#f7f4ec",
        "theme_color": "#0f5a52",
        "icons": icons,
        "share_target": {
            "action": reverse("share"),
            "method": "POST",
            "enctype": "multipart/form-data",
            # Of any kind: what can't be read says so as a document.
            "params": {
                "title": "title",
                "text": "text",
                "url": "url",
                "files": [{"name": "files", "accept": ["*/*"]}],
            },
        },
        "shortcuts": [
            {"name": gettext("Documents"), "url": "/documents/"},
            {"name": gettext("Search"), "url": "/search"},
        ],
    }
    return JsonResponse(manifest, content_type="application/manifest+json")


@require_GET
@cache_control(no_cache=True)
def service_worker(request: HttpRequest) -> HttpResponse:
    """Return the worker's script. It is at the root, because a worker sees only what is below its address."""
    # Its name has no hash, so it need not be among the collected files.
    path = finders.find(WORKER)
    if path is None:
        raise Http404
    return HttpResponse(Path(path).read_bytes(), content_type="text/javascript; charset=utf-8")


# It trusts no login and reads nothing of the form.
@csrf_exempt
@require_http_methods(["GET", "POST"])
def share(request: HttpRequest) -> HttpResponse:
    """Answer in place of a worker that is not there yet: the page then says what to do."""
    return HttpResponseRedirect(reverse("documents") + SHARED, status=303)
