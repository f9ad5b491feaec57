"""Web pages as text for a model: fetched with checks and within the crawl policy, cut to a budget.

  url ──lists, crawl policy, guard──▶ bytes ──sandbox──▶ text ──no challenge?──▶ its first or best parts

Domain lists apply to each address on the way, redirects included; a refused address is never requested. A
page's text is data, and may be hostile: models see it between fences (`search/generation/fencing.py`).
"""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TypeVar

import httpx2
from django.conf import settings

from core.fetch import DeniedUrl, Fetched, FetchError, UnreachableUrl, fetch, name_of_url
from core.fetch.robots import CrawlPolicy
from extract.page_text import PageText, Unreadable, read_page
from search.web.base import Refusal
from search.web.challenges import LOOKED_AT_BYTES, is_challenge, is_refusal
from search.web.parts import CHARS_PER_TOKEN, RankedText, cut, ranked_by_words
from search.web.sanitise import TITLE_BYTES, clean_text

WHOLE_PAGE_CHARS = 500_000
"""Of a page of which the nearest parts are wanted, so much is looked at: a book of 200 pages."""
LONGEST_READING_SECS = 10.0
"""After so long, what has been read of such a page will do."""

MayRead = Callable[[str], bool]
"""Whether the lists of domains that hold for a request let it read what stands at a URL."""
Result = TypeVar("Result")
logger = logging.getLogger(__name__)
# One for each core: reading computes.
_readers = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="pages")
_crawl_policy = CrawlPolicy()


class PageFailed(Exception):
    """A page can't be used; the message is for people and for models."""

    def __init__(self, reason: Refusal, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class PageDenied(PageFailed):
    """The page lies, or ends after redirects, where the request's lists of domains forbid to read."""


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page that was read: its address in the end, its title, and the beginning of its text."""

    url: str
    title: str
    text: str
    tokens: int
    """How many tokens of the embedding model's tokenizer the text has."""


@dataclass(frozen=True, slots=True)
class LongPage:
    """A page that was read: its address in the end, its title, and its whole text in ranked parts."""

    url: str
    title: str
    ranked: RankedText


async def fetch_pages(
    urls: Sequence[str], question: str, *, language: str | None, timeout_secs: float, may_read: MayRead
) -> list[LongPage | PageFailed]:
    """Fetch pages in parallel, and rank their parts by the question; a failed page does not affect the
    others.

    `language` is that of the question, ISO 639-1, if it is known.
    """

    def ranked(url: str, content: PageText) -> LongPage:
        return LongPage(url, _title(url, content), ranked_by_words(question, content.text, language))

    def enough(secs: float) -> float:
        return min(LONGEST_READING_SECS, secs / 2)

    async def fetched(url: str) -> LongPage:
        wanted = _PageRequest(WHOLE_PAGE_CHARS, timeout_secs, enough(timeout_secs), may_read)
        return await _fetch(url, wanted, ranked)

    outcomes = await asyncio.gather(*map(fetched, urls), return_exceptions=True)
    return [_as_page_or_failure(outcome) for outcome in outcomes]


def _as_page_or_failure(outcome: LongPage | BaseException) -> LongPage | PageFailed:
    if isinstance(outcome, LongPage | PageFailed):
        return outcome
    logger.error("A page could not be read.", exc_info=outcome)
    return PageFailed(Refusal.UNREADABLE, "The page can't be read.")


async def fetch_page(url: str, *, max_tokens: int, timeout_secs: float, may_read: MayRead) -> FetchedPage:
    """Return the text of a page, at most `max_tokens` from its beginning; raise `PageFailed`."""

    def beginning_of(url: str, content: PageText) -> FetchedPage:
        return FetchedPage(url, _title(url, content), *cut(content.text, max_tokens))

    wanted = _PageRequest(max_tokens * CHARS_PER_TOKEN, timeout_secs, timeout_secs, may_read)
    return await _fetch(url, wanted, beginning_of)


@dataclass(frozen=True, slots=True)
class _PageRequest:
    """How much of a page is wanted, how long it may take, and where it may lie."""

    max_chars: int
    timeout_secs: float
    enough_secs: float
    """After so many seconds of reading, the rest is left."""
    may_read: MayRead


async def _fetch(url: str, wanted: _PageRequest, result: Callable[[str, PageText], Result]) -> Result:
    """Return what `result`, called in a thread, makes of the page's address and text; raise `PageFailed`."""
    try:
        async with asyncio.timeout(wanted.timeout_secs):
            with tempfile.NamedTemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as file:
                fetched = await _fetch_url(url, file, wanted.may_read)
                return await _in_reader(partial(_read_page, fetched, Path(file.name), wanted, result))
    except TimeoutError:
        raise PageFailed(Refusal.TIMEOUT, "The page took too long to fetch and to read.") from None


async def _fetch_url(url: str, into: IO[bytes], may_read: MayRead) -> Fetched:
    async def admit(hop: httpx2.URL) -> None:
        # Checked before anything is requested from the host, including its robots.txt.
        if not may_read(str(hop)):
            raise DeniedUrl
        await _crawl_policy.check(hop)

    try:
        fetched = await fetch(url, into, admit=admit)
    except FetchError as error:
        if isinstance(error, UnreachableUrl) and is_refusal(error.status, error.headers):
            raise _refuse_challenge() from None
        failure = PageDenied if isinstance(error, DeniedUrl) else PageFailed
        raise failure(Refusal(error.code), error.message) from None
    into.flush()
    return fetched


def _refuse_challenge() -> PageFailed:
    return PageFailed(Refusal.BOT_WALL, "The site shows this page to people only, not to programs.")


# --- Reading, in a thread --------------------------------------------------------------------------------


async def _in_reader(read: Callable[[Callable[[], None]], Result]) -> Result:
    """Call `read` in a thread; its argument is a function that raises once the caller has stopped waiting."""
    given_up = threading.Event()

    def check() -> None:
        if given_up.is_set():
            raise TimeoutError

    try:
        return await asyncio.get_running_loop().run_in_executor(_readers, read, check)
    finally:
        given_up.set()


def _read_page(
    fetched: Fetched,
    file: Path,
    wanted: _PageRequest,
    result: Callable[[str, PageText], Result],
    check: Callable[[], None],
) -> Result:
    # The caller may have stopped waiting before this thread's turn came.
    check()
    content = _content(fetched, file, wanted, check)
    check()
    return result(fetched.url, content)


def _title(url: str, content: PageText) -> str:
    return clean_text(content.title or "", TITLE_BYTES) or clean_text(name_of_url(url), TITLE_BYTES)


def _content(fetched: Fetched, file: Path, wanted: _PageRequest, check: Callable[[], None]) -> PageText:
    with file.open("rb") as page:
        begun = page.read(LOOKED_AT_BYTES)
    try:
        content = read_page(
            file,
            max_chars=wanted.max_chars,
            timeout_secs=wanted.timeout_secs,
            enough_secs=wanted.enough_secs,
            while_waiting=check,
        )
    except Unreadable as error:
        if is_challenge(fetched.headers, begun, ""):
            raise _refuse_challenge() from None
        raise _unreadable(error) from None
    if is_challenge(fetched.headers, begun, content.text):
        raise _refuse_challenge()
    return content


def _unreadable(error: Unreadable) -> PageFailed:
    known = {"unsupported_type": Refusal.UNSUPPORTED_TYPE, "timeout": Refusal.TIMEOUT}
    return PageFailed(known.get(error.code, Refusal.UNREADABLE), f"The page can't be read ({error.code}).")
