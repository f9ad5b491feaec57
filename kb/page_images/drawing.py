"""The process that draws a page, or a box on it, of an untrusted file.

`python -m kb.page_images.drawing FILE PAGE WIDTH [X1 Y1 X2 Y2]` writes a PNG to its standard output. It exits
with 3 if there is no such page and 4 if the file can't be drawn. It imports nothing of Django, because
starting is most of the time that a page takes.
"""

from __future__ import annotations

import resource
import sys
from io import BytesIO
from pathlib import Path

from core.confinement.limits import limit_this_process, lower_priority
from core.locations import Box

MAX_PIXELS = 60_000_000
MAX_PNG_BYTES = 256 * 2**20
PDF_HEADER_WITHIN = 1024
# An image is drawn with so many times the pixels a side and then reduced, so that it is sharp.
ENLARGED = 2
MEMORY_BYTES = 2 * 2**30
TIMEOUT_SECS = 10
NO_SUCH_PAGE, UNDRAWABLE = 3, 4


def draw(file: Path, number: int, width: int, box: Box | None = None) -> bytes | None:
    """Return the PNG of a page, or of a `box` on it, at `width` pixels; None if there is no such page.

    It parses the document in the caller's process.
    """
    with file.open("rb") as opened:
        is_pdf = b"%PDF-" in opened.read(PDF_HEADER_WITHIN)
    return (_draw_pdf if is_pdf else _draw_image)(file, number, width, box)


def _draw_pdf(file: Path, number: int, width: int, box: Box | None) -> bytes | None:
    from extract.pdf.mupdf import open_pdf, pymupdf

    with open_pdf(file) as pdf:
        if pdf.needs_pass:
            pdf.authenticate("")
        if not 1 <= number <= pdf.page_count:
            return None
        page = pdf[number - 1]
        shown = pymupdf.Rect(box) & page.rect if box else page.rect
        height = _height(shown.width, shown.height, width)
        scale = width / shown.width
        pixmap = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False, clip=shown)
        if (pixmap.width, pixmap.height) != (width, height):
            pixmap = pymupdf.Pixmap(pixmap, width, height)
        return bytes(pixmap.tobytes("png"))


def _draw_image(file: Path, number: int, width: int, box: Box | None) -> bytes | None:
    from PIL import Image

    from extract.images import open_image, page_count, page_pixels, page_size

    with open_image(file) as image:
        if not 1 <= number <= page_count(image):
            return None
        across, down = page_size(image, number)
        box = box or Box(0, 0, across, down)
        height = _height(box.x2 - box.x1, box.y2 - box.y1, width)
        # Draw the whole page with so many pixels that the box has enough of them.
        share = (box.x2 - box.x1) * (box.y2 - box.y1) / (across * down)
        page = page_pixels(image, number, round(ENLARGED**2 * width * height / share), tolerant=True)
    x, y = page.width / across, page.height / down
    part = box.x1 * x, box.y1 * y, min(box.x2 * x, page.width), min(box.y2 * y, page.height)
    png = BytesIO()
    page.resize((width, height), Image.Resampling.LANCZOS, part, reducing_gap=ENLARGED).save(png, "PNG")
    return png.getvalue()


def _height(page_width: float, page_height: float, width: int) -> int:
    """Return the height that keeps the proportions; raise `ValueError` if that is too large to draw."""
    height = max(1, round(page_height * width / page_width))
    if width * height > MAX_PIXELS:
        raise ValueError("too many pixels")
    return height


def _main(file: str, number: str, width: str, *edges: str) -> int:
    # Its output is a file, so no page may fill the disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_PNG_BYTES, MAX_PNG_BYTES))
    lower_priority()
    limit_this_process(MEMORY_BYTES, TIMEOUT_SECS, Path(file))
    try:
        png = draw(Path(file), int(number), int(width), Box(*map(float, edges)) if edges else None)
    except (RuntimeError, ValueError, MemoryError):
        return UNDRAWABLE
    if png is None:
        return NO_SUCH_PAGE
    sys.stdout.buffer.write(png)
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
