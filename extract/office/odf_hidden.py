"""Removes what an OpenDocument text holds but does not show from its XML, before it is read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from extract.places import fold_spaces

FO = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
STYLED = (f"{TEXT}span", f"{TEXT}p", f"{TEXT}h")
HIDING = (f"{TEXT}hidden-text", f"{TEXT}hidden-paragraph")
POINTS = re.compile(r"(?<![\d.])(\d++(?:\.\d++)?+|\.\d++)pt$")
TINY = 2.0
WHITE = re.compile("#f[0-9a-f]f[0-9a-f]f[0-9a-f]$", re.IGNORECASE)
# Elements that may have a background on which text is visible.
BACKED = ("table-cell", "text-box", "custom-shape", "section")


def take_hidden(root: etree._Element) -> str:
    """Remove hidden text from `content.xml`; return it."""
    styles = {node.get(f"{STYLE}name"): node for node in root.iter(f"{STYLE}style")}
    gone = {name for name, style in styles.items() if any(map(_is_off, _properties(style)))}
    white = {name for name, style in styles.items() if any(map(_is_white, _properties(style)))}
    found = []
    for node in list(root.iter(*STYLED, *HIDING)):
        name = node.get(f"{TEXT}style-name")
        hides = node.tag in HIDING and node.get(f"{TEXT}is-hidden") != "false"
        if hides or name in gone or (name in white and not _has_background(node, styles)):
            found.append(" ".join(str(part) for part in node.itertext()))
            _empty(node)
    return fold_spaces(" ".join(found))


def _properties(style: etree._Element) -> Iterator[etree._Element]:
    return style.iterchildren(f"{STYLE}text-properties")


def _is_off(look: etree._Element) -> bool:
    size = POINTS.match(look.get(f"{FO}font-size") or "")
    return look.get(f"{TEXT}display") == "none" or (size is not None and float(size[1]) < TINY)


def _is_white(look: etree._Element) -> bool:
    return WHITE.match(look.get(f"{FO}color") or "") is not None


def _has_background(node: etree._Element, styles: dict[str | None, etree._Element]) -> bool:
    around = [node, *node.iterancestors()]
    if any(str(each.tag).endswith(BACKED) for each in around):
        return True
    worn = (styles.get(each.get(f"{TEXT}style-name")) for each in around)
    looks = (look for style in worn if style is not None for look in style)
    return any(look.get(f"{FO}background-color", "transparent") != "transparent" for look in looks)


def _empty(node: etree._Element) -> None:
    tail = node.tail
    node.clear()
    node.tail = tail
