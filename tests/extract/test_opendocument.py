"""OpenDocument and Rich Text: text, sheets and slides, with values as they are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from extract.base import Kind
from extract.errors import FileTooLarge
from tests.extract.reading import read_bytes, simply, zipped

SHORT = {"office": "office", "text": "text", "table": "table", "draw": "drawing", "pr": "presentation"}
NAMES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for short, name in SHORT.items()
)


def opendocument(kind: str, body: str) -> bytes:
    content = f"<office:document-content {NAMES}><office:body>{body}</office:body></office:document-content>"
    return zipped({"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content})


def test_opendocument_text(tmp_path: Path) -> None:
    noted = "<text:note-body><text:p>Noted.</text:p></text:note-body>"
    note = f"<text:note><text:note-citation>1</text:note-citation>{noted}</text:note>"
    body = (
        '<office:text><text:h text:outline-level="2">Oil</text:h>'
        f"<text:p>of<text:s/>the<text:tab/><text:span>whale</text:span>{note}.</text:p>"
        "<text:list><text:list-item><text:p>bread</text:p></text:list-item></text:list>"
        f"<table:table>{row(cell('a'), cell('b'))}{row(cell('c'), cell('d'))}</table:table>"
        "</office:text>"
    )
    found = read_bytes(tmp_path, opendocument("text", body))
    assert found.kinds() == [
        ("heading", "Oil"),
        ("paragraph", "of the whale."),
        ("paragraph", "Noted."),
        ("list_item", "bread"),
        ("table", "| a | b |\n| --- | --- |\n| c | d |"),
    ]
    assert found.headings() == [(2, "Oil")]
    assert "whale" in read_bytes(tmp_path, opendocument("text", body), simply()).text


def sheet(*rows: str) -> str:
    table = f'<table:table table:name="Oil">{"".join(rows)}</table:table>'
    return f"<office:spreadsheet>{table}</office:spreadsheet>"


def row(*cells: str, repeated: int = 1) -> str:
    return f'<table:table-row table:number-rows-repeated="{repeated}">{"".join(cells)}</table:table-row>'


def cell(text: str, repeated: int = 1) -> str:
    content = f"<text:p>{text}</text:p>" if text else ""
    return f'<table:table-cell table:number-columns-repeated="{repeated}">{content}</table:table-cell>'


def test_opendocument_sheets(tmp_path: Path) -> None:
    body = sheet(
        row(cell("", 16384), repeated=1048570),
        row(cell("", 16000), cell("Year"), cell("x", 2)),
        row(cell("", 16000), cell("25 %"), cell("y")),
    )
    found = read_bytes(tmp_path, opendocument("spreadsheet", body))
    assert found.texts(Kind.TABLE) == ["| Year | x | x |\n| --- | --- | --- |\n| 25 % | y |  |"]
    assert found.place_of("25 %").cells == (1048572, 16001, 1048572, 16001)


@pytest.mark.parametrize(("rows", "columns"), [(1000, 16000), (1, 10**12), (10**12, 1)])
def test_opendocument_sheets_that_repeat_without_end(tmp_path: Path, rows: int, columns: int) -> None:
    with pytest.raises(FileTooLarge):
        read_bytes(tmp_path, opendocument("spreadsheet", sheet(row(cell("x", columns), repeated=rows))))


def frame(text: str, role: str = "subtitle") -> str:
    box = f"<draw:text-box><text:p>{text}</text:p></draw:text-box>"
    return f'<draw:frame pr:class="{role}">{box}</draw:frame>'


def test_opendocument_slides(tmp_path: Path) -> None:
    notes = f"<pr:notes>{frame('Speak slowly.')}</pr:notes>"
    page = f"<draw:page>{frame('granite')}{frame('The Tower', 'title')}{notes}</draw:page>"
    content = opendocument("presentation", f"<office:presentation>{page}</office:presentation>")
    found = read_bytes(tmp_path, content)
    assert found.kinds() == [
        ("heading", "The Tower"),
        ("paragraph", "granite"),
        ("paragraph", "Speak slowly."),
    ]
    assert found.place_of("granite").slide == 1


# --- Rich text ---------------------------------------------------------------------------------------------


def test_rich_text(tmp_path: Path) -> None:
    rtf = (
        r"{\rtf1\ansi\ansicpg1252 Die M\'f6we \u8364?\par{\b Oil}\par"
        r"\trowd\cellx1\cellx2 a\cell b\cell\row\trowd\cellx1\cellx2 c\cell d\cell\row}"
    )
    found = read_bytes(tmp_path, rtf)
    assert found.kinds() == [
        ("paragraph", "Die Möwe €"),
        ("paragraph", "Oil"),
        ("table", "| a | b |\n| --- | --- |\n| c | d |"),
    ]
