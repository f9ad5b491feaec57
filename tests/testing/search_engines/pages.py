"""The web that the doubles search: a few pages, and how engines narrow them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from urllib.parse import urlsplit

SPANS = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=31),
    "year": timedelta(days=365),
}
_SITE = re.compile(r"(?<!\S)\(?(-?)site:(\S+?)\)?(?!\S)")


@dataclass(frozen=True)
class WebPage:
    """A page as an index has it; without `published` its age is not known."""

    title: str
    url: str
    snippet: str = ""
    published: datetime | None = None
    updated: date | None = None

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""


SOME = [
    WebPage(f"Tea, part {n}", f"https://tea.example/{n}", f"All about tea, part {n}.") for n in range(1, 4)
]


def at(page: WebPage, site: str) -> bool:
    """Tell whether a page lies at a host, or below it; after a `/` comes a path."""
    host, _, path = site.removeprefix("https://").partition("/")
    within = page.host == host.lstrip(".*") or page.host.endswith(f".{host.lstrip('.*')}")
    return within and urlsplit(page.url).path.startswith(f"/{path}")


def at_any(pages: Iterable[WebPage], sites: Sequence[str]) -> list[WebPage]:
    return [page for page in pages if any(at(page, site) for site in sites)]


def at_none(pages: Iterable[WebPage], sites: Sequence[str]) -> list[WebPage]:
    return [page for page in pages if not any(at(page, site) for site in sites)]


def since(pages: Iterable[WebPage], span: str | None) -> list[WebPage]:
    """Return the pages of the last hour, day, …; an engine knows no other age than `published`."""
    if not span:
        return list(pages)
    earliest = datetime.now(UTC) - SPANS[span]
    return [page for page in pages if page.published and page.published >= earliest]


def between(pages: Iterable[WebPage], after: date | None, before: date | None) -> list[WebPage]:
    if after is None and before is None:
        return list(pages)
    days = [(page, page.published.date()) for page in pages if page.published]
    return [page for page, day in days if (after or date.min) <= day <= (before or date.max)]


def by_operators(pages: Iterable[WebPage], words: str) -> list[WebPage]:
    """Return the pages that the `site:` and `-site:` in a query mean."""
    found = _SITE.findall(words)
    allowed = [site for sign, site in found if not sign]
    rest = at_none(pages, [site for sign, site in found if sign])
    return at_any(rest, allowed) if allowed else rest
