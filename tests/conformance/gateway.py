"""A running web server with documents and the web, for the clients of other people's protocols."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import openai
import perplexity

from accounts.models import Workspace
from tests.testing.live import live_server
from tests.testing.search_engines import ProviderDouble, WebPage, double

QUESTION = "How much did the solar farm in Almería produce in 2023?"
SOLAR = "The solar farm in Almería produced 42 gigawatt hours in 2023. Its owner is the town itself."
PAGE = WebPage(
    "The solar farm of Almería",
    "https://solar.example/farm",
    "In 2023 the solar farm in Almería produced 42 gigawatt hours, says its operator.",
)
OTHER = WebPage("Lighthouses", "https://light.example/", "A lighthouse stands in the harbour.")
CITATION = re.compile(r"<(\w*citation) [^>]*>(\[\d+\])</\1>")


@dataclass
class Gateway:
    """The server, and the clients of one person."""

    url: str
    brave: ProviderDouble
    key: str = ""
    opened: list[Any] = field(default_factory=list)

    def openai(self, **options: Any) -> Any:
        """Return OpenAI's client; untyped, since its types know none of our tools."""
        client = openai.OpenAI(**self._openai() | options)
        self.opened.append(client)
        return client

    def async_openai(self) -> Any:
        return openai.AsyncOpenAI(**self._openai())

    def perplexity(self, **options: Any) -> Any:
        client = perplexity.Perplexity(**self._perplexity() | options)
        self.opened.append(client)
        return client

    def async_perplexity(self) -> Any:
        return perplexity.AsyncPerplexity(**self._perplexity())

    def close(self) -> None:
        """Close the clients that were made, which keep their connections."""
        while self.opened:
            self.opened.pop().close()

    def http(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)

    def _openai(self) -> dict[str, Any]:
        return {"base_url": f"{self.url}/v1", "api_key": self.key, "max_retries": 0}

    def _perplexity(self) -> dict[str, Any]:
        return {"base_url": self.url, "api_key": self.key, "max_retries": 0}

    def switch_web_on(self, workspace: Workspace) -> None:
        """Let a workspace search the web."""
        change = {"web_search": {"enabled": True}}
        with self.http() as http:
            reply = http.patch(f"/api/v1/workspaces/{workspace.pk}/settings", json=change)
            assert reply.status_code == 200, reply.text


@contextmanager
def engine() -> Iterator[tuple[ProviderDouble, dict[str, str]]]:
    """Run a search engine; give the environment of a server that asks it."""
    with double("brave") as brave:
        yield (
            brave,
            brave.settings
            | {
                "WEB_SEARCH_TIMEOUT_SECS": "60",
                # The engine without a key must not be reached by accident.
                "DUCKDUCKGO_BASE_URL": "http://127.0.0.1:9",
                "RESPONSE_LEFT_SECS": "0.2",
            },
        )


def with_numbers(response: str) -> str:
    """Return a response of ours as the other protocols show it."""
    return CITATION.sub(r"\2", response)


@contextmanager
def scripted_server(**environment: str) -> Iterator[str]:
    """Run a web server whose `rag_search` says a known text at a known pace."""
    with live_server("tests.testing.scripted:application", **environment) as server:
        yield server.url
