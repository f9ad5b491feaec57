"""Draw pages on which headings are marked, to be looked at: `python -m bench.reading.sheets FOLDER OUT`

Draws `--pages` pages by chance from all PDFs under FOLDER, always the same, and writes them to OUT, six on a
sheet: headings in red with their level, found without the file's outline. `headings.txt` there lists them.
Pages that have labels in this folder are left out, so that the sample is blind.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import django
import pymupdf

from bench.reading.tables import SHARED
from extract.base import Element

SEED, PAGES = 2026, 120
COLUMNS, ROWS = 3, 2
WIDTH, HEIGHT = 520.0, 700.0
RED = (1.0, 0.0, 0.0)
CAPTION = 12.0
LABELS = sorted(Path(__file__).parent.glob("*_headings.json"))


@dataclass(frozen=True, slots=True)
class MarkedPage:
    """A page of a PDF, and the headings that are found on it."""

    path: Path
    number: int
    headings: tuple[Element, ...]


def main() -> None:
    """Write the sheets and the list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED)
    parser.add_argument("out", type=Path)
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "locus.settings")
    django.setup()
    from bench.reading.documents import read_documents

    pages = [
        MarkedPage(document.path, number, tuple(headings))
        for document in read_documents(given.folder)
        for number, headings in by_page(document.headings_without_outline, document.page_count)
    ]
    write_sheets(drawn(pages, given.pages, given.seed), given.out)


def by_page(headings: Iterable[Element], page_count: int) -> Iterator[tuple[int, list[Element]]]:
    """Yield each page with its headings."""
    found: dict[int, list[Element]] = {number: [] for number in range(1, page_count + 1)}
    for heading in headings:
        found.get(heading.located.page_number() or 0, []).append(heading)
    yield from found.items()


def drawn(pages: Sequence[MarkedPage], count: int, seed: int) -> list[MarkedPage]:
    """Return pages drawn by chance among those without labels, in their order."""
    labelled = {(label["file"], label["page"]) for path in LABELS for label in json.loads(path.read_text())}
    blind = [page for page in pages if (page.path.name, page.number) not in labelled]
    chosen = random.Random(seed).sample(range(len(blind)), min(count, len(blind)))  # noqa: S311
    return [blind[at] for at in sorted(chosen)]


def write_sheets(pages: Sequence[MarkedPage], out: Path) -> None:
    """Write the pages as images, and the list of their headings."""
    out.mkdir(parents=True, exist_ok=True)
    size = COLUMNS * ROWS
    for at in range(0, len(pages), size):
        _sheet(pages[at : at + size]).save(out / f"{at // size + 1:03}.png")
    lines = [
        f"{page.path.name} {page.number}: L{heading.level} {heading.text}"
        for page in pages
        for heading in page.headings
    ]
    (out / "headings.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _sheet(pages: Sequence[MarkedPage]) -> pymupdf.Pixmap:
    sheet = pymupdf.open().new_page(width=COLUMNS * WIDTH, height=ROWS * (HEIGHT + CAPTION))
    for at, page in enumerate(pages):
        row, column = divmod(at, COLUMNS)
        left, top = column * WIDTH, row * (HEIGHT + CAPTION)
        sheet.insert_text((left + 4, top + CAPTION - 2), f"{page.path.name} {page.number}", fontsize=9)
        with pymupdf.open(page.path) as pdf:
            pdf.authenticate("")
            source = pdf[page.number - 1]
            scale = min(WIDTH / source.rect.width, HEIGHT / source.rect.height)
            drawn_page = source.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False)
        area = pymupdf.Rect(left, top + CAPTION, left + drawn_page.width, top + CAPTION + drawn_page.height)
        sheet.insert_image(area, pixmap=drawn_page)
        for heading in page.headings:
            _mark(sheet, heading, page.number, scale, (left, top + CAPTION))
    return sheet.get_pixmap()


def _mark(
    sheet: pymupdf.Page, heading: Element, number: int, scale: float, origin: tuple[float, float]
) -> None:
    left, top = origin
    boxes = [each.box for each in heading.located.boxes() if each.page.number == number]
    for box in boxes:
        x1, y1, x2, y2 = (value * scale for value in box)
        area = pymupdf.Rect(left + x1, top + y1, left + x2, top + y2)
        sheet.draw_rect(area, color=RED, width=0.8)
    if boxes:
        at = (left + boxes[0].x1 * scale - 7, top + boxes[0].y2 * scale)
        sheet.insert_text(at, str(heading.level), fontsize=8, color=RED)


if __name__ == "__main__":
    main()
