"""Tables that go on at the top of the next page: the rows there get the head of the page before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.locations import LocatedText
from extract.base import Element, Kind

NOT_BETWEEN = frozenset({Kind.PAGE_HEADER, Kind.PAGE_FOOTER, Kind.HIDDEN})
# At most so many titles (“Consolidated balance sheet (continued)”), each so long, stand between the parts.
TITLES_BETWEEN, TITLE_CHARS = 3, 80
ROWS_COMPARED = 20
CELL = re.compile(r"\|([^|\n]*)(?=\|)")


def join_continued_tables(elements: Sequence[Element]) -> list[Element]:
    """Return the elements with each table without a head joined to the one of the page before, if it fits."""
    joined: list[Element] = []
    table: int | None = None
    for element in elements:
        if element.kind is Kind.TABLE:
            if table is not None and _continues(element, joined[table], joined[table + 1 :]):
                joined[table] = _join(joined[table], element)
            else:
                table = len(joined)
                joined.append(element)
        else:
            joined.append(element)
    return joined


def _continues(element: Element, above: Element, between: Sequence[Element]) -> bool:
    titles = [each.text for each in between if each.kind not in NOT_BETWEEN]
    page, next_page = _last_page(above), element.located.page_number()
    return (
        page is not None
        and next_page == page + 1
        and not _has_head(element)
        and _has_head(above)
        and len(titles) <= TITLES_BETWEEN
        and all(len(title) <= TITLE_CHARS for title in titles)
        and _are_alike(list(_columns(above)), list(_columns(element)))
    )


def _last_page(table: Element) -> int | None:
    return max((box.page.number for box in table.located.boxes(*table.rows[-1])), default=None)


def _has_head(table: Element) -> bool:
    """Whether a column after the first has a name."""
    start, end = table.rows[0]
    head = table.text[start:end].partition("\n")[0]
    return any(cell.strip() for cell in CELL.findall(head)[1:])


def _columns(table: Element) -> Iterator[tuple[float, float] | None]:
    """Yield left and right edge of each column, None for one without words."""
    edges: list[tuple[float, float] | None] = []
    for start, end in table.rows[1 : ROWS_COMPARED + 1]:
        for number, cell in enumerate(CELL.finditer(table.text, start, end)):
            boxes = [each.box for each in table.located.boxes(*cell.span(1))] if cell[1].strip() else []
            edges += [None] * (number + 1 - len(edges))
            for box in boxes:
                left, right = edges[number] or (box.x1, box.x2)
                edges[number] = min(left, box.x1), max(right, box.x2)
    yield from edges


def _are_alike(
    columns: Sequence[tuple[float, float] | None], others: Sequence[tuple[float, float] | None]
) -> bool:
    """Whether two tables have the same columns at the same places."""
    pairs = [(a, b) for a, b in zip(columns, others, strict=False) if a and b]
    return len(columns) == len(others) > 1 < len(pairs) and all(a[0] < b[1] and b[0] < a[1] for a, b in pairs)


def _join(table: Element, more: Element) -> Element:
    """Return a table with the rows of another one below its own."""
    first = more.rows[1][0]
    shift = len(table.text) + 1 - first
    located = LocatedText.join([table.located, more.located.slice(first, len(more.text))], "\n")
    return replace(
        table,
        located=located,
        rows=(*table.rows, *((start + shift, end + shift) for start, end in more.rows[1:])),
    )
