"""Tables that go on on the next page."""

from __future__ import annotations

from core.locations import Box, LocatedText, OnPage, Page
from extract.base import Element, Kind
from extract.tables import table_element
from ingestion.structure.continued_tables import join_continued_tables

HEAD = ["", "2023", "2022"]
LEFT = (50.0, 300.0, 400.0)


def cell(text: str, page: int, x: float, y: float) -> LocatedText:
    place = OnPage(Page(page, 500, 700), round(x + y), Box(x, y, x + 40, y + 10))
    return LocatedText.of_words([(text, place)]) if text else LocatedText("")


def table(page: int, *rows: list[str], left: tuple[float, ...] = LEFT) -> Element:
    return table_element(
        [
            [cell(text, page, x, 50.0 + 12 * at) for text, x in zip(row, left, strict=True)]
            for at, row in enumerate(rows)
        ]
    )


def paragraph(text: str, kind: Kind = Kind.PARAGRAPH) -> Element:
    return Element(kind, LocatedText(text))


FIRST = table(1, HEAD, ["Revenue", "1", "2"], ["Costs", "3", "4"])
REST = table(2, ["", "", ""], ["Taxes", "5", "6"], ["Profit", "7", "8"])


def test_rows_without_a_head_get_that_of_the_page_before() -> None:
    footer, title = paragraph("17", Kind.PAGE_FOOTER), paragraph("Statements of income (continued)")
    whole, *others = join_continued_tables([FIRST, footer, title, REST])
    assert others == [footer, title]
    assert [whole.text[start:end].splitlines()[0] for start, end in whole.rows] == [
        *("|  | 2023 | 2022 |", "| Revenue | 1 | 2 |", "| Costs | 3 | 4 |"),
        *("| Taxes | 5 | 6 |", "| Profit | 7 | 8 |"),
    ]
    pages = [box.page.number for box in whole.located.boxes()]
    assert pages == [1] * 8 + [2] * 6


def test_other_tables_stay_as_they_are() -> None:
    elsewhere = table(2, ["", "", ""], ["Taxes", "5", "6"], left=(50.0, 150.0, 220.0))
    for between, after in [
        ([], table(2, HEAD, ["Taxes", "5", "6"])),
        ([], elsewhere),
        ([], table(3, ["", "", ""], ["Taxes", "5", "6"])),
        ([], table(2, ["", ""], ["Taxes", "5"], left=LEFT[:2])),
        ([paragraph("Text that stands between the two tables. " * 3)], REST),
    ]:
        assert join_continued_tables([FIRST, *between, after]) == [FIRST, *between, after]


def test_a_table_that_goes_on_over_three_pages() -> None:
    last = table(3, ["", "", ""], ["Dividends", "9", "10"])
    [whole] = join_continued_tables([FIRST, REST, last])
    assert len(whole.rows) == 6
    start, end = whole.rows[-1]
    assert whole.text[start:end] == "| Dividends | 9 | 10 |"
