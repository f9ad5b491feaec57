"""Do the words of a document stand under their boxes? PDFium, another engine than the reader's, tells."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterable, Iterator

import pypdfium2

from bench.reading.documents import Document
from bench.reading.tables import Figure
from core.locations import PageLine

# So many pages of each document, drawn in the same way each time.
DRAWN, SEED = 2, 17
# Points around a box, in which PDFium takes a character's place to be.
AROUND = 0.5


def box_figure(documents: Iterable[Document], wrong: list[str]) -> Figure:
    """Return how many words of the drawn pages PDFium finds under their boxes; turned pages are left out."""
    hits = total = 0
    for document in documents:
        for page, word, under in _words(document):
            hits, total = hits + (word in under), total + 1
            if word not in under:
                wrong.append(f"{document.path.name} page {page}: {word} has {under[:30]} under its box")
    return Figure("words under their boxes", hits, total)


def _words(document: Document) -> Iterator[tuple[int, str, str]]:
    """Yield page, word and what PDFium finds under the word's box, all folded."""
    with pypdfium2.PdfDocument(document.path) as pdf:
        draw = random.Random(SEED)  # noqa: S311
        numbers = draw.sample(range(len(pdf)), min(DRAWN, len(pdf)))
        texts = {n + 1: _PageText(pdf[n]) for n in numbers if pdf[n].get_rotation() == 0}
        for element in document.read:
            for run in element.located.runs:
                if not isinstance(run.place, PageLine) or run.place.page.number not in texts:
                    continue
                under = texts[run.place.page.number]
                for start, end, *box in run.words:
                    if word := _fold(element.text[start:end]):
                        yield run.place.page.number, word, under.within(*box)


class _PageText:
    """What PDFium reads on a page; boxes count from the upper left corner of what is shown."""

    def __init__(self, page: pypdfium2.PdfPage) -> None:
        self._page, self._text = page, page.get_textpage()
        left, bottom, _, _ = page.get_cropbox()
        self._left, self._top = left, bottom + page.get_height()

    def within(self, x1: float, y1: float, x2: float, y2: float) -> str:
        """Return the folded text of a box."""
        return _fold(
            self._text.get_text_bounded(
                self._left + x1 - AROUND,
                self._top - y2 - AROUND,
                self._left + x2 + AROUND,
                self._top - y1 + AROUND,
            )
        )


def _fold(text: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).casefold()
