"""Pictures among a document's elements: each with its caption, its labels and the words recognised in it.

  elements in order + pictures found ─▶ the same elements, those of a picture together at its place

The elements of a picture leave the running text, so that no text appears twice.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from core.locations import Box, LocatedText, OnPage, PageBox, Span
from extract.base import Element, Kind, Pictured
from extract.labels import are_labels, is_caption
from extract.pdf.lines import enclosing_box

# A picture that is repeated on so many pages is decoration.
REPEATED = 3
# A paragraph that begins like a caption may be so far from its picture, in points. Any other must be so
# short, in characters, and so close.
LONGEST_CAPTION, CAPTION_GAP = 600, 40.0
SHORT, CLOSE, TOUCHING = 160, 14.0, -5.0
# Of two equally close paragraphs, the one below is the caption.
BELOW_FIRST = 2.0
# A heading in this share of a picture, from its top, also heads the text after the picture.
TITLE_SHARE = 0.25
RUNNING = frozenset({Kind.PAGE_HEADER, Kind.PAGE_FOOTER, Kind.HIDDEN})
# The words about a picture have no line on the page.
NO_LINE = 10_000_000


@dataclass(frozen=True, slots=True)
class Description:
    """A model's description of a picture."""

    text: str
    model: str


Descriptions = Mapping[PageBox, Description]


def with_pictures(
    elements: Sequence[Element], found: Sequence[Pictured], descriptions: Descriptions | None = None
) -> list[Element]:
    """Return structured elements with those of each picture together, as `Kind.PICTURE`.

    A picture about which nothing is known yet has one element without text. A background of text is no
    picture, nor is an image repeated on many pages.
    """
    pages = _Pages(elements)
    placed: defaultdict[int, list[Element]] = defaultdict(list)
    for picture in _distinct(found):
        labels = pages.labels(picture)
        if labels is not None and picture.area is not None:
            pages.pictured.append(picture.area)
            taken = pages.take(labels, pages.caption(picture.area, labels))
            at = taken[0] if taken else pages.index_below(picture.area)
            placed[at] += _of_picture(picture, [elements[index] for index in taken], descriptions or {})
    merged: list[Element] = []
    for index, element in enumerate(elements):
        merged += placed[index]
        merged += [] if index in pages.taken else [element]
    return list(_with_words(merged + placed[len(elements)], found))


def pictures_in(elements: Iterable[Element]) -> list[PageBox]:
    """Return the places of the pictures that `with_pictures` has placed."""
    areas = (element.picture.area for element in elements if element.picture)
    return list(dict.fromkeys(area for area in areas if area))


def _distinct(found: Sequence[Pictured]) -> Iterator[Pictured]:
    pages = Counter(picture.fingerprint for picture in found if picture.fingerprint)
    yield from (picture for picture in found if pages[picture.fingerprint] < REPEATED)


def _of_picture(picture: Pictured, own: Sequence[Element], descriptions: Descriptions) -> Iterator[Element]:
    yield from (replace(element, kind=Kind.PICTURE, level=None, picture=picture) for element in own)
    for words in picture.words:
        yield Element(Kind.PICTURE, words, picture=picture)
    description = descriptions.get(picture.area) if picture.area else None
    if picture.area and description:
        located = _anywhere_in(picture.area, description.text)
        yield Element(Kind.PICTURE, located, picture=picture, machine=description.model)
    elif not own and not picture.words:
        yield Element(Kind.PICTURE, LocatedText(""), picture=picture)


def _anywhere_in(area: PageBox, text: str) -> LocatedText:
    return LocatedText.of_spans(text, [Span(0, len(text), OnPage(area.page, NO_LINE, area.box))])


def _with_words(elements: Sequence[Element], found: Sequence[Pictured]) -> Iterator[Element]:
    """Yield the elements, those of pictures without coordinates with their captions and recognised words.

    A picture that is repeated often is decoration: only what its author says of it is kept.
    """
    words = {picture.fingerprint: picture.words for picture in found if picture.area is None}
    anchors = {index: one.picture for index, one in enumerate(elements) if _is_anchor(one) and one.picture}
    repeated = Counter(picture.fingerprint for picture in anchors.values())
    captions = {
        at: picture
        for index, picture in anchors.items()
        for at in (index + 1, index - 1)
        if 0 <= at < len(elements) and _is_caption_of(elements[at])
    }
    done: set[str] = set()
    for index, element in enumerate(elements):
        picture = anchors.get(index)
        if picture is None:
            yield _in_picture(element, captions.get(index) or _own_picture(element, index))
            continue
        yield element
        if repeated[picture.fingerprint] < REPEATED and picture.fingerprint not in done:
            done.add(picture.fingerprint)
            for located in words.get(picture.fingerprint, ()):
                yield Element(Kind.PICTURE, located, picture=picture)


def _is_anchor(element: Element) -> bool:
    """Whether an element stands at the place of a picture in a kind of file without coordinates."""
    return element.kind is Kind.PICTURE and element.picture is not None and element.picture.area is None


def _is_caption_of(element: Element) -> bool:
    """Whether an element beside a picture is its caption."""
    is_named = is_caption(element.text) and len(element.text) <= LONGEST_CAPTION
    return element.picture is None and (
        element.kind is Kind.CAPTION or (element.kind is Kind.PARAGRAPH and is_named)
    )


def _own_picture(element: Element, index: int) -> Pictured | None:
    """Return a picture for an alternative text whose picture is unknown."""
    return Pictured(None, f"{index:x}") if element.kind is Kind.PICTURE and element.picture is None else None


def _in_picture(element: Element, picture: Pictured | None) -> Element:
    return replace(element, kind=Kind.PICTURE, level=None, picture=picture) if picture else element


class _Pages:
    """Elements by page, and which of them belong to pictures."""

    def __init__(self, elements: Sequence[Element]) -> None:
        self.elements = elements
        self.taken: set[int] = set()
        self.pictured: list[PageBox] = []
        self._on: defaultdict[int, list[tuple[int, Box]]] = defaultdict(list)
        for index, element in enumerate(elements):
            number = element.located.page_number()
            if number is not None and element.kind not in RUNNING:
                boxes = [each.box for each in element.located.boxes() if each.page.number == number]
                self._on[number].append((index, enclosing_box(boxes)))

    def labels(self, picture: Pictured) -> list[int] | None:
        """Return the text in a picture.

        None if that is text for which the picture is a background, or if the picture is a part of another
        one.
        """
        if picture.area is None or any(area.holds(picture.area) for area in self.pictured):
            return None
        inside = [(index, box) for index, box in self._free(picture.area) if picture.area.box.holds(box)]
        texts = [self.elements[index].text for index, _ in inside]
        if not are_labels(texts) or any(self.elements[index].kind is Kind.TABLE for index, _ in inside):
            return None
        return [index for index, box in inside if not self._is_title(index, box, picture.area.box)]

    def caption(self, area: PageBox, labels: Sequence[int]) -> int | None:
        """Return the paragraph that is a picture's caption: it begins like one, or is short and close."""
        ranked = [
            (not is_named, gap, index)
            for index, box in self._free(area)
            if index not in labels and not area.box.holds(box)
            for gap, is_named in _gaps(self.elements[index], box, area.box)
        ]
        return min(ranked)[2] if ranked else None

    def take(self, labels: Sequence[int], caption: int | None) -> list[int]:
        """Remove the elements of a picture from the text; return them, the caption first."""
        taken = [*([] if caption is None else [caption]), *labels]
        self.taken.update(taken)
        return taken

    def index_below(self, area: PageBox) -> int:
        """Return the index of the element before which a picture comes: after the elements above it."""
        above = [index for index, box in self._on[area.page.number] if _stands_above(box, area.box)]
        if above:
            return max(above) + 1
        numbers = ((index, element.located.page_number()) for index, element in enumerate(self.elements))
        later = (index for index, number in numbers if number is not None and number >= area.page.number)
        return next(later, len(self.elements))

    def _free(self, area: PageBox) -> Iterator[tuple[int, Box]]:
        return ((index, box) for index, box in self._on[area.page.number] if index not in self.taken)

    def _is_title(self, index: int, box: Box, area: Box) -> bool:
        height = area.y2 - area.y1
        return self.elements[index].kind is Kind.HEADING and box.y1 < area.y1 + TITLE_SHARE * height


def _gaps(element: Element, box: Box, area: Box) -> Iterator[tuple[float, bool]]:
    """Yield a paragraph's distance from a picture, and whether it begins like a caption; nothing if it can't
    be its caption."""
    is_named = is_caption(element.text) and len(element.text) <= LONGEST_CAPTION
    is_short = element.kind in (Kind.PARAGRAPH, Kind.CAPTION) and len(element.text) <= SHORT
    shared = min(box.x2, area.x2) - max(box.x1, area.x1)
    if shared < min(box.x2 - box.x1, area.x2 - area.x1) / 2:
        return
    below, above = box.y1 - area.y2, area.y1 - box.y2
    gap = below if below >= TOUCHING else above + BELOW_FIRST
    if gap >= TOUCHING and ((is_named and gap <= CAPTION_GAP) or (is_short and gap <= CLOSE)):
        yield gap, is_named


def _stands_above(box: Box, area: Box) -> bool:
    return box.y2 <= area.y1 - TOUCHING and min(box.x2, area.x2) > max(box.x1, area.x1)
