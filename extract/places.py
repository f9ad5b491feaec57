"""Texts with one place: what the kinds without coordinates are made of."""

from __future__ import annotations

from core.locations import InFile, InTime, LocatedText, Span, WordRun
from extract.base import Element, Kind
from extract.cleaning import clean


def located(text: str, place: InFile | InTime | None = None) -> LocatedText:
    """Return text, freed of characters that can't be stored, all of it at one place (or none)."""
    text = clean(text)
    if not text or place is None:
        return LocatedText(text)
    if isinstance(place, InFile):
        # Sheets have a million cells: this takes half the time of the general way.
        return LocatedText(text, (WordRun(place, ((0, len(text)),)),))
    return LocatedText.of_spans(text, [Span(0, len(text), place)])


def folded(text: str) -> str:
    """Return text with every run of white space as one space."""
    return " ".join(text.split())


def element(kind: Kind, text: str, place: InFile | InTime | None = None, level: int | None = None) -> Element:
    """Return an element of one place; its white space is kept."""
    return Element(kind, located(text, place), level=level)
