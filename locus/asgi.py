"""The web server's entry point: HTTP by Django, websockets by Channels."""

import gc
import logging
import os
import resource
import signal
import sys
import threading
from typing import Any

import django
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from core.process.hardening import harden_this_process

harden_this_process()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "locus.settings")
django.setup(set_prefix=False)

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.urls import path, re_path  # noqa: E402

# Django would import it with the first request, beside the thread that loads models: where two threads import
# the same packages, one of them may find half a package.
import locus.urls  # noqa: E402, F401
from accounts.access.sockets import UnknownPath  # noqa: E402
from assistants.websocket import SessionConsumer  # noqa: E402
from core.process.readiness import note_models_loaded  # noqa: E402
from core.tracing import start_tracing  # noqa: E402
from kb.embedding import start  # noqa: E402
from kb.index import switching  # noqa: E402
from kb.notifications.websocket import NotificationsConsumer  # noqa: E402
from kb.websocket import DocumentsConsumer  # noqa: E402
from locus.door.handler import Handler  # noqa: E402
from locus.door.middleware import Door  # noqa: E402
from runs.stopping import Receive, Send, lifespan  # noqa: E402
from runs.transports.websocket import ToolConsumer  # noqa: E402
from search.generation import start as start_answering  # noqa: E402
from search.rerank import start as start_reranking  # noqa: E402
from search.text_processes import text_processes  # noqa: E402
from search.web.providers.registry import start as start_searching  # noqa: E402

websocket = AuthMiddlewareStack(
    URLRouter(
        [
            path("ws/documents", DocumentsConsumer.as_asgi()),
            path("ws/notifications", NotificationsConsumer.as_asgi()),
            path("ws/sessions/<uuid:id>", SessionConsumer.as_asgi()),
            path("ws/tools/<str:name>", ToolConsumer.as_asgi()),
            re_path("", UnknownPath.as_asgi()),
        ]
    )
)

logger = logging.getLogger(__name__)
MAX_OPEN_FILES = 65_536
SWITCH_SECS = 0.0005
"""How long a thread may keep Python's lock: the event loop waits for it after each of its sends."""


def load_models() -> None:
    """Load the models for searching; end the process if reranking or answering can't work as configured."""
    try:
        start_tracing("locus-web")
        # First, because an answer uses it directly and it must be ready then.
        start_answering()
        text_processes.start()
        start()
        switching.start()
        start_reranking()
        if settings.WEB_TOOLS:
            start_searching()
        keep_pauses_short()
        note_models_loaded()
    except ImproperlyConfigured as error:
        logger.critical(error)
        os.kill(os.getpid(), signal.SIGTERM)


def keep_pauses_short() -> None:
    """Keep the event loop responsive when hundreds of streams run next to threads that compute.

    Objects that exist now are excluded from garbage collection. Full collections of later objects, which stop
    everything for a fifth of a second, become rare.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(2_000, 10, 100)
    sys.setswitchinterval(SWITCH_SECS)


def allow_many_connections() -> None:
    """Raise the limit of open files as far as allowed: each connection needs one, and 1024 are soon used."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(MAX_OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def server(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Prepare the process for requests when its server starts, and end its runs when it stops."""
    allow_many_connections()
    # No request should wait for a model to load.
    threading.Thread(target=load_models, name="load models", daemon=True).start()
    await lifespan(scope, receive, send)


application = Door(ProtocolTypeRouter({"http": Handler(), "websocket": websocket, "lifespan": server}))
