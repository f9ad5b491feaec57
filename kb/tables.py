"""The text of a table without the marks of Markdown: what is read aloud, counted and embedded."""

from __future__ import annotations

import re

RULE = re.compile(r"^\|(?: --- \|)+\n?", re.MULTILINE)


def cells_of(row: str) -> list[str]:
    """Return the cells of a row that are not empty."""
    return [cell.strip() for cell in row.split("|") if cell.strip()]


def without_marks(table: str) -> str:
    """Return the cells of each row with two spaces between them."""
    return "\n".join("  ".join(cells_of(row)) for row in RULE.sub("", table).splitlines())
