"""Pages as pictures: of exactly the width asked for, whatever kind of document they are from."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from accounts.errors import NotFound, ValidationError
from kb.rendering import page_png
from tests.conftest import SAMPLES

WIDTHS = [1, 333, 1600]


def drawn(file: Path, cache: Path, number: int = 1, width: int = 300) -> Image.Image:
    return Image.open(io.BytesIO(page_png(file, cache, number, width).read_bytes()))


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
        page_png(SAMPLES / name, tmp_path, number, 100)


@pytest.mark.parametrize("name", ["notes.md", "speech.opus"])
def test_what_has_no_pages_cannot_be_drawn(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValidationError):
        page_png(SAMPLES / name, tmp_path, 1, 100)


def test_an_image_too_large_to_decode_is_not_drawn(tmp_path: Path) -> None:
    Image.new("1", (20_000, 20_000)).save(tmp_path / "huge.tiff", compression="group4")
    with pytest.raises(ValidationError):
        page_png(tmp_path / "huge.tiff", tmp_path / "pages", 1, 100)
