"""Asking a provider's double by the provider's adapter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from django.test.utils import override_settings

from search.web.base import ProviderFailed, SearchHits, WebQuery
from search.web.providers.registry import provider
from tests.testing.search_engines import ProviderDouble, Reply, double

QUERY = WebQuery("tea export", 5)


@dataclass(frozen=True)
class Asking:
    """An adapter and its double."""

    double: Any

    async def found(self, **fields: Any) -> SearchHits:
        """Return what a search with these fields of `WebQuery` finds."""
        return await provider(self.double.name).search(replace(QUERY, **fields))

    async def sent(self, **fields: Any) -> tuple[dict[str, Any], SearchHits]:
        """Return the parameters that went out last, and what was found."""
        found = await self.found(**fields)
        return self.double.requests[-1].params, found

    async def failed(self, *replies: Reply, **fields: Any) -> ProviderFailed:
        """Return how a search fails, if these are the replies."""
        for reply in replies:
            self.double.reply_next(reply)
        with pytest.raises(ProviderFailed) as caught:
            await self.found(**fields)
        return caught.value


@contextmanager
def asking(name: str, **settings: Any) -> Iterator[Asking]:
    """Run a provider's double, with the settings that lead to it and others."""
    running: ProviderDouble
    with double(name) as running, override_settings(**running.settings | settings):
        yield Asking(running)
