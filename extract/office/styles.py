"""The styles of a Word document, as far as they describe paragraphs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Self

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
HEADING = re.compile(r"heading\s*([1-9])$", re.IGNORECASE)
BODY_LEVEL = 9
MAX_CHAIN = 20


@dataclass(frozen=True, slots=True)
class Style:
    """`level` is a heading's level, from 1; `is_list` says whether the paragraphs have bullets or numbers."""

    name: str = ""
    level: int | None = None
    is_list: bool = False
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Styles:
    """The paragraph styles of a document by id; "" is the style of paragraphs that name none."""

    by_id: dict[str, Style] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Any) -> Self:
        """Read `styles.xml`; None gives an empty set."""
        nodes = (
            {} if root is None else {node.get(f"{W}styleId") or "": node for node in root.iter(f"{W}style")}
        )
        return cls({style_id: _style(node, nodes) for style_id, node in nodes.items()})

    def get(self, style_id: str | None) -> Style:
        """Return a style; an unknown id gives a plain one."""
        return self.by_id.get(style_id or "", Style())


def _style(node: Any, nodes: dict[str, Any]) -> Style:
    """Return the style, with what it inherits from the styles it is based on."""
    name = value(node, "name") or ""
    level: int | None = None
    is_list = bold = False
    for _ in range(MAX_CHAIN):
        level = level if level is not None else _level(node)
        is_list = is_list or node.find(f"{W}pPr/{W}numPr") is not None
        bold = bold or is_on(node.find(f"{W}rPr/{W}b"))
        base = nodes.get(value(node, "basedOn") or "")
        if base is None:
            break
        node = base
    if name.lower() == "title":
        level = 1
    return Style(name, level if level != BODY_LEVEL + 1 else None, is_list or name.startswith("List "), bold)


def _level(node: Any) -> int | None:
    if match := HEADING.match(value(node, "name") or ""):
        return int(match[1])
    return outline_level(node.find(f"{W}pPr"))


def outline_level(properties: Any) -> int | None:
    """Return the level that a `pPr` sets, from 1; 10 is body text, None if it sets none."""
    given = value(properties, "outlineLvl") if properties is not None else None
    return int(given) + 1 if given and given.isdigit() and int(given) <= BODY_LEVEL else None


def value(node: Any, name: str) -> str | None:
    """Return the `w:val` of a child."""
    child = node.find(f"{W}{name}")
    return None if child is None else child.get(f"{W}val")


def is_on(toggle: Any) -> bool:
    """Whether a toggle property is present and not switched off."""
    return toggle is not None and toggle.get(f"{W}val") not in ("0", "false", "off", "none")
