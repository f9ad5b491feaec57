"""Pictures inside office files: an element at their place, and the words that only recognition can read.

They have no coordinates. The fingerprint of its bytes tells which element a recognised picture belongs to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from io import BytesIO

import numpy as np

from core.locations import InFile, LocatedText, Page
from extract.base import Element, Finding, Kind, Pictured, TextOrigin, UnitRead
from extract.images import TooManyPixels, Undecodable, open_image_bytes, page_pixels, page_size
from extract.places import fold_spaces, locate_text

# In pixels: smaller pictures are logos, icons and bullets.
SHORTEST_SIDE, FEWEST_PIXELS = 64, 20_000
MOST_PIXELS = 4_000_000
FEWEST_ALT_WORDS = 3
# Pictures of a unit, and the characters read in one of them; below this confidence they are texture.
MOST_PICTURES, MOST_RECOGNISED, FEWEST_SURE = 100, 2000, 0.6


@dataclass(frozen=True, slots=True)
class OfficePicture:
    """A picture's file, its alternative text, its place, and its name where the file has one."""

    content: bytes
    description: str = ""
    place: InFile | None = None
    name: str = ""

    @property
    def fingerprint(self) -> str:
        """The text by which the picture is found again."""
        return blake2b(self.name.encode() or self.content, digest_size=8).hexdigest()

    def element(self) -> Element:
        """Return the element at the picture's place; its text is the alternative text, if that says more than
        the name of a file.
        """
        text = fold_spaces(self.description)
        located = locate_text(text if len(text.split()) >= FEWEST_ALT_WORDS else "", self.place)
        return Element(Kind.PICTURE, located, picture=Pictured(None, self.fingerprint))


def read_pictures(pictures: Iterable[OfficePicture], number: int) -> Iterator[Finding]:
    """Yield each different picture of a unit with the words recognised in it, and the unit."""
    seen: set[str] = set()
    for picture in pictures:
        if picture.fingerprint not in seen and len(seen) < MOST_PICTURES:
            seen.add(picture.fingerprint)
            yield Pictured(None, picture.fingerprint, tuple(_words(picture)))
    yield UnitRead(number, TextOrigin.BLANK, pictures=len(seen))


def _words(picture: OfficePicture) -> list[LocatedText]:
    # Imported here because it loads the models' libraries.
    from extract.ocr.recognition import recognise

    try:
        with open_image_bytes(BytesIO(picture.content)) as image:
            width, height = page_size(image, 1)
            if min(width, height) < SHORTEST_SIDE or width * height < FEWEST_PIXELS:
                return []
            pixels = np.asarray(page_pixels(image, 1, MOST_PIXELS))
    except (Undecodable, TooManyPixels):  # a drawing (EMF, WMF, SVG), or damaged
        return []
    found = recognise(pixels, Page(1, width, height))
    if (found.confidence or 0) < FEWEST_SURE:
        return []
    texts = [element.text for element in found.elements]
    kept = texts if sum(map(len, texts)) <= MOST_RECOGNISED else []
    return [locate_text(text, picture.place) for text in kept]
