"""The lines of a PDF page: the visible ones and, separately, the hidden ones.

MuPDF reports blocks, lines and words in unrotated coordinates of the crop box; `page.rotation_matrix`
converts them to the displayed page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.locations import Box, Page
from core.text.raised import raised
from extract.cleaning import clean
from extract.pdf.font_codes import decode, has_codes
from extract.pdf.lines import PdfLine, enclosing_box
from extract.pdf.mupdf import pymupdf
from extract.pdf.raised_marks import MARK_SIZE
from extract.pdf.visibility import OPAQUE_ENOUGH, TINY, Ink, Painting, Pixels

# Ligatures are expanded, so that a search for “financial” finds “ﬁnancial”.
TEXT_FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
SUPERSCRIPT, ITALIC, BOLD = 1 << 0, 1 << 1, 1 << 4
BOLD_NAME = re.compile(r"bold|black|heavy|-medi\b", re.IGNORECASE)
# Small capitals emphasise as italics do.
ITALIC_NAME = re.compile(r"ital|obli|csc\d|small-?caps", re.IGNORECASE)
FILLED_OR_STROKED, CLIPS = 1 << 4 | 1 << 5, 1 << 6
# A stamp runs along this share of the page's width at its edges, over this share of its height.
UPRIGHT, STAMP_MARGIN, STAMP_SHARE = 0.9, 0.1, 0.2
# Boxes of words are so many times as high as their type, in most fonts.
GLYPH_HEIGHT = 1.35
# The two highest bits of red, green and blue.
LIGHT = 0xC0C0C0
MAX_PAINTED_PIXELS = 4_000_000
# Text outside the page is never read; warnings mention it for so many pages of a document. Searching takes a
# fifth of the time of reading, and doing both at once would find other lines.
PAGES_SEARCHED_OUTSIDE = 10

Spans = list[dict[str, Any]]
Key = tuple[int, int]
"""The numbers of a block and of a line in it."""


@dataclass(slots=True)
class VisibleText:
    """The words of a page: blocks of lines and, separately, stamps along a margin, and the hidden words."""

    blocks: list[list[PdfLine]] = field(default_factory=list)
    stamps: list[tuple[str, Box]] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)


def read_lines(page: pymupdf.Page, shown: Page) -> VisibleText:
    """Return the words of a page in the order of its content stream."""
    text_page = page.get_textpage(flags=TEXT_FLAGS)
    content, placed = text_page.extractDICT(), text_page.extractWORDS()
    if has_codes(content):
        content, placed = decode(text_page.extractRAWDICT())
    spans = _spans(content)
    stamps = _stamps(content, page, shown)
    painting = Painting(lambda: _paint_page(page), lambda: _picture_boxes(page), shown.width, shown.height)
    found = VisibleText()
    words = _place_words(placed, page, shown)
    for _, in_block in groupby(words, key=itemgetter(0)):
        block = []
        for key, in_line in groupby(in_block, key=itemgetter(0, 1)):
            # MuPDF's words sometimes name a line that its dictionary lacks.
            of_line = spans.get(key, [])
            seen = _visible_words(_with_raised(list(in_line), of_line), of_line, painting, found.hidden)
            if seen and key in stamps:
                found.stamps += seen
            elif seen:
                box = enclosing_box([box for _, box in seen])
                look = _font(of_line) if of_line else _guessed_type(box)
                block.append(PdfLine(*look, seen, box, _lead(of_line)))
        if block:
            found.blocks.append(block)
    if page.number < PAGES_SEARCHED_OUTSIDE:
        found.hidden += _words_off_page(page, shown)
    return found


def _spans(content: dict[str, Any]) -> dict[Key, Spans]:
    return {
        (block["number"], number): line["spans"]
        for block in content["blocks"]
        for number, line in enumerate(block.get("lines", ()))
    }


def _stamps(content: dict[str, Any], page: pymupdf.Page, shown: Page) -> set[Key]:
    """Return the lines that run along the left or right margin, across the direction of the other lines: the
    stamps of preprint servers."""
    lines = {
        (block["number"], number): line
        for block in content["blocks"]
        for number, line in enumerate(block.get("lines", ()))
    }
    across = [key for key, line in lines.items() if abs(line["dir"][1]) > UPRIGHT]
    # On a page that lies on its side, all of its lines are upright.
    if not across or 2 * len(across) > len(lines):
        return set()
    boxes = {key: pymupdf.Rect(lines[key]["bbox"]) * page.rotation_matrix for key in across}
    margin = STAMP_MARGIN * shown.width
    return {
        key
        for key, box in boxes.items()
        if (box.x1 <= margin or box.x0 >= shown.width - margin)
        and box.y1 - box.y0 >= STAMP_SHARE * shown.height
    }


def _guessed_type(box: Box) -> tuple[float, bool, bool]:
    """Return a type for a line of which only the box is known."""
    return round((box.y2 - box.y1) / GLYPH_HEIGHT * 2) / 2, False, False


Type = tuple[float, bool, bool]
"""Size, bold, italic."""


def _font(spans: Spans) -> Type:
    """Return the type of most of a line; in small capitals, the size of the large ones."""
    if len(spans) == 1:  # most lines have one span: a counter costs more than all the rest
        return _type(spans[0])
    counts: Counter[Type] = Counter()
    for span in spans:
        counts[_type(span)] += len(span["text"].strip())
    if not counts:
        return 0.0, False, False
    size, bold, italic = counts.most_common(1)[0][0]
    if "".join([span["text"] for span in spans]).isupper():
        size = max(of_span for of_span, *_ in counts)
    return size, bold, italic


def _lead(spans: Spans) -> int:
    """Return how many words at the beginning are bold or italic, unlike the next one."""
    if len(spans) < 2:
        return 0
    _, bold, italic = _type(spans[0])
    if not (bold or italic):
        return 0
    for at, span in enumerate(spans):
        _, is_bold, is_italic = _type(span)
        if span["text"].strip() and not (is_bold if bold else is_italic):
            return len("".join([each["text"] for each in spans[:at]]).split())
    return 0


def _type(span: dict[str, Any]) -> Type:
    flags, font = span["flags"], span["font"]
    bold = bool(flags & BOLD or BOLD_NAME.search(font))
    italic = bool(flags & ITALIC or ITALIC_NAME.search(font))
    return round(span["size"] * 2) / 2, bold, italic


# --- Where words stand -------------------------------------------------------------------------------------

Placed = tuple[int, int, str, Box | None]
"""The block and line numbers of a word, its characters, and its box; None if it lies outside the page."""


def _place_words(words: list[Any], page: pymupdf.Page, shown: Page) -> Iterator[Placed]:
    corners = _displayed_corners(words, page).round(2)
    clamped = corners.clip(0, (shown.width, shown.height) * 2)
    for (_, _, _, _, word, block, line, _), is_on, box in zip(
        words, _are_on(corners, shown).tolist(), clamped.tolist(), strict=True
    ):
        yield block, line, word, Box(*box) if is_on else None


def _words_off_page(page: pymupdf.Page, shown: Page) -> list[str]:
    """Return the words outside the shown part of the page."""
    text_page = page.get_textpage(
        clip=pymupdf.INFINITE_RECT(), flags=TEXT_FLAGS & ~pymupdf.TEXT_MEDIABOX_CLIP
    )
    words = text_page.extractWORDS()
    are_on = _are_on(_displayed_corners(words, page).round(2), shown).tolist()
    cleaned = (_clean_word(word[4]) for word, is_on in zip(words, are_on, strict=True) if not is_on)
    return [word for word in cleaned if word]


def _are_on(corners: NDArray[np.float64], shown: Page) -> NDArray[np.bool_]:
    """Return for each word whether its middle is on the page."""
    middles = (corners[:, :2] + corners[:, 2:]) / 2
    within: NDArray[np.bool_] = (middles >= 0) & (middles <= (shown.width, shown.height))
    return within[:, 0] & within[:, 1]


def _with_raised(words: list[Placed], spans: Spans) -> list[Placed]:
    """Return the words of a line with figures raised that are drawn so: “pieces.¹”, “$0.16²”."""
    if len(spans) < 2 or not any(span["flags"] & SUPERSCRIPT for span in spans):
        return words
    type_of_line = max(span["size"] for span in spans)
    shown = ["".join(span["text"].split()) for span in spans]
    drawn = [
        raised(text) if span["flags"] & SUPERSCRIPT and span["size"] <= MARK_SIZE * type_of_line else text
        for span, text in zip(spans, shown, strict=True)
    ]
    # If spans and words hold different characters, they can't be matched.
    if "".join(shown) != "".join(word for _, _, word, _ in words):
        return words
    letters = iter("".join(drawn))
    return [(block, line, "".join(islice(letters, len(word))), box) for block, line, word, box in words]


def _clean_word(word: str) -> str:
    return " ".join(clean(word).split())


def _displayed_corners(words: list[Any], page: pymupdf.Page) -> NDArray[np.float64]:
    """Return the corners of words (left, top, right, bottom) on the displayed page, shape (words, 4)."""
    corners = np.array([word[:4] for word in words]).reshape(-1, 4)
    if not page.rotation:
        return corners
    matrix: Any = page.rotation_matrix
    a, b, c, d, e, f = matrix
    xs, ys = corners[:, 0::2], corners[:, 1::2]
    across, down = a * xs + c * ys + e, b * xs + d * ys + f
    return np.stack([across.min(1), down.min(1), across.max(1), down.max(1)], axis=1)


# --- What can be seen --------------------------------------------------------------------------------------


def _visible_words(
    words: list[Placed], spans: Spans, painting: Painting, hidden: list[str]
) -> list[tuple[str, Box]]:
    """Return the visible words of a line with their boxes; add the others to `hidden`."""
    inks = [] if all(map(_is_plain, spans)) else _inks(spans)
    # If spans and words hold different characters, they can't be matched.
    if not inks or len(inks) != sum(len(word) for _, _, word, _ in words):
        # Most words are plain, too, and there are hundreds on a page.
        return [
            (text, box)
            for _, _, word, box in words
            if box is not None and (text := word if word.isascii() and word.isalnum() else _clean_word(word))
        ]
    seen: list[tuple[str, Box]] = []
    at = 0
    for _, _, word, box in words:
        if box is not None and (text := _clean_word(word)):
            if painting.hides(inks[at], box):
                hidden.append(text)
            else:
                seen.append((text, box))
        at += len(word)
    return seen


def _is_plain(span: dict[str, Any]) -> bool:
    """Whether nothing about a span suggests that it is hidden."""
    return bool(
        span["alpha"] >= OPAQUE_ENOUGH
        and span["size"] >= TINY
        and span["color"] & LIGHT != LIGHT
        and span["char_flags"] & FILLED_OR_STROKED
    )


def _inks(spans: Spans) -> list[Ink]:
    """Return the ink of each character that is not white space."""
    return [ink for span in spans for ink in [_ink(span)] * len("".join(span["text"].split()))]


def _ink(span: dict[str, Any]) -> Ink:
    colour, (left, _, right, _) = span["color"], span["bbox"]
    # Letters that clip something else have no colour of their own.
    is_window = span["char_flags"] & CLIPS and not span["alpha"]
    return Ink(
        colour=(colour >> 16 & 255, colour >> 8 & 255, colour & 255),
        opacity=span["alpha"],
        is_painted=bool(span["char_flags"] & FILLED_OR_STROKED) and not is_window,
        size=span["size"],
        width=(right - left) / max(len(span["text"]), 1),
    )


def _paint_page(page: pymupdf.Page) -> Pixels:
    """Return the page as displayed, one pixel per point."""
    scale = min(1.0, (MAX_PAINTED_PIXELS / max(abs(page.rect), 1.0)) ** 0.5)
    pixmap = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False, colorspace=pymupdf.csRGB)
    return np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3)


def _picture_boxes(page: pymupdf.Page) -> list[Box]:
    """Return the boxes of pictures on the displayed page."""
    turned = (pymupdf.Rect(picture["bbox"]) * page.rotation_matrix for picture in page.get_image_info())
    return [Box(*rect) for rect in turned]
