"""Marks of footnotes that a file draws apart from their words: put back into the lines in which they stand.

Some programs draw all raised marks of a page at its end. Read in this order, a table's figures and its
footnotes have no marks, and the marks are paragraphs of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from core.locations import Box
from extract.pdf.lines import PdfLine, enclosing_box

# “(a)”, “(b),”, “*”, “®”. A bare figure or letter may be part of a formula.
MARK = re.compile(r"\(\w{1,2}\),?|[*†‡§¶#®™]{1,3},?")
MOST_MARKS = 6
# A page has no more of such lines. Each is compared with every line: the time grows with their product.
MOST_ALONE = 300
# A mark is no larger than this share of the type of its line, and its lower edge stands so much of that type
# above the lower edge of the line.
MARK_SIZE, RAISED = 0.8, 0.1
# So much of its line's type lies between a mark and the word before it, or the one after.
BEFORE, AFTER = 0.7, 1.5
OVERLAP = 0.25

Word = tuple[str, Box]
Blocks = list[list[PdfLine]]
# Block, line, and the number of words before the mark.
Place = tuple[int, int, int]


def join_raised_marks(blocks: Blocks) -> Blocks:
    """Return the lines of a page with each mark that stands alone put beside its word, where there is one.

    A line that begins with such a mark begins a block: it is a footnote.
    """
    alone = {
        (block, at)
        for block, lines in enumerate(blocks)
        for at, line in enumerate(lines)
        if len(line.words) <= MOST_MARKS and all(MARK.fullmatch(word) for word, _ in line.words)
    }
    if not 0 < len(alone) <= MOST_ALONE:
        return blocks
    hosts = [
        (block, at, line)
        for block, lines in enumerate(blocks)
        for at, line in enumerate(lines)
        if (block, at) not in alone
    ]
    placed: dict[tuple[int, int], list[tuple[int, Word]]] = {}
    left: dict[tuple[int, int], list[Word]] = {}
    for block, at in sorted(alone):
        line = blocks[block][at]
        left[block, at] = []
        for marks in _side_by_side(line):
            if found := _place_of(enclosing_box([box for _, box in marks]), line.size, hosts):
                host_block, host_at, position = found
                placed.setdefault((host_block, host_at), []).extend((position, mark) for mark in marks)
            else:
                left[block, at] += marks
    return list(_rebuilt(blocks, placed, left))


def _side_by_side(line: PdfLine) -> Iterator[list[Word]]:
    """Yield the marks that belong to one word: “(b), (c)”."""
    marks = [line.words[0]]
    for word in line.words[1:]:
        if word[1].x1 - marks[-1][1].x2 > line.size:
            yield marks
            marks = []
        marks.append(word)
    yield marks


def _place_of(mark: Box, size: float, hosts: Iterable[tuple[int, int, PdfLine]]) -> Place | None:
    """Return the line in which a mark stands raised beside a word: the one with the nearest word."""
    nearest: tuple[float, Place] | None = None
    for block, at, line in hosts:
        if size > MARK_SIZE * line.size or not _is_raised(mark, line):
            continue
        for number, gap in _gaps(mark, line):
            if nearest is None or gap < nearest[0]:
                nearest = gap, (block, at, number)
    return nearest[1] if nearest else None


def _is_raised(mark: Box, line: PdfLine) -> bool:
    middle = (mark.y1 + mark.y2) / 2
    return line.box.y1 - line.size / 2 < middle and mark.y2 < line.box.y2 - RAISED * line.size


def _gaps(mark: Box, line: PdfLine) -> Iterator[tuple[int, float]]:
    """Yield the number of words before the mark, and the distance from the word that it stands beside."""
    boxes = [box for _, box in line.words]
    inside = OVERLAP * line.size
    for number in range(len(boxes) + 1):
        before = mark.x1 - boxes[number - 1].x2 if number else None
        after = boxes[number].x1 - mark.x2 if number < len(boxes) else None
        if any(gap is not None and gap < -inside for gap in (before, after)):
            continue
        if before is not None and before <= BEFORE * line.size:
            yield number, abs(before)
        elif after is not None and after <= AFTER * line.size and number == 0:
            yield number, abs(after)


def _rebuilt(
    blocks: Blocks,
    placed: dict[tuple[int, int], list[tuple[int, Word]]],
    left: dict[tuple[int, int], list[Word]],
) -> Iterator[list[PdfLine]]:
    for block, lines in enumerate(blocks):
        rebuilt: list[PdfLine] = []
        for at, line in enumerate(lines):
            marks = placed.get((block, at), [])
            words = left.get((block, at), line.words)
            if rebuilt and any(number == 0 for number, _ in marks):
                yield rebuilt
                rebuilt = []
            if marks:
                rebuilt.append(_with_marks(line, marks))
            elif words:
                rebuilt.append(replace(line, words=words, box=enclosing_box([box for _, box in words])))
        if rebuilt:
            yield rebuilt


def _with_marks(line: PdfLine, marks: Sequence[tuple[int, Word]]) -> PdfLine:
    words: list[Word] = []
    for number in range(len(line.words) + 1):
        words += [word for place, word in sorted(marks, key=lambda mark: mark[1][1].x1) if place == number]
        words += line.words[number : number + 1]
    lead = line.lead + sum(number < line.lead for number, _ in marks)
    return replace(line, words=words, box=enclosing_box([box for _, box in words]), lead=lead)
