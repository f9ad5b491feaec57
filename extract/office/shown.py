"""Formats cell values as a sheet shows them, well enough to find and to recognise them."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

QUOTED = re.compile(r'"([^"]*+)"|\\(.)|\[\$([^\[\]-]*+)[^\[\]]*+\]|\[[^\[\]]*+\]|[_*].')
DIGITS = re.compile(r"[#0?][#0?,]*(?:\.([#0?]+))?")
LONGEST_FORMAT = 255
"""Excel's limit for number formats, in characters."""
CURRENCY = re.compile(r'"([^"]{1,12})"|\[\$([^\[\]-]++)[^\[\]]*+\]|([€£¥])')
# More digits than people write, and fewer than floating point adds.
SIGNIFICANT = 12


def displayed_value(value: object, number_format: str = "General") -> str:
    """Return a cell's value as text: numbers in their format, dates as ISO 8601, booleans in capitals."""
    match value:
        case bool():
            return str(value).upper()
        case int() | float():
            return _number(value, number_format)
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime():
            return value.isoformat(" ", "seconds")
        case date() | time() | timedelta():
            return str(value)
    return str(value)


def _number(value: float, number_format: str) -> str:
    """Return a number with the format's decimals, thousands, percent sign and currency."""
    positive, *others = number_format[:LONGEST_FORMAT].split(";")
    chosen = others[0] if value < 0 and others else positive
    plain = QUOTED.sub("", chosen)
    digits = DIGITS.search(plain)
    if number_format == "General" or not digits or "E" in plain or "/" in plain:
        return f"{value:.{SIGNIFICANT}g}" if abs(value) < 10**SIGNIFICANT else f"{value:.0f}"
    percent = "%" in plain
    decimals = len(digits[1] or "")
    size = abs(value) * 100 if percent else abs(value)
    text = f"{size:,.{decimals}f}" if "," in digits[0].rstrip(",") else f"{size:.{decimals}f}"
    if re.search(r"[#?]$", digits[1] or ""):
        text = text.rstrip("0").rstrip(".")
    sign = "-" if value < 0 and text.strip("0.,") else ""
    before, after = _literals(chosen[: chosen.find(digits[0][0])]), _currency_after(chosen)
    return f"{before}{sign}{text}{'%' if percent else ''}{after}".strip()


def _literals(part: str) -> str:
    """Return the currency before the digits of a format."""
    found = "".join("".join(group or "" for group in match) for match in QUOTED.findall(part))
    symbols = "".join(char for char in QUOTED.sub("", part) if char in "$€£¥")
    return (found + symbols).replace("-", "").replace("(", "")


def _currency_after(chosen: str) -> str:
    """Return the currency after the digits of a format, with a space before it."""
    last_digit = max(map(chosen.rfind, "0#?"))
    currency = CURRENCY.search(chosen, last_digit + 1)
    return f" {(currency[1] or currency[2] or currency[3]).strip()}" if currency and last_digit >= 0 else ""
