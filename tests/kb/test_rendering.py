"""Pages as pictures: of exactly the width asked for, whatever kind of document they are from."""

from __future__ import annotations

import io
from pathlib import Path

import pymupdf
import pytest
from PIL import Image

from core.errors import NotFound, ValidationError
from core.locations import Box, Page, PageBox
from kb.page_images.rendering import crop_png, page_png
from tests.factories import stored_file
from tests.testing.paths import SAMPLES

WIDTHS = [1, 333, 1600]


def drawn(file: Path, cache: Path, number: int = 1, width: int = 300) -> Image.Image:
    return Image.open(io.BytesIO(page_png(stored_file(file), cache, number, width)))


def share_of_ink(image: Image.Image, box: tuple[float, float, float, float]) -> float:
    """Return how dark a part of an image is, 0 to 1; `box` is in shares of its size."""
    width, height = image.size
    part = image.convert("L").crop(
        (int(box[0] * width), int(box[1] * height), int(box[2] * width), int(box[3] * height))
    )
    return 1 - sum(part.get_flattened_data()) / (255 * part.width * part.height)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    ("name", "number", "aspect"),
    [
        ("report.pdf", 2, 842 / 595),
        ("scan.png", 1, 1170 / 827),
        ("scans.tiff", 1, 1170 / 827),
        ("scans.tiff", 2, 827 / 1170),
    ],
)
def test_exactly_the_width_and_the_proportions(
    name: str, number: int, aspect: float, width: int, tmp_path: Path
) -> None:
    image = drawn(SAMPLES / name, tmp_path, number, width)
    assert image.format == "PNG"
    assert image.size == (width, max(1, round(width * aspect)))


def test_a_photo_is_drawn_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # displayed turned clockwise by 90 degrees
    image = Image.new("RGB", (600, 400), "white")
    image.paste("black", (0, 0, 300, 400))
    image.save(tmp_path / "photo.jpg", exif=exif)
    upright = drawn(tmp_path / "photo.jpg", tmp_path / "pages", width=200)
    assert upright.size == (200, 300)
    assert share_of_ink(upright, (0, 0, 1, 0.45)) > 0.95
    assert share_of_ink(upright, (0, 0.55, 1, 1)) < 0.05


@pytest.mark.parametrize(("name", "number"), [("scan.png", 2), ("scans.tiff", 3), ("scans.tiff", 0)])
def test_no_such_page(name: str, number: int, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        page_png(stored_file(SAMPLES / name), tmp_path, number, 100)


@pytest.mark.parametrize("name", ["notes.md", "speech.opus"])
def test_what_has_no_pages_cannot_be_drawn(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValidationError):
        page_png(stored_file(SAMPLES / name), tmp_path, 1, 100)


def test_an_image_too_large_to_decode_is_not_drawn(tmp_path: Path) -> None:
    Image.new("1", (20_000, 20_000)).save(tmp_path / "huge.tiff", compression="group4")
    with pytest.raises(ValidationError):
        page_png(stored_file(tmp_path / "huge.tiff"), tmp_path / "pages", 1, 100)


def quarters(path: Path, rotation: int = 0) -> Path:
    """Write a PDF page of 400 x 200 points whose lower right quarter is black as it is displayed."""
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=200 if rotation else 400, height=400 if rotation else 200)
        page.set_rotation(rotation)
        page.draw_rect(pymupdf.Rect(200, 100, 400, 200) * page.derotation_matrix, fill=(0, 0, 0))
        pdf.save(path)
    return path


@pytest.mark.parametrize("rotation", [0, 90, 270])
def test_a_crop_shows_its_box_as_displayed(tmp_path: Path, rotation: int) -> None:
    file, page = quarters(tmp_path / "page.pdf", rotation), Page(1, 400, 200)
    black = crop_png(stored_file(file), tmp_path / "pages", PageBox(Box(210, 110, 390, 190), page), 90)
    image = Image.open(io.BytesIO(black))
    assert image.size == (90, 40)
    assert share_of_ink(image, (0, 0, 1, 1)) > 0.95
    white = crop_png(stored_file(file), tmp_path / "pages", PageBox(Box(10, 10, 190, 190), page), 64)
    assert share_of_ink(Image.open(io.BytesIO(white)), (0, 0, 1, 1)) < 0.01


def test_a_crop_of_an_image_file_is_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # displayed turned clockwise by 90 degrees: black above, white below
    image = Image.new("RGB", (601, 401), "white")
    image.paste("black", (0, 0, 300, 401))
    image.save(tmp_path / "photo.jpg", exif=exif)
    page = Page(1, 401, 601)
    for box, is_dark in ((Box(0, 0, 401, 290), True), (Box(100, 310, 401, 601), False)):
        crop = Image.open(
            io.BytesIO(crop_png(stored_file(tmp_path / "photo.jpg"), tmp_path, PageBox(box, page), 50))
        )
        assert max(crop.size) == 50
        assert (share_of_ink(crop, (0, 0, 1, 1)) > 0.9) is is_dark


def test_a_crop_of_nothing_is_refused(tmp_path: Path) -> None:
    file, page = quarters(tmp_path / "page.pdf"), Page(1, 400, 200)
    with pytest.raises(ValidationError):
        crop_png(stored_file(file), tmp_path, PageBox(Box(500, 500, 600, 600), page), 90)
    with pytest.raises(NotFound):
        crop_png(stored_file(file), tmp_path, PageBox(Box(10, 10, 20, 20), Page(7, 400, 200)), 90)
