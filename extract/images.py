"""Image files as documents: their pages upright, in RGB, without decoding a bomb.

Used by the processes that extract and draw documents, within their limits; it imports nothing of Django.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from pi_heif import register_heif_opener
from PIL import Image, ImageFile, ImageOps, UnidentifiedImageError

# Pillow's format names and ours. Only TIFF has pages; several images in other formats are an animation.
FILE_TYPES = {
    "PNG": "png",
    "JPEG": "jpg",
    "MPO": "jpg",
    "TIFF": "tiff",
    "WEBP": "webp",
    "BMP": "bmp",
    "DIB": "bmp",
    "GIF": "gif",
    "HEIF": "heic",
    "JPEG2000": "jp2",
}
FORMATS = [name for name in FILE_TYPES if name != "MPO"]  # an MPO file begins like a JPEG
# Memory that decoding may take: 64 megapixels in colour, 256 in black and white or grey.
MAX_BYTES = 256 * 2**20
BYTES_A_PIXEL = {"1": 1, "L": 1, "P": 1, "LA": 4, "I;16": 2, "I;16B": 2, "I;16L": 2}
SIXTEEN_BITS = ("I;16", "I;16B", "I;16L")
ORIENTATION = 0x0112
TURNED = (5, 6, 7, 8)

register_heif_opener(thumbnails=False)
# Our own limit is checked first, and raises an error rather than a warning.
Image.MAX_IMAGE_PIXELS = None


class TooManyPixels(ValueError):
    """An image that would take too much memory to decode."""


class Undecodable(ValueError):
    """The file is no image of a known format, or it is damaged."""


@contextmanager
def open_image(path: Path) -> Iterator[Image.Image]:
    """Open an image file without decoding it; raise `Undecodable`."""
    # Open by file object, not by path: by path Pillow maps a TIFF's pixels into memory and garbles a rotated
    # one.
    with path.open("rb") as file, open_image_bytes(file) as image:
        yield image


@contextmanager
def open_image_bytes(file: BinaryIO) -> Iterator[Image.Image]:
    """Open the image in an open file without decoding it; raise `Undecodable`."""
    try:
        image = Image.open(file, formats=FORMATS)
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise Undecodable from error
    with image:
        yield image


def page_count(image: Image.Image) -> int:
    """Return the number of pages: 1 except for TIFF; raise `Undecodable`."""
    if image.format != "TIFF":
        return 1
    try:
        return int(getattr(image, "n_frames", 1))
    except (OSError, ValueError, EOFError, SyntaxError) as error:
        raise Undecodable from error


def page_size(image: Image.Image, number: int) -> tuple[int, int]:
    """Return width and height in pixels of page `number` (from 1) as it is displayed.

    Raises `TooManyPixels` or `Undecodable`.
    """
    _turn_to(image, number)
    width, height = image.size
    return (height, width) if _orientation(image) in TURNED else (width, height)


def page_pixels(
    image: Image.Image, number: int, most: int | None = None, *, tolerant: bool = False
) -> Image.Image:
    """Return page `number` (from 1) as displayed, in RGB on white.

    It has at least `most` pixels if the file has them, but not many times more. `tolerant` fills missing
    parts of a damaged image with grey or black. Raises `TooManyPixels` or `Undecodable`.
    """
    _turn_to(image, number)
    try:
        ImageFile.LOAD_TRUNCATED_IMAGES = tolerant
        orientation = _orientation(image)
        page = _to_rgb(_shrink(image, most))
    except (OSError, ValueError, EOFError, SyntaxError, IndexError) as error:
        raise Undecodable from error
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = False
    page.getexif()[ORIENTATION] = orientation
    return ImageOps.exif_transpose(page)


def _orientation(image: Image.Image) -> int:
    """Return the rotation that is still to be applied, as an EXIF orientation."""
    if image.format == "TIFF":
        return 1  # Pillow itself rotates it on loading, and reports the final size
    try:
        return int(image.getexif().get(ORIENTATION, 1))
    except (OSError, ValueError, TypeError, EOFError, SyntaxError):
        return 1  # damaged: in a PNG the EXIF data may follow the pixels


def _turn_to(image: Image.Image, number: int) -> None:
    try:
        if number != 1 or image.format == "TIFF":
            image.seek(number - 1)
    except (OSError, ValueError, EOFError, SyntaxError) as error:
        raise Undecodable from error
    width, height = image.size
    if width * height * BYTES_A_PIXEL.get(image.mode, 4) > MAX_BYTES:
        raise TooManyPixels(f"{width} x {height} pixels")


def _shrink(image: Image.Image, most: int | None) -> Image.Image:
    """Return a smaller image where that is cheap, before the pixels take more bytes each."""
    width, height = image.size
    factor = int((width * height / most) ** 0.5) if most else 1
    if factor < 2:
        return image
    if image.format == "JPEG" and image.draft(None, (width // factor, height // factor)):
        return image
    # Pixels of these modes have no mean: bilevel becomes grey, palette indexes become colours.
    if image.mode in ("1", "P", "PA") or image.mode in SIXTEEN_BITS:
        image = _without_palette(image)
    return image.reduce(factor)


def _without_palette(image: Image.Image) -> Image.Image:
    if image.mode == "1":
        return image.convert("L")
    if image.mode in SIXTEEN_BITS:
        return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    return image.convert("RGBA" if "transparency" in image.info or image.mode == "PA" else "RGB")


def _to_rgb(image: Image.Image) -> Image.Image:
    """Return the image in RGB, transparent parts on white."""
    if image.mode in ("I", "F"):
        image = _stretch_greys(image)
    elif image.mode in ("P", "PA") or image.mode in SIXTEEN_BITS:
        image = _without_palette(image)
    if "transparency" in image.info or image.mode in ("RGBA", "LA", "La", "RGBa"):
        image = image.convert("RGBA")
        paper = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(paper, image)
    return image.convert("RGB")


def _stretch_greys(image: Image.Image) -> Image.Image:
    """Scale grey values of an unknown range to 0–255."""
    values = np.asarray(image, dtype=np.float32)
    low, high = float(values.min()), float(values.max())
    return Image.fromarray(((values - low) * (255 / max(high - low, 1e-9))).astype(np.uint8))
