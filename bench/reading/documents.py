"""Documents as the product reads them, beside what another reading of the same file says about them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import pymupdf

from core.errors import DocumentError
from extract.base import Element, Kind, Limits, Opened, Request
from extract.pdf.reader import extract
from ingestion.chunking import chunk_elements
from ingestion.language import language_of
from ingestion.structure.elements import structure_elements
from ingestion.token_counts import Tokenizer
from kb.chunks import ChunkDraft

LIMITS = Limits(2000)
BOLD = 1 << 4


class Line(NamedTuple):
    """A line as MuPDF reports it: its page from 1, its words, and whether they are bold."""

    page: int
    text: str
    bold: bool


class Entry(NamedTuple):
    """A heading that the file's outline names."""

    page: int
    title: str


@dataclass
class Document:
    """A PDF: what the product reads in it, and its lines and its outline as the truth to compare with."""

    path: Path
    page_count: int
    read: list[Element]
    outline: list[Entry]
    lines: list[Line]

    @cached_property
    def elements(self) -> list[Element]:
        """The structured elements."""
        return structure_elements(self.read)

    @cached_property
    def headings_without_outline(self) -> list[Element]:
        """The headings that are found if the file's outline is hidden from the product."""
        hidden = [
            replace(each, kind=Kind.PARAGRAPH, level=None) if each.kind is Kind.HEADING else each
            for each in self.read
        ]
        return [each for each in structure_elements(hidden) if each.kind is Kind.HEADING]

    @cached_property
    def language(self) -> str | None:
        """The language, as the product takes it to be."""
        return language_of(self.elements)

    def chunks(self, tokenizer: Tokenizer) -> list[ChunkDraft]:
        """Return the chunks in reading order."""
        return list(chunk_elements(self.elements, tokenizer, self.language))


def read_documents(folder: Path) -> Iterator[Document]:
    """Yield the PDFs under a folder that can be read and hold text."""
    for path in sorted(folder.rglob("*.pdf")):
        try:
            found = list(extract(path, Request(LIMITS)))
        except DocumentError:
            continue
        elements = [each for each in found if isinstance(each, Element) and each.kind is not Kind.HIDDEN]
        pages = next((each.page_count for each in found if isinstance(each, Opened)), None) or 0
        if elements:
            with pymupdf.open(path) as pdf:
                pdf.authenticate("")
                yield Document(path, pages, elements, list(_outline(pdf)), list(_lines(pdf)))


def fold(text: str) -> str:
    """Return letters and figures alone, in small letters."""
    return re.sub(r"\W+", "", text).casefold()


def fold_all(texts: Iterable[str]) -> list[str]:
    """Return `fold` of each text."""
    return [fold(text) for text in texts]


def _outline(pdf: pymupdf.Document) -> Iterator[Entry]:
    for _, title, page in pdf.get_toc(simple=True):
        if page > 0 and fold(title):
            yield Entry(page, title)


def _lines(pdf: pymupdf.Document) -> Iterator[Line]:
    for page in pdf.pages():
        for block in page.get_text("dict", flags=pymupdf.TEXT_PRESERVE_LIGATURES)["blocks"]:
            for line in block.get("lines", ()):
                text = " ".join("".join(span["text"] for span in line["spans"]).split())
                if text:
                    bold = any(
                        span["flags"] & BOLD or "bold" in span["font"].lower() for span in line["spans"]
                    )
                    yield Line(page.number + 1, text, bold)
