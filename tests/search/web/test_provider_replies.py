"""What is peculiar to one provider: its ways to fail, to count, to write dates."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from typing import Any

import pytest
from django.test.utils import override_settings

from search.web.base import Outcome, Recency
from search.web.domains import DomainRule
from tests.search.web.asking import asking
from tests.testing.search_engines import Failure, Reply, WebPage

NOW = datetime.now(UTC)
TEA = WebPage("Tea", "https://tea.example/", "Tea.")


def pages(count: int) -> list[WebPage]:
    return [WebPage(f"Tea {n}", f"https://tea.example/{n}", "Tea.") for n in range(count)]


# --- Brave -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["t" * 401, "tea " * 51])
async def test_brave_takes_400_characters_and_50_words(text: str) -> None:
    with asking("brave") as adapter:
        error = await adapter.failed(text=text)
        assert (error.outcome, error.counts) == (Outcome.INVALID_REQUEST, False)
        assert "at most 400 characters and 50 words" in error.message
        assert adapter.double.requests == []
        assert (await adapter.found(text="tea " * 50)).hits


async def test_brave_gets_no_operators_that_make_a_query_too_long() -> None:
    with asking("brave") as adapter:
        params, _ = await adapter.sent(text="t" * 395, allow=((DomainRule(".gov"),),))
        assert params["q"] == "t" * 395
        params, _ = await adapter.sent(text="t " * 50, allow=((DomainRule(".gov"),),))
        assert "site:" not in params["q"]


@pytest.mark.parametrize(
    ("status", "code", "outcome"),
    [
        (401, "UNAUTHORIZED", Outcome.AUTH),
        (422, "SUBSCRIPTION_TOKEN_INVALID", Outcome.AUTH),
        (422, "VALIDATION", Outcome.INVALID_REQUEST),
        (400, "BAD", Outcome.INVALID_REQUEST),
        (404, "GONE", Outcome.BAD_RESPONSE),
        (502, "BAD_GATEWAY", Outcome.UNAVAILABLE),
    ],
)
async def test_brave_s_errors(status: int, code: str, outcome: Outcome) -> None:
    with asking("brave") as adapter:
        reply = Reply(status, {"type": "ErrorResponse", "error": {"status": status, "code": code}})
        assert (await adapter.failed(reply)).outcome is outcome


@pytest.mark.parametrize(
    ("remaining", "reset", "meta", "outcome", "secs"),
    [
        ("0, 1000", "1, 1419704", {}, Outcome.RATE_LIMITED, 1),
        ("1, 0", "1, 1419704", {}, Outcome.QUOTA, 1419704),
        ("0, 0", "1, 1419704", {}, Outcome.QUOTA, 1419704),
        ("0", "3", {}, Outcome.RATE_LIMITED, 3),
        ("", "", {"quota_limit": 15000, "quota_current": 15000}, Outcome.QUOTA, None),
        ("0, 0", "1, 9", {"quota_limit": 0, "quota_current": 5}, Outcome.QUOTA, 9),
        ("soon", "x, y", {"quota_limit": "?"}, Outcome.RATE_LIMITED, None),
    ],
)
async def test_brave_tells_a_second_from_a_month(
    remaining: str, reset: str, meta: dict[str, Any], outcome: Outcome, secs: float | None
) -> None:
    with asking("brave") as adapter:
        headers = {"X-RateLimit-Remaining": remaining, "X-RateLimit-Reset": reset}
        body = {"type": "ErrorResponse", "error": {"code": "RATE_LIMITED", "meta": meta}}
        error = await adapter.failed(Reply(429, body, headers))
        assert (error.outcome, error.retry_after) == (outcome, secs)


async def test_brave_s_dates_and_names() -> None:
    with asking("brave") as adapter:
        adapter.double.pages = [WebPage("New", "https://news.example/", "", NOW), TEA]
        first, second = (await adapter.found()).hits
        assert first.published_at == NOW.date()
        assert first.published_time == NOW.replace(microsecond=0)
        assert first.site_name == "News.Example"
        assert (second.published_at, second.published_time) == (None, None)


# --- Tavily ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (400, Outcome.INVALID_REQUEST),
        (422, Outcome.INVALID_REQUEST),
        (429, Outcome.RATE_LIMITED),
        (432, Outcome.QUOTA),
        (433, Outcome.QUOTA),
    ],
)
async def test_tavily_s_errors(status: int, outcome: Outcome) -> None:
    with asking("tavily") as adapter:
        assert (await adapter.failed(Reply(status, {"detail": {"error": "No."}}))).outcome is outcome


async def test_when_to_come_back_may_be_a_date() -> None:
    with asking("tavily") as adapter:
        until = datetime.now(UTC) + timedelta(hours=1)
        headers = {"Retry-After": format_datetime(until, usegmt=True)}
        error = await adapter.failed(Reply(429, {"detail": {"error": "No."}}, headers))
        assert error.retry_after == pytest.approx(3600, abs=120)
        error = await adapter.failed(Reply(429, {}, {"Retry-After": "whenever"}))
        assert error.retry_after is None


async def test_tavily_s_dates_and_scores() -> None:
    published = datetime(2026, 4, 14, 10, tzinfo=UTC)
    results = [
        {"title": "A", "url": "https://a.example/", "published_date": format_datetime(published), "score": 2},
        {"title": "B", "url": "https://b.example/", "published_date": "soon", "score": "high"},
    ]
    with asking("tavily") as adapter:
        adapter.double.reply_next(Reply(200, {"results": results}))
        first, second = (await adapter.found()).hits
        assert (first.published_at, first.published_time, first.score) == (published.date(), published, 1.0)
        assert (second.published_at, second.score) == (None, None)


# --- SerpAPI ---------------------------------------------------------------------------------------------


async def test_serpapi_bills_each_page() -> None:
    with asking("serpapi") as adapter:
        adapter.double.pages = pages(30)
        found = await adapter.found(count=11)
        assert (len(found.hits), found.calls) == (11, 2)
        assert [request.params.get("start") for request in adapter.double.requests] == [None, "10"]
        adapter.double.pages = []
        assert (await adapter.found(count=20)).calls == 1, "after an empty page there is none"


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(429, {"error": "Your account has run out of searches."}), Outcome.QUOTA),
        (Reply(429, {"error": "You are exceeding 20 searches per hour."}), Outcome.RATE_LIMITED),
        (Reply(404, {"error": "Not found."}), Outcome.BAD_RESPONSE),
        (Reply(410, {"error": "Expired."}), Outcome.BAD_RESPONSE),
        (Reply(503, {"search_metadata": {"status": "Error"}, "error": "?"}), Outcome.UNAVAILABLE),
        (Reply(200, {"search_metadata": {"status": "Error"}, "error": "?"}), Outcome.UNAVAILABLE),
        (Reply(200, {"error": "Something else."}), Outcome.UNAVAILABLE),
    ],
)
async def test_serpapi_s_errors(reply: Reply, outcome: Outcome) -> None:
    with asking("serpapi") as adapter:
        assert (await adapter.failed(reply)).outcome is outcome


async def test_serpapi_s_dates_are_words_in_some_language() -> None:
    words = {"Apr 12, 2026": date(2026, 4, 12), "12 avr. 2026": date(2026, 4, 12), "soon": None, "": None}
    results = [
        {"title": text, "link": f"https://tea.example/{n}", "date": text} for n, text in enumerate(words)
    ]
    body = {"search_metadata": {"status": "Success"}, "organic_results": results}
    with asking("serpapi") as adapter:
        adapter.double.reply_next(Reply(200, body))
        hits = (await adapter.found(language="fr")).hits
        assert [hit.published_at for hit in hits] == list(words.values())
        assert {hit.engine for hit in hits} == {"google"}


# --- Perplexity ------------------------------------------------------------------------------------------


async def test_perplexity_s_dates() -> None:
    with asking("perplexity") as adapter:
        adapter.double.pages = [WebPage("New", "https://a.example/", "", NOW, date(2026, 4, 20)), TEA]
        first, second = (await adapter.found()).hits
        assert (first.published_at, first.last_updated) == (NOW.date(), date(2026, 4, 20))
        assert (second.published_at, second.last_updated) == (None, None)


# --- SearXNG ---------------------------------------------------------------------------------------------


async def test_searxng_asks_for_a_second_page_if_the_first_is_full() -> None:
    with asking("searxng") as adapter:
        adapter.double.pages = pages(30)
        assert len((await adapter.found(count=15)).hits) == 15
        assert [request.params["pageno"] for request in adapter.double.requests] == ["1", "2"]
        adapter.double.pages = pages(4)
        assert len((await adapter.found(count=15)).hits) == 4
        assert adapter.double.requests[-1].params["pageno"] == "1"


@pytest.mark.parametrize("name", ["serpapi", "searxng"])
async def test_the_deadline_is_one_for_all_pages(name: str) -> None:
    with asking(name, WEB_SEARCH_TIMEOUT_SECS=1.2) as adapter:
        adapter.double.pages = pages(30)
        adapter.double.delay_secs = 0.8
        assert (await adapter.found(count=10)).hits
        assert (await adapter.failed(count=20)).outcome is Outcome.TIMEOUT


async def test_searxng_without_engines_is_an_outage() -> None:
    with asking("searxng") as adapter:
        adapter.double.unresponsive = 2
        assert (await adapter.found()).hits
        adapter.double.pages = []
        assert (await adapter.failed()).outcome is Outcome.UNAVAILABLE
        adapter.double.unresponsive = 0
        assert (await adapter.found()).hits == ()
        said = {"results": [], "suggestions": ["tee"], "unresponsive_engines": [["qwant", "timeout"]]}
        adapter.double.reply_next(Reply(200, said))
        assert (await adapter.found()).hits == (), "some engine did answer"


async def test_searxng_s_scores_have_no_bound_and_may_be_missing() -> None:
    results = [
        {"title": "A", "url": "https://a.example/", "score": 8.0, "publishedDate": "2026-04-12T00:00:00"},
        {"title": "B", "url": "https://b.example/", "score": 2},
        {"title": "C", "url": "https://c.example/", "score": None, "publishedDate": None},
        {"url": "https://d.example/"},
    ]
    with asking("searxng") as adapter:
        adapter.double.reply_next(Reply(200, {"results": results}))
        hits = (await adapter.found()).hits
        assert [hit.score for hit in hits] == [1.0, 0.25, None, None]
        assert (hits[0].published_at, hits[0].published_time) == (date(2026, 4, 12), None)


async def test_searxng_s_password_may_have_any_character() -> None:
    with asking("searxng") as adapter:
        adapter.double.key = "p@ss/w:rd#%1"
        with override_settings(**adapter.double.settings):
            assert (await adapter.found()).hits
        adapter.double.user = ""
        with override_settings(**adapter.double.settings):
            assert (await adapter.found()).hits
        assert "authorization" not in adapter.double.requests[-1].headers


# --- Anthropic -------------------------------------------------------------------------------------------


async def test_anthropic_goes_on_after_a_pause_and_counts_all_it_took() -> None:
    with asking("anthropic", ANTHROPIC_SEARCH_MODEL="claude-haiku-4-5") as adapter:
        adapter.double.pauses = 2
        found = await adapter.found()
        assert found.hits
        assert len(adapter.double.requests) == 3
        assert found.calls == 1
        # $1 and $5 for a million tokens in and out, three times 6000 and 900.
        assert found.extra_cost == Decimal("0.0315")
        adapter.double.pauses = 9
        assert (await adapter.failed()).outcome is Outcome.BAD_RESPONSE


async def test_what_a_model_costs_that_no_list_knows_is_not_guessed() -> None:
    with asking("anthropic", ANTHROPIC_SEARCH_MODEL="claude-of-tomorrow") as adapter:
        assert (await adapter.found()).extra_cost == 0


async def test_a_model_that_does_not_search_has_found_nothing_out() -> None:
    with asking("anthropic") as adapter:
        adapter.double.searches = False
        assert (await adapter.failed()).outcome is Outcome.BAD_RESPONSE


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("invalid_tool_input", Outcome.INVALID_REQUEST),
        ("query_too_long", Outcome.INVALID_REQUEST),
        ("request_too_large", Outcome.INVALID_REQUEST),
        ("too_many_requests", Outcome.RATE_LIMITED),
        ("unavailable", Outcome.UNAVAILABLE),
        ("max_uses_exceeded", Outcome.UNAVAILABLE),
        ("a_new_one", Outcome.UNAVAILABLE),
    ],
)
async def test_errors_of_anthropic_s_search_come_with_status_200(code: str, outcome: Outcome) -> None:
    with asking("anthropic") as adapter:
        error = await adapter.failed(adapter.double.search_error(code))
        assert (error.outcome, error.counts) == (outcome, outcome is not Outcome.INVALID_REQUEST)


@pytest.mark.parametrize(
    ("status", "text", "outcome"),
    [
        (400, "Your credit balance is too low to access the Anthropic API.", Outcome.QUOTA),
        (400, "max_tokens: too large", Outcome.INVALID_REQUEST),
        (404, "model: claude-of-yesterday", Outcome.BAD_RESPONSE),
        (413, "Request exceeds the maximum size", Outcome.INVALID_REQUEST),
        (529, "Overloaded", Outcome.UNAVAILABLE),
    ],
)
async def test_anthropic_s_errors(status: int, text: str, outcome: Outcome) -> None:
    with asking("anthropic") as adapter:
        reply = Reply(status, {"type": "error", "error": {"type": "error", "message": text}})
        assert (await adapter.failed(reply)).outcome is outcome


async def test_anthropic_s_snippets_are_what_the_model_cited() -> None:
    cited = [{"url": "https://a.example/", "cited_text": text} for text in ("One.", "Two.", "One.")]
    found = [
        {"url": "https://a.example/", "title": "A", "page_age": "April 12, 2026"},
        {"url": "https://b.example/", "title": "B", "page_age": None},
    ]
    content = [
        {"type": "web_search_tool_result", "tool_use_id": "1", "content": found},
        {"type": "text", "text": "So.", "citations": cited},
        {"type": "text", "text": "It is.", "citations": None},
    ]
    usage = {"input_tokens": 1, "output_tokens": 1, "server_tool_use": {"web_search_requests": 1}}
    with asking("anthropic") as adapter:
        adapter.double.reply_next(Reply(200, {"content": content, "stop_reason": "end_turn", "usage": usage}))
        first, second = (await adapter.found()).hits
        assert (first.snippet, first.published_at) == ("One. … Two.", date(2026, 4, 12))
        assert (second.snippet, second.published_at) == ("", None)


# --- DuckDuckGo ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 202, 403])
async def test_a_challenge_is_known_by_its_marks(status: int) -> None:
    with asking("duckduckgo") as adapter:
        error = await adapter.failed(adapter.double.challenge(status))
        assert (error.outcome, error.counts) == (Outcome.BOT_CHALLENGE, True)


async def test_results_that_speak_of_challenges_are_none() -> None:
    with asking("duckduckgo") as adapter:
        text = "Unfortunately, bots use DuckDuckGo too: captcha, anomaly-modal, challenge-form"
        adapter.double.pages = [WebPage(text, "https://tea.example/", text)]
        assert [hit.title for hit in (await adapter.found()).hits] == [text]


async def test_without_results_it_has_to_be_said_that_there_are_none() -> None:
    with asking("duckduckgo") as adapter:
        assert (await adapter.failed(adapter.double.page(""))).outcome is Outcome.BAD_RESPONSE
        assert (await adapter.failed(Reply(200, b""))).outcome is Outcome.BAD_RESPONSE
        adapter.double.pages = []
        assert (await adapter.found()).hits == ()


@pytest.mark.parametrize("redirects", [True, False])
async def test_links_lead_to_what_was_found_and_not_to_duckduckgo(redirects: bool) -> None:
    url = "https://tea.example/%C3%BC?a=1&b=%26#c"
    with asking("duckduckgo") as adapter:
        adapter.double.redirects = redirects
        adapter.double.pages = [
            WebPage("Help", "https://duckduckgo.com/help", ""),
            WebPage("Tea", url, ""),
        ]
        assert [hit.url for hit in (await adapter.found()).hits] == [url]


async def test_duckduckgo_takes_499_characters() -> None:
    with asking("duckduckgo") as adapter:
        assert (await adapter.found(text="t" * 499)).hits
        assert (await adapter.failed(text="t" * 500)).outcome is Outcome.INVALID_REQUEST
        params, _ = await adapter.sent(text="t" * 490, deny=(DomainRule("a.example"),))
        assert params["q"] == "t" * 490


async def test_a_bang_does_not_lead_to_another_site() -> None:
    with asking("duckduckgo") as adapter:
        params, found = await adapter.sent(text="!g tea wow! !")
        assert params["q"] == '"!g" tea wow! "!"'
        assert found.hits
        params, found = await adapter.sent(text="!g " + "t" * 496)
        assert params["q"] == "g " + "t" * 496
        assert found.hits


async def test_duckduckgo_s_dates() -> None:
    # Not from when the module was loaded: that may be an hour ago.
    hour = datetime.now(UTC) - timedelta(minutes=10)
    midnight = datetime(2026, 4, 12, tzinfo=UTC)
    with asking("duckduckgo") as adapter:
        adapter.double.pages = [
            WebPage("New", "https://a.example/", "", hour),
            WebPage("Old", "https://b.example/", "", midnight),
        ]
        new, old = (await adapter.found()).hits
        assert new.published_time == hour.replace(microsecond=0)
        assert (old.published_at, old.published_time) == (midnight.date(), None)
        assert [hit.title for hit in (await adapter.found(recency=Recency.HOUR)).hits] == ["New"]


async def test_it_asks_like_a_browser() -> None:
    with asking("duckduckgo") as adapter:
        await adapter.found()
        assert adapter.double.requests[0].headers["user-agent"].startswith("Mozilla/5.0")
        adapter.double.fail(Failure.CHALLENGE)
        assert (await adapter.failed()).outcome is Outcome.BOT_CHALLENGE
