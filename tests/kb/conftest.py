"""What the tests of `kb` share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kb.web import Web, serving


@pytest.fixture
def web() -> Iterator[Web]:
    """A web server on loopback."""
    with serving() as web:
        yield web
