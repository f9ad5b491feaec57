"""Texts with one place, for the kinds of file without coordinates."""

from __future__ import annotations

from core.locations import InFile, InTime, LocatedText, Span, WordRun
from extract.base import Element, Kind
from extract.cleaning import clean


def locate_text(text: str, place: InFile | InTime | None = None) -> LocatedText:
    """Return text without characters that can't be stored, all of it at one place (or none)."""
    text = clean(text)
    if not text or place is None:
        return LocatedText(text)
    if isinstance(place, InFile):
        # Sheets have a million cells: this takes half the time of the general way.
        return LocatedText(text, (WordRun(place, ((0, len(text)),)),))
    return LocatedText.of_spans(text, [Span(0, len(text), place)])


def fold_spaces(text: str) -> str:
    """Return text with each run of white space as one space."""
    return " ".join(text.split())


def element(kind: Kind, text: str, place: InFile | InTime | None = None, level: int | None = None) -> Element:
    """Return an element with one place; its white space is kept."""
    return Element(kind, locate_text(text, place), level=level)
