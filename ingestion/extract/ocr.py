"""Optical character recognition: lines, words and their boxes from the pixels of a page.

The models are those in the wheel of `rapidocr` (PP-OCR): one finds lines as quadrilaterals, one reads a line
that has been cut out and turned upright. Between the two this module decides which way up the page is, and
after them it puts the lines in order (`ingestion.extract.ocr_layout`). It runs in the limited child process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import rapidocr
from numpy.typing import NDArray
from rapidocr.ch_ppocr_rec import TextRecInput

from ingestion.extract.base import Element, Kind
from ingestion.extract.cleaning import clean
from ingestion.extract.memory import keep_few_arenas
from ingestion.extract.ocr_layout import LineShape, paragraphs
from kb.locations import Box, LocatedText, OnPage, Page

OCR_DPI = 200
"""At this resolution a page should be drawn to be recognised: see `bench.recognition`."""

Pixels = NDArray[np.uint8]
Quad = NDArray[np.float32]
"""Four corners (4, 2) of a line in pixels, clockwise, the first where its text starts at the top."""

MODELS = Path(rapidocr.__file__).parent / "models"
# More threads than this gain little, and each reserves address space, of which the child has little.
THREADS = min(4, os.cpu_count() or 1)

# Lines are looked for in a copy with at most so many pixels, on its longer side and altogether, and at least
# so many on its shorter side if that takes no more than this enlargement; they are cut out of the full image.
# More pixels find no more lines, but take memory: half a gigabyte for these.
LONGEST_SIDE, MOST_PIXELS, SHORTEST_SIDE, MOST_ENLARGED = 1280, 1_250_000, 736, 3.0
# A page twice as long as it is wide (a receipt, a screenshot) is looked at in strips, so many times as high
# as the page is wide, that overlap by so much.
LONG, STRIP, STRIP_OVERLAP = 2.0, 1.4, 0.1
# Lines that the model itself believes in less than this are dropped: dirt, pictures, ornaments.
LEAST_CONFIDENCE = 0.5
# Upside-down text reads with a confidence far below this.
UPRIGHT, ASKED = 0.9, 4
# A line of which it is clear which way it runs is so many times as long as wide.
ELONGATED = 1.5
LINE_HEIGHT, WIDTH_STEP, BATCH_WIDTH = 48, 160, 1920
# Lines are found with some white around them: this share of their height above and as much below. Without it
# they are as high as their type is large.
SLACK = 0.11
# A character's column in the output of the model is the first that shows it, not its middle.
COLUMN_MIDDLE = 0.2
# Words of a line stand closer together than this many times its height, or may be in different columns; not
# so those of headlines, which are so many times as large as the running text.
WIDE, LARGE = 0.7, 1.5
# Sizes so close to that of the running text are the same.
SAME_SIZE = 1.15


@dataclass(frozen=True, slots=True)
class Recognised:
    """The paragraphs of a page in reading order; `confidence` is the mean over its words, 0 to 1."""

    elements: list[Element]
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Line:
    """A line that was read; where its words start and end is given as a share of the line's length."""

    quad: Quad
    words: list[str]
    starts: list[float]
    ends: list[float]
    confidence: float


def recognise(pixels: Pixels, page: Page, first_line: int = 0) -> Recognised:
    """Read an image (height, width, 3 of RGB) that shows the whole `page`.

    Boxes are on the page as it is displayed, whichever way its text runs. Lines count from `first_line`.
    """
    image = np.ascontiguousarray(pixels[:, :, ::-1])
    lines = read_lines(image)
    if not lines:
        return Recognised([], None)
    scale = page.width / image.shape[1], page.height / image.shape[0]
    elements = list(_elements(lines, page, scale, first_line))
    total = sum(len(line.words) for line in lines)
    return Recognised(elements, sum(line.confidence * len(line.words) for line in lines) / total)


def read_lines(image: Pixels) -> list[Line]:
    """Return the lines of a BGR image in no particular order."""
    quads = find_lines(image)
    if not quads:
        return []
    turn = _turn_of_page(image, quads)
    usual = [quad for quad in quads if not _runs_across(quad, turn)]
    across = [quad for quad in quads if _runs_across(quad, turn)]
    read = _read(image, [_turned(quad, turn) for quad in usual])
    if across:
        one, other = (_read(image, [_turned(quad, turn + by) for quad in across]) for by in (1, 3))
        read += [max(pair, key=lambda line: line.confidence) for pair in zip(one, other, strict=True)]
    return [line for line in read if line.words and line.confidence >= LEAST_CONFIDENCE]


# --- Finding lines -----------------------------------------------------------------------------------------


def find_lines(image: Pixels) -> list[Quad]:
    """Return where there is text in a BGR image; which corner comes first says nothing yet."""
    height, width = image.shape[:2]
    if height <= LONG * width:
        return _find(image)
    step = round(STRIP * width)
    overlap = round(STRIP_OVERLAP * width)
    found: list[Quad] = []
    for top in range(0, height, step):
        above = max(0, top - overlap)
        quads = _find(image[above : top + step + overlap])
        found += [
            quad + np.float32((0, above)) for quad in quads if top <= quad[:, 1].mean() + above < top + step
        ]
    return found


def _find(image: Pixels) -> list[Quad]:
    height, width = image.shape[:2]
    most = min(LONGEST_SIDE / max(height, width), (MOST_PIXELS / (height * width)) ** 0.5, MOST_ENLARGED)
    scale = min(most, max(1.0, SHORTEST_SIDE / min(height, width)))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    smaller = cv2.resize(image, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    found = _engine()(smaller, use_det=True, use_cls=False, use_rec=False)
    if found.boxes is None:
        return []
    back = np.array([width / size[0], height / size[1]])
    return [(np.asarray(box) * back).astype(np.float32) for box in found.boxes]


@cache
def _engine() -> Any:
    from rapidocr import EngineType, RapidOCR

    keep_few_arenas()
    cv2.setNumThreads(THREADS)
    engine = EngineType.OPENVINO
    return RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.use_preprocess_img": False,
            "Global.return_word_box": True,
            "Det.engine_type": engine,
            "Det.model_path": str(MODELS / "PP-OCRv6_det_small.onnx"),
            # Images come in the size in which they shall be looked at.
            "Det.limit_type": "max",
            "Det.limit_side_len": 10_000,
            "Rec.engine_type": engine,
            "Rec.model_path": str(MODELS / "PP-OCRv6_rec_small.onnx"),
            "EngineConfig.openvino.inference_num_threads": THREADS,
        }
    )


# --- Which way up ------------------------------------------------------------------------------------------


def _turned(quad: Quad, quarters: int) -> Quad:
    """Start at the corner where text that is turned clockwise by so many quarters starts."""
    return np.roll(quad, -quarters, axis=0)


def _lengths(quad: Quad) -> tuple[float, float]:
    """Return how long the first side is, and the second."""
    return float(np.linalg.norm(quad[1] - quad[0])), float(np.linalg.norm(quad[2] - quad[1]))


def _runs_across(quad: Quad, turn: int) -> bool:
    along, across = _lengths(_turned(quad, turn))
    return across > ELONGATED * along


def _turn_of_page(image: Pixels, quads: list[Quad]) -> int:
    """Return by how many quarters, clockwise, most of the text is turned."""
    flat = sum(_lengths(quad)[0] for quad in quads if not _runs_across(quad, 0))
    tall = sum(_lengths(quad)[1] for quad in quads if _runs_across(quad, 0))
    turn = 1 if tall > flat else 0
    longest = sorted(quads, key=lambda quad: -_lengths(_turned(quad, turn))[0])[:ASKED]
    upright = _confidence(image, longest, turn)
    if upright >= UPRIGHT or upright >= _confidence(image, longest, turn + 2):
        return turn
    return turn + 2


def _confidence(image: Pixels, quads: list[Quad], turn: int) -> float:
    lines = _read(image, [_turned(quad, turn) for quad in quads])
    return float(np.mean([line.confidence for line in lines]))


# --- Reading lines -----------------------------------------------------------------------------------------


def _read(image: Pixels, quads: Sequence[Quad]) -> list[Line]:
    """Read the lines in quadrilaterals that start where their text does; keep their order."""
    read: dict[int, Line] = {}
    for batch, width in _batches(quads):
        wanted = [quads[index] for index in batch]
        read.update(zip(batch, _lines_in(image, wanted, width), strict=True))
    return [read[index] for index in range(len(quads))]


def _batches(quads: Sequence[Quad]) -> Iterator[tuple[list[int], int]]:
    """Yield lines (by their index) of about the same width, and the width that holds them all.

    Widths go up in steps: the runtime prepares, and keeps, something for each shape that it has seen.
    """
    by_width: dict[int, list[int]] = {}
    for index, quad in enumerate(quads):
        along, across = _lengths(quad)
        steps = np.ceil(LINE_HEIGHT * along / max(across, 1) / WIDTH_STEP)
        by_width.setdefault(max(2, int(steps)) * WIDTH_STEP, []).append(index)
    for width, indexes in sorted(by_width.items()):
        size = max(1, BATCH_WIDTH // width)
        for start in range(0, len(indexes), size):
            yield indexes[start : start + size], width


def _cut_out(image: Pixels, quad: Quad) -> Pixels:
    along, across = _lengths(quad)
    width, height = max(1, round(along)), max(1, round(across))
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32)
    to_flat = cv2.getPerspectiveTransform(quad, corners)
    flat = cv2.warpPerspective(
        image, to_flat, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    return flat.astype(np.uint8, copy=False)


def _lines_in(image: Pixels, quads: list[Quad], width: int) -> Iterator[Line]:
    cut = [_cut_out(image, quad) for quad in quads]
    reader = _engine()._load_rec_model()
    reader.rec_image_shape = [3, LINE_HEIGHT, width]
    reader.rec_batch_num = len(cut)
    found = reader(TextRecInput(img=cut, return_word_box=True))
    for quad, text, confidence, info in zip(quads, found.txts, found.scores, found.word_results, strict=True):
        columns = [column for group in info.word_cols for column in group]
        yield _line(_without_slack(quad), text, float(confidence), columns, info.line_txt_len)


def _without_slack(quad: Quad) -> Quad:
    down = SLACK * np.array([quad[3] - quad[0], quad[2] - quad[1]])
    return quad + np.concatenate([down, -down[::-1]])


def _line(quad: Quad, text: str, confidence: float, columns: list[int], count: float) -> Line:
    """Place words by the columns of the model's output in which their characters turned up."""
    words = text.split()
    if not words:
        return Line(quad, [], [], [], 0.0)
    middles = [(column + COLUMN_MIDDLE) / count for column in columns]
    half = (middles[-1] - middles[0]) / max(len(text.strip()) - 1, 1) / 2
    starts, ends = [], []
    at = 0
    for word in words:
        starts.append(max(0.0, middles[at] - half))
        at += len(word)
        ends.append(min(1.0, middles[at - 1] + half))
    return Line(quad, words, starts, ends, confidence)


# --- Onto the page -----------------------------------------------------------------------------------------


def _elements(
    lines: list[Line], page: Page, scale: tuple[float, float], first_line: int
) -> Iterator[Element]:
    most = LARGE * _usual_height(lines)
    pieces = [
        (number, piece)
        for number, line in enumerate(lines)
        for piece in (_pieces(line) if _height(line) < most else [line])
    ]
    order = paragraphs(_shapes(pieces))
    sizes = _sizes([piece for _, piece in pieces], order, scale)
    count = first_line
    for indexes, size in zip(order, sizes, strict=True):
        words: list[tuple[str, OnPage]] = []
        for _, row in groupby(indexes, key=lambda index: pieces[index][0]):
            placed = (word for index in row for word in _words(pieces[index][1], page, scale))
            words += [(word, OnPage(page, count, box)) for word, box in placed]
            count += 1
        if words:
            yield Element(Kind.PARAGRAPH, LocatedText.of_words(words), font_size=size)


def _pieces(line: Line) -> Iterator[Line]:
    """Cut a line where there is so much room between two words that they may stand in different columns."""
    along, across = _lengths(line.quad)
    room = WIDE * across / max(along, 1)
    cuts = [at for at in range(1, len(line.words)) if line.starts[at] - line.ends[at - 1] > room]
    for start, end in pairwise([0, *cuts, len(line.words)]):
        yield replace(
            line, words=line.words[start:end], starts=line.starts[start:end], ends=line.ends[start:end]
        )


def _shapes(pieces: list[tuple[int, Line]]) -> list[LineShape]:
    """Return pieces as they stand when the page is turned so that most of its text is level."""
    lines = [line for _, line in pieces]
    along = sum((line.quad[1] - line.quad[0] for line in lines), np.zeros(2))
    right = along / max(float(np.linalg.norm(along)), 1e-9)
    upright = np.array([right, (-right[1], right[0])]).T
    shapes = []
    for number, line in pieces:
        corners = _part(line.quad, line.starts[0], line.ends[-1]) @ upright
        box = Box(*map(float, (*corners.min(axis=0), *corners.max(axis=0))))
        shapes.append(LineShape(box, (line.ends[0] - line.starts[0]) * _lengths(line.quad)[0], number))
    return shapes


def _words(line: Line, page: Page, scale: tuple[float, float]) -> Iterator[tuple[str, Box]]:
    for word, start, end in zip(line.words, line.starts, line.ends, strict=True):
        text = "".join(clean(word).split())
        if text:
            yield text, _box(line.quad, start, end, page, scale)


def _part(quad: Quad, start: float, end: float) -> Quad:
    top, bottom = quad[1] - quad[0], quad[2] - quad[3]
    return np.array(
        [quad[0] + start * top, quad[0] + end * top, quad[3] + end * bottom, quad[3] + start * bottom]
    )


def _box(quad: Quad, start: float, end: float, page: Page, scale: tuple[float, float]) -> Box:
    corners = _part(quad, start, end)
    limits = page.width, page.height
    low, high = (np.clip(edge * scale, 0, limits) for edge in (corners.min(axis=0), corners.max(axis=0)))
    return Box(float(low[0]), float(low[1]), float(high[0]), float(high[1]))


def _sizes(lines: list[Line], order: list[list[int]], scale: tuple[float, float]) -> list[float]:
    """Return the size of type of each paragraph in points: that of the running text where it is close."""
    heights = [_height(line) * scale[1] for line in lines]
    usual = round(_usual_height(lines) * scale[1], 1)
    sizes = (float(np.median([heights[index] for index in indexes])) for indexes in order)
    return [usual if usual / SAME_SIZE < size < usual * SAME_SIZE else round(size, 1) for size in sizes]


def _height(line: Line) -> float:
    return _lengths(line.quad)[1]


def _usual_height(lines: list[Line]) -> float:
    """Return the height at which most of the text is set, in pixels."""
    order = sorted(lines, key=_height)
    reached = np.cumsum([sum(map(len, line.words)) for line in order])
    return _height(order[int(np.searchsorted(reached, reached[-1] / 2))])
