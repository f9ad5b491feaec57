"""XML: running text as paragraphs, data as records of `name: value` lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from core.locations import InFile
from extract.base import Element, Finding, Kind, Opened, Request, TextOrigin, UnitRead
from extract.data.records import Fact, record_elements
from extract.errors import Corrupted, Empty
from extract.places import element, fold_spaces
from extract.safe_xml import local_name, parse_xml
from extract.text.plain import paragraphs_of, read_text

# Elements that are headings by their name, in the formats that people write documents in.
HEADINGS = frozenset({"title", "heading", "head", "subtitle"})
PARAGRAPHS = frozenset({"p", "para", "simpara", "paragraph", "abstract", "description", "summary", "note"})
SENTENCE_CHARS = 120


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the text with its lines; raise `Corrupted` for what is not XML or declares entities."""
    text = read_text(path)
    root = parse_xml(_without_declaration(text).encode())
    if not fold_spaces("".join(root.itertext())) and not any(node.attrib for node in root.iter()):
        raise Empty
    yield Opened("xml", "application/xml")
    yield from paragraphs_of(text) if request.safe_mode else _elements(root)
    yield UnitRead(1, TextOrigin.TEXT)


def _without_declaration(text: str) -> str:
    """Blank out `<?xml … ?>`, whose encoding no longer holds, and keep the lines as they are."""
    if not text.lstrip().startswith("<?xml"):
        return text
    declaration, end, rest = text.partition("?>")
    if not end:
        raise Corrupted
    return "\n" * declaration.count("\n") + rest.lstrip(" \t") if rest.strip() else rest


def _elements(root: etree._Element) -> Iterator[Element]:
    facts: list[Fact] = []
    walker = etree.iterwalk(root, events=("start",))
    for _, node in walker:
        if _is_running_text(node):
            yield from record_elements(facts, Kind.PARAGRAPH)
            facts = []
            yield _paragraph(node)
            walker.skip_subtree()
        else:
            facts += _facts(node)
    yield from record_elements(facts, Kind.PARAGRAPH)


def _is_running_text(node: etree._Element) -> bool:
    """Whether a node mixes words and elements, or is a leaf that holds a sentence or a heading."""
    own = fold_spaces(node.text or "")
    if len(node):
        tails = any((child.tail or "").strip() for child in node)
        return tails or (bool(own) and local_name(node) in PARAGRAPHS)
    named = local_name(node).lower() in PARAGRAPHS
    return bool(own) and (named or len(own) > SENTENCE_CHARS or _is_heading(node))


def _is_heading(node: etree._Element) -> bool:
    """Whether the node is named like a heading and stands before text, not among data."""
    after = node.getnext()
    return (
        local_name(node).lower() in HEADINGS
        and after is not None
        and (local_name(after).lower() in PARAGRAPHS or len(after) > 0)
    )


def _paragraph(node: etree._Element) -> Element:
    text = fold_spaces(" ".join(str(part) for part in node.itertext()))
    last = max(int(inner.sourceline or 0) for inner in node.iter())
    first = int(node.sourceline or 1)
    lines = (first, max(first, last) + _breaks(node))
    if _is_heading(node):
        return element(Kind.HEADING, text, InFile(lines=lines), _depth(node))
    return element(Kind.PARAGRAPH, text, InFile(lines=lines))


def _breaks(node: etree._Element) -> int:
    """Return how many lines a leaf's text covers beyond its first."""
    return 0 if len(node) else (node.text or "").rstrip().count("\n")


def _depth(node: etree._Element) -> int:
    return min(9, max(1, sum(1 for _ in node.iterancestors())))


def _facts(node: etree._Element) -> Iterator[Fact]:
    """Yield a node's attributes and, for a leaf, its text; the record is the node's parent."""
    parent = node.getparent()
    record = node if len(node) or parent is None else parent
    line = int(node.sourceline or 1)
    name = local_name(node)
    for attribute, value in node.attrib.items():
        if value.strip() and not str(attribute).startswith("{"):
            yield Fact(record, f"{name} {attribute}", fold_spaces(str(value)), line)
    if text := fold_spaces(node.text or ""):
        yield Fact(record, name, text, line)
