"""A report with pictures: a photo with a sign in it and a caption, and a chart that is drawn."""

from __future__ import annotations

import io
from pathlib import Path

import pymupdf
from PIL import Image

SIGN = "FERRY DEPARTS 0930"
PHOTO_CAPTION = "Figure 1. The quay of Punta Brava in winter."
CHART_CAPTION = "Figure 2. Ships that called at the harbour, by year."
YEARS = {"2019": 40, "2020": 110, "2021": 75, "2022": 150}
BEFORE = (
    "The harbour master keeps a book of arrivals in which each ship is entered with its name, its cargo and "
    "the hour of its arrival. In winter few ships come, and the book is closed at noon on most days."
)
AFTER = (
    "The market sells fish on three days a week, and on the other days the stalls are let to farmers of the "
    "valley, who bring almonds, oranges and the small red peppers for which the region is known."
)
PHOTO_BOX = pymupdf.Rect(60, 200, 340, 330)
CHART_BOX = pymupdf.Rect(60, 470, 340, 660)
"""Around what is drawn of the chart and its labels, in points of the displayed page."""


def photo(sign: str = SIGN) -> bytes:
    """Return a PNG of a sign on a coloured ground."""
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=560, height=260)
        page.draw_rect(page.rect, fill=(0.75, 0.85, 0.95), color=None)
        page.draw_rect(pymupdf.Rect(30, 80, 530, 180), fill=(1, 1, 1), color=(0, 0, 0.4))
        page.insert_text((52, 143), sign, fontsize=40 * 18 / max(len(sign), 18), color=(0, 0, 0.3))
        return bytes(page.get_pixmap(dpi=110).tobytes("png"))


def write_report(path: Path, *, sign: str = SIGN, rotation: int = 0, cropped: bool = False) -> Path:
    """Write a page of text with a photo and a chart, perhaps turned, or with a crop box within its sheet."""
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=400, height=760)
        page.insert_text((50, 60), "The harbour in 2022", fontsize=18)
        page.insert_textbox(pymupdf.Rect(50, 80, 350, 190), BEFORE, fontsize=11)
        page.insert_image(PHOTO_BOX, stream=photo(sign))
        page.insert_text((60, 346), PHOTO_CAPTION, fontsize=9)
        page.insert_textbox(pymupdf.Rect(50, 370, 350, 450), AFTER, fontsize=11)
        draw_chart(page)
        page.insert_text((60, 688), CHART_CAPTION, fontsize=9)
        if cropped:
            page.set_cropbox(pymupdf.Rect(20, 30, 400, 760))
        with _turned(pdf, rotation) as turned:
            turned.save(path)
    return path


def _turned(pdf: pymupdf.Document, rotation: int) -> pymupdf.Document:
    """Return a page that is drawn turned and displayed turned back, as scanners and slides have them."""
    turned = pymupdf.open()
    shown = pdf[0].rect
    across, down = (shown.height, shown.width) if rotation in (90, 270) else (shown.width, shown.height)
    page = turned.new_page(width=across, height=down)
    page.show_pdf_page(page.rect, pdf, 0, rotate=rotation)
    page.set_rotation(rotation)
    return turned


def draw_chart(page: pymupdf.Page) -> None:
    """Draw bars with their years below and their heights above."""
    page.draw_line((80, 640), (330, 640))
    page.draw_line((80, 470), (80, 640))
    for at, (year, height) in enumerate(YEARS.items()):
        left = 100 + 58 * at
        page.draw_rect(pymupdf.Rect(left, 640 - height, left + 36, 640), fill=(0.2, 0.4, 0.7), color=None)
        page.insert_text((left + 5, 652), year, fontsize=9)
        page.insert_text((left + 8, 636 - height), str(height * 10), fontsize=9)


def write_photo(path: Path, sign: str = SIGN) -> Path:
    """Write the photo as a file of its own."""
    Image.open(io.BytesIO(photo(sign))).save(path)
    return path
