"""Numbers as the reader of a page writes them."""

from __future__ import annotations

from decimal import Decimal

from django.utils.formats import number_format


def grouped(number: int | Decimal, digits: int = 0) -> str:
    """Return a number with a mark between thousands, and so many digits behind the decimal mark."""
    # It cuts digits off, and rounds nothing.
    return number_format(round(Decimal(number), digits), digits, use_l10n=True, force_grouping=True)
