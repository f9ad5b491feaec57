"""From hits to what a model reads: pages fetched, reranked, cut to a budget, made contexts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from urllib.parse import urlsplit
from uuid import uuid4

from django.conf import settings

from kb.models import Chunk
from kb.sentences import sentence_bounds
from search.answer.base import Context
from search.rerank.base import Reranker
from search.rerank.registry import budget_secs
from search.web.base import Hit, WebQuery
from search.web.filters import promoted
from search.web.pages import Page, cut, fetch_pages

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
class Source:
    """A hit, its page if that was fetched, and the score of the reranker if it had time."""

    hit: Hit
    page: Page | None = None
    score: float | None = None

    @property
    def text(self) -> str:
        """What is known of the page."""
        return self.page.text if self.page else self.hit.snippet


Kept = tuple[Source, str]
"""A source and what of its text is read."""


async def with_pages(sources: Sequence[Source], count: int, query: WebQuery) -> list[Source]:
    """Return the sources, the first `count` with their pages; one that can't be had keeps its snippet."""
    most = query.max_tokens_per_page or TOKENS_PER_PAGE
    urls = [source.hit.url for source in sources[:count]]
    pages = await fetch_pages(urls, max_tokens=most, timeout_secs=settings.WEB_FETCH_TIMEOUT_SECS)
    return [
        replace(source, page=page) if isinstance(page, Page) and page.text else source
        for source, page in zip_longest(sources, pages)
    ]


def reranked(
    question: str, sources: Sequence[Source], chosen: Reranker | None, query: WebQuery
) -> list[Source]:
    """Return the sources best first: by the best stretch of each, those of preferred domains further up."""
    if chosen is None:
        return list(sources)
    # The first stretch of each page before the second of any: there may not be time for all.
    windows = [_windows(source) for source in sources]
    turns = [
        (number, window)
        for turn in zip_longest(*windows)
        for number, window in enumerate(turn)
        if window is not None
    ]
    deadline = time.monotonic() + budget_secs(chosen)
    scores = chosen.rerank(question, [window for _, window in turns], deadline=deadline)
    best: dict[int, float] = {}
    for (number, _), score in zip(turns, scores, strict=True):
        if score is not None:
            best[number] = max(score, best.get(number, score))
    scored = [replace(source, score=best.get(number)) for number, source in enumerate(sources)]
    ranked = sorted(scored, key=lambda source: (source.score is None, -(source.score or 0.0)))
    by_hit = {source.hit: source for source in ranked}
    return [by_hit[hit] for hit in promoted([source.hit for source in ranked], query.prefer)]


def within_budget(sources: Sequence[Source], query: WebQuery) -> list[Kept]:
    """Return the sources, best first, with what of their text fits into the budget; none without text."""
    left = query.max_tokens
    kept: list[Kept] = []
    for source in sources:
        if kept and left is not None and left < FEWEST_TOKENS:
            break
        most = query.max_tokens_per_page or TOKENS_PER_PAGE
        text, tokens = cut(source.text or source.hit.title, most if left is None else min(most, left))
        if text:
            kept.append((source, text))
            left = None if left is None else left - tokens
    return kept


def as_context(rank: int, source: Source, text: str, language: str | None) -> Context:
    """Return a source as answerers and citations know it, in no database and without boxes."""
    chunk = Chunk(
        pk=uuid4(),
        text=text,
        headings=[],
        spans=[],
        sentences=[list(bounds) for bounds in sentence_bounds(text, language)],
        language=language,
    )
    name = f"{source.hit.title} ({urlsplit(source.hit.url).hostname})"
    return Context(rank, chunk, name, source.score or 0.0, source.score)


def _windows(source: Source) -> list[str]:
    """Return stretches of the text in whole sentences, each under the title."""
    windows = [""]
    for start, end in sentence_bounds(source.text, None):
        sentence = source.text[start:end]
        if windows[-1] and len(windows[-1]) + len(sentence) > WINDOW_CHARS:
            windows.append("")
        windows[-1] = f"{windows[-1]} {sentence}".strip()
    return [f"{source.hit.title}\n{window}" for window in windows]
