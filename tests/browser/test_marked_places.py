"""Thirty quotes in PDFs of every make: the pixels of the strong mark against the words' boxes of PyMuPDF.

Each page is photographed with and without its mark. What differs is the mark; what should differ are the
words' boxes, which PyMuPDF finds in the file without Locus. Ink stays as it is under the mark, so only
paper is counted.
"""

from __future__ import annotations

import io
import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Page, expect
from pytest import Subtests

from accounts.models import User
from core.locations import LocatedText
from extract.base import Element, Kind, Limits, Request
from extract.pdf import reader
from kb.models import Chunk
from tests.browser.places import Rect
from tests.factories import stored_document
from tests.testing.paths import SAMPLES

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

logger = logging.getLogger(__name__)

COVERED = 0.9
"""The share of the words that must be marked."""
ELSEWHERE = 0.1
"""The share of the mark that may lie outside the lines of the words."""
EDGE = 3
"""Pixels around a line that count as its own: the mark has a rim of two, and edges are rounded."""
WORDS = range(4, 45)
SENTENCES = (
    "The ferry to the island leaves at noon.",
    "Nobody may land after the lamp is lit.",
    "The keeper signs the book at every watch.",
)
Pixels = NDArray[np.bool_]


@dataclass(frozen=True)
class Quoted:
    """A quote, the file in which it is shown, and the boxes of its words in points of the displayed page."""

    file: Path
    located: LocatedText
    page: int
    words: list[pymupdf.Rect]

    @property
    def lines(self) -> list[pymupdf.Rect]:
        """One box for each line, which goes down the page where the page is turned by 90 or 270 degrees."""
        across = 1 if _overlap(self.words[0], self.words[1], 1) > 0.5 else 0
        lines: list[pymupdf.Rect] = []
        for word in self.words:
            if lines and _overlap(lines[-1], word, across) > 0.5:
                lines[-1] = lines[-1] | word
            else:
                lines.append(pymupdf.Rect(word))
        return lines


def _overlap(line: pymupdf.Rect, word: pymupdf.Rect, axis: int) -> float:
    start, end = max(line[axis], word[axis]), min(line[axis + 2], word[axis + 2])
    return float((end - start) / min(line[axis + 2] - line[axis], word[axis + 2] - word[axis]))


def quotes_of(file: Path, count: int, truth: Path | None = None, *, deep: bool = False) -> list[Quoted]:
    """Return `count` quotes of a file, evenly spread.

    The words of a scan are those of the `truth` it was made from.
    """
    found = reader.extract(file, Request(Limits(100), deep=deep))
    kinds = {Kind.PARAGRAPH, Kind.LIST_ITEM}
    elements = [one for one in found if isinstance(one, Element) and one.kind in kinds]
    with pymupdf.open(truth or file) as opened:
        pages = [
            [(word[4], pymupdf.Rect(word[:4]) * page.rotation_matrix) for word in page.get_text("words")]
            for page in opened
        ]
    quotes = [quote for one in elements if (quote := _quote(file, one.located, pages))]
    return [quotes[at * len(quotes) // count] for at in range(min(count, len(quotes)))]


def _quote(file: Path, located: LocatedText, pages: list[list[tuple[str, pymupdf.Rect]]]) -> Quoted | None:
    """Return the element as a quote if it is on one page, and PyMuPDF reads its words there once."""
    tokens, numbers = located.text.split(), {box.page.number for box in located.boxes()}
    if len(tokens) not in WORDS or len(numbers) != 1:
        return None
    [number] = numbers
    words = pages[number - 1]
    said = [word for word, _ in words]
    starts = [at for at in range(len(said)) if said[at : at + len(tokens)] == tokens]
    if len(starts) != 1:
        return None
    return Quoted(file, located, number, [rect for _, rect in words[starts[0] :][: len(tokens)]])


def two_columns(path: Path) -> Path:
    """Write a page in two columns, turned and cropped."""
    with pymupdf.open() as pdf:
        for rotation in (0, 270):
            page = pdf.new_page(width=595, height=842)
            page.insert_text((60, 60), "The harbour in two columns", fontsize=16)
            for column in range(2):
                text = "\n".join(
                    f"Paragraph {number} of column {column + 1} of side {rotation} says how the keeper "
                    f"trimmed wick {number} and wrote the weather of day {number} in the book.\n"
                    for number in range(1, 6)
                )
                left = 60 + 250 * column
                page.insert_textbox(pymupdf.Rect(left, 90, left + 225, 700), text, fontsize=10)
            page.set_cropbox(pymupdf.Rect(30, 20, 565, 760))
            page.set_rotation(rotation)
        pdf.save(path)
    return path


def scan_of(source: Path, path: Path) -> Path:
    """Write the pages of a PDF as images of themselves."""
    with pymupdf.open(source) as pages, pymupdf.open() as scan:
        for page in list(pages)[:1]:
            image = scan.new_page(width=page.rect.width, height=page.rect.height)
            image.insert_image(image.rect, stream=page.get_pixmap(dpi=150).tobytes("png"))
        scan.save(path)
    return path


def letter(path: Path) -> Path:
    """Write a page of a few plain paragraphs, to be scanned."""
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=595, height=842)
        for number, words in enumerate(SENTENCES):
            page.insert_text((70, 120 + 90 * number), words, fontsize=16)
        pdf.save(path)
    return path


@pytest.fixture
def quotes(tmp_path: Path) -> list[Quoted]:
    """Thirty of them: of an office program, turned and cropped, on many pages, in two columns, scanned."""
    source = letter(tmp_path / "letter.pdf")
    scan = quotes_of(scan_of(source, tmp_path / "scan.pdf"), 3, source, deep=True)
    columns = quotes_of(two_columns(tmp_path / "columns.pdf"), 7)
    samples = {"office.pdf": 6, "turned.pdf": 8, "report.pdf": 6}
    return [
        *scan,
        *columns,
        *(one for name, count in samples.items() for one in quotes_of(SAMPLES / name, count)),
    ]


def test_the_mark_covers_the_quoted_words_and_little_else(
    logged_in: Page, reader: User, quotes: list[Quoted], subtests: Subtests
) -> None:
    assert len(quotes) == 30, [quote.file.name for quote in quotes]
    check(logged_in, reader, quotes, subtests)


@pytest.mark.slow("corpora")
def test_real_documents(logged_in: Page, reader: User, shared_data: Path, subtests: Subtests) -> None:
    files = [
        "pdf_qa/uda/docs/1705.07830.pdf",
        "pdf_qa/uda/docs/Ben_Platt_(actor).pdf",
        "pdf_qa/financebench/docs/ULTABEAUTY_2023Q4_EARNINGS.pdf",
    ]
    check(
        logged_in, reader, [quote for name in files for quote in quotes_of(shared_data / name, 6)], subtests
    )


def check(page: Page, reader: User, quotes: list[Quoted], subtests: Subtests) -> None:
    """Show each quote as the strong place of its document, and measure."""
    for quote in quotes:
        with pymupdf.open(quote.file) as opened:
            count = len(opened)
        document = stored_document(
            reader.personal_workspace,
            quote.file.name,
            quote.file.read_bytes(),
            [quote.located],
            page_count=count,
            file_type="pdf",
            mime_type="application/pdf",
        )
        chunk = Chunk.unscoped.get(document=document)
        page.goto(f"/documents/{document.pk}?chunk={chunk.pk}")
        covered, elsewhere = measure(page, quote)
        with subtests.test(quote.located.text[:40], file=quote.file.name, page=quote.page):
            logger.info("%s %s %.3f %.3f", quote.file.name, quote.page, covered, elsewhere)
            assert covered >= COVERED
            assert elsewhere <= ELSEWHERE


def measure(page: Page, quote: Quoted) -> tuple[float, float]:
    """Return which share of the words is marked, and which share of the mark lies elsewhere."""
    paper = page.locator(f"[data-drawn='{quote.page}']")
    expect(paper).to_be_visible()
    page.locator("[data-part=scale]").select_option("page-fit")
    page.locator("[data-part=back]").evaluate("back => back.click()")
    expect(page.locator("[data-place=quote]").first).to_be_in_viewport()
    page.wait_for_function("() => !document.querySelector('.pdfViewer .page.loading')")
    page.wait_for_timeout(600)  # The page is drawn anew a moment after its size has changed.
    box = paper.bounding_box()
    assert box
    marked = photograph(page)
    page.locator(".places").evaluate_all(
        "layers => layers.forEach(layer => { layer.style.display = 'none' })"
    )
    plain = photograph(page)
    with pymupdf.open(quote.file) as opened:
        scale = box["width"] / opened[quote.page - 1].rect.width
    to_screen = pymupdf.Matrix(scale, 0, 0, scale, box["x"], box["y"])
    shown = [Rect(*(rect * to_screen)) for rect in quote.words]
    lines = [Rect(*(rect * to_screen)) for rect in quote.lines]
    is_mark = np.abs(marked.astype(int) - plain.astype(int)).max(axis=2) > 24
    is_paper = plain.min(axis=2) > 200
    words = area(shown, is_mark.shape, -1) & is_paper
    assert words.sum() > 50, "the words are not in sight"
    covered = (is_mark & words).sum() / words.sum()
    elsewhere = (is_mark & ~area(lines, is_mark.shape, EDGE)).sum() / is_mark.sum()
    return float(covered), float(elsewhere)


def photograph(page: Page) -> NDArray[np.uint8]:
    """Return the window as `[row, column, colour]`."""
    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))


def area(rects: list[Rect], shape: tuple[int, ...], grown: int) -> Pixels:
    """Return which pixels lie in one of the rectangles, each grown on all sides."""
    inside = np.zeros(shape, dtype=bool)
    for rect in rects:
        top, bottom = round(rect.y1) - grown, round(rect.y2) + grown
        left, right = round(rect.x1) - grown, round(rect.x2) + grown
        inside[max(0, top) : max(0, bottom), max(0, left) : max(0, right)] = True
    return inside
