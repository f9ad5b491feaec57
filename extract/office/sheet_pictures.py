"""The pictures that lie on an Excel sheet, each with the cells that it covers."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any
from zipfile import ZipFile

from core.locations import InFile
from extract.archives import read_member
from extract.errors import Corrupted
from extract.office.cells import LAST_COLUMN, LAST_ROW, Range
from extract.office.pictures import MOST_PICTURES, OfficePicture
from extract.safe_xml import parse_xml

EMBED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}embed"


def targets(archive: ZipFile, member: str, kind: str) -> dict[str, str]:
    """Return the members that a part relates to by a kind of relationship, by the relationship's id."""
    folder, name = posixpath.split(member)
    content = read_member(archive, f"{folder}/_rels/{name}.rels")
    try:
        relations = list(parse_xml(content)) if content else []
    except Corrupted:  # what a damaged list names is lost, but not the cells
        return {}
    return {
        relation.get("Id") or "": _member(folder, relation.get("Target") or "")
        for relation in relations
        if (relation.get("Type") or "").endswith(f"/{kind}") and relation.get("TargetMode") != "External"
    }


def _member(folder: str, target: str) -> str:
    return posixpath.normpath(target[1:] if target.startswith("/") else posixpath.join(folder, target))


def pictures_on(archive: ZipFile, sheet: str, member: str) -> list[OfficePicture]:
    """Return the pictures of a sheet, named and stored as given, from top to bottom."""
    found: list[tuple[Range, OfficePicture]] = []
    for drawing in targets(archive, member, "drawing").values():
        content = read_member(archive, drawing)
        try:
            root = parse_xml(content) if content else None
        except Corrupted:
            continue
        if root is not None:
            found += _anchored(archive, sheet, root, targets(archive, drawing, "image"))
    return [picture for _, picture in sorted(found, key=lambda one: one[0])][:MOST_PICTURES]


def _anchored(
    archive: ZipFile, sheet: str, root: Any, files: dict[str, str]
) -> Iterator[tuple[Range, OfficePicture]]:
    for anchor in root:
        names = [blip.get(EMBED) for blip in anchor.iter("{*}blip")]
        content = next((read_member(archive, files[name]) for name in names if name in files), None)
        if content:
            area = _cells(anchor)
            described = next((node.get("descr") or "" for node in anchor.iter("{*}cNvPr")), "")
            yield area, OfficePicture(content, described, InFile(sheet=sheet, cells=area))


def _cells(anchor: Any) -> Range:
    """Return the cells below a picture, at least two rows and columns: a place of its own beside those of
    cells."""
    start, end = anchor.find("{*}from"), anchor.find("{*}to")
    top, left = _cell(start)
    bottom, right = _cell(end) if end is not None else (top, left)
    return top, left, max(bottom, top + 1), max(right, left + 1)


def _cell(corner: Any) -> tuple[int, int]:
    if corner is None:
        return 1, 1
    texts = [corner.findtext(f"{{*}}{name}") or "" for name in ("row", "col")]
    row, column = (int(text) if text.isdigit() and len(text) < 8 else 0 for text in texts)
    return min(row, LAST_ROW) + 1, min(column, LAST_COLUMN) + 1
