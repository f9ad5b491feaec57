"""Raises the figures of a page that a browser shows raised: marks of notes, exponents."""

from __future__ import annotations

import re

from lxml import etree

from core.text.raised import raised

SUPER = re.compile(r"vertical-align\s{0,9}:\s{0,9}super\b", re.IGNORECASE)
LONGEST_STYLE = 1000


def raise_figures(root: etree._Element) -> bool:
    """Raise the figures of `sup` elements and of those with such a style; tell whether there were any."""
    found = [node for node in root.iter("sup", "span", "font", "a") if _is_raised(node)]
    changed = [each for node in found for each in _texts(node) if _raise(each)]
    # Taking out the text of a page, a library would put a blank before that of this element.
    etree.strip_tags(root, "sup")
    return bool(changed)


def _is_raised(node: etree._Element) -> bool:
    return node.tag == "sup" or SUPER.search(node.get("style", "")[:LONGEST_STYLE]) is not None


def _texts(node: etree._Element) -> list[etree._Element]:
    return [each for each in node.iter() if isinstance(each.tag, str)]


def _raise(node: etree._Element) -> bool:
    text = (node.text or "").strip()
    figures = raised(text)
    if figures == text:
        return False
    node.text = figures
    return True
