"""A typed client of the API of Locus: `Client`, and `AsyncClient` for `asyncio`."""

from locus_client.async_client import AsyncClient
from locus_client.client import Client
from locus_client.errors import ConnectionLost, LocusError
from locus_client.events import Event

__all__ = ["AsyncClient", "Client", "ConnectionLost", "Event", "LocusError"]
