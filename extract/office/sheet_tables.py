"""The tables that an Excel sheet declares: their ranges and names."""

from __future__ import annotations

from zipfile import ZipFile

from extract.archives import read_member
from extract.errors import Corrupted
from extract.office.cells import Range, range_of
from extract.office.sheet_pictures import targets
from extract.safe_xml import parse_xml

MOST_TABLES = 200


def declared_tables(archive: ZipFile, sheet: str) -> list[tuple[Range, str]]:
    """Return range and name of each table of the sheet in a member of the archive."""
    found = []
    for member in list(targets(archive, sheet.lstrip("/"), "table").values())[:MOST_TABLES]:
        content = read_member(archive, member)
        try:
            root = parse_xml(content) if content else None
        except Corrupted:  # a table without its own part is still read as cells
            continue
        area = range_of(root.get("ref") or "") if root is not None else None
        # A table without a head names its columns in its own part alone.
        if root is not None and area and root.get("headerRowCount") != "0":
            found.append((area, root.get("displayName") or ""))
    return found
