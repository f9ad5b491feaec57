"""The type of running text, against which headings stand out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from extract.base import Element
from ingestion.structure.places import first_place_on_page

# A page with so many characters has running text of its own: the largest type with this share of them. What
# is as frequent and smaller are notes, captions, or what stands in figures.
ENOUGH_CHARS, ENOUGH_SHARE = 400, 0.25
# “RULES 13a-14(a) AND 15d-14(a)” is in capitals.
CAPITALS_SHARE = 0.85
EDGE_SHARE = 0.05


class Type(NamedTuple):
    """How most words of an element are set: size in points, weight, slope."""

    size: float
    bold: bool
    italic: bool

    @classmethod
    def of(cls, element: Element) -> Self:
        """Return the type of an element."""
        return cls(element.font_size or 0.0, element.bold, element.italic)


@dataclass(frozen=True, slots=True)
class Typography:
    """The running text of a document and of its pages, and the left edges at which paragraphs start."""

    whole: Type
    pages: Mapping[int, Type] = field(default_factory=dict)
    edges: frozenset[int] = frozenset()
    begun: Mapping[int, int] = field(default_factory=dict)
    """How many characters stand in paragraphs that begin at each left edge, in whole points."""

    @classmethod
    def of(cls, paragraphs: Iterable[Element]) -> Self:
        """Measure by characters, so that a hundred page numbers weigh less than a page of text."""
        whole: Counter[Type] = Counter()
        pages: defaultdict[int, Counter[Type]] = defaultdict(Counter)
        edges: Counter[int] = Counter()
        for element in paragraphs:
            if element.font_size is not None and (place := first_place_on_page(element)):
                type_, chars = Type.of(element), len(element.text)
                whole[type_] += chars
                pages[place.page.number][type_] += chars
                edges[round(place.box.x1)] += chars
        total = sum(edges.values())
        return cls(
            _usual(whole),
            {number: _usual(types) for number, types in pages.items() if types.total() >= ENOUGH_CHARS},
            frozenset(edge for edge, chars in edges.items() if chars >= EDGE_SHARE * total),
            edges,
        )

    def on_page(self, number: int) -> Type:
        """Return the type of a page, or the document's: appendices are often set in another size."""
        return self.pages.get(number, self.whole)


Look = tuple[Type, bool]
"""Type, and whether all is in capitals."""


def look_of(element: Element) -> Look:
    """Return how an element is set."""
    return Type.of(element), is_in_capitals(element.text)


def is_in_capitals(text: str) -> bool:
    """Return whether nearly all letters are capitals."""
    letters = [letter for letter in text if letter.isupper() or letter.islower()]
    return bool(letters) and sum(map(str.isupper, letters)) >= CAPITALS_SHARE * len(letters)


def _usual(types: Counter[Type]) -> Type:
    """Return the largest size with a fair share of the characters, and the weight and slope of most."""
    total = types.total()
    sizes: Counter[float] = Counter()
    for type_, chars in types.items():
        sizes[type_.size] += chars
    frequent = [size for size, chars in sizes.items() if chars >= ENOUGH_SHARE * total]
    bold = sum(chars for each, chars in types.items() if each.bold)
    italic = sum(chars for each, chars in types.items() if each.italic)
    usual = max(frequent) if frequent else _median(sizes)
    return Type(usual, bold > total / 2, italic > total / 2)


def _median(sizes: Counter[float]) -> float:
    reached = 0
    for size in sorted(sizes):
        reached += sizes[size]
        if reached >= sizes.total() / 2:
            return size
    return 0.0
