"""Sections: the elements of a document under their headings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from extract.base import Element, Kind
from ingestion.structure.run_in import run_in_title

# A section this short (in characters) is merged with the subsection that follows.
SHORT_SECTION = 200
# Run-in headings are below all others, and head their own paragraph alone, if it is so long. A heading in a
# path is no longer than so many characters.
RUN_IN_LEVEL, RUN_IN_CHARS, PATH_CHARS = 10, 300, 120
NOT_CONTENT = frozenset({Kind.PAGE_HEADER, Kind.PAGE_FOOTER, Kind.HIDDEN})


@dataclass(frozen=True, slots=True)
class HeadedSection:
    """The elements under a heading, itself included; `level` is the heading's, 0 before the first heading."""

    level: int
    headings: tuple[str, ...]
    elements: list[Element]


def sections(elements: Iterable[Element]) -> Iterator[HeadedSection]:
    """Group the elements that belong into chunks by their heading."""
    path: list[tuple[int, str]] = []
    section = HeadedSection(0, (), [])
    for element in elements:
        if element.kind in NOT_CONTENT or not (element.text or element.is_label):
            continue
        if element.kind is Kind.HEADING:
            if section.elements:
                yield section
            level = element.level or 1
            path = [(above, text) for above, text in path if above < level and text != element.text]
            path += [(level, element.text)] if element.text else []
            section = HeadedSection(level, _path_of(path), [])
            if element.is_label:
                continue
        elif element.lead and len(element.text) >= RUN_IN_CHARS:
            if section.elements:
                yield section
            own = (*section.headings, *_path_of([(RUN_IN_LEVEL, run_in_title(element))]))
            yield HeadedSection(RUN_IN_LEVEL, own, [element])
            section = HeadedSection(section.level, section.headings, [])
            continue
        section.elements.append(element)
    if section.elements:
        yield section


def _path_of(path: Iterable[tuple[int, str]]) -> tuple[str, ...]:
    """Return the headings of a path; a sentence that is one leaves room for those above it."""
    return tuple(
        text if len(text) <= PATH_CHARS else text[:PATH_CHARS].rsplit(None, 1)[0] + "…" for _, text in path
    )


def join_short_sections(all_sections: Iterable[HeadedSection]) -> Iterator[HeadedSection]:
    """Merge a section that is hardly more than its heading with its first subsection, under the latter's
    path."""
    waiting: HeadedSection | None = None
    for section in all_sections:
        if waiting and RUN_IN_LEVEL > section.level > waiting.level and _is_short(waiting):
            section = HeadedSection(section.level, section.headings, waiting.elements + section.elements)
        elif waiting:
            yield waiting
        waiting = section
    if waiting:
        yield waiting


def _is_short(section: HeadedSection) -> bool:
    return sum(len(element.text) for element in section.elements) <= SHORT_SECTION
