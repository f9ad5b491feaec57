"""What stands on a page, where it stands, and in which order it is read."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw

from core.locations import Box, Page
from extract.ocr.layout import LineShape, paragraphs
from extract.ocr.recognition import OCR_DPI, RecognisedText, recognise
from extract.pdf.mupdf import pymupdf
from tests.samples.make import BODY, CHAPTERS
from tests.testing.paths import SAMPLES

LINE = 10.0
TURNS = [0, 90, 180, 270]


def drawn(number: int = 1, dpi: int = OCR_DPI) -> tuple[np.ndarray, Page]:
    """Return a page of the report as pixels, and the page."""
    with pymupdf.open(SAMPLES / "report.pdf") as pdf:
        page = pdf[number - 1]
        pixmap = page.get_pixmap(dpi=dpi, alpha=False)
        pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3)
        return pixels, Page(number, page.rect.width, page.rect.height)


def true_words(number: int = 1) -> dict[str, Box]:
    with pymupdf.open(SAMPLES / "report.pdf") as pdf:
        # The finder overlooks a lone digit, such as the page number.
        return {word[4]: Box(*word[:4]) for word in pdf[number - 1].get_text("words") if len(word[4]) > 1}


def words(recognised: RecognisedText) -> dict[str, Box]:
    return {
        element.text[span.start : span.end]: span.place.box
        for element in recognised.elements
        for span in element.located.spans
    }


def text(recognised: RecognisedText) -> str:
    return " ".join(element.text for element in recognised.elements)


def overlap(one: Box, other: Box) -> float:
    """Return which share of the smaller box the two have in common."""
    width = min(one.x2, other.x2) - max(one.x1, other.x1)
    height = min(one.y2, other.y2) - max(one.y1, other.y1)
    areas = ((box.x2 - box.x1) * (box.y2 - box.y1) for box in (one, other))
    return max(width, 0) * max(height, 0) / min(areas)


def turned(box: Box, page: Page, degrees: int) -> Box:
    """Return where a box is when the page has been turned clockwise."""
    match degrees:
        case 90:
            return Box(page.height - box.y2, box.x1, page.height - box.y1, box.x2)
        case 180:
            return Box(page.width - box.x2, page.height - box.y2, page.width - box.x1, page.height - box.y1)
        case 270:
            return Box(box.y1, page.width - box.x2, box.y2, page.width - box.x1)
        case _:
            return box


@pytest.mark.parametrize("degrees", TURNS)
def test_words_and_boxes_whichever_way_the_page_is_turned(degrees: int) -> None:
    pixels, page = drawn()
    shown = page if degrees % 180 == 0 else Page(1, page.height, page.width)
    recognised = recognise(np.rot90(pixels, -degrees // 90), shown)
    assert BODY[0] in text(recognised)
    assert recognised.confidence is not None
    assert recognised.confidence > 0.95
    found = words(recognised)
    for word, box in true_words().items():
        assert overlap(turned(box, page, degrees), found[word]) > 0.5, word


def test_headings_are_larger_and_lines_are_numbered() -> None:
    recognised = recognise(*drawn(2), first_line=7)
    sizes = {element.text: element.font_size or 0 for element in recognised.elements}
    assert sizes[CHAPTERS[1]] > 1.3 * sizes[BODY[1]]
    lines = [s.place.line for element in recognised.elements for s in element.located.spans]
    assert lines == sorted(lines)
    assert lines[0] == 7
    assert len(recognised.elements[2].located.boxes()) >= 3


def test_a_page_that_is_slightly_askew() -> None:
    pixels, page = drawn()
    image = Image.fromarray(pixels).rotate(3, fillcolor="white", resample=Image.Resampling.BICUBIC)
    assert BODY[0] in text(recognise(np.asarray(image), page))


def test_nothing_on_white_noise_or_a_speck() -> None:
    noise = np.random.default_rng(0).integers(0, 255, (300, 400, 3)).astype(np.uint8)
    for pixels in (np.full((400, 300, 3), 255, np.uint8), np.zeros((1, 1, 3), np.uint8), noise):
        height, width = pixels.shape[:2]
        assert recognise(pixels, Page(1, width, height)) == RecognisedText([], None)


def test_a_long_strip_is_read_from_top_to_bottom_without_doubles() -> None:
    image = Image.new("RGB", (600, 4800), "white")
    draw = ImageDraw.Draw(image)
    for number in range(80):
        draw.text((30, 20 + 59 * number), f"This is line number {number + 100}", "black", font_size=26)
    read = text(recognise(np.asarray(image), Page(1, 600, 4800)))
    assert read == " ".join(f"This is line number {number + 100}" for number in range(80))


# --- Reading order -----------------------------------------------------------------------------------------


def line(x: float, row: float, width: float, number: int, height: float = LINE) -> LineShape:
    return LineShape(Box(x, 12 * row, x + width, 12 * row + height), first_word=20, line=number)


def column(x: float, first: int, rows: range = range(6), down: float = 0.0) -> list[LineShape]:
    return [line(x, row + down, 100, first + at) for at, row in enumerate(rows)]


def in_order(lines: list[LineShape]) -> list[int]:
    return [index for paragraph in paragraphs(lines) for index in paragraph]


def test_columns_are_read_one_after_the_other_below_their_headline() -> None:
    headline = line(0, 0, 330, 0)
    lines = [
        headline,
        *column(0, 1, range(2, 8)),
        *column(115, 7, range(2, 8), 0.3),
        *column(230, 13, range(2, 8)),
    ]
    shuffled = np.random.default_rng(1).permutation(len(lines))
    order = [shuffled[index] for index in in_order([lines[index] for index in shuffled])]
    assert order == list(range(19))


def test_a_headline_between_columns_separates_what_is_above_from_what_is_below() -> None:
    above = [*column(0, 0), *column(115, 6)]
    below = [*column(0, 13, range(9, 15)), *column(115, 19, range(9, 15))]
    order = in_order([*above, line(0, 7.5, 215, 12), *below])
    assert order == list(range(25))


def test_a_receipt_is_read_across() -> None:
    names = [line(0, row, 80, 2 * row) for row in range(5)]
    prices = [line(200, row, 30, 2 * row + 1) for row in range(5)]
    assert paragraphs([*names, *prices]) == [[0, 5], [1, 6], [2, 7], [3, 8], [4, 9]]


def test_a_line_found_across_two_columns_is_cut_between_them() -> None:
    """The finder takes two lines that stand close together for one: they come as two pieces of line 0."""
    pieces = [line(0, 0, 100, 0), line(108, 0, 100, 0)]
    rest = [*column(0, 1, range(1, 6)), *column(108, 6, range(1, 6))]
    assert in_order([*pieces, *rest]) == [0, *range(2, 7), 1, *range(7, 12)]


def test_paragraphs_begin_at_an_indent_behind_a_short_line_and_below_white() -> None:
    lines = [
        line(0, 0, 200, 0),
        line(0, 1, 200, 1),
        line(15, 2, 185, 2),  # indented
        line(0, 3, 90, 3),  # ends early
        line(0, 4, 200, 4),
        line(0, 5, 200, 5),
        line(0, 6.8, 200, 6),  # below white
        line(0, 7.8, 200, 7),
    ]
    assert paragraphs(lines) == [[0, 1], [2, 3], [4, 5], [6, 7]]
