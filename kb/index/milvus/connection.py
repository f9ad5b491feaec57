"""The connection to Milvus: one client for each process, made when it is first needed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from kb.index.errors import EngineUnavailable

if TYPE_CHECKING:
    from pymilvus import MilvusClient

logger = logging.getLogger(__name__)

QUIET_WHILE_IDLE = {"grpc.keepalive_permit_without_calls": False}
"""The package pings a server while nothing is asked of it. One with gRPC's defaults refuses that with “Too
many pings”, and the next call with it."""

_clients: dict[str, MilvusClient] = {}
_loaded: set[str] = set()
"""The collections that the client has seen to be searchable; another process may have dropped one since."""
_connecting = threading.Lock()


def check_package() -> None:
    """Raise `ImproperlyConfigured` if the client of Milvus is not installed."""
    try:
        import pymilvus  # noqa: F401
    except ImportError as error:
        raise ImproperlyConfigured(
            "SEARCH_ENGINE=milvus needs the extra “milvus”: pip install 'locus[milvus]'."
        ) from error


@contextmanager
def milvus_client() -> Iterator[MilvusClient]:
    """Yield the client; raise `EngineUnavailable` for whatever Milvus or the network answers to it."""
    from grpc import RpcError
    from pymilvus.exceptions import MilvusException

    try:
        yield _client()
    except (MilvusException, RpcError) as error:
        logger.warning("Milvus at %s: %s", settings.MILVUS_URI, error)
        # A client that has lost its server does not always find it again.
        disconnect()
        raise EngineUnavailable from error


def disconnect() -> None:
    """Close the client; the next use makes another."""
    with _connecting:
        clients = list(_clients.values())
        _clients.clear()
        _loaded.clear()
    for client in clients:
        client.close()


def is_loaded(collection: str) -> bool:
    """Return whether this client has loaded a collection."""
    return collection in _loaded


def note_loaded(collection: str) -> None:
    """Remember that a collection is loaded, until the client is closed."""
    _loaded.add(collection)


def _client() -> MilvusClient:
    from pymilvus import MilvusClient

    with _connecting:
        if settings.MILVUS_URI not in _clients:
            _clients[settings.MILVUS_URI] = MilvusClient(
                uri=settings.MILVUS_URI,
                token=settings.MILVUS_TOKEN,
                db_name=settings.MILVUS_DATABASE,
                timeout=settings.MILVUS_TIMEOUT_SECS,
                grpc_options=QUIET_WHILE_IDLE,
            )
        return _clients[settings.MILVUS_URI]
