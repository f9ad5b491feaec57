"""Finds what surrounds the content of a web page: menus, lists of related pages, cookie banners.

They are told by what they are called, and by lists of which nearly all text is links. In doubt, text is
content.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lxml import etree

# Names in `class` and `id`, and roles, of parts that are never content.
MENU = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navigation|menu|menubar|breadcrumbs?|skip-?links?|pagination|pager|share"
    r"|sharing|social|related|recommended)(?:$|[\s_-])",
    re.IGNORECASE,
)
BANNER = re.compile(r"(?:^|[\s_-])(?:cookies?|consent|gdpr|ccpa|onetrust)(?:$|[\s_-])", re.IGNORECASE)
ROLES = frozenset({"navigation", "menu", "menubar", "search", "contentinfo"})
RELATED = re.compile(
    r"(?:related|read (?:more|next|also)|see also|more (?:from|on|articles|stories)|recommended"
    r"|you (?:may|might)|share|follow us|mehr zum|weitere|auch interessant|ähnliche|teilen"
    r"|à lire|articles|voir aussi|partager|ver también|te puede)\b",
    re.IGNORECASE,
)
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
PARAGRAPHS = frozenset({"p", "td", "li", "dd", "blockquote"})
LISTS = frozenset({"ul", "ol", "dl", "menu"})
WHOLE = frozenset({"html", "body", "main", "article"})
# A list of links: so many, so short, and so large a share of the text.
FEWEST_LINKS, LONGEST_LINK, LINK_SHARE = 3, 60, 0.8
# A banner says no more than this, in characters; content holds a paragraph as long as that.
BANNER_CHARS, PARAGRAPH_CHARS = 1500, 150


@dataclass(slots=True)
class _Size:
    """The characters in a node, those of its links, the number of links, and its longest paragraph."""

    chars: int = 0
    linked: int = 0
    links: int = 0
    longest: int = 0

    @property
    def is_links(self) -> bool:
        """Whether the node is hardly more than short links."""
        return (
            self.links >= FEWEST_LINKS
            and self.linked >= LINK_SHARE * self.chars
            and self.linked <= LONGEST_LINK * self.links
        )


@dataclass(slots=True)
class PageSurroundings:
    """The nodes of a page that are not its content, the outermost ones."""

    nodes: set[etree._Element] = field(default_factory=set)

    @classmethod
    def of(cls, root: etree._Element) -> PageSurroundings:
        """Look at a page; what would take all of its text with it is content."""
        sizes = _sizes(root)
        found = {node for node in sizes if _is_beside(node, sizes)} | _related(root, sizes)
        outer = {node for node in found if not any(above in found for above in node.iterancestors())}
        left = sizes[root].chars - sum(sizes[node].chars for node in outer if node in sizes)
        return cls(outer if left >= PARAGRAPH_CHARS else set())


def _sizes(root: etree._Element) -> dict[etree._Element, _Size]:
    """Return the size of every element, computed from the inside out."""
    sizes: dict[etree._Element, _Size] = {}
    for _, node in etree.iterwalk(root, events=("end",)):
        if not isinstance(node.tag, str):
            continue
        size = _Size(chars=_length(node.text))
        for child in node:
            inner = sizes.get(child, _Size())
            size.chars += inner.chars + _length(child.tail)
            size.linked += inner.linked
            size.links += inner.links
            size.longest = max(size.longest, inner.longest)
        if node.tag == "a":
            size.linked, size.links = size.chars, int(size.chars > 0)
        if node.tag in PARAGRAPHS:
            size.longest = max(size.longest, size.chars - size.linked)
        if node.tag in ("script", "style", "noscript", "template", "head"):
            size = _Size()
        sizes[node] = size
    return sizes


def _length(text: str | None) -> int:
    return len(" ".join((text or "").split()))


def _is_beside(node: etree._Element, sizes: dict[etree._Element, _Size]) -> bool:
    """Whether a node is called, or looks like, a part beside the content."""
    if node.tag in WHOLE or node.tag in HEADINGS:
        return False
    size = sizes[node]
    names = f"{node.get('class') or ''} {node.get('id') or ''}"
    if node.get("role") in ROLES:
        return True
    if BANNER.search(names):
        return size.chars <= BANNER_CHARS
    if MENU.search(names):
        return size.links > 0 and size.longest < PARAGRAPH_CHARS and 2 * size.linked >= size.chars
    return node.tag == "aside" and size.is_links


def _related(root: etree._Element, sizes: dict[etree._Element, _Size]) -> set[etree._Element]:
    """Return lists of links before the first content of a page, and those headed as related, each with its
    heading."""
    found: set[etree._Element] = set()
    has_content = False
    heading: etree._Element | None = None
    for _, node in etree.iterwalk(root, events=("start",)):
        if not isinstance(node.tag, str):
            continue
        size = sizes[node]
        if node.tag in HEADINGS:
            heading = node
            # The site's name is no content yet.
            has_content = has_content or not any(above.tag == "header" for above in node.iterancestors())
        elif node.tag == "p" and size.chars - size.linked >= PARAGRAPH_CHARS:
            has_content, heading = True, None
        elif node.tag in LISTS and size.is_links:
            is_related = heading is not None and RELATED.match(" ".join("".join(heading.itertext()).split()))
            if is_related and heading is not None:
                found |= {heading, node}
            elif not has_content:
                found.add(node)
    return found
