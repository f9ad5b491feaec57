"""Marks of footnotes that a page draws at its end stand beside their words."""

from __future__ import annotations

from dataclasses import replace

from core.locations import Box
from extract.pdf.lines import PdfLine, enclosing_box
from extract.pdf.raised_marks import MOST_ALONE, join_raised_marks

SIZE, LETTER = 10.0, 5.0


def line(text: str, x: float, y: float, size: float = SIZE) -> PdfLine:
    """Return a line whose upper edge is at `y`; a letter is half as wide as its type."""
    words, at = [], x
    for word in text.split():
        words.append((word, Box(at, y, at + size / 2 * len(word), y + size)))
        at += size / 2 * (len(word) + 1)
    return PdfLine(size, False, False, words, enclosing_box([box for _, box in words]))


def mark(text: str, x: float, y: float) -> PdfLine:
    return line(text, x, y, 6.0)


def end_of(of_line: PdfLine) -> float:
    return of_line.box.x2


def texts(*blocks: list[PdfLine]) -> list[list[str]]:
    return [[each.text for each in block] for block in join_raised_marks(list(blocks))]


def test_a_mark_follows_its_word() -> None:
    label, other = line("Asset impairments", 50, 100), line("Other charges", 50, 112)
    drawn_last = [mark("(a)", end_of(other), 110)]
    assert texts([label, other], drawn_last) == [["Asset impairments", "Other charges (a)"]]


def test_a_mark_between_words_and_its_box() -> None:
    text = line("Erbitux is licensed", 50, 100)
    (_, first), *_ = text.words
    # Between the words is as much room as the mark needs.
    moved = [(word, Box(box.x1 + 8, box.y1, box.x2 + 8, box.y2)) for word, box in text.words[1:]]
    text = replace(text, words=[text.words[0], *moved], box=enclosing_box([first, moved[-1][1]]))
    raised = mark("®", first.x2 + 1, 99)
    [[found]] = join_raised_marks([[text], [raised]])
    assert found.text == "Erbitux ® is licensed"
    assert found.words[1] == raised.words[0]


def test_several_marks_of_one_word() -> None:
    label = line("Taxation abroad", 50, 100)
    assert texts([label], [mark("(b), (c)", end_of(label), 98)]) == [["Taxation abroad (b), (c)"]]


def test_marks_of_several_words_that_are_one_line() -> None:
    label, figure = line("Taxation abroad", 50, 100), line("1,234", 300, 100)
    first, second = mark("(b)", end_of(label), 98), mark("(c)", end_of(figure), 98)
    both = replace(first, words=first.words + second.words, box=enclosing_box([first.box, second.box]))
    assert texts([label, figure], [both]) == [["Taxation abroad (b)", "1,234 (c)"]]


def test_a_footnote_begins_with_its_mark_and_is_a_block() -> None:
    notes = [line("See Note 5A.", 70, 200), line("All other", 70, 212), line("and so on", 70, 224)]
    marks = [mark("(a)", 58, 198), mark("(b)", 58, 210)]
    assert texts(notes, marks) == [["(a) See Note 5A."], ["(b) All other", "and so on"]]


def test_emphasised_words_at_the_beginning_stay_those() -> None:
    note = replace(line("Sales of lamps", 70, 200), lead=1)
    [[found]] = join_raised_marks([[note], [mark("(a)", 58, 198)]])
    assert (found.text, found.lead) == ("(a) Sales of lamps", 2)


def test_what_is_no_raised_mark_stays() -> None:
    label = line("Total", 50, 100)
    alone = {
        "as large as the text": line("(a)", end_of(label), 100),
        "far from it": mark("(a)", 200, 98),
        "below the line": mark("(a)", end_of(label), 105),
        "part of a formula": mark("2", end_of(label), 98),
        "no line at all": mark("*", 400, 700),
    }
    for why, each in alone.items():
        assert texts([label], [each]) == [["Total"], [each.text]], why


def test_a_page_of_nothing_but_marks_stays() -> None:
    label = line("Total", 50, 100)
    many = [mark("*", end_of(label), 98)] * (MOST_ALONE + 1)
    assert texts([label], many) == [["Total"], ["*"] * len(many)]
