"""When a page was published, from what providers write: ISO dates, mail dates, words in any language."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from email.utils import parsedate_to_datetime

import dateparser

# Dates are short; what is longer is something else, or meant to keep a parser busy.
_LONGEST = 40
_WORDS = {
    "TIMEZONE": "UTC",
    "RETURN_AS_TIMEZONE_AWARE": True,
    "PREFER_DATES_FROM": "past",
    "REQUIRE_PARTS": ["day", "month", "year"],
}
_NAMES = {"no": "nb"}


@dataclass(frozen=True, slots=True)
class When:
    """A day in UTC, and the moment if more than the day is known."""

    day: date | None = None
    time: datetime | None = None


NEVER = When()


def iso(text: str) -> When:
    """Read ISO 8601; without a zone it is UTC. Midnight is how engines write a day."""
    try:
        return _when(datetime.fromisoformat(text))
    except ValueError:
        return NEVER


def mail(text: str) -> When:
    """Read a date as RFC 1123 writes it: `Tue, 14 Apr 2026 10:00:00 GMT`."""
    try:
        return _when(parsedate_to_datetime(text))
    except ValueError:
        return NEVER


def words(text: str, language: str | None = None) -> When:
    """Read a day in words: `Apr 12, 2026`, `3 days ago`, `12 avr. 2026`; English besides `language`."""
    if not text or len(text) > _LONGEST:
        return NEVER
    for known in dict.fromkeys([language or "en", "en"]):
        try:
            found = dateparser.parse(text, languages=[_NAMES.get(known, known)], settings=_WORDS)
            if found:
                return When(found.astimezone(UTC).date())
        except (ValueError, OverflowError):
            # Not a language that it knows, or not a year that anybody does.
            continue
    return NEVER


def _when(moment: datetime) -> When:
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:
        return NEVER
    return When(moment.date(), None if moment.time() == time() else moment)
