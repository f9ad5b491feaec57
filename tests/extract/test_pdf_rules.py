"""Lines drawn on a page, and what they say about the table that they are drawn in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pymupdf

from extract.base import Element, Kind, Limits, Request
from extract.pdf.reader import extract
from extract.pdf.rules import Rule, drawn_lines
from tests.extract.truth import holds

LIMITS = Limits(10)


def rounded(rules: Sequence[Rule]) -> list[tuple[int, int, int]]:
    return [(round(rule.y), round(rule.x1), round(rule.x2)) for rule in rules]


def test_lines_and_thin_rectangles_are_rules_and_their_pieces_are_one() -> None:
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=300, height=200)
        page.draw_line((50, 100), (120, 100))
        page.draw_rect((120, 99.6, 200, 100.4), fill=(0, 0, 0), width=0)
        page.draw_rect((50, 120, 200, 140), fill=(0.8, 0.8, 0.8), width=0)  # the ground of a row
        page.draw_line((50, 20), (50, 180))
        assert rounded(drawn_lines(page).rules) == [(100, 50, 200)]


def test_rules_of_a_turned_page_are_those_that_are_seen() -> None:
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=300, height=200)
        page.draw_line((50, 20), (50, 180))
        page.set_rotation(90)
        assert rounded(drawn_lines(page).rules) == [(50, 20, 180)]


def test_a_drawn_table_has_the_heads_that_its_rules_show(tmp_path: Path) -> None:
    path = tmp_path / "table.pdf"
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=400, height=300)
        page.insert_text((205, 50), "Restated", fontsize=9)
        page.draw_line((200, 54), (280, 54))
        for x, year in [(205, "2021"), (260, "2020"), (315, "2019")]:
            page.insert_text((x, 66), year, fontsize=9)
        for at, label in enumerate(["Revenue", "Costs", "Taxes"]):
            page.insert_text((50, 84 + 13 * at), label, fontsize=9)
            for x, figure in [(200, "1,815"), (255, "2,910"), (310, "3,001")]:
                page.insert_text((x, 84 + 13 * at), figure, fontsize=9)
        pdf.save(path)
    [table] = [each for each in extract(path, Request(LIMITS)) if isinstance(each, Element)]
    assert table.kind is Kind.TABLE
    assert table.text.partition("\n")[0] == "|  | Restated 2021 | Restated 2020 | 2019 |"
    assert holds(path, table.located)
