"""Raises the figures of an OpenDocument text that are shown raised: marks of notes, exponents."""

from __future__ import annotations

import re

from lxml import etree

from core.text.raised import raised
from extract.office.odf_hidden import STYLE, TEXT

ABOVE = re.compile(r"super|[1-9]\d{0,2}(?:\.\d{1,3})?%")
"""What `style:text-position` begins with; below the line it is “sub” or less than 0 %."""


def raise_figures(root: etree._Element) -> None:
    """Raise the figures of all spans in `content.xml` whose style is above the line."""
    names = {
        style.get(f"{STYLE}name")
        for style in root.iter(f"{STYLE}style")
        for look in style.iterchildren(f"{STYLE}text-properties")
        if ABOVE.match(look.get(f"{STYLE}text-position") or "")
    }
    for span in root.iter(f"{TEXT}span"):
        if span.text and span.get(f"{TEXT}style-name") in names:
            span.text = raised(span.text)
