"""What each provider is sent for what is asked: the table of unified parameters, cell by cell."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from search.web.base import DateRange, Location, Recency
from search.web.domains import DomainRule
from tests.search.web.asking import asking
from tests.testing.search_engines import DOUBLES, WebPage

NOW = datetime.now(UTC)
TODAY = NOW.date()
MAY = DateRange(date(2026, 5, 1), date(2026, 5, 31))
SINCE_MAY = DateRange(after=date(2026, 5, 1))
UNTIL_MAY = DateRange(before=date(2026, 5, 31))
RECENTLY = DateRange(before=TODAY + timedelta(days=1))
A, B = DomainRule("a.example"), DomainRule("b.example")
GOV = DomainRule(".gov")
BLOG = DomainRule("a.example", "/blog")
PAGES = [
    WebPage("New", "https://a.example/blog/new", "New.", NOW - timedelta(minutes=1), date(2026, 5, 20)),
    WebPage("May", "https://b.example/may", "May.", datetime(2026, 5, 15, 12, tzinfo=UTC), date(2026, 5, 15)),
    WebPage("Some day", "https://tax.gov/undated", "Who knows."),
    WebPage("Elsewhere", "https://c.example/undated", "Who knows."),
]
PARIS = Location("FR", "Île-de-France", "Paris")
THERE = Location("US", latitude=37.7749, longitude=-122.4194)


def week_ago() -> date:
    return (datetime.now(UTC) - timedelta(days=7)).date()


Sent = dict[str, Any]
CASES: list[tuple[str, Sent, Sent, set[str]]] = [
    # provider, what is asked, what is sent (None: not sent), what is ignored
    ("brave", {"count": 7}, {"count": "7", "result_filter": "web", "text_decorations": "false"}, set()),
    ("tavily", {"count": 7}, {"max_results": 7, "topic": "general", "time_range": None}, set()),
    ("serpapi", {"count": 7}, {"engine": "google", "num": None, "start": None, "tbs": None}, set()),
    ("perplexity", {"count": 7}, {"max_results": 7, "max_tokens_per_page": 512}, set()),
    ("searxng", {"count": 7}, {"pageno": "1", "language": "all", "time_range": None}, set()),
    ("anthropic", {"count": 7}, {}, set()),
    ("duckduckgo", {"count": 7}, {"b": "", "kl": "", "df": ""}, set()),
    # recency: hour
    ("brave", {"recency": Recency.HOUR}, {"freshness": "pd", "count": "20"}, set()),
    ("tavily", {"recency": Recency.HOUR}, {"time_range": "day", "max_results": 20}, {"recency"}),
    ("serpapi", {"recency": Recency.HOUR}, {"tbs": "qdr:h"}, set()),
    ("perplexity", {"recency": Recency.HOUR}, {"search_recency_filter": "hour"}, set()),
    ("searxng", {"recency": Recency.HOUR}, {"time_range": "day"}, set()),
    ("duckduckgo", {"recency": Recency.HOUR}, {"df": "d"}, set()),
    # recency: days
    *(
        (name, {"recency": recency}, {field: value}, set())
        for name, field, values in (
            ("brave", "freshness", ("pd", "pw", "pm", "py")),
            ("tavily", "time_range", ("day", "week", "month", "year")),
            ("serpapi", "tbs", ("qdr:d", "qdr:w", "qdr:m", "qdr:y")),
            ("perplexity", "search_recency_filter", ("day", "week", "month", "year")),
            ("searxng", "time_range", ("day", "week", "month", "year")),
            ("duckduckgo", "df", ("d", "w", "m", "y")),
        )
        for recency, value in zip(list(Recency)[1:], values, strict=True)
    ),
    # published
    ("brave", {"published": MAY}, {"freshness": "2026-05-01to2026-05-31"}, set()),
    ("brave", {"published": SINCE_MAY}, {"freshness": f"2026-05-01to{TODAY}"}, set()),
    ("brave", {"published": UNTIL_MAY}, {"freshness": "1970-01-01to2026-05-31"}, set()),
    ("tavily", {"published": MAY}, {"start_date": "2026-05-01", "end_date": "2026-05-31"}, set()),
    ("tavily", {"published": SINCE_MAY}, {"start_date": "2026-05-01", "end_date": None}, set()),
    ("serpapi", {"published": MAY}, {"tbs": "cdr:1,cd_min:05/01/2026,cd_max:05/31/2026"}, set()),
    ("serpapi", {"published": UNTIL_MAY}, {"tbs": "cdr:1,cd_min:01/01/1970,cd_max:05/31/2026"}, set()),
    (
        "perplexity",
        {"published": MAY},
        {"search_after_date_filter": "05/01/2026", "search_before_date_filter": "05/31/2026"},
        set(),
    ),
    ("searxng", {"published": MAY}, {"time_range": None}, {"published"}),
    ("duckduckgo", {"published": MAY}, {"df": ""}, {"published"}),
    # recency and a range: where only one may be sent, both as a range
    (
        "brave",
        {"published": RECENTLY, "recency": Recency.WEEK},
        {"freshness": f"{week_ago()}to{RECENTLY.before}"},
        set(),
    ),
    (
        "tavily",
        {"published": RECENTLY, "recency": Recency.WEEK},
        {"start_date": str(week_ago()), "end_date": str(RECENTLY.before), "time_range": None},
        set(),
    ),
    (
        "serpapi",
        {"published": RECENTLY, "recency": Recency.WEEK},
        {"tbs": f"cdr:1,cd_min:{week_ago():%m/%d/%Y},cd_max:{RECENTLY.before:%m/%d/%Y}"},
        set(),
    ),
    (
        "perplexity",
        {"published": RECENTLY, "recency": Recency.WEEK},
        {"search_recency_filter": "week", "search_before_date_filter": f"{RECENTLY.before:%m/%d/%Y}"},
        set(),
    ),
    # updated
    *(
        (name, {"updated": SINCE_MAY}, {}, {"updated"})
        for name in DOUBLES
        if name not in ("perplexity", "anthropic")
    ),
    (
        "perplexity",
        {"updated": MAY},
        {"last_updated_after_filter": "05/01/2026", "last_updated_before_filter": "05/31/2026"},
        set(),
    ),
    # country
    ("brave", {"country": "DE"}, {"country": "DE"}, set()),
    ("brave", {"country": "AQ"}, {"country": "ALL"}, {"country"}),
    ("tavily", {"country": "DE"}, {"country": "germany"}, set()),
    ("tavily", {"country": "AQ"}, {"country": None}, {"country"}),
    ("serpapi", {"country": "DE"}, {"gl": "de"}, set()),
    ("serpapi", {"country": "GB"}, {"gl": "uk"}, set()),
    ("perplexity", {"country": "DE"}, {"country": "DE"}, set()),
    ("searxng", {"country": "DE"}, {"language": "all"}, {"country"}),
    ("duckduckgo", {"country": "DE"}, {"kl": "de-de"}, set()),
    ("duckduckgo", {"country": "GB"}, {"kl": "uk-en"}, set()),
    ("duckduckgo", {"country": "AQ"}, {"kl": ""}, {"country"}),
    # language
    ("brave", {"language": "fr"}, {"search_lang": "fr"}, set()),
    ("brave", {"language": "ja"}, {"search_lang": "jp"}, set()),
    ("brave", {"language": "no"}, {"search_lang": "nb"}, set()),
    ("brave", {"language": "pt"}, {"search_lang": "pt-pt"}, set()),
    ("brave", {"language": "pt", "country": "BR"}, {"search_lang": "pt-br"}, set()),
    ("brave", {"language": "zh"}, {"search_lang": "zh-hans"}, set()),
    ("brave", {"language": "zh", "country": "TW"}, {"search_lang": "zh-hant"}, set()),
    ("brave", {"language": "eo"}, {"search_lang": None}, {"language"}),
    ("tavily", {"language": "fr"}, {"language": "fr", "filter_by_language": True}, set()),
    ("serpapi", {"language": "fr"}, {"hl": "fr", "lr": "lang_fr"}, set()),
    ("serpapi", {"language": "he"}, {"hl": "iw", "lr": "lang_iw"}, set()),
    ("serpapi", {"language": "zh", "country": "TW"}, {"hl": "zh-tw", "lr": "lang_zh-TW"}, set()),
    ("serpapi", {"language": "pt", "country": "BR"}, {"hl": "pt-br", "lr": "lang_pt"}, set()),
    ("serpapi", {"language": "eo"}, {"hl": None, "lr": None}, {"language"}),
    ("perplexity", {"language": "fr"}, {"search_language_filter": ["fr"]}, set()),
    ("searxng", {"language": "fr"}, {"language": "fr"}, set()),
    ("searxng", {"language": "fr", "country": "CA"}, {"language": "fr-CA"}, set()),
    ("duckduckgo", {"language": "fr"}, {"kl": "fr-fr"}, set()),
    ("duckduckgo", {"language": "fr", "country": "CA"}, {"kl": "ca-fr"}, set()),
    ("duckduckgo", {"language": "ja"}, {"kl": "jp-jp"}, set()),
    ("duckduckgo", {"language": "fr", "country": "DE"}, {"kl": "de-de"}, {"language"}),
    ("duckduckgo", {"language": "eo"}, {"kl": ""}, {"language"}),
    # user_location
    ("serpapi", {"location": PARIS}, {"location": "Paris, Île-de-France, France", "lat": None}, set()),
    ("serpapi", {"location": THERE}, {"lat": "37.774900", "lon": "-122.419400", "location": None}, set()),
    ("perplexity", {"location": PARIS}, {"country": "FR"}, {"location"}),
    ("perplexity", {"location": Location("FR")}, {"country": "FR"}, set()),
    ("perplexity", {"location": Location("FR"), "country": "DE"}, {"country": "DE"}, {"location"}),
    *((name, {"location": PARIS}, {}, {"location"}) for name in ("tavily", "searxng", "duckduckgo")),
    # domains
    ("brave", {"allow": ((A, B),)}, {"goggles": "$discard\n$site=a.example\n$site=b.example"}, set()),
    ("brave", {"deny": (A,)}, {"goggles": "$discard,site=a.example"}, set()),
    (
        "brave",
        {"allow": ((A,),), "deny": (DomainRule("x.a.example"),)},
        {"goggles": "$discard\n$site=a.example\n$discard,site=x.a.example"},
        set(),
    ),
    ("brave", {"prefer": (A,)}, {"goggles": "$boost=3,site=a.example"}, set()),
    ("brave", {"allow": ((GOV,),)}, {"q": "tea export site:gov", "goggles": None}, set()),
    ("brave", {"deny": (BLOG,)}, {"goggles": None, "count": "20"}, set()),
    (
        "tavily",
        {"allow": ((A, BLOG, GOV),)},
        {"include_domains": ["a.example", "a.example/blog", "*.gov"]},
        set(),
    ),
    ("tavily", {"deny": (A,)}, {"exclude_domains": ["a.example"], "include_domains": None}, set()),
    (
        "tavily",
        {"allow": ((A,),), "deny": (B,), "prefer": (B,)},
        {"include_domains": ["a.example"], "exclude_domains": ["b.example"], "include_domains_mode": None},
        set(),
    ),
    ("tavily", {"prefer": (A,)}, {"include_domains": ["a.example"], "include_domains_mode": "prefer"}, set()),
    ("serpapi", {"allow": ((A, B),)}, {"q": "tea export (site:a.example OR site:b.example)"}, set()),
    ("serpapi", {"allow": ((A,),), "deny": (B,)}, {"q": "tea export site:a.example -site:b.example"}, set()),
    ("serpapi", {"deny": (BLOG, GOV)}, {"q": "tea export -site:gov"}, set()),
    ("perplexity", {"allow": ((A, GOV),)}, {"search_domain_filter": ["a.example", ".gov"]}, set()),
    ("perplexity", {"allow": ((BLOG,),)}, {"search_domain_filter": ["https://a.example/blog"]}, set()),
    ("perplexity", {"deny": (A, GOV)}, {"search_domain_filter": ["-a.example", "-.gov"]}, set()),
    ("perplexity", {"allow": ((A,),), "deny": (B,)}, {"search_domain_filter": ["a.example"]}, set()),
    ("searxng", {"allow": ((A, B),)}, {"q": "tea export (site:a.example OR site:b.example)"}, set()),
    ("searxng", {"deny": (A,)}, {"q": "tea export"}, set()),
    ("duckduckgo", {"allow": ((A,),)}, {"q": "tea export site:a.example"}, set()),
    ("duckduckgo", {"deny": (A,)}, {"q": "tea export -site:a.example"}, set()),
    ("duckduckgo", {"allow": ((A,),), "deny": (B,)}, {"q": "tea export site:a.example"}, set()),
    # two lists that allow: what is in both
    *(
        (name, {"allow": ((A, B), (BLOG, GOV))}, sent, set())
        for name, sent in (
            ("brave", {"goggles": "$discard\n$site=a.example"}),
            ("tavily", {"include_domains": ["a.example/blog"]}),
            ("perplexity", {"search_domain_filter": ["https://a.example/blog"]}),
            ("serpapi", {"q": "tea export site:a.example"}),
        )
    ),
    # how much of the pages
    (
        "perplexity",
        {"max_tokens": 300, "max_tokens_per_page": 300},
        {"max_tokens": 300, "max_tokens_per_page": 300},
        set(),
    ),
    ("perplexity", {"max_tokens_per_page": 4000}, {"max_tokens": 5120, "max_tokens_per_page": 1024}, set()),
]


@pytest.mark.parametrize(
    ("name", "asked", "sent", "ignored"), CASES, ids=[f"{case[0]}-{'-'.join(case[1])}" for case in CASES]
)
async def test_what_is_sent(name: str, asked: Sent, sent: Sent, ignored: set[str]) -> None:
    with asking(name) as adapter:
        adapter.double.pages = PAGES
        params, found = await adapter.sent(**asked)
        assert {field: params.get(field) for field in sent} == sent
        assert found.hits
        assert set(found.ignored_filters) == ignored


async def test_brave_is_told_the_place_in_headers() -> None:
    with asking("brave") as adapter:
        found = await adapter.found(location=PARIS)
        headers = adapter.double.requests[-1].headers
        assert (headers["x-loc-city"], headers["x-loc-state-name"]) == ("Paris", "Ile-de-France")
        assert headers["x-loc-country"] == "FR"
        assert "x-loc-lat" not in headers
        assert found.ignored_filters == ()
        await adapter.found(location=Location("US", region="CA"))
        assert adapter.double.requests[-1].headers["x-loc-state"] == "CA"
        await adapter.found(location=THERE)
        headers = adapter.double.requests[-1].headers
        assert (headers["x-loc-lat"], headers["x-loc-long"]) == ("37.774900", "-122.419400")
        found = await adapter.found(location=Location(city="東京"))
        assert found.ignored_filters == ("location",)


async def test_anthropic_is_told_in_its_tool_and_its_prompt() -> None:
    with asking("anthropic", ANTHROPIC_SEARCH_MODEL="claude-haiku-4-5") as adapter:

        async def tool(**fields: Any) -> tuple[dict[str, Any], str, tuple[str, ...]]:
            params, found = await adapter.sent(**fields)
            [given] = params["tools"]
            assert params["model"] == "claude-haiku-4-5"
            return given, params["messages"][0]["content"], found.ignored_filters

        given, words, _ = await tool()
        assert words == "Query: tea export"
        assert given == {"type": "web_search_20250305", "name": "web_search", "max_uses": 1}

        given, words, ignored = await tool(recency=Recency.WEEK, language="fr", published=RECENTLY)
        assert f"from {week_ago()} to {RECENTLY.before}" in words
        assert "code fr" in words
        assert set(ignored) == {"recency", "language", "published"}

        given, _, ignored = await tool(country="DE")
        assert given["user_location"] == {"type": "approximate", "country": "DE"}
        assert ignored == ()
        given, _, ignored = await tool(location=PARIS, country="DE")
        assert given["user_location"]["city"] == "Paris"
        assert ignored == ("country",)

        given, *_ = await tool(allow=((A, BLOG),), deny=(B,))
        assert given["allowed_domains"] == ["a.example", "a.example/blog"]
        assert "blocked_domains" not in given
        given, *_ = await tool(deny=(A, GOV))
        assert given["blocked_domains"] == ["a.example"]
        given, *_ = await tool(allow=((A, GOV),))
        assert not given.keys() & {"allowed_domains", "blocked_domains"}


async def test_a_field_that_tavily_does_not_document_can_be_left_out() -> None:
    with asking("tavily", TAVILY_LANGUAGE_FILTER=False) as adapter:
        params, found = await adapter.sent(language="fr")
        assert "language" not in params
        assert found.ignored_filters == ("language",)


@pytest.mark.parametrize("name", list(DOUBLES))
async def test_a_deployment_may_have_hundreds_of_domains(name: str) -> None:
    denied = (A, *(DomainRule(f"d{n}.example") for n in range(400)))
    preferred = tuple(DomainRule(f"p{n}.example") for n in range(400))
    with asking(name) as adapter:
        adapter.double.pages = PAGES
        found = await adapter.found(deny=denied, prefer=preferred)
        assert [hit.title for hit in found.hits] == ["May", "Some day", "Elsewhere"]
        assert len(str(adapter.double.requests[-1].params)) < 15_000


async def test_more_domains_than_perplexity_takes_are_left_to_our_own_look() -> None:
    many = tuple(DomainRule(f"d{n}.example") for n in range(25))
    with asking("perplexity") as adapter:
        params, _ = await adapter.sent(allow=(many,))
        assert "search_domain_filter" not in params
        params, _ = await adapter.sent(deny=many)
        assert len(params["search_domain_filter"]) == 20
