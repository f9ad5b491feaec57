"""The levels of headings: stated by the file, else by their numbers, else by how they are set.

Headings are read one after the other. Each ends those above it that are not outer to it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from core.text.numbering import Counting, Label
from extract.base import Element, Kind
from ingestion.structure.headings import Heading
from ingestion.structure.typography import Look, Type, is_in_capitals, look_of

DEEPEST = 9
# Sizes this close are the same.
SAME_SIZE = 1.04


@dataclass(frozen=True, slots=True)
class _Open:
    """A heading whose section has not ended."""

    heading: Heading
    level: int


def heading_levels(elements: Sequence[Element], headings: Sequence[Heading | None]) -> list[int | None]:
    """Return the level of each heading, 1 the outermost, and None for other elements."""
    stated = _stated_levels(elements)
    above: list[_Open] = []
    levels: list[int | None] = []
    for element, heading in zip(elements, headings, strict=True):
        level = element.level if element.kind is Kind.HEADING else None
        if heading is None and level is None:
            levels.append(None)
            continue
        heading = heading or Heading(Type.of(element), is_in_capitals(element.text))
        if level is None and heading.label is None:
            level = stated.get((heading.type, heading.capitals))
        if level is not None:
            above = [each for each in above if each.level < level]
        else:
            above = _outer(above, heading)
            level = min(above[-1].level + 1, DEEPEST) if above else 1
        above.append(_Open(heading, level))
        levels.append(level)
    return levels


def _stated_levels(elements: Sequence[Element]) -> dict[Look, int]:
    """Return the level that the file itself gives to headings that look so."""
    said: defaultdict[Look, Counter[int]] = defaultdict(Counter)
    for element in elements:
        if element.kind is Kind.HEADING and element.level and element.font_size:
            said[look_of(element)][element.level] += 1
    return {look: levels.most_common(1)[0][0] for look, levels in said.items()}


def _outer(above: list[_Open], heading: Heading) -> list[_Open]:
    """Return the open headings that are outer to the next one."""
    label = heading.label
    if label is not None:
        # Numbers decide among numbered headings, whatever stands between them.
        orders = [each.heading.label and _compare(each.heading.label, label) for each in above]
        if True in orders:
            return above[: len(orders) - orders[::-1].index(True)]
        if False in orders:
            return above[: orders.index(False)]
    kept = above
    while kept and not _is_outer(kept[-1].heading, heading):
        kept = kept[:-1]
    return kept


def _compare(other: Label, label: Label) -> bool | None:
    """Return whether `other` is outer to `label`, False if it ends there, None if their numbers can't say."""
    if {other.counting, label.counting} == {Counting.ROMAN, Counting.LETTER}:
        return other.counting is Counting.ROMAN
    if other.counting is Counting.DECIMAL and label.counting is Counting.LETTERED and label.depth == 1:
        return False  # an appendix ends the sections before it
    if other.counting is not label.counting:
        return None
    if other.counting is Counting.NAMED:
        return other.rank < label.rank
    return other.number == label.number[: other.depth] and other.depth < label.depth


def _is_outer(other: Heading, heading: Heading) -> bool:
    if other.label and other.label.counting is Counting.NAMED and _weight(other) >= _weight(heading):
        return True
    return _weight(other) > _weight(heading)


def _weight(heading: Heading) -> tuple[float, bool, bool, bool]:
    """Return what is greater for an outer heading; sizes within a few hundredths count as one."""
    size, bold, italic = heading.type
    return _step(size), bold, heading.capitals, not italic


def _step(size: float) -> int:
    step, at = 0, 1.0
    while at < size:
        at *= SAME_SIZE
        step += 1
    return step
