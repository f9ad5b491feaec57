"""Numbers as the reader of a page writes them, the same as in its scripts (`frontend/src/format.js`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal

from babel.core import Locale, UnknownLocaleError
from babel.numbers import format_decimal, format_percent
from django.utils.translation import get_language, gettext, ngettext

from core.languages import SOURCE_LANGUAGE

FORMATS: ContextVar[str] = ContextVar("formats", default="")
"""A language tag such as `de-CH`, where the reader's numbers are not those of the page's language."""

SMALLEST_PRICE = Decimal("0.0001")


@contextmanager
def number_formats(tag: str) -> Iterator[None]:
    """Write numbers as a language tag says; an empty one leaves it to the language of the page."""
    token = FORMATS.set(tag)
    try:
        yield
    finally:
        FORMATS.reset(token)


def grouped(number: int | Decimal, digits: int = 0) -> str:
    """Return a number with a mark between thousands, and so many digits behind the decimal mark."""
    rounded = round(Decimal(number), digits)
    return str(format_decimal(rounded, f"#,##0.{'0' * digits}".rstrip("."), locale=_locale()))


def us_dollars(amount: Decimal, digits: int = 2) -> str:
    """Return US dollars with so many digits behind the decimal mark: $12.50, 12,50 $."""
    locale = _locale()
    pattern = locale.currency_formats["standard"].pattern
    # No other currency is meant anywhere: its sign is enough.
    pattern = pattern.replace("0.00", f"0.{'0' * digits}").replace("¤", "'$'")
    return str(format_decimal(round(amount, digits), pattern, locale=locale))


def price(amount: Decimal) -> str:
    """Return US dollars as people write them, of small amounts as much as there is to tell.

    “$12.50”, “$0.005”, “<$0.0001”.
    """
    if 0 < amount < SMALLEST_PRICE:
        return f"<{us_dollars(SMALLEST_PRICE, 4)}"
    if abs(amount) >= 1 or not amount:
        return us_dollars(amount)
    digits = len(f"{amount:.4f}".partition(".")[2].rstrip("0"))
    return us_dollars(amount, max(digits, 2))


def percentage(share: Decimal) -> str:
    """Return a share of 1 with a digit behind the decimal mark: 72.4%, 72,4 %."""
    locale = _locale()
    pattern = locale.percent_formats[None].pattern.replace("#,##0", "#,##0.0")
    return str(format_percent(share, pattern, locale=locale))


def size_in_words(amount: int) -> str:
    """Return an amount of bytes: 999 bytes, 1.5 MB, 15 MB."""
    if amount < 1000:
        return ngettext("%(count)s byte", "%(count)s bytes", amount) % {"count": grouped(amount)}
    units = (gettext("%(size)s kB"), gettext("%(size)s MB"), gettext("%(size)s GB"), gettext("%(size)s TB"))
    power = min((len(str(amount)) - 1) // 3, len(units))
    value = Decimal(amount) / 1000**power
    pattern = "#,##0.#" if value < 10 else "#,##0"
    return units[power - 1] % {"size": format_decimal(value, pattern, locale=_locale())}


def has_formats(tag: str) -> bool:
    """Return whether it is known how numbers are written by a language tag."""
    try:
        Locale.parse(tag, sep="-")
    except (UnknownLocaleError, ValueError):
        return False
    return True


def _locale() -> Locale:
    return Locale.parse(FORMATS.get() or get_language() or SOURCE_LANGUAGE, sep="-")
