"""Image files as documents: their pages, upright and in plain colours, without decoding a bomb.

Used by the processes that read and draw documents, within their limits; it imports nothing of Django.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from pi_heif import register_heif_opener
from PIL import Image, ImageFile, ImageOps, UnidentifiedImageError

# Formats as Pillow calls them, and we: several pages count in TIFF only, elsewhere they are an animation.
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
}
FORMATS = [name for name in FILE_TYPES if name != "MPO"]  # which begins as a JPEG
# What decoding takes in memory: 64 megapixels in colour, 256 in black and white or grey.
MAX_BYTES = 256 * 2**20
BYTES_A_PIXEL = {"1": 1, "L": 1, "P": 1, "LA": 4, "I;16": 2, "I;16B": 2, "I;16L": 2}
SIXTEEN_BITS = ("I;16", "I;16B", "I;16L")
ORIENTATION = 0x0112
TURNED = (5, 6, 7, 8)

register_heif_opener(thumbnails=False)
# Our own limit comes first, and is an error rather than a warning.
Image.MAX_IMAGE_PIXELS = None


class TooManyPixels(ValueError):
    """An image that would take too much memory to decode."""


class Undecodable(ValueError):
    """No image that we know, or one that is damaged."""


@contextmanager
def opened(path: Path) -> Iterator[Image.Image]:
    """Open an image file without decoding it; raise `Undecodable`."""
    with path.open("rb") as file:
        try:
            # Not by its path: Pillow then maps the pixels of a TIFF into memory, and garbles a turned one.
            image = Image.open(file, formats=FORMATS)
        except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
            raise Undecodable from error
        with image:
            yield image


def page_count(image: Image.Image) -> int:
    """Return how many pages the file has: 1 but for TIFF; raise `Undecodable`."""
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

    It comes with at least `most` pixels if it has them, but not with many times more. `tolerant` fills what
    is missing of a damaged image with grey or black. Raises `TooManyPixels` or `Undecodable`.
    """
    _turn_to(image, number)
    try:
        ImageFile.LOAD_TRUNCATED_IMAGES = tolerant
        orientation = _orientation(image)
        page = _in_rgb(_reduced(image, most))
    except (OSError, ValueError, EOFError, SyntaxError, IndexError) as error:
        raise Undecodable from error
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = False
    page.getexif()[ORIENTATION] = orientation
    return ImageOps.exif_transpose(page)


def _orientation(image: Image.Image) -> int:
    """Return how the image is still to be turned, as EXIF puts it."""
    if image.format == "TIFF":
        return 1  # Pillow itself turns it on loading, and knows before how it will be
    try:
        return int(image.getexif().get(ORIENTATION, 1))
    except (OSError, ValueError, TypeError, EOFError, SyntaxError):
        return 1  # damaged: in a PNG it may stand behind the pixels


def _turn_to(image: Image.Image, number: int) -> None:
    try:
        if number != 1 or image.format == "TIFF":
            image.seek(number - 1)
    except (OSError, ValueError, EOFError, SyntaxError) as error:
        raise Undecodable from error
    width, height = image.size
    if width * height * BYTES_A_PIXEL.get(image.mode, 4) > MAX_BYTES:
        raise TooManyPixels(f"{width} x {height} pixels")


def _reduced(image: Image.Image, most: int | None) -> Image.Image:
    """Return an image with fewer pixels where that is cheap, before each takes more bytes."""
    width, height = image.size
    factor = int((width * height / most) ** 0.5) if most else 1
    if factor < 2:
        return image
    if image.format == "JPEG" and image.draft(None, (width // factor, height // factor)):
        return image
    # These modes have no mean of colours: bilevel becomes grey, palettes spell their colours out.
    if image.mode in ("1", "P", "PA") or image.mode in SIXTEEN_BITS:
        image = _without_palette(image)
    return image.reduce(factor)


def _without_palette(image: Image.Image) -> Image.Image:
    if image.mode == "1":
        return image.convert("L")
    if image.mode in SIXTEEN_BITS:
        return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    return image.convert("RGBA" if "transparency" in image.info or image.mode == "PA" else "RGB")


def _in_rgb(image: Image.Image) -> Image.Image:
    """Return an image of any kind in RGB, what is transparent on white."""
    if image.mode in ("I", "F"):
        image = _stretched(image)
    elif image.mode in ("P", "PA") or image.mode in SIXTEEN_BITS:
        image = _without_palette(image)
    if "transparency" in image.info or image.mode in ("RGBA", "LA", "La", "RGBa"):
        image = image.convert("RGBA")
        paper = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(paper, image)
    return image.convert("RGB")


def _stretched(image: Image.Image) -> Image.Image:
    """Return an image with an unknown range of greys in the usual one."""
    values = np.asarray(image, dtype=np.float32)
    low, high = float(values.min()), float(values.max())
    return Image.fromarray(((values - low) * (255 / max(high - low, 1e-9))).astype(np.uint8))
