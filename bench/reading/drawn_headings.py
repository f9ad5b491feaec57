"""Are the headings that are found any? `drawn_headings.json` holds 60 of them, labelled by hand.

They were drawn by chance from what the reader of 2026-11-25 found in the PDFs of `robustness` and `pdf_qa`
that `labelled_headings.json` does not name, and were looked at on the drawn pages. A part of a title is none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from bench.reading.documents import Document, fold
from bench.reading.headings import Wrong
from bench.reading.rates import Rate
from bench.reading.tables import Figure
from extract.base import Kind

LABELS = Path(__file__).with_name("drawn_headings.json")


def drawn_heading_figures(documents: Mapping[str, Document], wrong: list[Wrong]) -> list[Figure | Rate]:
    """Return how many of the drawn headings still found are headings, and how many all pages have."""
    labels = [label for label in json.loads(LABELS.read_text(encoding="utf-8")) if label["file"] in documents]
    found = {file: _headings(documents[file]) for file in {label["file"] for label in labels}}
    still = [each for each in labels if fold(each["text"]) in found[each["file"]].get(each["page"], ())]
    wrong += [
        Wrong(each["file"], each["page"], "false of drawn", each["text"])
        for each in still
        if not each["is_heading"]
    ]
    counts = [
        len(found[file].get(page, ())) for file in found for page in range(1, documents[file].page_count + 1)
    ]
    return [
        Figure("drawn headings that are headings", sum(each["is_heading"] for each in still), len(still)),
        Rate("headings per 100 pages of their files", tuple(counts)),
    ]


def _headings(document: Document) -> dict[int, list[str]]:
    """Return the headings of each page, folded."""
    found: dict[int, list[str]] = {}
    for element in document.elements:
        if element.kind is Kind.HEADING:
            found.setdefault(element.located.page_number() or 0, []).append(fold(element.text))
    return found
