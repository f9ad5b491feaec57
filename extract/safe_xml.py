"""Parses untrusted XML: no entities, no network, no huge trees."""

from __future__ import annotations

from lxml import etree

from extract.archives import ENTITIES, declares_entities
from extract.errors import Corrupted


def parse_xml(content: bytes) -> etree._Element:
    """Return the root element; raise `Corrupted` if the content is not XML or declares entities."""
    if declares_entities(content):
        raise Corrupted(ENTITIES)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise Corrupted(f"The XML in the file is damaged: {str(error)[:200]}.") from error


def local_name(node: etree._Element) -> str:
    """Return an element's name without its namespace; "" for comments and the like."""
    return etree.QName(node).localname if isinstance(node.tag, str) else ""
