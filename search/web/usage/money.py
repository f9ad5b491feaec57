"""US dollars as people write them."""

from __future__ import annotations

from decimal import Decimal

from core.languages.numbers import us_dollars

SMALLEST = Decimal("0.0001")


def dollars(amount: Decimal) -> str:
    """Return “$12.50”, of small amounts as much as there is to tell: “$0.005”, “<$0.0001”."""
    if 0 < amount < SMALLEST:
        return f"<{us_dollars(SMALLEST, 4)}"
    if abs(amount) >= 1 or not amount:
        return us_dollars(amount)
    digits = len(f"{amount:.4f}".partition(".")[2].rstrip("0"))
    return us_dollars(amount, max(digits, 2))
