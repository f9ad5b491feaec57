"""US dollars as people write them."""

from __future__ import annotations

from decimal import Decimal

SMALLEST = Decimal("0.0001")


def dollars(amount: Decimal) -> str:
    """Return “$12.50”, of small amounts as much as there is to tell: “$0.005”, “<$0.0001”."""
    if 0 < amount < SMALLEST:
        return f"<${SMALLEST}"
    if abs(amount) >= 1 or not amount:
        return f"${amount:,.2f}"
    whole, _, cents = f"{amount:.4f}".partition(".")
    return f"${whole}.{cents.rstrip('0').ljust(2, '0')}"
