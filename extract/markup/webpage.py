"""The main content of a web page, separated from its surroundings by trafilatura."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from lxml import etree

from extract.base import Element, Kind
from extract.grids import table_elements
from extract.places import element, fold_spaces, locate_text

# With py3langid, trafilatura could guess languages, but would load NumPy first: half of the time a page
# takes.
_is_left_out = sys.modules.setdefault("py3langid", None) is None  # type: ignore[arg-type]
from trafilatura import bare_extraction  # noqa: E402

if _is_left_out:
    del sys.modules["py3langid"]

# Less text than this means that the content was not found, rather than a short page.
FEWEST_CHARS = 200


def main_elements(text: str) -> list[Element]:
    """Return the elements of a page's main content; none if it can't be identified."""
    found = bare_extraction(text, include_comments=False, include_tables=True, favor_recall=True)
    body = getattr(found, "body", None)
    if body is None or len(fold_spaces("".join(body.itertext()))) < FEWEST_CHARS:
        return []
    return list(_elements(body))


def _elements(body: etree._Element) -> Iterator[Element]:
    """Yield the elements of trafilatura's own small markup: head, p, list, item, table, quote, code."""
    walker = etree.iterwalk(body, events=("start",))
    for _, node in walker:
        if node.tag == "table":
            yield from table_elements([locate_text(_text(cell)) for cell in row] for row in node.iter("row"))
        elif node.tag in ("head", "item", "p", "quote", "code"):
            yield from _block(node)
        else:
            continue
        walker.skip_subtree()


def _block(node: etree._Element) -> Iterator[Element]:
    text = _text(node)
    if not text:
        return
    if node.tag == "head":
        rend = node.get("rend") or "h2"
        yield element(Kind.HEADING, text, level=int(rend[1]) if rend[1:2].isdigit() else 2)
    else:
        yield element(Kind.LIST_ITEM if node.tag == "item" else Kind.PARAGRAPH, text)


def _text(node: etree._Element) -> str:
    return fold_spaces(" ".join(str(part) for part in node.itertext()))
