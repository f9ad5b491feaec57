"""Tables in Markdown, as chunks hold them: the row that names the columns, and the words without markup."""

from __future__ import annotations

import re

from core.text.raised import without_raised

RULE = re.compile(r"^\|(?: --- \|)+\n?", re.MULTILINE)
MOST_ROW_WORDS = 60
"""A longer row, in words, is text that was mistaken for a row."""
MOST_NAME_WORDS = 30
"""A longer name of a column is text that was mistaken for one."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_VERSION = re.compile(r"(?!\d{1,3}(?:\.\d{3}){1,5}+\Z)\d{1,4}(?:\.\d{1,4}){2,4}")
"""“8.3.4”, unlike “1.234.567”."""
_AMOUNT = re.compile(r"(?<![\W_])[\W_]*+\d[\d,.]*+[\W_]*+")


def table_start(text: str) -> int:
    """Return where a chunk's table begins, after its headings and caption; 0 if there is nothing above it."""
    if text.startswith("|"):
        return 0
    at = text.find("\n\n|")
    return 0 if at < 0 else at + 2


def table_end(text: str) -> int:
    """Return where a chunk's table ends, before its footnotes."""
    end = text.find("\n\n", table_start(text))
    return len(text) if end < 0 else end


def is_table(text: str) -> bool:
    """Return whether the text of a chunk is a table, perhaps below its caption and above its footnotes."""
    return text.startswith("|", table_start(text)) and text.endswith("|", 0, table_end(text))


def header_of(table: str) -> str:
    """Return the first row if it names the columns, else "": it may be empty, or a row like all others."""
    first, _, rest = table[table_start(table) :].partition("\n")
    _, *names = first.strip("|").split("|")
    is_long = max(len(name.split()) for name in first.split("|")) > MOST_NAME_WORDS
    if not RULE.match(rest) or is_long or not cells_of(first) or any(map(is_amount, names)):
        return ""
    return first


def is_amount(name: str) -> bool:
    """Return whether a cell holds an amount; “2024 £” or a version may name a column: it is none."""
    plain = without_raised(name).strip()
    is_year = _YEAR.fullmatch(plain.rstrip(" $€£¥%"))
    return bool(_AMOUNT.fullmatch(plain)) and not (is_year or _VERSION.fullmatch(plain))


def cells_of(row: str) -> list[str]:
    """Return the cells of a row that are not empty."""
    return [cell.strip() for cell in row.split("|") if cell.strip()]


def without_marks(table: str) -> str:
    """Return the cells of each row with two spaces between them."""
    return "\n".join("  ".join(cells_of(row)) for row in RULE.sub("", table).splitlines())
