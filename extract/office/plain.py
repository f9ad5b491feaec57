"""The most robust reader of office files: only the text of the paragraphs in a part's XML."""

from __future__ import annotations

from collections.abc import Iterator
from zipfile import ZipFile

from lxml import etree

from core.locations import InFile
from extract.base import Element, Kind
from extract.errors import Corrupted
from extract.places import element, fold_spaces


def zip_paragraphs(
    archive: ZipFile, member: str, paragraph: str, text: str, place: InFile | None = None
) -> Iterator[Element]:
    """Yield the paragraphs of a member, matched by local names, without holding its whole tree in memory."""
    try:
        with archive.open(member) as file:
            for _, node in etree.iterparse(
                file, tag=f"{{*}}{paragraph}", resolve_entities=False, no_network=True, recover=True
            ):
                words = fold_spaces("".join(part.text or "" for part in node.iter(f"{{*}}{text}")))
                if words:
                    yield element(Kind.PARAGRAPH, words, place)
                node.clear(keep_tail=False)
    except (KeyError, etree.XMLSyntaxError) as error:
        raise Corrupted from error
