"""Pages of the web as text for a model to read: fetched under guard and with manners, cut to a budget.

    url ──manners, guard──▶ bytes ──sandbox──▶ text ──no wall?──▶ so many tokens of it

What a page says is data, and hostile: it is shown to models between fences (`search/answer/fencing.py`).
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import tempfile
import threading
from bisect import bisect_right
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from django.conf import settings

from kb.embedding import embedding_model
from kb.fetch import Fetched, FetchError, UnreachableUrl, fetch, name_of_url
from kb.fetch.robots import Manners
from kb.page_text import PageText, Unreadable, read_page
from search.web.base import Refusal
from search.web.sanitise import TITLE_BYTES, clean_text
from search.web.walls import LOOKED_AT_BYTES, is_refusal, is_wall

# More than a token takes in any language, and little enough to count the tokens of.
CHARS_PER_TOKEN = 12
_SENTENCE = re.compile(r"[.!?…。！？][\"'”’»)\]]*(?=\s)|(?=\n)")
_WORD = re.compile(r"\S+")

logger = logging.getLogger(__name__)
# One for each core: reading computes.
_readers = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="pages")
_manners = Manners()


class PageFailed(Exception):
    """A page is no source; the message is for people, and for models."""

    def __init__(self, reason: Refusal, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


@dataclass(frozen=True, slots=True)
class Page:
    """A page that was read: its address in the end, its title, and the beginning of its text."""

    url: str
    title: str
    text: str
    tokens: int
    """How many tokens of the embedding model's tokenizer the text has."""


async def fetch_pages(
    urls: Sequence[str], *, max_tokens: int, timeout_secs: float
) -> list[Page | PageFailed]:
    """Fetch pages side by side, `max_tokens` of each; one that fails costs only itself."""
    fetching = partial(fetch_page, max_tokens=max_tokens, timeout_secs=timeout_secs)
    outcomes = await asyncio.gather(*map(fetching, urls), return_exceptions=True)
    return [_as_page_or_failure(outcome) for outcome in outcomes]


def _as_page_or_failure(outcome: Page | BaseException) -> Page | PageFailed:
    if isinstance(outcome, Page | PageFailed):
        return outcome
    logger.error("A page could not be read.", exc_info=outcome)
    return PageFailed(Refusal.UNREADABLE, "The page can't be read.")


async def fetch_page(url: str, *, max_tokens: int, timeout_secs: float) -> Page:
    """Return what a page says, at most `max_tokens` of it, or raise `PageFailed`."""
    try:
        async with asyncio.timeout(timeout_secs):
            with tempfile.NamedTemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as file:
                fetched = await _fetched(url, file)
                read = partial(_read, fetched, Path(file.name), max_tokens, timeout_secs)
                return await _in_reader(read)
    except TimeoutError:
        raise PageFailed(Refusal.TIMEOUT, "The page took too long to fetch and to read.") from None


async def _fetched(url: str, into: IO[bytes]) -> Fetched:
    try:
        fetched = await fetch(url, into, admit=_manners.admit)
    except FetchError as error:
        if isinstance(error, UnreachableUrl) and is_refusal(error.status, error.headers):
            raise _wall() from None
        raise PageFailed(Refusal(error.code), error.message) from None
    into.flush()
    return fetched


def _wall() -> PageFailed:
    return PageFailed(Refusal.BOT_WALL, "The site shows this page to people only, not to programs.")


# --- Reading, in a thread --------------------------------------------------------------------------------


async def _in_reader(read: Callable[[Callable[[], None]], Page]) -> Page:
    """Call `read` in a thread, with something to call now and then that raises once nobody waits any more."""
    given_up = threading.Event()

    def check() -> None:
        if given_up.is_set():
            raise TimeoutError

    try:
        return await asyncio.get_running_loop().run_in_executor(_readers, read, check)
    finally:
        given_up.set()


def _read(
    fetched: Fetched, file: Path, max_tokens: int, timeout_secs: float, check: Callable[[], None]
) -> Page:
    # It may have waited for its turn until nobody waits for it.
    check()
    content = _content(fetched, file, max_tokens, timeout_secs, check)
    text, tokens = cut(content.text, max_tokens)
    title = clean_text(content.title or "", TITLE_BYTES) or clean_text(name_of_url(fetched.url), TITLE_BYTES)
    return Page(fetched.url, title, text, tokens)


def _content(
    fetched: Fetched, file: Path, max_tokens: int, timeout_secs: float, check: Callable[[], None]
) -> PageText:
    with file.open("rb") as page:
        begun = page.read(LOOKED_AT_BYTES)
    try:
        content = read_page(
            file, max_chars=max_tokens * CHARS_PER_TOKEN, timeout_secs=timeout_secs, while_waiting=check
        )
    except Unreadable as error:
        if is_wall(fetched.headers, begun, ""):
            raise _wall() from None
        raise _unreadable(error) from None
    if is_wall(fetched.headers, begun, content.text):
        raise _wall()
    return content


def _unreadable(error: Unreadable) -> PageFailed:
    known = {"unsupported_type": Refusal.UNSUPPORTED_TYPE, "timeout": Refusal.TIMEOUT}
    return PageFailed(known.get(error.code, Refusal.UNREADABLE), f"The page can't be read ({error.code}).")


def cut(text: str, max_tokens: int) -> tuple[str, int]:
    """Return the text up to the last sentence, or else word, that fits into `max_tokens`, and its tokens."""
    count = embedding_model().count_tokens
    if (tokens := count([text])[0]) <= max_tokens:
        return text, tokens
    for boundary in (_SENTENCE, _WORD):
        ends = [found.end() for found in boundary.finditer(text)]
        if fitting := bisect_right(ends, max_tokens, key=lambda end: count([text[:end]])[0]):
            text = text[: ends[fitting - 1]].rstrip()
            return text, count([text])[0]
    return "", 0
