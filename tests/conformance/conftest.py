"""What the clients of other people's protocols ask: one web server for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kb.models import Document
from tests.conformance.gateway import OTHER, PAGE, SOLAR, Gateway, engine
from tests.conformance.streaming import running
from tests.conftest import Cast
from tests.factories import indexed_document


@pytest.fixture(scope="module")
def served(django_db_setup: None) -> Iterator[Gateway]:
    """A web server that has one search engine; nobody's key yet."""
    with engine() as (brave, environment), running(**environment) as url:
        yield Gateway(url, brave)


@pytest.fixture
def document(cast: Cast) -> Document:
    """A document of alice's team."""
    return indexed_document(cast.team, SOLAR)


@pytest.fixture
def gateway(served: Gateway, cast: Cast, document: Document) -> Iterator[Gateway]:
    """Speak for alice, who has the document in the team, and whose own workspace may search the web."""
    served.brave.pages = [PAGE, OTHER]
    served.brave.requests.clear()
    served.brave.mishap = lambda: None
    served.key = cast.keys["alice"]
    served.switch_web_on(cast.alice.personal_workspace)
    yield served
    served.close()
