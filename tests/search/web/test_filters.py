"""What hits are narrowed to: times, domains, counts; and what is reported as ignored."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from search.web.base import DateRange, Hit, Location, Recency, SearchHits, WebQuery
from search.web.dates import iso, mail, words
from search.web.domains import DomainRule, matches
from search.web.filters import (
    BONUS,
    SPANS,
    apply_filters,
    can_match,
    deployment_list,
    promote_preferred,
    window,
)

NOW = datetime(2026, 5, 20, 0, 30, tzinfo=UTC)
TODAY, YESTERDAY = NOW.date(), NOW.date() - timedelta(days=1)
QUERY = WebQuery("tea", 20)


def hit(name: str, published: date | datetime | None = None, updated: date | None = None) -> Hit:
    time = published if isinstance(published, datetime) else None
    day = published.date() if isinstance(published, datetime) else published
    url = f"https://{name}.example/"
    return Hit(name, url, "", published_at=day, published_time=time, last_updated=updated)


def left(
    query: WebQuery, *hits: Hit, honoured: frozenset[str] = frozenset()
) -> tuple[list[str], tuple[str, ...]]:
    found = apply_filters(query, SearchHits(hits), honoured, NOW)
    return [each.title for each in found.hits], found.ignored_filters


# --- Times -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("recency", "published", "expected"),
    [
        (None, DateRange(), DateRange()),
        (Recency.HOUR, DateRange(), DateRange(after=YESTERDAY)),
        (Recency.DAY, DateRange(), DateRange(after=YESTERDAY)),
        (Recency.WEEK, DateRange(), DateRange(after=date(2026, 5, 13))),
        (Recency.MONTH, DateRange(), DateRange(after=date(2026, 4, 20))),
        (Recency.YEAR, DateRange(), DateRange(after=date(2025, 5, 20))),
        (None, DateRange(YESTERDAY, TODAY), DateRange(YESTERDAY, TODAY)),
        (Recency.WEEK, DateRange(YESTERDAY), DateRange(YESTERDAY)),
        (Recency.DAY, DateRange(date(2026, 1, 1), TODAY), DateRange(YESTERDAY, TODAY)),
        (Recency.YEAR, DateRange(before=YESTERDAY), DateRange(date(2025, 5, 20), YESTERDAY)),
    ],
)
def test_recency_and_a_range_count_both(
    recency: Recency | None, published: DateRange, expected: DateRange
) -> None:
    assert window(WebQuery("tea", 5, recency=recency, published=published), NOW) == expected


def test_what_excludes_itself_can_not_match() -> None:
    assert can_match(WebQuery("tea", 5, recency=Recency.DAY, published=DateRange(before=YESTERDAY)), NOW)
    before = DateRange(before=YESTERDAY - timedelta(days=1))
    assert not can_match(WebQuery("tea", 5, recency=Recency.DAY, published=before), NOW)
    a, b = DomainRule("a.example"), DomainRule("b.example")
    assert can_match(WebQuery("tea", 5, allow=((a, b), (b,))), NOW)
    assert not can_match(WebQuery("tea", 5, allow=((a,), (b,))), NOW)


def test_an_hour_is_told_by_the_minute_or_not_at_all() -> None:
    query = WebQuery("tea", 20, recency=Recency.HOUR)
    recent, early = hit("recent", NOW - timedelta(minutes=50)), hit("early", NOW - timedelta(minutes=70))
    assert left(query, recent, early) == (["recent"], ())
    for unsure in (hit("unsure", TODAY), hit("unsure", YESTERDAY), hit("unsure")):
        assert left(query, recent, early, unsure) == (["recent", "unsure"], ("recency",))
    assert left(query, recent, hit("old", YESTERDAY - timedelta(days=1))) == (["recent"], ())


def test_a_hit_without_a_date_stays_and_the_filter_is_ignored() -> None:
    query = WebQuery("tea", 20, recency=Recency.WEEK, published=DateRange(TODAY), updated=DateRange(TODAY))
    good, bad = hit("good", TODAY, TODAY), hit("bad", YESTERDAY, YESTERDAY)
    assert left(query, good, bad) == (["good"], ())
    assert left(query, good, hit("unsure")) == (["good", "unsure"], ("published", "recency", "updated"))
    assert left(query, good, hit("half", TODAY)) == (["good", "half"], ("updated",))
    assert left(query, bad) == ([], ()), "nothing is left that would not meet it"


def test_a_date_that_contradicts_a_filter_counts_whatever_the_provider_says() -> None:
    """An engine that says it has applied a filter of dates, and has not, was believed."""
    applied = frozenset({"recency", "published", "updated"})
    old, recent, unsure = (
        hit("old", date(1999, 1, 1), date(1999, 1, 1)),
        hit("recent", TODAY, TODAY),
        hit("?"),
    )
    for narrowing in (
        WebQuery("tea", 20, recency=Recency.WEEK),
        WebQuery("tea", 20, published=DateRange(after=YESTERDAY)),
        WebQuery("tea", 20, updated=DateRange(after=YESTERDAY)),
    ):
        assert left(narrowing, old, recent, unsure, honoured=applied) == (["recent", "?"], ())
    late = WebQuery("tea", 20, published=DateRange(before=YESTERDAY))
    assert left(late, old, recent, unsure, honoured=applied) == (["old", "?"], ())


def test_what_an_engine_means_by_a_month_or_a_year_is_no_contradiction() -> None:
    for recency, days in ((Recency.MONTH, 31), (Recency.YEAR, 366)):
        query = WebQuery("tea", 20, recency=recency)
        hits = [hit(f"h{n}", TODAY - timedelta(days=n)) for n in (days - 1, days, days + 1)]
        assert left(query, *hits, honoured=frozenset({"recency"}))[0] == [f"h{days - 1}", f"h{days}"]
        assert left(query, *hits)[0] == [f"h{days - 1}"]


def test_what_nobody_can_see_in_a_hit_is_ignored() -> None:
    query = WebQuery("tea", 20, country="DE", language="de", location=Location("DE"))
    assert left(query, hit("a")) == (["a"], ("country", "language", "location"))
    assert left(query, hit("a"), honoured=frozenset({"country"})) == (["a"], ("language", "location"))


days = st.dates(date(2026, 5, 1), date(2026, 5, 31))
hits = st.lists(st.builds(hit, st.sampled_from("abcdefgh"), st.none() | days, st.none() | days), max_size=8)
ends = st.none() | days


@given(hits, st.builds(DateRange, ends, ends), st.builds(DateRange, ends, ends), st.integers(1, 20))
def test_every_hit_meets_what_is_not_ignored(
    hits: list[Hit], published: DateRange, updated: DateRange, count: int
) -> None:
    found = apply_filters(
        WebQuery("tea", count, published=published, updated=updated), SearchHits(tuple(hits)), set(), NOW
    )
    assert len(found.hits) <= count
    assert len({each.url for each in found.hits}) == len(found.hits)
    for name, days, told in (
        ("published", published, [each.published_at for each in found.hits]),
        ("updated", updated, [each.last_updated for each in found.hits]),
    ):
        known = [day for day in told if day is not None]
        assert all((days.after or date.min) <= day <= (days.before or date.max) for day in known)
        assert bool(days) or name not in found.ignored_filters


# --- Domains ---------------------------------------------------------------------------------------------


def test_every_list_counts_and_denials_too() -> None:
    a, b, c = (DomainRule(f"{name}.example") for name in "abc")
    query = WebQuery("tea", 20, allow=((a, b), (b, c)), deny=(DomainRule("x.b.example"),))
    assert left(query, hit("a"), hit("b"), hit("c"), hit("x.b"), hit("y.b")) == (["b", "y.b"], ())


def test_the_same_page_counts_once_where_it_stands_first() -> None:
    assert left(QUERY, hit("a"), hit("b"), hit("a")) == (["a", "b"], ())


@given(st.permutations("abcdefgh"), st.sets(st.sampled_from("abcdefgh")))
def test_the_bonus_moves_hits_up_by_a_part_of_the_list(order: list[str], preferred: set[str]) -> None:
    rules = [DomainRule(f"{name}.example") for name in sorted(preferred)]
    hits = [hit(name) for name in order]
    after = promote_preferred(hits, rules)
    assert sorted(after, key=str) == sorted(hits, key=str)
    for one, other in pairwise(after):
        if matches(one.url, rules) == matches(other.url, rules):
            assert hits.index(one) < hits.index(other)
    for each in after:
        moved = hits.index(each) - after.index(each)
        assert moved <= BONUS * len(hits) if matches(each.url, rules) else moved <= 0


def test_the_deployment_s_lists(settings: Settings) -> None:
    settings.WHITELISTED_DOMAINS = ["example.org", ".gov"]
    assert deployment_list("WHITELISTED_DOMAINS") == (DomainRule("example.org"), DomainRule(".gov"))


# --- Dates -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "day", "has_time"),
    [
        ("2026-04-12T14:22:41", date(2026, 4, 12), True),
        ("2026-04-12T00:00:00", date(2026, 4, 12), False),
        ("2025-06-23T00:00:00.0000000", date(2025, 6, 23), False),
        ("2026-04-12T23:30:00-02:00", date(2026, 4, 13), True),
        ("2026-04-12", date(2026, 4, 12), False),
        ("2026-04-12 10:00:00", date(2026, 4, 12), True),
        ("0001-01-01T00:00:00+14:00", None, False),
        ("April 12", None, False),
        ("", None, False),
    ],
)
def test_iso_dates(text: str, day: date | None, has_time: bool) -> None:
    when = iso(text)
    assert (when.day, when.time is not None) == (day, has_time)


def test_mail_dates() -> None:
    assert mail("Tue, 14 Apr 2026 10:00:00 GMT").time == datetime(2026, 4, 14, 10, tzinfo=UTC)
    assert mail("soon").day is None


@pytest.mark.parametrize(
    ("text", "language", "day"),
    [
        ("Apr 12, 2026", None, date(2026, 4, 12)),
        ("April 12, 2026", "xx", date(2026, 4, 12)),
        ("12 avr. 2026", "fr", date(2026, 4, 12)),
        ("2026年4月12日", "ja", date(2026, 4, 12)),
        ("12. april 2026", "no", date(2026, 4, 12)),
        ("April 2026", None, None),
        ("12", None, None),
        ("tea", "fr", None),
        ("", None, None),
        ("99999999 years ago", None, None),
        ("1" * 5000, None, None),
    ],
)
def test_dates_in_words(text: str, language: str | None, day: date | None) -> None:
    assert words(text, language).day == day


def test_dates_in_words_that_count_from_today() -> None:
    for text, language in (("3 days ago", None), ("il y a 3 jours", "fr"), ("3 日前", "ja")):
        ago = datetime.now(UTC).date() - (words(text, language).day or date.min)
        assert ago.days in (3, 4), "midnight may pass meanwhile"


@given(st.text(max_size=45), st.sampled_from([None, "fr", "ja", "xx"]))
def test_any_text_is_a_date_or_none(text: str, language: str | None) -> None:
    assert isinstance(words(text, language).day, date | None)
    assert isinstance(iso(text).day, date | None)
    assert isinstance(mail(text).day, date | None)


def test_spans_are_those_that_are_documented() -> None:
    assert [span.total_seconds() / 3600 for span in SPANS.values()] == [1, 24, 7 * 24, 30 * 24, 365 * 24]
