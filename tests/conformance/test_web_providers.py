"""What every web search provider must do; a new entry of the registry is tested by being there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test.utils import override_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import ValidationError
from search.web.base import (
    DateRange,
    Location,
    Outcome,
    Provider,
    ProviderFailed,
    Recency,
    SearchHits,
    WebQuery,
)
from search.web.domains import DomainRule
from search.web.filters import SPANS
from search.web.providers.registry import (
    AUTO,
    PROVIDERS,
    candidates,
    configured_providers,
    offered_names,
    provider,
    start,
)
from search.web.sanitise import sanitise_hit
from tests.testing.search_engines import Failure, ProviderDouble, WebPage, double

QUERY = WebQuery("tea export", 5)
NO_KEYS = {
    f"{name}_{kind}": ""
    for name, kind in (
        ("BRAVE", "API_KEY"),
        ("TAVILY", "API_KEY"),
        ("SERPAPI", "KEY"),
        ("PERPLEXITY", "API_KEY"),
        ("SEARXNG", "BASE_URL"),
        ("ANTHROPIC", "API_KEY"),
    )
}
NOW = datetime.now(UTC)
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
# One page for each age and kind of place.
PAGES = [
    WebPage("This minute", "https://news.example/now", "Now.", NOW - MINUTE, NOW.date()),
    WebPage("Today", "https://sub.news.example/today", "Today.", NOW - 5 * 60 * MINUTE, NOW.date()),
    WebPage("This week", "https://tax.gov/week", "Week.", NOW - 4 * DAY, (NOW - 3 * DAY).date()),
    WebPage("This month", "https://blog.example/tea/month", "Month.", NOW - 20 * DAY),
    WebPage("This year", "https://blog.example/teapot", "Year.", NOW - 200 * DAY, (NOW - 10 * DAY).date()),
    WebPage("Old", "https://old.example/1999", "Old.", NOW - 9000 * DAY, (NOW - 8000 * DAY).date()),
    WebPage("Some day", "https://news.example/undated", "Who knows."),
]
EVERYBODY = {
    Failure.SERVER_ERROR: Outcome.UNAVAILABLE,
    Failure.OVERLOADED: Outcome.UNAVAILABLE,
    Failure.ERROR_IN_200: Outcome.UNAVAILABLE,
    Failure.CUT_OFF: Outcome.UNAVAILABLE,
    Failure.SLOW: Outcome.TIMEOUT,
    Failure.NOT_JSON: Outcome.BAD_RESPONSE,
    Failure.WRONG_SHAPE: Outcome.BAD_RESPONSE,
    Failure.TOO_LARGE: Outcome.BAD_RESPONSE,
    Failure.REDIRECT: Outcome.BAD_RESPONSE,
    Failure.RATE_LIMITED: Outcome.RATE_LIMITED,
    Failure.QUOTA: Outcome.QUOTA,
    Failure.BAD_KEY: Outcome.AUTH,
    Failure.FORBIDDEN: Outcome.AUTH,
    Failure.INVALID: Outcome.INVALID_REQUEST,
    Failure.CHALLENGE: Outcome.BOT_CHALLENGE,
}
# An error in place of what is documented, where no field says what kind of error it is.
EXCEPT = {
    "brave": {Failure.ERROR_IN_200: Outcome.BAD_RESPONSE},
    "tavily": {Failure.ERROR_IN_200: Outcome.BAD_RESPONSE},
    "perplexity": {Failure.ERROR_IN_200: Outcome.BAD_RESPONSE},
    # Nobody is refused for a key.
    "duckduckgo": {Failure.FORBIDDEN: Outcome.UNAVAILABLE},
}
NOT_COUNTED = {Outcome.AUTH, Outcome.INVALID_REQUEST}


@pytest.fixture(params=sorted(PROVIDERS))
def server(request: pytest.FixtureRequest) -> Iterator[ProviderDouble]:
    """The double of each provider, which the settings lead to."""
    with double(request.param) as running, override_settings(**NO_KEYS | running.settings):
        yield running


@pytest.fixture
def engine(server: ProviderDouble) -> Provider:
    """Each provider, asking its double."""
    return provider(server.name)


async def failed(engine: Provider, query: WebQuery = QUERY) -> ProviderFailed:
    with pytest.raises(ProviderFailed) as caught:
        await engine.search(query)
    return caught.value


# --- Hits ------------------------------------------------------------------------------------------------


async def test_hits_come_in_order_and_clean(server: ProviderDouble, engine: Provider) -> None:
    found = await engine.search(QUERY)
    assert [(hit.title, hit.url, hit.snippet) for hit in found.hits] == [
        (page.title, page.url, page.snippet) for page in server.pages
    ]
    for hit in found.hits:
        assert sanitise_hit(hit) == hit
        assert hit.site_name
        assert hit.score is None or 0 <= hit.score <= 1
    assert found.ignored_filters == ()
    assert found.calls == engine.most_calls(QUERY) == len(server.requests) == 1


async def test_nothing_found_is_no_failure(server: ProviderDouble, engine: Provider) -> None:
    server.pages = []
    assert (await engine.search(QUERY)).hits == ()


@pytest.mark.parametrize("count", [1, 3, 10, 11, 20])
async def test_no_more_hits_than_wanted(server: ProviderDouble, engine: Provider, count: int) -> None:
    server.pages = [WebPage(f"Tea {n}", f"https://tea.example/{n}", "Tea.") for n in range(40)]
    found = await engine.search(replace(QUERY, count=count))
    assert [hit.title for hit in found.hits] == [f"Tea {n}" for n in range(len(found.hits))]
    assert len(found.hits) == (min(count, 10) if server.name == "duckduckgo" else count)
    assert found.calls <= engine.most_calls(replace(QUERY, count=count))


async def test_hostile_results_are_made_harmless(server: ProviderDouble, engine: Provider) -> None:
    server.pages = [
        WebPage("Script", "javascript:alert(1)", "No."),
        WebPage("Long", f"https://long.example/{'x' * 3000}", "No."),
        WebPage("Other", "ftp://files.example/tea", "No."),
        WebPage(
            "<b>Fine</b>\u202e &amp; &lt;i>good\x07",
            "https://fine.example/?a=1&b=2",
            "two\n\tlines\u200b, <script>one</script> &#8203;hidden " + "é" * 5000,
        ),
        WebPage("Twice", "https://fine.example/?a=1&b=2", "Again."),
    ]
    [hit] = (await engine.search(QUERY)).hits
    assert (hit.title, hit.url) == ("Fine & good", "https://fine.example/?a=1&b=2")
    assert hit.snippet.startswith("two lines, one hidden éé")
    assert len(hit.snippet.encode()) <= 4096


async def test_a_field_that_is_missing_costs_no_hit(server: ProviderDouble, engine: Provider) -> None:
    server.pages = [WebPage("", "https://tea.example/1", ""), WebPage("Tea", "https://tea.example/2", "Tea.")]
    hits = (await engine.search(QUERY)).hits
    if server.name == "duckduckgo":
        hits = hits[-2:]
    assert [hit.title for hit in hits] == ["tea.example", "Tea"]


async def test_the_words_go_out_as_they_are(server: ProviderDouble, engine: Provider) -> None:
    for words in ['"black tea" & 50% + #1?', "水は四画", "ünïcödé ⚘", "a b"]:
        await engine.search(replace(QUERY, text=words))
        assert words in str(server.requests[-1].params)


# --- Filters ---------------------------------------------------------------------------------------------


rules = st.sampled_from(
    [
        DomainRule("news.example"),
        DomainRule("sub.news.example"),
        DomainRule(".gov"),
        DomainRule(".example"),
        DomainRule("blog.example", "/tea"),
        DomainRule("old.example"),
        DomainRule("nowhere.example"),
    ]
)
days = st.none() | st.integers(0, 9500).map(lambda ago: (NOW - ago * DAY).date())
ranges = st.builds(DateRange, days, days).filter(
    lambda days: not (days.after and days.before) or days.after <= days.before
)
locations = st.builds(
    Location,
    country=st.sampled_from([None, "US", "DE", "GB", "AQ"]),
    region=st.sampled_from([None, "CA", "Île-de-France"]),
    city=st.sampled_from([None, "Zürich", "東京"]),
) | st.builds(
    Location,
    country=st.sampled_from(["US", "JP"]),
    latitude=st.floats(-90, 90),
    longitude=st.floats(-180, 180),
)
queries = st.builds(
    WebQuery,
    text=st.sampled_from(["tea", "!g tea", "tea " * 40, 'the "best" tea']),
    count=st.integers(1, 20),
    recency=st.none() | st.sampled_from(Recency),
    published=ranges,
    updated=ranges,
    allow=st.lists(st.lists(rules, min_size=1, max_size=4).map(tuple), max_size=2).map(tuple),
    deny=st.lists(rules, max_size=3).map(tuple),
    prefer=st.lists(rules, max_size=3).map(tuple),
    country=st.sampled_from([None, "US", "GB", "BR", "TW", "AQ", "UA"]),
    language=st.sampled_from([None, "en", "de", "pt", "zh", "ja", "he", "no", "nb", "mt", "eo"]),
    location=st.none() | locations,
    max_tokens=st.none() | st.integers(1, 5000),
    max_tokens_per_page=st.none() | st.integers(1, 5000),
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=queries)
def test_any_query_is_taken_and_met(server: ProviderDouble, engine: Provider, query: WebQuery) -> None:
    """The double refuses what its provider would; hits meet every filter that is not reported."""
    server.pages = PAGES
    check_met(query, asyncio.run(engine.search(query)))


def check_met(query: WebQuery, found: SearchHits) -> None:
    """Assert that the hits are what the query wants, by what is known of the pages."""
    pages = {page.url: page for page in PAGES}
    assert len(found.hits) <= query.count
    assert set(found.ignored_filters) <= {
        name
        for name in ("recency", "published", "updated", "country", "language", "location")
        if getattr(query, name)
    }
    for hit in found.hits:
        page = pages[hit.url]
        host, _, path = hit.url.removeprefix("https://").partition("/")
        assert all(any(rule.holds(host, f"/{path}") for rule in one) for one in query.allow)
        assert not any(rule.holds(host, f"/{path}") for rule in query.deny)
        if "recency" not in found.ignored_filters and query.recency:
            assert page.published
            assert page.published >= datetime.now(UTC) - SPANS[query.recency] - DAY
        if "published" not in found.ignored_filters and query.published:
            assert within(page.published and page.published.date(), query.published)
        if "updated" not in found.ignored_filters and query.updated:
            assert within(page.updated, query.updated)


def within(day: date | None, days: DateRange) -> bool:
    return day is not None and (days.after or date.min) <= day <= (days.before or date.max)


@pytest.mark.parametrize("recency", list(Recency))
async def test_recency_finds_what_is_recent(
    server: ProviderDouble, engine: Provider, recency: Recency
) -> None:
    server.pages = PAGES
    found = await engine.search(replace(QUERY, recency=recency, count=20))
    recent = [page.title for page in PAGES if page.published and page.published >= NOW - SPANS[recency]]
    titles = [hit.title for hit in found.hits]
    if "recency" in found.ignored_filters:
        assert set(recent) <= set(titles)
    else:
        assert titles == recent


async def test_nothing_is_asked_where_nothing_can_match(server: ProviderDouble, engine: Provider) -> None:
    apart = ((DomainRule("a.example"),), (DomainRule("b.example"),))
    long_ago = DateRange(before=date(1999, 1, 1))
    for query in (replace(QUERY, allow=apart), replace(QUERY, recency=Recency.DAY, published=long_ago)):
        found = await engine.search(query)
        assert (found.hits, found.calls, server.requests) == ((), 0, [])


async def test_preferred_domains_go_up_and_the_rest_stays(server: ProviderDouble, engine: Provider) -> None:
    server.pages = [WebPage(f"Tea {n}", f"https://tea{n}.example/", "Tea.") for n in range(8)]
    found = await engine.search(replace(QUERY, count=8, prefer=(DomainRule("tea5.example"),)))
    titles = [hit.title for hit in found.hits]
    assert titles.index("Tea 5") < 5
    assert sorted(titles) == [f"Tea {n}" for n in range(8)]


# --- Failures --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("server", "failure"),
    [(name, failure) for name in PROVIDERS for failure in Failure if double(name).has(failure)],
    indirect=["server"],
)
async def test_each_failure_is_understood(
    server: ProviderDouble, engine: Provider, failure: Failure, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.said_besides = f" You sent {server.key}."
    server.fail(failure)
    with override_settings(WEB_SEARCH_TIMEOUT_SECS=0.5 if failure is Failure.SLOW else 20):
        error = await failed(engine)
    outcome = EXCEPT.get(server.name, {}).get(failure, EVERYBODY[failure])
    assert error.outcome is outcome
    assert error.counts == (outcome not in NOT_COUNTED)
    assert error.message.endswith(".")
    assert server.key not in f"{error!r} {error.message} {error.__cause__!r} {caplog.text}"
    assert error.__suppress_context__ or error.__context__ is None
    assert (await engine.search(QUERY)).hits, "it answers again"


@pytest.mark.parametrize(
    ("server", "secs"),
    [("brave", 2), ("tavily", 7), ("perplexity", 5), ("searxng", 3600), ("anthropic", 9), ("serpapi", None)],
    indirect=["server"],
)
async def test_who_says_when_to_come_back_is_heard(
    server: ProviderDouble, engine: Provider, secs: float | None
) -> None:
    server.fail(Failure.RATE_LIMITED)
    assert (await failed(engine)).retry_after == secs


@pytest.mark.parametrize("server", [name for name in PROVIDERS if name != "duckduckgo"], indirect=True)
async def test_a_wrong_key_is_found_out(server: ProviderDouble, engine: Provider) -> None:
    server.key = "another"
    assert (await failed(engine)).outcome is Outcome.AUTH


async def test_nobody_there_is_unavailable(server: ProviderDouble) -> None:
    nowhere = {name: "http://127.0.0.1:9" for name in server.settings if name.endswith("_BASE_URL")}
    with override_settings(**nowhere):
        assert (await failed(provider(server.name))).outcome is Outcome.UNAVAILABLE


# --- Life ------------------------------------------------------------------------------------------------


async def test_a_search_can_be_given_up(server: ProviderDouble, engine: Provider) -> None:
    server.fail(Failure.SLOW)
    task = asyncio.create_task(engine.search(QUERY))
    while not server.requests:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await engine.search(QUERY)).hits


async def test_many_at_once_do_not_mix(server: ProviderDouble, engine: Provider) -> None:
    wanted = range(1, 9)
    server.pages = [WebPage(f"Tea {n}", f"https://tea.example/{n}", "Tea.") for n in range(10)]
    found = await asyncio.gather(*(engine.search(replace(QUERY, count=count)) for count in wanted))
    assert [len(each.hits) for each in found] == list(wanted)


def test_it_serves_one_event_loop_after_another(server: ProviderDouble, engine: Provider) -> None:
    assert asyncio.run(engine.search(QUERY)) == asyncio.run(engine.search(QUERY))


# --- Registry --------------------------------------------------------------------------------------------


def test_it_is_there_if_the_settings_say_so(server: ProviderDouble, engine: Provider) -> None:
    assert engine.name == server.name
    assert engine.price >= 0
    assert isinstance(engine.price, Decimal)
    assert [each.name for each in candidates(server.name)] == [server.name]
    assert server.name in offered_names()
    with override_settings(**NO_KEYS):
        assert (server.name in offered_names()) == (server.name == "duckduckgo")


@override_settings(**NO_KEYS)
def test_who_is_not_configured_or_unknown_is_an_error() -> None:
    for name in ("brave", "bing", "", "auto "):
        with pytest.raises(ValidationError, match="must be one of auto, duckduckgo") as caught:
            provider(name)
        assert caught.value.param == "provider"


def test_auto_goes_by_the_order_of_the_contract() -> None:
    everything: dict[str, Any] = dict.fromkeys(NO_KEYS, "x") | {"SEARXNG_BASE_URL": "http://127.0.0.1:9"}
    order = ["brave", "tavily", "serpapi", "perplexity", "searxng", "anthropic", "duckduckgo"]
    with override_settings(**everything):
        assert [each.name for each in configured_providers()] == order
        assert [each.name for each in candidates(AUTO)] == order


def test_the_start_reads_the_lists_and_names_a_bad_one() -> None:
    with override_settings(**NO_KEYS):
        assert start() == "Searching the web with duckduckgo."
    with (
        override_settings(BLACKLISTED_DOMAINS=["spam.example", "no host"]),
        pytest.raises(ImproperlyConfigured, match="BLACKLISTED_DOMAINS: “no host” must be a host"),
    ):
        start()
