"""The web server's entry: HTTP by Django, websockets by Channels."""

import os
import threading

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kb.settings")
http = get_asgi_application()

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.urls import path, re_path  # noqa: E402

from kb.embedding import start  # noqa: E402
from kb.websocket import DocumentsConsumer, UnknownPath  # noqa: E402
from search.websocket import ToolConsumer  # noqa: E402

websocket = AuthMiddlewareStack(
    URLRouter(
        [
            path("ws/documents", DocumentsConsumer.as_asgi()),
            path("ws/tools/<str:name>", ToolConsumer.as_asgi()),
            re_path("", UnknownPath.as_asgi()),
        ]
    )
)

application = ProtocolTypeRouter({"http": http, "websocket": websocket})

# No request should wait for the model to load.
threading.Thread(target=start, name="load embedding models", daemon=True).start()
