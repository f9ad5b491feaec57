"""Lines of text in an image: their places, their orientation, and their words.

The models come with the package `rapidocr` (PP-OCR). One finds lines as quadrilaterals, the other reads a
line that was cut out and turned upright. Between the two, this module decides which way up the page is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import rapidocr
from numpy.typing import NDArray
from rapidocr.ch_ppocr_rec import TextRecInput

from core.process.telemetry import switch_off
from extract.memory import allocation_errors, keep_few_arenas

Pixels = NDArray[np.uint8]
Quad = NDArray[np.float32]
"""Four corners (4, 2) of a line in pixels, clockwise, the first where its text starts at the top."""

MODELS = Path(rapidocr.__file__).parent / "models"
# More threads bring little, and each reserves address space, which is limited in the child.
THREADS = min(4, os.cpu_count() or 1)

# Lines are searched in a copy with at most so many pixels on its longer side, and at most so many altogether.
# Its shorter side has at least so many pixels if that needs no more than this enlargement. Lines are cut out
# of the full image. More pixels find no more lines but take memory: half a gigabyte for these.
LONGEST_SIDE, MOST_PIXELS, SHORTEST_SIDE, MOST_ENLARGED = 1280, 1_250_000, 736, 3.0
# A page this many times as long as wide (a receipt, a screenshot) is searched in strips. They are so many
# times as high as the page is wide, and overlap by so much.
LONG, STRIP, STRIP_OVERLAP = 2.0, 1.4, 0.1
# Lines with less confidence than this are dropped: dirt, pictures, ornaments.
LEAST_CONFIDENCE = 0.5
# Upside-down text is read with a confidence far below this. So many lines are sampled.
UPRIGHT, SAMPLED_LINES = 0.9, 4
# A line's direction is clear if it is at least so many times as long as wide.
ELONGATED = 1.5
LINE_HEIGHT, WIDTH_STEP, BATCH_WIDTH = 48, 160, 1920
# Boxes of lines include white space: this share of their height above, and as much below. Without it they are
# as high as their type.
SLACK = 0.11
# A character's column in the model's output is the first that shows it, not its middle.
COLUMN_MIDDLE = 0.2


@dataclass(frozen=True, slots=True)
class OcrLine:
    """A recognised line; starts and ends of its words are shares of the line's length."""

    quad: Quad
    words: list[str]
    starts: list[float]
    ends: list[float]
    confidence: float


def read_lines(image: Pixels) -> list[OcrLine]:
    """Return the lines of an RGB image in no particular order; raise `OutOfMemory`."""
    with allocation_errors():
        return _read_lines(image)


def _read_lines(image: Pixels) -> list[OcrLine]:
    quads = find_lines(image)
    if not quads:
        return []
    turn = _turn_of_page(image, quads)
    usual = [quad for quad in quads if not _runs_across(quad, turn)]
    across = [quad for quad in quads if _runs_across(quad, turn)]
    read = _read_quads(image, [_rotate_corners(quad, turn) for quad in usual])
    if across:
        one, other = (
            _read_quads(image, [_rotate_corners(quad, turn + by) for quad in across]) for by in (1, 3)
        )
        read += [max(pair, key=lambda line: line.confidence) for pair in zip(one, other, strict=True)]
    return [line for line in read if line.words and line.confidence >= LEAST_CONFIDENCE]


# --- Finding lines -----------------------------------------------------------------------------------------


def find_lines(image: Pixels) -> list[Quad]:
    """Return the quadrilaterals of text in an RGB image; the order of their corners is not final yet."""
    height, width = image.shape[:2]
    if height <= LONG * width:
        return _find_quads(image)
    step = round(STRIP * width)
    overlap = round(STRIP_OVERLAP * width)
    found: list[Quad] = []
    for top in range(0, height, step):
        above = max(0, top - overlap)
        quads = _find_quads(image[above : top + step + overlap])
        found += [
            quad + np.array((0, above), dtype=np.float32)
            for quad in quads
            if top <= quad[:, 1].mean() + above < top + step
        ]
    return found


def _find_quads(image: Pixels) -> list[Quad]:
    height, width = image.shape[:2]
    most = min(LONGEST_SIDE / max(height, width), (MOST_PIXELS / (height * width)) ** 0.5, MOST_ENLARGED)
    scale = min(most, max(1.0, SHORTEST_SIDE / min(height, width)))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    smaller = cv2.resize(image, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    found = _engine()(
        _to_bgr(smaller.astype(np.uint8, copy=False)), use_det=True, use_cls=False, use_rec=False
    )
    if found.boxes is None:
        return []
    back = np.array([width / size[0], height / size[1]])
    return [(np.asarray(box) * back).astype(np.float32) for box in found.boxes]


@cache
def _engine() -> Any:
    from rapidocr import EngineType, RapidOCR

    keep_few_arenas()
    switch_off()
    cv2.setNumThreads(THREADS)
    engine = EngineType.OPENVINO
    return RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.use_preprocess_img": False,
            "Global.return_word_box": True,
            "Det.engine_type": engine,
            "Det.model_path": str(MODELS / "PP-OCRv6_det_small.onnx"),
            # Images already have the size in which they are to be searched.
            "Det.limit_type": "max",
            "Det.limit_side_len": 10_000,
            "Rec.engine_type": engine,
            "Rec.model_path": str(MODELS / "PP-OCRv6_rec_small.onnx"),
            "EngineConfig.openvino.inference_num_threads": THREADS,
        }
    )


# --- Which way up ------------------------------------------------------------------------------------------


def _rotate_corners(quad: Quad, quarters: int) -> Quad:
    """Return the corners in the order of text that is turned clockwise by so many quarters."""
    return np.roll(quad, -quarters, axis=0)


def lengths(quad: Quad) -> tuple[float, float]:
    """Return length and height of a line: the first and the second side of its quadrilateral."""
    return float(np.linalg.norm(quad[1] - quad[0])), float(np.linalg.norm(quad[2] - quad[1]))


def _runs_across(quad: Quad, turn: int) -> bool:
    along, across = lengths(_rotate_corners(quad, turn))
    return across > ELONGATED * along


def _turn_of_page(image: Pixels, quads: list[Quad]) -> int:
    """Return by how many quarters, clockwise, most of the text is turned."""
    flat = sum(lengths(quad)[0] for quad in quads if not _runs_across(quad, 0))
    tall = sum(lengths(quad)[1] for quad in quads if _runs_across(quad, 0))
    turn = 1 if tall > flat else 0
    longest = sorted(quads, key=lambda quad: -lengths(_rotate_corners(quad, turn))[0])[:SAMPLED_LINES]
    upright = _confidence(image, longest, turn)
    if upright >= UPRIGHT or upright >= _confidence(image, longest, turn + 2):
        return turn
    return turn + 2


def _confidence(image: Pixels, quads: list[Quad], turn: int) -> float:
    lines = _read_quads(image, [_rotate_corners(quad, turn) for quad in quads])
    return float(np.mean([line.confidence for line in lines]))


# --- Reading lines -----------------------------------------------------------------------------------------


def _read_quads(image: Pixels, quads: Sequence[Quad]) -> list[OcrLine]:
    """Read the lines in quadrilaterals that start where their text does; keep their order."""
    read: dict[int, OcrLine] = {}
    for batch, width in _batches(quads):
        wanted = [quads[index] for index in batch]
        read.update(zip(batch, _lines_in(image, wanted, width), strict=True))
    return [read[index] for index in range(len(quads))]


def _batches(quads: Sequence[Quad]) -> Iterator[tuple[list[int], int]]:
    """Yield lines (by their index) of about the same width, and the width that holds them all.

    Widths increase in steps, because the runtime prepares and keeps a plan for each shape.
    """
    by_width: dict[int, list[int]] = {}
    for index, quad in enumerate(quads):
        along, across = lengths(quad)
        steps = np.ceil(LINE_HEIGHT * along / max(across, 1) / WIDTH_STEP)
        by_width.setdefault(max(2, int(steps)) * WIDTH_STEP, []).append(index)
    for width, indexes in sorted(by_width.items()):
        size = max(1, BATCH_WIDTH // width)
        for start in range(0, len(indexes), size):
            yield indexes[start : start + size], width


def _cut_out(image: Pixels, quad: Quad) -> Pixels:
    along, across = lengths(quad)
    width, height = max(1, round(along)), max(1, round(across))
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32)
    to_flat = cv2.getPerspectiveTransform(quad, corners)
    flat = cv2.warpPerspective(
        image, to_flat, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    return _to_bgr(flat.astype(np.uint8, copy=False))


def _to_bgr(pixels: Pixels) -> Pixels:
    """Return pixels as BGR. Only for small images: a copy of a whole page takes a hundred megabytes."""
    return np.ascontiguousarray(pixels[:, :, ::-1])


def _lines_in(image: Pixels, quads: list[Quad], width: int) -> Iterator[OcrLine]:
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
    inwards: Quad = np.concatenate([down, -down[::-1]]).astype(np.float32)
    return quad + inwards


def _line(quad: Quad, text: str, confidence: float, columns: list[int], count: float) -> OcrLine:
    """Return the line with its words placed by the output columns of their characters."""
    words = text.split()
    if not words:
        return OcrLine(quad, [], [], [], 0.0)
    middles = [(column + COLUMN_MIDDLE) / count for column in columns]
    half = (middles[-1] - middles[0]) / max(len(text.strip()) - 1, 1) / 2
    starts, ends = [], []
    at = 0
    for word in words:
        starts.append(max(0.0, middles[at] - half))
        at += len(word)
        ends.append(min(1.0, middles[at - 1] + half))
    return OcrLine(quad, words, starts, ends, confidence)
