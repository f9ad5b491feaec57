"""A team's documents, and the cast."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async

from kb.models import Document
from tests.conftest import Cast, make_cast
from tests.factories import indexed_document

SOLAR = "The solar farm in Almería produced 42 gigawatt hours in 2023. Its owner is the town itself."
ROSES = "Tea roses need a sheltered, sunny bed. They are pruned in late winter, before the buds break."


@pytest.fixture
async def people() -> Cast:
    return await sync_to_async(make_cast)()


@pytest.fixture
async def documents(people: Cast) -> dict[str, Document]:
    make = sync_to_async(indexed_document)
    return {
        "solar": await make(people.team, SOLAR),
        "roses": await make(people.team, ROSES, name="roses.pdf"),
    }
