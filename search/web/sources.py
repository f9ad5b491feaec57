"""From hits to what a model reads: pages fetched, reranked, cut to a budget."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest

from django.conf import settings

from accounts.ledger.base import Payer
from accounts.ledger.paying import LedgerPayment
from core.fetch import web_url
from core.text.sentences import sentence_bounds
from search.rerank.base import Reranker
from search.rerank.registry import budget_secs
from search.web.base import Hit, WebQuery
from search.web.filters import in_domains, promote_preferred
from search.web.pages import LongPage, PageDenied, PageFailed, fetch_pages
from search.web.parts import cut, ranked_by_meaning

EXPANDED = 3
"""So many of the best hits are fetched with `expand`."""
SCRAPED = 10
TOKENS_PER_PAGE = 1000
"""How much of a page is read where the request does not say."""
FEWEST_TOKENS = 20
"""Less of a page says nothing."""
WINDOW_CHARS = 1000
"""A page is reranked in stretches that a model reads whole."""


@dataclass(frozen=True, slots=True)
class PageSource:
    """A hit, its page if that was fetched, and the score of the reranker if it had time."""

    hit: Hit
    page: LongPage | None = None
    score: float | None = None
    is_denied: bool = False
    """Whether the page turned out to lie where the request's lists of domains forbid to read."""

    @property
    def url(self) -> str:
        """Where it was read: of a page its address in the end, which redirects may have changed."""
        return self.page.url if self.page and self.is_elsewhere else self.hit.url

    @property
    def title(self) -> str:
        """The title of what was read."""
        return self.page.title if self.page and self.is_elsewhere else self.hit.title

    @property
    def is_elsewhere(self) -> bool:
        """Whether the page was read at another address than the hit's; a fragment is no other address."""
        return self.page is not None and self.page.url != str(web_url(self.hit.url))

    def nearest(self, max_tokens: int) -> tuple[str, int]:
        """Return what of the page is nearest to the question, or the beginning of the snippet; its tokens."""
        return self.page.ranked.nearest(max_tokens) if self.page else cut(self.hit.snippet, max_tokens)


SelectedSource = tuple[PageSource, str]
"""A source and what of its text is read."""


async def with_pages(sources: Sequence[PageSource], count: int, query: WebQuery) -> list[PageSource]:
    """Return the sources, the first `count` with their pages; one that can't be had keeps its snippet."""
    pages = await fetch_pages(
        [source.hit.url for source in sources[:count]],
        query.text,
        language=query.language or "en",
        timeout_secs=settings.WEB_FETCH_TIMEOUT_SECS,
        may_read=partial(in_domains, query),
    )
    pages = await asyncio.to_thread(_by_meaning, pages, query)
    return [
        replace(
            source,
            page=page if isinstance(page, LongPage) and page.ranked.parts else None,
            is_denied=isinstance(page, PageDenied),
        )
        for source, page in zip_longest(sources, pages)
    ]


def _by_meaning(pages: Sequence[LongPage | PageFailed], query: WebQuery) -> list[LongPage | PageFailed]:
    """Rank the parts of pages by meaning too, but for those that are read whole."""
    most = max_tokens_of_page(query)
    read = {number: page.ranked for number, page in enumerate(pages) if isinstance(page, LongPage)}
    tokens = {number: sum(ranked.tokens) for number, ranked in read.items()}
    is_tight = query.max_tokens is not None and sum(tokens.values()) > query.max_tokens
    long = {number: ranked for number, ranked in read.items() if is_tight or tokens[number] > most}
    ranked = dict(zip(long, ranked_by_meaning(query.text, list(long.values())), strict=True))
    return [
        replace(page, ranked=ranked[number]) if isinstance(page, LongPage) and number in ranked else page
        for number, page in enumerate(pages)
    ]


def max_tokens_of_page(query: WebQuery) -> int:
    """Return how much may be read of each page."""
    return query.max_tokens_per_page or TOKENS_PER_PAGE


def reranked(
    question: str, sources: Sequence[PageSource], chosen: Reranker | None, query: WebQuery, payer: Payer
) -> list[PageSource]:
    """Return the sources best first: by the best stretch of each, those of preferred domains further up."""
    if chosen is None:
        return list(sources)
    # The first stretch of each page before the second of any: there may not be time for all.
    windows = [_windows(source, max_tokens_of_page(query)) for source in sources]
    turns = [
        (number, window)
        for turn in zip_longest(*windows)
        for number, window in enumerate(turn)
        if window is not None
    ]
    deadline = time.monotonic() + budget_secs(chosen)
    texts = [window for _, window in turns]
    scores = chosen.rerank(question, texts, deadline=deadline, payment=LedgerPayment(lambda: payer))
    best: dict[int, float] = {}
    for (number, _), score in zip(turns, scores, strict=True):
        if score is not None:
            best[number] = max(score, best.get(number, score))
    scored = [replace(source, score=best.get(number)) for number, source in enumerate(sources)]
    ranked = sorted(scored, key=lambda source: (source.score is None, -(source.score or 0.0)))
    by_hit = {source.hit: source for source in ranked}
    return [by_hit[hit] for hit in promote_preferred([source.hit for source in ranked], query.prefer)]


def within_budget(sources: Sequence[PageSource], query: WebQuery) -> list[SelectedSource]:
    """Return the sources, best first, with what of their text fits into the budget; none without text.

    Of a page no more than a language model is shown: it would lose the end, not what matters least.
    """
    left = query.max_tokens
    most = min(max_tokens_of_page(query), settings.GENERATION_CONTEXT_TOKENS)
    kept: list[SelectedSource] = []
    for source in sources:
        if kept and left is not None and left < FEWEST_TOKENS:
            break
        room = most if left is None else min(most, left)
        text, tokens = source.nearest(room)
        if not text:
            text, tokens = cut(source.title, room)
        if text:
            kept.append((source, text))
            left = None if left is None else left - tokens
    return kept


@dataclass(frozen=True, slots=True)
class PageExcerpt:
    """What a list of results shows of a source: its snippet, and what of its page, if that was fetched."""

    snippet: str
    body: str | None


def excerpts(sources: Sequence[PageSource], query: WebQuery) -> list[PageExcerpt]:
    """Return what of each source, in their order, fits into the budget, snippets and pages together."""
    left = query.max_tokens
    shown: list[PageExcerpt] = []
    for source in sources:
        snippet, tokens = _cut_if(source.hit.snippet, _least(query.max_tokens_per_page, left))
        left = None if left is None else left - tokens
        body = None
        if source.page:
            room = _least(max_tokens_of_page(query) - (tokens if query.max_tokens_per_page else 0), left)
            body, tokens = source.page.ranked.nearest(room or 0)
            left = None if left is None else left - tokens
        shown.append(PageExcerpt(snippet, body or None))
    return shown


def _least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _cut_if(text: str, limit: int | None) -> tuple[str, int]:
    return (text, 0) if limit is None else cut(text, limit)


def _windows(source: PageSource, max_tokens: int) -> list[str]:
    """Return stretches of what would be read, in whole sentences, each under the title."""
    text, _ = source.nearest(max_tokens)
    windows = [""]
    for start, end in sentence_bounds(text, None):
        sentence = text[start:end]
        if windows[-1] and len(windows[-1]) + len(sentence) > WINDOW_CHARS:
            windows.append("")
        windows[-1] = f"{windows[-1]} {sentence}".strip()
    return [f"{source.title}\n{window}" for window in windows]
