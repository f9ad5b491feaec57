"""Formats cell values as a sheet shows them, well enough to find and to recognise them."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

from extract.places import fold_spaces

QUOTED = re.compile(r'"([^"]*+)"|\\(.)|\[\$([^\[\]-]*+)[^\[\]]*+\]|\[[^\[\]]*+\]|[_*].')
DIGITS = re.compile(r"[#0?][#0?,]*(?:\.([#0?]+))?")
LONGEST_FORMAT = 255
"""Excel's limit for number formats, in characters."""
CURRENCY = re.compile(r'"([^"]{1,12})"|\[\$([^\[\]-]++)[^\[\]]*+\]|([€£¥])')
DATE_FIELD = re.compile(r"[dD]{1,4}|[mM]{1,5}|[yY]{1,4}|[hHsS]")
# Quoted text, an escaped character, or a field or character; a locale in brackets stands for nothing.
DATE_PART = re.compile(r'"([^"]*+)"|\\(.)|(?:\[[^\[\]]*+\])?([dD]{1,4}|[mM]{1,5}|[yY]{1,4}|.)')
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September", "October"),
    *("November", "December"),
)
# More digits than people write, and fewer than floating point adds.
SIGNIFICANT = 12


def displayed_value(value: object, number_format: str = "General") -> str:
    """Return a cell's value as text: numbers in their format, booleans in capitals.

    Dates are in ISO 8601, unless their format names the month or leaves out the day or the year.
    """
    if isinstance(value, date) and (shown := _partial_date(value, number_format)):
        return shown
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


def _partial_date(value: date, number_format: str) -> str:
    """Return a date in a format that names its month, or lacks its day or year; "" for all other formats."""
    chosen = number_format[:LONGEST_FORMAT].split(";")[0]
    fields = [field.lower() for field in DATE_FIELD.findall(QUOTED.sub("", chosen))]
    units = {field[0] for field in fields}
    if (
        not units
        or not units <= {"d", "m", "y"}
        or (units == {"d", "m", "y"} and "mmm" not in "".join(fields))
    ):
        return ""
    parts = DATE_PART.findall(chosen)
    return fold_spaces("".join(_date_part(value, quoted, escaped, field) for quoted, escaped, field in parts))


def _date_part(value: date, quoted: str, escaped: str, field: str) -> str:
    match field.lower():
        case "d" | "dd" as day:
            return str(value.day).zfill(len(day))
        case "ddd" | "dddd" as day:
            return DAYS[value.weekday()][: 3 if len(day) == 3 else None]
        case "m" | "mm" as month:
            return str(value.month).zfill(len(month))
        case "mmm" | "mmmm" as month:
            return MONTHS[value.month - 1][: 3 if len(month) == 3 else None]
        case "mmmmm":
            return MONTHS[value.month - 1][0]
        case "y" | "yy":
            return f"{value.year % 100:02}"
        case "yyy" | "yyyy":
            return str(value.year)
    return quoted or escaped or (field if field in " -/.," else "")


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
