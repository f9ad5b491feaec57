"""Optical character recognition: paragraphs, words and their boxes from the pixels of a page.

`extract.ocr.lines` finds and reads lines, `extract.ocr.layout` puts them in order, and
this module places them on the page. All of it runs in the limited child process.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

import numpy as np

from core.locations import Box, LocatedText, OnPage, Page
from extract.base import Element, Kind
from extract.cleaning import clean
from extract.ocr.layout import LineShape, paragraphs
from extract.ocr.lines import OcrLine, Pixels, Quad, lengths, read_lines

OCR_DPI = 150
"""The resolution at which pages are drawn for recognition; measured by `python -m bench.recognition --dpi`.
"""

# A gap of this many heights between two words may separate columns. Headlines are excepted; they are so many
# times as large as the running text.
WIDE, LARGE = 0.7, 1.5
# A type size this close to that of the running text counts as the same.
SAME_SIZE = 1.15


@dataclass(frozen=True, slots=True)
class RecognisedText:
    """The paragraphs of a page in reading order; `confidence` is the mean over its words, 0 to 1."""

    elements: list[Element]
    confidence: float | None


def recognise(pixels: Pixels, page: Page, first_line: int = 0) -> RecognisedText:
    """Recognise the text of an image (height, width, 3 of RGB) that shows the whole `page`.

    Boxes are on the page as displayed, whichever way its text runs. Lines count from `first_line`.
    """
    lines = read_lines(np.ascontiguousarray(pixels))
    if not lines:
        return RecognisedText([], None)
    scale = page.width / pixels.shape[1], page.height / pixels.shape[0]
    elements = list(_elements(lines, page, scale, first_line))
    total = sum(len(line.words) for line in lines)
    return RecognisedText(elements, sum(line.confidence * len(line.words) for line in lines) / total)


def _elements(
    lines: list[OcrLine], page: Page, scale: tuple[float, float], first_line: int
) -> Iterator[Element]:
    most = LARGE * _usual_height(lines)
    pieces = [
        (number, piece)
        for number, line in enumerate(lines)
        for piece in (_pieces(line) if _height(line) < most else [line])
    ]
    order = paragraphs(_shapes(pieces))
    sizes = _sizes([piece for _, piece in pieces], order, scale)
    count = first_line
    for indexes, size in zip(order, sizes, strict=True):
        words: list[tuple[str, OnPage]] = []
        for _, row in groupby(indexes, key=lambda index: pieces[index][0]):
            placed = (word for index in row for word in _words(pieces[index][1], page, scale))
            words += [(word, OnPage(page, count, box)) for word, box in placed]
            count += 1
        if words:
            yield Element(Kind.PARAGRAPH, LocatedText.of_words(words), font_size=size)


def _pieces(line: OcrLine) -> Iterator[OcrLine]:
    """Cut a line at gaps so wide that the words may stand in different columns."""
    along, across = lengths(line.quad)
    room = WIDE * across / max(along, 1)
    cuts = [at for at in range(1, len(line.words)) if line.starts[at] - line.ends[at - 1] > room]
    for start, end in pairwise([0, *cuts, len(line.words)]):
        yield replace(
            line, words=line.words[start:end], starts=line.starts[start:end], ends=line.ends[start:end]
        )


def _shapes(pieces: list[tuple[int, OcrLine]]) -> list[LineShape]:
    """Return the pieces as they stand after the page is turned so that most of its text is level."""
    lines = [line for _, line in pieces]
    along = sum((line.quad[1] - line.quad[0] for line in lines), np.zeros(2))
    right = along / max(float(np.linalg.norm(along)), 1e-9)
    upright = np.array([right, (-right[1], right[0])]).T
    shapes = []
    for number, line in pieces:
        corners = _part(line.quad, line.starts[0], line.ends[-1]) @ upright
        box = Box(*map(float, (*corners.min(axis=0), *corners.max(axis=0))))
        shapes.append(LineShape(box, (line.ends[0] - line.starts[0]) * lengths(line.quad)[0], number))
    return shapes


def _words(line: OcrLine, page: Page, scale: tuple[float, float]) -> Iterator[tuple[str, Box]]:
    for word, start, end in zip(line.words, line.starts, line.ends, strict=True):
        text = "".join(clean(word).split())
        if text:
            yield text, _box(line.quad, start, end, page, scale)


def _part(quad: Quad, start: float, end: float) -> Quad:
    top, bottom = quad[1] - quad[0], quad[2] - quad[3]
    return np.array(
        [quad[0] + start * top, quad[0] + end * top, quad[3] + end * bottom, quad[3] + start * bottom]
    )


def _box(quad: Quad, start: float, end: float, page: Page, scale: tuple[float, float]) -> Box:
    corners = _part(quad, start, end)
    limits = page.width, page.height
    low, high = (np.clip(edge * scale, 0, limits) for edge in (corners.min(axis=0), corners.max(axis=0)))
    return Box(float(low[0]), float(low[1]), float(high[0]), float(high[1]))


def _sizes(lines: list[OcrLine], order: list[list[int]], scale: tuple[float, float]) -> list[float]:
    """Return the type size of each paragraph in points; a size close to that of the running text becomes that
    size."""
    heights = [_height(line) * scale[1] for line in lines]
    usual = round(_usual_height(lines) * scale[1], 1)
    sizes = (float(np.median([heights[index] for index in indexes])) for indexes in order)
    return [usual if usual / SAME_SIZE < size < usual * SAME_SIZE else round(size, 1) for size in sizes]


def _height(line: OcrLine) -> float:
    return lengths(line.quad)[1]


def _usual_height(lines: list[OcrLine]) -> float:
    """Return the usual height of the text, in pixels."""
    order = sorted(lines, key=_height)
    reached = np.cumsum([sum(map(len, line.words)) for line in order])
    return _height(order[int(np.searchsorted(reached, reached[-1] / 2))])
