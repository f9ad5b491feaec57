"""Lists of domains hold for what is fetched too, whatever a page's redirects lead to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings

from search.web.function_tools import MODEL_TOOLS
from tests.conftest import Cast
from tests.search.web.calling import CITATION, ask, change, code_of, post
from tests.search.web.test_for_models import speaking
from tests.search.web.test_web_pages_in_answers import BUILT, article
from tests.testing.search_engines import ProviderDouble, WebPage
from tests.testing.web import Web

pytestmark = pytest.mark.django_db(transaction=True)

STRICT: list[dict[str, Any]] = [
    {"whitelisted_domains": ["localhost"]},
    {"search_domain_filter": ["localhost"]},
    {"search_domain_filter": ["-127.0.0.1"]},
    {"whitelisted_domains": ["localhost", "127.0.0.1/elsewhere"]},
]
"""Each refuses the page at 127.0.0.1 and not the hits at localhost."""


@pytest.fixture
def hosts(site: Web, settings: Settings) -> Iterator[Web]:
    """Serve the same pages under two names; `/hop` and `/far` of one lead to the other."""
    settings.WEB_FETCH_ALLOW = [site.address, f"localhost:{site.port}"]
    site.page("/page", article(BUILT, "The page in the end"))
    site.redirect("/hop", site.url("/page"))
    site.redirect("/far", "/hop")
    yield site


def at_localhost(site: Web, path: str) -> str:
    return f"http://localhost:{site.port}{path}"


def hits(site: Web, *paths: str) -> list[WebPage]:
    return [WebPage(f"Hit {path}", at_localhost(site, path), "About the harbour.") for path in paths]


def asked_at_127(site: Web) -> list[str]:
    """Return what was asked of the host that the lists refuse."""
    return [request.path for request in site.asked if request.headers["Host"] == site.address]


@pytest.mark.parametrize("path", ["/hop", "/far"])
async def test_bodies_obey_the_lists_at_each_redirect(
    people: Cast, brave: ProviderDouble, hosts: Web, settings: Settings, path: str
) -> None:
    """An open redirect on a trusted host put any page's text under that host's address."""
    brave.pages = hits(hosts, path)
    free = (await ask(people, mode="results", expand=True)).json()["results"]
    assert BUILT in free[0]["body"]
    for number, lists in enumerate([*STRICT, {}]):
        hosts.asked.clear()
        settings.BLACKLISTED_DOMAINS = [] if lists else ["127.0.0.1"]
        result = (await ask(people, query=f"lights {number}", mode="results", expand=True, **lists)).json()
        assert [(each["url"], each["body"]) for each in result["results"]] == [(brave.pages[0].url, None)]
        assert result["results"][0]["snippet"] == "About the harbour."
        assert asked_at_127(hosts) == [], "not even its robots.txt"


async def test_what_was_read_without_a_list_is_not_served_under_one(
    people: Cast, brave: ProviderDouble, hosts: Web
) -> None:
    brave.pages = hits(hosts, "/hop")
    for _ in range(2):
        for lists, has_body in (({}, True), (STRICT[0], False), (STRICT[2], False)):
            result = (await ask(people, mode="results", expand=True, **lists)).json()["results"]
            assert [each["body"] is not None for each in result] == [has_body]


async def test_answers_neither_read_nor_cite_a_page_that_a_list_refuses(
    people: Cast, brave: ProviderDouble, hosts: Web, settings: Settings
) -> None:
    await change(people, scraping=True)
    brave.pages = hits(hosts, "/hop", "/ferries")
    hosts.page("/ferries", article("Ferries leave the harbour every hour."))
    for number, lists in enumerate([*STRICT, {}]):
        settings.BLACKLISTED_DOMAINS = [] if lists else ["127.0.0.1"]
        question = "When was the harbour lighthouse built?" + " " * number
        result = (await ask(people, query=question, **lists)).json()
        assert "1893" not in json.dumps(result)
        assert [each["url"] for each in result["sources"]] == [at_localhost(hosts, "/ferries")]
        assert (result["total_results"], result["reranked_results"]) == (2, 1)


async def test_what_was_read_stands_under_its_own_address(
    people: Cast, brave: ProviderDouble, hosts: Web
) -> None:
    """A page was cited under the address of the hit that redirected to it."""
    brave.pages = [WebPage("Hit", at_localhost(hosts, "/far"), "About.")]
    (listed,) = (await ask(people, mode="results", expand=True)).json()["results"]
    assert (listed["url"], listed["title"]) == (hosts.url("/page"), "The page in the end")
    await change(people, scraping=True)
    result = (await ask(people)).json()
    assert CITATION.findall(result["response"]) == [(hosts.url("/page"), "The page in the end", "1")]
    assert [each["url"] for each in result["sources"]] == [hosts.url("/page")]


async def test_a_page_that_does_not_move_keeps_what_the_engine_calls_it(
    people: Cast, brave: ProviderDouble, hosts: Web
) -> None:
    address = hosts.url("/page#history")
    brave.pages = [WebPage("What the engine calls it", address, "About.")]
    (listed,) = (await ask(people, mode="results", expand=True)).json()["results"]
    assert listed["body"]
    assert (listed["url"], listed["title"]) == (address, "What the engine calls it")


async def test_web_fetch_obeys_the_deployment_s_list(people: Cast, hosts: Web, settings: Settings) -> None:
    settings.BLACKLISTED_DOMAINS = ["127.0.0.1"]
    for stream in (False, True):
        refused = await post(people, "tools/web_fetch", {"url": hosts.url("/page"), "stream": stream})
        assert code_of(refused) == (400, "validation_error")
        assert refused.json()["error"]["details"] == {"reason": "blocked_url"}
    moved = await post(people, "tools/web_fetch", {"url": at_localhost(hosts, "/far")})
    assert code_of(moved) == (400, "validation_error")
    assert asked_at_127(hosts) == []


async def test_models_are_bound_by_the_lists_of_whoever_offers_the_tools(
    people: Cast, brave: ProviderDouble, hosts: Web, settings: Settings
) -> None:
    principal, run = await speaking(people)
    tool, arguments = MODEL_TOOLS["web_fetch"], {"url": at_localhost(hosts, "/far")}
    assert (await tool(principal, run, arguments))["url"] == hosts.url("/page")  # type: ignore[index, call-overload]
    for lists in STRICT:
        assert set(await tool(principal, run, arguments, lists) or {}) == {"error"}
    settings.BLACKLISTED_DOMAINS = ["127.0.0.1"]
    assert set(await tool(principal, run, arguments) or {}) == {"error"}
    brave.pages = [*hits(hosts, "/hop"), WebPage("Denied", hosts.url("/page"), "A light.")]
    found = await MODEL_TOOLS["web_search"](principal, run, {"query": "light"}, STRICT[0])
    assert [each["url"] for each in found] == [brave.pages[0].url]  # type: ignore[index, call-overload]
