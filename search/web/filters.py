"""What a search is narrowed to beyond its words: times as ranges of days, and a look at what was found.

Providers apply what they can; the rest is applied here, to the hits. A filter that neither can honour,
because a hit does not tell its date or its language, is reported as ignored, never dropped silently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from search.web.base import DateRange, Hit, Recency, SearchHits, WebQuery
from search.web.domains import DomainRule, in_all, matches

SPANS = {
    Recency.HOUR: timedelta(hours=1),
    Recency.DAY: timedelta(days=1),
    Recency.WEEK: timedelta(days=7),
    Recency.MONTH: timedelta(days=30),
    Recency.YEAR: timedelta(days=365),
}
# What an engine may mean by a month or a year is no contradiction.
_LONGEST_SPANS = SPANS | {Recency.MONTH: timedelta(days=31), Recency.YEAR: timedelta(days=366)}
BONUS = 0.25
"""How much a hit of a preferred domain gains over others, where 1 lies between the best hit and none."""
# None: the hit does not say enough.
Verdict = Callable[[Hit], bool | None]


def window(query: WebQuery, now: datetime) -> DateRange:
    """Return the days in which a hit may have been published: the recency and the range, both."""
    since = (now - SPANS[query.recency]).date() if query.recency else None
    starts = [day for day in (since, query.published.after) if day]
    return DateRange(max(starts, default=None), query.published.before)


def can_match(query: WebQuery, now: datetime) -> bool:
    """Tell whether any hit could meet the query: its lists and its times may exclude each other."""
    days = window(query, now)
    if days.after and days.before and days.after > days.before:
        return False
    return not query.allow or bool(in_all(query.allow))


def apply_filters(query: WebQuery, found: SearchHits, honoured: Set[str], now: datetime) -> SearchHits:
    """Return the (clean) hits that match the query, at most as many as it wants, best first.

    `honoured` names the fields of the query that the provider has applied. Domains and dates are always
    checked, because providers interpret both differently. A hit without a date stays, and the filter counts
    as ignored unless the provider has applied it.
    """
    hits: Sequence[Hit] = [hit for hit in _without_repetitions(found.hits) if in_domains(query, hit.url)]
    ignored = [name for name in ("country", "language", "location") if getattr(query, name)]
    for name, verdict in _verdicts(query, now, honoured).items():
        hits = [hit for hit in hits if verdict(hit) is not False]
        ignored += [name] if any(verdict(hit) is None for hit in hits) else []
    return replace(
        found,
        hits=tuple(promote_preferred(hits, query.prefer)[: query.count]),
        ignored_filters=tuple(sorted(set(ignored) - honoured)),
    )


def in_domains(query: WebQuery, url: str) -> bool:
    """Return whether a URL is in every list that allows and in none that denies."""
    return all(matches(url, rules) for rules in query.allow) and not matches(url, query.deny)


def allowed_here(url: str) -> bool:
    """Return whether the deployment allows a page to be read, for any request."""
    return not matches(url, deployment_list("BLACKLISTED_DOMAINS"))


def promote_preferred(hits: Sequence[Hit], prefer: Sequence[DomainRule]) -> list[Hit]:
    """Return the hits with those of preferred domains further up, by `BONUS` of the list's length."""

    def standing(rank: int, hit: Hit) -> float:
        return rank / len(hits) - (BONUS if matches(hit.url, prefer) else 0)

    ranked = sorted(enumerate(hits), key=lambda item: standing(*item))
    return [hit for _, hit in ranked]


def deployment_list(name: str) -> tuple[DomainRule, ...]:
    """Return the rules of `WHITELISTED_DOMAINS` or `BLACKLISTED_DOMAINS`.

    Raise `ImproperlyConfigured` naming the setting if an entry is none.
    """
    entry = ""
    try:
        return tuple(DomainRule.parse(entry := each) for each in getattr(settings, name))
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: “{entry}” {error}.") from None


def _without_repetitions(hits: Iterable[Hit]) -> Iterable[Hit]:
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.url, hit)
    return first.values()


def _verdicts(query: WebQuery, now: datetime, honoured: Set[str]) -> dict[str, Verdict]:
    """Return for each filter of times that is asked for how to tell whether a hit meets it."""
    verdicts: dict[str, Verdict] = {}
    if query.recency:
        since = now - (_LONGEST_SPANS if "recency" in honoured else SPANS)[query.recency]
        verdicts["recency"] = lambda hit: _is_since(hit, since, by_hours=query.recency is Recency.HOUR)
    if query.published:
        verdicts["published"] = lambda hit: _is_within(hit.published_at, query.published)
    if query.updated:
        verdicts["updated"] = lambda hit: _is_within(hit.last_updated, query.updated)
    return verdicts


def _is_since(hit: Hit, since: datetime, *, by_hours: bool) -> bool | None:
    if hit.published_time:
        return hit.published_time >= since
    if hit.published_at is None:
        return None
    day = since.astimezone(UTC).date()
    if by_hours and hit.published_at >= day:
        return None
    return hit.published_at >= day


def _is_within(day: date | None, days: DateRange) -> bool | None:
    if day is None:
        return None
    return (days.after is None or day >= days.after) and (days.before is None or day <= days.before)
