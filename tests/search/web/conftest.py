"""What tests of the web tools share: people who may use them, a search engine, and a site."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from asgiref.sync import sync_to_async
from pytest_django import Settings

from core.fetch.robots import CrawlPolicy
from locus.settings.cache import DATABASE_CACHE
from search.web import pages
from tests.conftest import Cast, make_cast
from tests.search.web.calling import BUILT, OTHERS, change
from tests.testing.search_engines import ProviderDouble, double
from tests.testing.web import Web, serving


@pytest.fixture
def in_table(settings: Settings) -> None:
    """The cache is a table, whichever engines the tests run beside."""
    settings.CACHES = {"default": {"BACKEND": DATABASE_CACHE, "LOCATION": "locus_cache"}}


@pytest.fixture
async def people() -> Cast:
    """Return the cast; alice's team may search the web."""
    cast = await sync_to_async(make_cast)()
    await change(cast, enabled=True)
    return cast


@pytest.fixture
def brave(settings: Settings) -> Iterator[ProviderDouble]:
    """Run a search engine that finds `OTHERS`, and last of all `BUILT`."""
    with double("brave") as running:
        for name, value in running.settings.items():
            setattr(settings, name, value)
        running.pages = [*OTHERS, BUILT]
        yield running


async def at_once(secs: float) -> None:
    """Do not wait for a host's turn."""


@pytest.fixture
def site(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    """Run a site whose pages may be fetched, as fast as they come."""
    monkeypatch.setattr(pages, "_crawl_policy", CrawlPolicy(sleep=at_once))
    with serving() as web:
        settings.WEB_FETCH_ALLOW = [web.address]
        yield web
