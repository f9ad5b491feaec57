"""What tests of the web tools share: people whose workspace has them switched on, and a search engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from asgiref.sync import sync_to_async
from pytest_django import Settings

from tests.conftest import Cast, make_cast
from tests.search.web.calling import BUILT, OTHERS, change
from tests.search.web.doubles import ProviderDouble, double


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
