"""From a tree of HTML to elements: one walk in document order, without recursion."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from extract.base import Element, Kind
from extract.entries import paragraphs
from extract.grids import table_elements
from extract.markup.surroundings import PageSurroundings
from extract.markup.tables import grid, is_data_table
from extract.places import element, fold_spaces

# Elements that a browser does not show, or shows as controls.
UNSEEN = frozenset(
    [
        "script",
        "style",
        "template",
        "noscript",
        "head",
        "svg",
        "math",
        "iframe",
        "object",
        "embed",
        "applet",
        "canvas",
        "audio",
        "video",
        "map",
        "select",
        "datalist",
        "button",
        "input",
        "textarea",
    ]
)
BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "center",
        "dd",
        "details",
        "dialog",
        "dir",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "frameset",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "menu",
        "nav",
        "ol",
        "option",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
        "caption",
    ]
)
HEADINGS = {f"h{level}": level for level in range(1, 7)}
CONTENT = frozenset({"article", "main", "section"})
FEWEST_ALT_WORDS = 3
LINE_END = "\u2028"
"""What `br` becomes: a line feed of the source ends no line."""


def blocks(root: etree._Element) -> Iterator[Element]:
    """Yield the headings, paragraphs, list items, tables and described pictures below a node.

    Navigation, what else surrounds the content, and the page's foot are marked as running heads and feet:
    kept, but no content.
    """
    return _Walk(root).elements()


class _Walk:
    """The state of the walk: the text collected since the last block boundary, and the blocks around it."""

    def __init__(self, root: etree._Element) -> None:
        self.walker = etree.iterwalk(root, events=("start", "end"))
        self.text: list[str] = []
        self.open_kinds: list[tuple[Kind, int | None]] = [(Kind.PARAGRAPH, None)]
        self.skipped: etree._Element | None = None
        self.surroundings = PageSurroundings.of(root).nodes

    def elements(self) -> Iterator[Element]:
        """Yield the elements in document order."""
        for event, node in self.walker:
            if not isinstance(node.tag, str):
                self._after(node, event)
            elif event == "start":
                yield from self._start(node, node.tag.lower())
            else:
                yield from self._end(node, node.tag.lower())
        yield from self._flush()

    def _start(self, node: etree._Element, tag: str) -> Iterator[Element]:
        if tag in UNSEEN:
            self._skip(node)
        elif tag == "img":
            yield from self._picture(node)
        elif tag == "table" and is_data_table(node):
            yield from self._flush()
            if caption := fold_spaces("".join(str(part) for part in node.xpath("./caption//text()"))):
                yield element(Kind.CAPTION, caption)
            yield from table_elements(grid(node), title_level=6)
            self._skip(node)
        elif tag == "pre":
            yield from self._flush()
            yield from _preformatted_elements(node)
            self._skip(node)
        else:
            yield from self._open(node, tag)

    def _open(self, node: etree._Element, tag: str) -> Iterator[Element]:
        if tag == "br":
            self.text.append(LINE_END)
        elif tag == "a" and self.open_kinds[-1][0] is Kind.PAGE_HEADER:
            self.text.append("\n")
        if tag in BLOCKS:
            yield from self._flush()
            self.open_kinds.append(self._kind(node, tag))
        self.text.append(node.text or "")

    def _end(self, node: etree._Element, tag: str) -> Iterator[Element]:
        if self.skipped is node:
            self.skipped = None
        elif tag in BLOCKS:
            yield from self._flush()
            self.open_kinds.pop()
        self.text.append(node.tail or "")

    def _after(self, node: etree._Element, event: str) -> None:
        if event == "end":
            self.text.append(node.tail or "")

    def _skip(self, node: etree._Element) -> None:
        self.skipped = node
        self.walker.skip_subtree()

    def _flush(self) -> Iterator[Element]:
        lines = list(filter(None, map(fold_spaces, "".join(self.text).split(LINE_END))))
        self.text.clear()
        kind, level = self.open_kinds[-1]
        if not lines:
            return
        is_prose = kind is Kind.PARAGRAPH
        for part in paragraphs(lines, is_wrapped=False) if is_prose else [range(len(lines))]:
            yield element(kind, " ".join(lines[number] for number in part), level=level)

    def _picture(self, node: etree._Element) -> Iterator[Element]:
        alt = fold_spaces(node.get("alt") or "")
        if len(alt.split()) >= FEWEST_ALT_WORDS and self.open_kinds[-1][0] is Kind.PARAGRAPH:
            yield from self._flush()
            yield element(Kind.PICTURE, alt)

    def _kind(self, node: etree._Element, tag: str) -> tuple[Kind, int | None]:
        """Return the kind of a block's text; blocks within a running head or foot keep that kind."""
        around = self.open_kinds[-1]
        if around[0] in (Kind.PAGE_HEADER, Kind.PAGE_FOOTER):
            return around
        if tag == "nav" or node in self.surroundings:
            return Kind.PAGE_HEADER, None
        if tag == "footer" and not any(above.tag in CONTENT for above in node.iterancestors()):
            return Kind.PAGE_FOOTER, None
        if tag in HEADINGS:
            return Kind.HEADING, HEADINGS[tag]
        if tag in ("figcaption", "caption"):
            return Kind.CAPTION, None
        is_item = tag in ("li", "dd") or (around[0] is Kind.LIST_ITEM and tag in ("p", "div"))
        return (Kind.LIST_ITEM if is_item else Kind.PARAGRAPH), None


def _preformatted_elements(node: etree._Element) -> Iterator[Element]:
    text = "".join(str(part) for part in node.itertext()).strip("\n").rstrip()
    if text.strip():
        yield element(Kind.PARAGRAPH, text)
