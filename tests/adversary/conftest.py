"""The adversary is in a hurry: what it is told must not depend on how often it has asked."""

from __future__ import annotations

import pytest
from pytest_django import Settings


@pytest.fixture(autouse=True)
def _no_rates(settings: Settings) -> None:
    settings.REQUESTS_PER_MINUTE = settings.RUNS_PER_MINUTE = settings.PAGE_IMAGES_PER_MINUTE = 0
