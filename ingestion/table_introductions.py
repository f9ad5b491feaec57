"""The words before a table that belong to it: headings, and the sentence that says what its figures are.

“Payments due under operating leases are as follows:”
“(in millions)”
| 2024 | 115 |
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from extract.base import Element, Kind

MOST_CHARS = 400
"""A longer paragraph says something of its own."""
MOST_UNIT_CHARS = 60
_ANNOUNCES = re.compile(
    r"[:：]\s*\Z"
    r"|\b(?:following table|table below|as follows|folgende\w* tabelle|nachstehend\w* tabelle"
    r"|tableau (?:suivant|ci-dessous)|siguiente tabla|tabla siguiente)\b",
    re.IGNORECASE,
)
_UNIT = re.compile(r"\A\(.*\bin\b.*\)\Z|\A\([^()]{1,40}\)\Z", re.IGNORECASE)


def parted_before_table(elements: Sequence[Element]) -> tuple[list[Element], list[Element]]:
    """Return what stands before a table as text of its own, and what goes with the table.

    Headings alone go with it, whatever they are.
    """
    at = len(elements)
    while at and _is_unit(elements[at - 1]):
        at -= 1
    if at and _introduces(elements[at - 1]):
        at -= 1
    elif at:
        at = len(elements)
    if all(element.kind is Kind.HEADING for element in elements[:at]):
        at = 0
    return list(elements[:at]), list(elements[at:])


def _introduces(element: Element) -> bool:
    """Tell whether a paragraph announces what follows."""
    text = element.text
    is_short = element.kind is Kind.PARAGRAPH and len(text) <= MOST_CHARS
    return is_short and _ANNOUNCES.search(text) is not None


def _is_unit(element: Element) -> bool:
    return len(element.text) <= MOST_UNIT_CHARS and _UNIT.match(element.text.strip()) is not None
