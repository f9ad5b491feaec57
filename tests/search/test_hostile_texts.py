"""Hostile texts on their way through the product: uploaded, asked about, cited; found on the web and read.

Each of them held the whole process for minutes to days, with the health check and everybody's streams.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from pytest_django import Settings

from core.fetch.robots import CrawlPolicy
from ingestion import pipeline
from kb.chunk_size import MOST_CHARS
from kb.models import Chunk
from search.text_processes import text_processes
from search.web import pages
from tests.conftest import Cast, make_cast
from tests.ingestion.conftest import upload_to
from tests.search.web.calling import change
from tests.testing.hostile_texts import RUNS, run, texts
from tests.testing.search_engines import ProviderDouble, WebPage, double
from tests.testing.web import Web, serving

pytestmark = pytest.mark.django_db(transaction=True)

FACT = "The hyperdrive of the ship Vesta costs 12 florins in total."
QUESTION = "How much does the hyperdrive of the ship Vesta cost?"
LONGEST_PAUSE_SECS = 10.0
"""Processor time of this process: what is quadratic takes minutes, and a busy machine adds nothing."""


@asynccontextmanager
async def health_is_watched() -> AsyncIterator[list[float]]:
    """Ask for the health again and again; give the processor seconds that passed until each answer."""
    took: list[float] = []
    # A request that is cancelled half way, and then its loop closed, holds the thread of all later requests.
    over = asyncio.Event()

    async def watch() -> None:
        while not over.is_set():
            begun = time.process_time()
            response = await AsyncClient().get("/health")
            assert response.status_code == 200
            took.append(time.process_time() - begun)
            await asyncio.sleep(0.05)

    watching = asyncio.create_task(watch())
    try:
        yield took
    finally:
        over.set()
        await watching
    assert took
    assert max(took) < LONGEST_PAUSE_SECS


async def tool(people: Cast, name: str, **inputs: Any) -> Any:
    """Return the result of a tool for the team's workspace."""
    response = await AsyncClient().post(
        f"/api/v1/tools/{name}",
        json.dumps(inputs | {"workspace_id": str(people.team.pk)}),
        content_type="application/json",
        headers=people.headers("alice"),
    )
    assert response.status_code == 200, response.content
    return response.json()


@pytest.fixture
async def people(settings: Settings) -> Cast:
    settings.ANSWER_TEXT_SECS = 60.0
    # Files without vectors are found by words alone.
    settings.RELEVANCE_FLOOR = 0.0
    await asyncio.to_thread(text_processes.start)
    return await sync_to_async(make_cast)()


def read_all(people: Cast) -> None:
    """Read the files and make them searchable by words; vectors of so many chunks would take minutes."""
    for name, content in texts(FACT).items():
        pipeline.read(upload_to(people.team, content, name).pk, lambda: False)


async def test_hostile_files_are_read_asked_about_and_cited(people: Cast) -> None:
    """20 kB of digits in a file and one question held the process for half a minute, 1.2 MB for a day."""
    await sync_to_async(read_all)(people)
    longest = await sync_to_async(lambda: max(map(len, Chunk.unscoped.values_list("text", flat=True))))()
    assert longest <= MOST_CHARS
    async with health_is_watched():
        answer = await tool(people, "rag_search", query=QUESTION, limit=20)
        found = await tool(people, "rag_search", query=f"{QUESTION} {run('9', 900)}", limit=20)
    assert "12 florins" in answer["response"]
    assert answer["sources_used"]
    assert answer["citations_removed"] == 0
    assert found["contexts"]


@pytest.fixture
def site(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    async def at_once(secs: float) -> None:
        """Do not wait for a host's turn."""

    monkeypatch.setattr(pages, "_crawl_policy", CrawlPolicy(sleep=at_once))
    with serving() as web:
        settings.WEB_FETCH_ALLOW = [web.address]
        yield web


@pytest.fixture
def engine(settings: Settings) -> Iterator[ProviderDouble]:
    with double("brave") as running:
        for name, value in running.settings.items():
            setattr(settings, name, value)
        yield running


async def test_hostile_pages_are_read_and_cited(people: Cast, engine: ProviderDouble, site: Web) -> None:
    """A page of 16,000 `=` froze the web process for seconds, one of 100,000 for minutes."""
    await change(people, enabled=True, scraping=True)
    for name, seed in RUNS.items():
        text = run(seed).replace("<", "&lt;")
        site.page(
            f"/{name.replace(' ', '-')}",
            f"<html><body><article><p>{FACT}</p><p>{text}</p></article></body></html>".encode(),
        )
    paths = [f"/{name.replace(' ', '-')}" for name in RUNS]
    for first in range(0, len(paths), 10):
        engine.pages = [
            WebPage(f"Page {path}", site.url(path), "About ships.") for path in paths[first : first + 10]
        ]
        async with health_is_watched():
            answer = await tool(people, "web_search", query=f"{QUESTION} {first}", count=10)
            fetched = await tool(people, "web_fetch", url=site.url(paths[first]))
        assert "12 florins" in answer["response"]
        assert answer["sources_used"]
        assert FACT in json.dumps(fetched)
