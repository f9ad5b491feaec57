"""Every address is in the list of pages, which tests, screenshots and measurements go through."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver

from tests.testing.pages.catalogue import PAGES, WITHOUT_PAGE


def addresses(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[str]:
    """Yield every address of the URL configuration, apart from those of the API."""
    for each in patterns:
        path = before + str(each.pattern)
        if path.startswith("api/v1/"):
            continue
        if isinstance(each, URLResolver):
            yield from addresses(each.url_patterns, path)
        else:
            yield path


def test_every_address_is_a_page_or_says_why_not() -> None:
    known = set(addresses(get_resolver().url_patterns))
    shown = {case.pattern for case in PAGES}
    without = Counter(pattern for patterns in WITHOUT_PAGE.values() for pattern in patterns)
    missing = sorted(known - shown - set(without))
    assert missing == [], f"add them to tests/testing/pages/catalogue.py: {missing}"
    assert shown | set(without) <= known, "these addresses are gone"
    assert not shown & set(without), "a page is also said to have none"
    assert set(without.values()) == {1}, "said twice"


def test_every_page_has_a_picture_of_its_own() -> None:
    names = Counter(case.name for case in PAGES)
    assert [name for name, count in names.items() if count > 1] == []
