"""The cache of searches: what is the same question, who shares it, and what happens when it fails."""

from __future__ import annotations

import asyncio
import base64
import pickle
import pickletools
import time
from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.core.cache import cache as shared
from django.core.cache.backends.base import BaseCache
from django.db import connection
from pytest_django import Settings

from core.threads import in_database
from search.models import Breaker
from search.web import cache
from search.web.base import DateRange, Hit, Location, Recency, SearchHits, WebQuery
from search.web.cache import Answer, is_kept, keep, key_of, look_up
from search.web.domains import DomainRule
from search.web.inputs import WebSearchInput
from tests.search.web.calling import kept_rows
from tests.testing.actors import Actor
from tests.testing.live import environment

HERE, ELSEWHERE = UUID(int=1), UUID(int=2)
A, B, C = DomainRule("a.example"), DomainRule("b.example", "/blog"), DomainRule(".c.example")
QUERY = WebQuery("tea export", 5)
ANSWER = Answer(
    "tavily",
    SearchHits(
        hits=(
            Hit(
                "Tea exports rise",
                "https://news.example/tea",
                "Exports grew „fast“ …",
                site_name="News Example",
                published_at=date(2026, 4, 12),
                published_time=datetime(2026, 4, 12, 14, 22, tzinfo=UTC),
                last_updated=date(2026, 4, 20),
                engine="google",
                score=0.83,
            ),
            Hit("Tea", "https://tea.example/", ""),
        ),
        ignored_filters=("updated",),
        calls=2,
        extra_cost=Decimal("0.0123"),
    ),
)


# --- The key -----------------------------------------------------------------------------------------------


CHANGES: list[dict[str, Any]] = [
    {"text": "tea exports"},
    {"text": "Tea export"},
    {"count": 6},
    {"recency": Recency.WEEK},
    {"published": DateRange(after=date(2026, 1, 1))},
    {"published": DateRange(before=date(2026, 1, 1))},
    {"updated": DateRange(after=date(2026, 1, 1))},
    {"allow": ((A,),)},
    {"allow": ((B,),)},
    {"deny": (A,)},
    {"prefer": (A,)},
    {"country": "IN"},
    {"language": "en"},
    {"location": Location(country="IN")},
    {"location": Location(country="IN", latitude=28.6, longitude=77.2)},
    {"max_tokens": 1},
    {"max_tokens_per_page": 1},
]


def test_another_question_has_another_key() -> None:
    keys = {key_of("brave", replace(QUERY, **change), HERE) for change in CHANGES}
    assert len(keys | {key_of("brave", QUERY, HERE)}) == len(CHANGES) + 1
    # A field that is left out would give one question the answer to another.
    assert {name for change in CHANGES for name in change} == {field.name for field in fields(WebQuery)}


def test_another_first_candidate_has_another_key() -> None:
    assert key_of("tavily", QUERY, HERE) != key_of("brave", QUERY, HERE)


@pytest.mark.parametrize("name", ["allow", "deny", "prefer"])
def test_neither_order_nor_repetition_of_domains_matters(name: str) -> None:
    """The order within a list that allows made another key, so that the same search was paid for again."""
    written: list[list[tuple[DomainRule, ...]]] = [
        [(A, B), (B, C)],
        [(C, B), (B, A)],
        [(B, A), (B, C, B), (A, B)],
    ]
    lists = written if name == "allow" else [[A, B, C], [C, B, A], [B, A, C, A]]
    keys = {key_of("brave", replace(QUERY, **{name: tuple(rules)}), HERE) for rules in lists}
    assert len(keys) == 1


@pytest.mark.parametrize("name", ["whitelisted_domains", "search_domain_filter"])
def test_one_domain_written_in_several_ways_is_one(name: str) -> None:
    ways = [
        ["bücher.example", "https://A.example/Blog/"],
        ["http://a.example/Blog", "XN--BCHER-KVA.example."],
        ["a.example:443/Blog/", "BÜCHER.example", "bücher.example"],
    ]
    queries = [WebSearchInput.model_validate({"query": "tea", name: way}).web_query() for way in ways]
    assert len({key_of("brave", query, HERE) for query in queries}) == 1


def test_lists_that_both_apply_are_not_one_list() -> None:
    both, either = replace(QUERY, allow=((A,), (B,))), replace(QUERY, allow=((A, B),))
    assert key_of("brave", both, HERE) != key_of("brave", either, HERE)


def test_a_key_is_a_digest_that_stays(settings: Settings) -> None:
    """Another process, or the same tomorrow, must find it."""
    settings.WEB_CACHE_SHARED = True
    key = key_of("brave", QUERY, HERE)
    assert (len(key), key) == (64, key_of("brave", replace(QUERY), ELSEWHERE))
    assert set(key) <= set("0123456789abcdef")


def test_the_parts_of_a_key_can_not_run_into_each_other() -> None:
    assert key_of("brave", replace(QUERY, text='x", 5'), HERE) != key_of('brave", "x', replace(QUERY), HERE)


def test_tenants_share_nothing_unless_the_operator_says_so(settings: Settings) -> None:
    keys = {key_of("brave", QUERY, *whose) for whose in [(HERE,), (ELSEWHERE,), (HERE, "x"), (HERE, "y")]}
    assert len(keys) == 4
    settings.WEB_CACHE_SHARED = True
    assert key_of("brave", QUERY, HERE, "x") == key_of("brave", QUERY, ELSEWHERE)


def test_a_schema_of_another_version_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    key = key_of("brave", QUERY, HERE)
    monkeypatch.setattr(cache, "SCHEMA_VERSION", cache.SCHEMA_VERSION + 1)
    assert key_of("brave", QUERY, HERE) != key


# --- Keeping -----------------------------------------------------------------------------------------------


def let_pass(secs: float) -> None:
    """Let all that is kept end so many seconds earlier."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE locus_cache SET expires = expires - make_interval(secs => %s)", [secs])


@pytest.mark.django_db(transaction=True)
class TestKeeping:
    @pytest.mark.usefixtures("in_table")
    async def test_what_is_kept_comes_back_the_same_until_its_time_is_over(self) -> None:
        key = key_of("brave", QUERY, HERE)
        assert await look_up(key) is None
        await keep(key, ANSWER, 600)
        await in_database(let_pass, 590)
        assert await look_up(key) == ANSWER
        await in_database(let_pass, 11)
        assert await look_up(key) is None
        assert await in_database(kept_rows) == []

    @pytest.mark.usefixtures("in_table")
    async def test_a_newer_answer_replaces_the_older(self) -> None:
        key = key_of("brave", QUERY, HERE)
        await keep(key, ANSWER, 600)
        await in_database(let_pass, 300)
        newer = Answer("brave", SearchHits(()))
        await keep(key, newer, 600)
        await in_database(let_pass, 500)
        assert await look_up(key) == newer

    @pytest.mark.usefixtures("in_table")
    async def test_no_time_keeps_nothing(self) -> None:
        await keep("0", ANSWER, 0)
        assert await in_database(kept_rows) == []

    async def test_what_was_found_after_falling_through_is_found_again(self) -> None:
        """The key is that of the first candidate; who answered stands in the value."""
        key = key_of("brave", QUERY, HERE)
        await keep(key, ANSWER, 600)
        assert await look_up(key_of("brave", QUERY, HERE)) == ANSWER

    async def test_who_names_a_provider_gets_no_others_answer(self) -> None:
        key = key_of("brave", QUERY, HERE)
        await keep(key, ANSWER, 600)
        assert await look_up(key, only="brave") is None
        assert await look_up(key, only="tavily") == ANSWER

    @pytest.mark.usefixtures("in_table")
    async def test_a_row_tells_neither_who_asked_nor_what(self) -> None:
        await keep(key_of("brave", QUERY, HERE, "customer 7"), ANSWER, 600)
        [(key, value, _)] = await in_database(kept_rows)
        kept = f"{key} {pickle.loads(base64.b64decode(value))}"
        assert "Tea exports rise" in kept
        assert not any(secret in kept for secret in ("tea export", str(HERE), "customer 7"))

    @pytest.mark.usefixtures("in_table")
    async def test_what_is_kept_is_text(self) -> None:
        """Of a pickle no class is made, whatever stands in it."""
        await keep("0", ANSWER, 600)
        [(_, value, _)] = await in_database(kept_rows)
        operations = {operation.name for operation, _, _ in pickletools.genops(base64.b64decode(value))}
        assert operations <= {"PROTO", "FRAME", "BINUNICODE", "SHORT_BINUNICODE", "MEMOIZE", "STOP"}

    async def test_processes_share_it(self) -> None:
        key = key_of("brave", QUERY, HERE)
        await keep(key, ANSWER, 600)
        with Actor() as other:
            assert other.tell("look_up", key) == "tavily"
            assert other.tell("look_up", key_of("brave", QUERY, ELSEWHERE)) is None
            await in_database(shared.touch, key, 0)
            assert other.tell("look_up", key) is None


# --- Faults ------------------------------------------------------------------------------------------------


@pytest.fixture
def no_table() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE locus_cache RENAME TO elsewhere")
        yield
        cursor.execute("ALTER TABLE elsewhere RENAME TO locus_cache")


@pytest.fixture
def locked() -> Iterator[None]:
    """A table that nobody can read for now."""
    with psycopg.connect(environment()["DATABASE_URL"]) as other:
        other.execute("LOCK TABLE locus_cache IN ACCESS EXCLUSIVE MODE")
        yield


class BrokenCache(BaseCache):
    """A backend whose server is not there."""

    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)

    def get(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no server")

    set = get


class SlowCache(BrokenCache):
    """A backend whose server does not answer for a second."""

    def get(self, *_: Any, **__: Any) -> Any:
        time.sleep(1)

    set = get


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("in_table")
class TestFaults:
    @pytest.mark.usefixtures("no_table")
    async def test_a_table_that_is_gone_is_an_empty_cache(self, caplog: pytest.LogCaptureFixture) -> None:
        await keep("0", ANSWER, 600)
        assert await look_up("0") is None
        assert not await in_database(is_kept, "0")
        assert [record.levelname for record in caplog.records] == ["WARNING"] * 3

    @pytest.mark.usefixtures("locked")
    async def test_a_database_that_hangs_is_not_waited_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cache, "LONGEST_WAIT_SECS", 0.2)
        await keep("0", ANSWER, 600)
        # More than there are threads: none may be left behind.
        assert set(await asyncio.gather(*(look_up("0") for _ in range(12)))) == {None}
        assert await in_database(Breaker.objects.count) == 0

    @pytest.mark.parametrize("backend", [BrokenCache, SlowCache])
    async def test_another_backend_may_fail_and_hang_too(
        self, backend: type[BaseCache], monkeypatch: pytest.MonkeyPatch, settings: Settings
    ) -> None:
        settings.CACHES = {"default": {"BACKEND": f"{__name__}.{backend.__name__}"}}
        monkeypatch.setattr(cache, "LONGEST_WAIT_SECS", 0.1)
        begun = time.monotonic()
        await keep("0", ANSWER, 600)
        assert await look_up("0") is None
        assert time.monotonic() - begun < 0.9

    async def test_another_backend_keeps_too(self, settings: Settings) -> None:
        settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
        await keep("0", ANSWER, 600)
        assert await look_up("0") == ANSWER
        assert await in_database(kept_rows) == []

    @pytest.mark.parametrize(
        "value",
        [
            *({}, [], "x", 7, b"\xff", ANSWER),
            *("{}", "[]", "7", '{"provider": "brave"}', '{"provider": "brave", "found": {"hits": [{}]}}'),
        ],
    )
    async def test_a_value_that_is_no_answer_is_none(self, value: Any) -> None:
        await in_database(shared.set, "0", value, 60)
        assert await look_up("0") is None
        assert not await in_database(is_kept, "0")

    async def test_what_can_not_be_stored_is_not(self) -> None:
        await keep("0", Answer("brave", SearchHits((Hit("\ud800", "https://a.example/", ""),))), 600)
        assert await look_up("0") is None
