"""Images as documents: every format and mode, upright, and never a bomb."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from core.errors import DocumentError
from extract.base import Element, Finding, Limits, Opened, Request, TextOrigin, UnitRead, Warned
from extract.errors import Corrupted, FileTooLarge, TooManyPages
from extract.ocr.image import extract
from tests.samples.make import BODY, CHAPTERS
from tests.testing.paths import SAMPLES

LIMITS = Limits(10)
ORIENTATION = 0x0112
# How a camera writes an image that is displayed as the sample: turned the other way.
STORED = {3: Image.Transpose.ROTATE_180, 6: Image.Transpose.ROTATE_90, 8: Image.Transpose.ROTATE_270}


def read(path: Path, units: tuple[int, ...] | None = None) -> list[Finding]:
    return list(extract(path, Request(LIMITS, units, deep=True)))


def text(findings: list[Finding]) -> str:
    return " ".join(finding.text for finding in findings if isinstance(finding, Element))


@pytest.fixture(scope="module")
def page() -> Image.Image:
    """The upper half of the scanned page, in grey."""
    with Image.open(SAMPLES / "scan.png") as image:
        return image.convert("L").crop((0, 100, image.width, image.height // 2))


def transparent(page: Image.Image) -> Image.Image:
    ink = Image.new("RGBA", page.size, "black")
    ink.putalpha(Image.fromarray(255 - np.asarray(page)))
    return ink


MODES = {
    "bilevel.tiff": lambda page: page.convert("1"),
    "palette.gif": lambda page: page.convert("P"),
    "sixteen.png": lambda page: Image.fromarray(np.asarray(page).astype(np.uint16) * 257),
    "float.tiff": lambda page: Image.fromarray(np.asarray(page).astype(np.float32) / 255),
    "cmyk.jpg": lambda page: page.convert("CMYK"),
    "transparent.png": transparent,
    "transparent.webp": transparent,
    "grey_transparent.png": lambda page: transparent(page).convert("LA"),
    "plain.bmp": lambda page: page,
}


@pytest.mark.parametrize("name", MODES)
def test_every_kind_of_image_is_read(name: str, page: Image.Image, tmp_path: Path) -> None:
    MODES[name](page).save(tmp_path / name)
    opened, *findings = read(tmp_path / name)
    assert isinstance(opened, Opened)
    assert (opened.file_type, opened.units, opened.page_count) == (name.rpartition(".")[2], 1, 1)
    assert CHAPTERS[0] in text(findings)
    assert BODY[0][:60] in text(findings)
    last = findings[-1]
    assert isinstance(last, UnitRead)
    assert last.source is TextOrigin.OCR
    assert (last.confidence or 0) > 0.9


def test_a_photo_as_phones_take_them() -> None:
    """Only decoded here: what encodes such files is under another licence."""
    opened, *findings = read(SAMPLES / "photo.heic")
    assert opened == Opened("heic", "image/heic", units=1, page_count=1)
    assert CHAPTERS[0] in text(findings)


@pytest.mark.parametrize("orientation", STORED)
@pytest.mark.parametrize("name", ["photo.jpg", "photo.png", "plain.tiff", "packed.tiff"])
def test_boxes_are_where_the_turned_image_shows_the_words(
    name: str, orientation: int, page: Image.Image, tmp_path: Path
) -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    how: dict[str, Any] = {"compression": "tiff_lzw"} if name.startswith("packed") else {}
    if name.endswith("tiff"):
        how["tiffinfo"] = {ORIENTATION: orientation}
    page.transpose(STORED[orientation]).save(tmp_path / name, exif=exif.tobytes(), **how)
    page.save(tmp_path / "upright.png")
    boxes = [
        [[round(value, -1) for value in box.as_json()["bbox"]], box.page]
        for box in next(f for f in read(tmp_path / name) if isinstance(f, Element)).located.boxes()
    ]
    wanted = next(f for f in read(tmp_path / "upright.png") if isinstance(f, Element)).located.boxes()
    assert [box[1] for box in boxes] == [box.page for box in wanted]
    for (found, _), box in zip(boxes, wanted, strict=True):
        assert found == pytest.approx(box.as_json()["bbox"], abs=12)


def test_pages_are_known_before_they_are_read() -> None:
    findings = list(extract(SAMPLES / "scans.tiff", Request(LIMITS)))
    opened = Opened("tiff", "image/tiff", units=2, page_count=2)
    assert findings == [opened, UnitRead(1, TextOrigin.PENDING), UnitRead(2, TextOrigin.PENDING)]


def test_only_the_pages_asked_for_are_read_and_a_turned_one_too() -> None:
    _, *findings = read(SAMPLES / "scans.tiff", units=(2,))
    assert BODY[1] in text(findings)
    assert [finding.number for finding in findings if isinstance(finding, UnitRead)] == [2]
    places = [span.place.page for f in findings if isinstance(f, Element) for span in f.located.spans]
    assert {(place.number, place.width > place.height) for place in places} == {(2, True)}


def test_a_blank_page_is_blank(tmp_path: Path) -> None:
    Image.new("L", (300, 400), 255).save(tmp_path / "blank.png")
    assert read(tmp_path / "blank.png")[1:] == [UnitRead(1, TextOrigin.BLANK)]


def test_an_animation_is_its_first_picture(page: Image.Image, tmp_path: Path) -> None:
    page.save(tmp_path / "moving.gif", save_all=True, append_images=[Image.new("L", page.size)] * 3)
    opened, *findings = read(tmp_path / "moving.gif")
    assert opened == Opened("gif", "image/gif", units=1, page_count=1)
    assert CHAPTERS[0] in text(findings)


@pytest.mark.parametrize("name", ["cut.png", "cut.jpg"])
def test_what_is_left_of_an_image_that_was_cut_off(name: str, page: Image.Image, tmp_path: Path) -> None:
    page.save(tmp_path / name)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: len(content) * 2 // 3])
    _, *findings = read(tmp_path / name)
    assert [finding.code for finding in findings if isinstance(finding, Warned)] == ["repaired"]
    assert CHAPTERS[0] in text(findings)


def test_an_image_with_nothing_left_is_corrupted(page: Image.Image, tmp_path: Path) -> None:
    page.save(tmp_path / "cut.jpg")
    (tmp_path / "cut.jpg").write_bytes((tmp_path / "cut.jpg").read_bytes()[:800])
    with pytest.raises(Corrupted):
        read(tmp_path / "cut.jpg")


def bomb() -> bytes:
    """Return a PNG of a few bytes that says it has 3,600 million pixels."""
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(100))), (b"IEND", b""))
    packed = (struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d)) for t, d in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


@pytest.mark.parametrize(
    ("content", "error"),
    [(bomb(), FileTooLarge), (b"\x89PNG\r\n\x1a\nrest", Corrupted), (b"GIF89a", Corrupted)],
)
def test_what_is_refused_at_once(content: bytes, error: type[DocumentError], tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(content)
    with pytest.raises(error):
        list(extract(tmp_path / "image", Request(LIMITS)))


def test_too_many_pages_are_refused() -> None:
    with pytest.raises(TooManyPages):
        list(extract(SAMPLES / "scans.tiff", Request(Limits(1))))
