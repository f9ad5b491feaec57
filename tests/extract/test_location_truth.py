"""The words in a chunk's boxes are the chunk's words: the promise everything else stands on."""

from __future__ import annotations

import random
import sys
from itertools import groupby
from pathlib import Path

import numpy as np
import pymupdf
import pytest

from core.locations import LocatedText, PageBox
from extract.base import Element
from extract.sandbox.parent import SandboxLimits, extract
from ingestion.chunking import chunk_elements
from ingestion.structure.elements import structure_elements
from kb.chunks import ChunkDraft
from kb.embedding import embedding_model
from tests.extract.truth import folded, holds, is_clipped_right, text_inside, words_of
from tests.testing.paths import SAMPLES

LIMITS = SandboxLimits(timeout_secs=120, memory_bytes=2 * 2**30, max_pages=5000)
OURS = ["report.pdf", "no_password.pdf", "turned.pdf"]


def drafts(path: Path) -> list[ChunkDraft]:
    """Extract and chunk a file as the pipeline does."""
    elements = [finding for finding in extract(path, LIMITS) if isinstance(finding, Element)]
    return list(chunk_elements(structure_elements(elements), embedding_model(), "en"))


def stored(draft: ChunkDraft) -> LocatedText:
    """Return the text and places as they come back from the database."""
    return LocatedText.load(draft.located.text, draft.located.dump())


@pytest.mark.parametrize("name", OURS)
def test_every_chunk_of_our_samples_stands_where_it_says(name: str) -> None:
    path = SAMPLES / name
    found = drafts(path)
    assert found
    for draft in found:
        assert holds(path, stored(draft)), draft.located.text


@pytest.mark.parametrize("name", OURS)
def test_every_sentence_stands_where_it_says(name: str) -> None:
    path = SAMPLES / name
    for draft in drafts(path):
        located = stored(draft)
        for start, end in draft.sentences:
            words = located.slice(start, end)
            lines = folded(text_inside(path, words.boxes()))
            assert folded(words_of(words)) in lines


def test_a_table_stands_with_its_caption_and_footnote_where_they_are(tmp_path: Path) -> None:
    path = tmp_path / "table.pdf"
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        page.insert_text((72, 60), "The keepers count what the lamps burn in every year.", fontsize=11)
        page.insert_text((72, 100), "Table 3: What the lamps burn", fontsize=10)
        for row, cells in enumerate(
            (("", "2023", "2022"), ("Lamp oil (1)", "70", "80"), ("Wicks", "7", "9"))
        ):
            for column, cell in enumerate(cells):
                page.insert_text((72 + 130 * column, 120 + 14 * row), cell, fontsize=10)
        page.insert_text((72, 164), "(1) Without what was spilled at night.", fontsize=8)
        pdf.save(path)
    [chunk] = [draft for draft in drafts(path) if draft.is_table]
    text = chunk.located.text
    assert text.startswith("Table 3: What the lamps burn\n\n|")
    assert text.endswith("|\n\n(1) Without what was spilled at night.")
    assert holds(path, stored(chunk))


@pytest.mark.slow("corpora")
def test_at_least_98_of_100_chunks_of_the_real_reports_stand_where_they_say(
    shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = sorted((shared_data / "pdf_qa").glob("*/docs/*.pdf"))
    chunks = [(path, draft) for path in paths for draft in drafts(path)]
    picked = sorted(random.Random(20).sample(range(len(chunks)), 200))
    sample = [(path, stored(draft)) for path, draft in (chunks[index] for index in picked)]
    wrong = [located.text[:80] for path, located in sample if not holds(path, located)]
    every_other = sample[::2]  # clipping takes a third of a second for each chunk
    clipped_wrong = [
        located.text[:80] for path, located in every_other if not is_clipped_right(path, located)
    ]
    with capsys.disabled():
        right, clipped_right = 200 - len(wrong), 100 - len(clipped_wrong)
        sys.stdout.write(f"\nLocation truth: {right} of 200 chunks out of {len(chunks)} by the centres of ")
        sys.stdout.write(f"characters, {clipped_right} of 100 by PyMuPDF's own clipping.\n")
    assert len(wrong) <= 4, wrong
    assert len(clipped_wrong) <= 2, clipped_wrong


def test_boxes_cover_the_ink_of_turned_and_cropped_pages() -> None:
    """Rendering knows nothing of text: all ink must lie in boxes, which proves the coordinates themselves."""
    path = SAMPLES / "turned.pdf"
    boxes = [box for draft in drafts(path) for box in draft.located.boxes()]
    pages = {number: list(group) for number, group in groupby(boxes, key=lambda box: box.page.number)}
    with pymupdf.open(path) as pdf:
        assert len(pages) == pdf.page_count == 8
        for page in pdf:
            outside, inside = ink(page, pages[page.number + 1])
            assert inside > 1000
            assert outside < 0.02 * inside


def ink(page: pymupdf.Page, boxes: list[PageBox]) -> tuple[int, int]:
    """Return the number of dark pixels outside and inside the boxes, half a pixel of antialiasing allowed."""
    image = page.get_pixmap(colorspace=pymupdf.csGRAY)
    dark = (
        np.frombuffer(image.samples, dtype=np.uint8).reshape(image.height, image.stride)[:, : image.width]
        < 128
    )
    covered = np.zeros_like(dark)
    for box in (box.box for box in boxes):
        covered[int(box.y1) : int(box.y2 + 1.5), int(box.x1) : int(box.x2 + 1.5)] = True
    return int((dark & ~covered).sum()), int((dark & covered).sum())
