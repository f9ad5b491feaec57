"""Pictures and charts inside office files: at their places, with what is written in them."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from docx import Document
from openpyxl import Workbook
from openpyxl.drawing.image import Image as SheetImage
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from extract.base import Element, Kind, Pictured
from extract.registry import extract
from extract.sandbox.lines import dump_finding
from extract.sandbox.wire import read_line
from ingestion.pictures import with_pictures
from tests.extract.reading import REQUEST, read_bytes, zipped
from tests.ingestion.pictured import SIGN, photo

ALT = "A sign at the quay"
CAPTION = "Figure 1. The quay in winter."
ODF = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" '
    'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" '
    'xmlns:xlink="http://www.w3.org/1999/xlink"'
)


def saved(office_file: Any) -> bytes:
    buffer = io.BytesIO()
    office_file.save(buffer)
    return buffer.getvalue()


def in_word() -> bytes:
    document = Document()
    document.add_paragraph("Before the picture.")
    run = document.add_paragraph().add_run()
    run.add_picture(io.BytesIO(photo()))._inline.docPr.set("descr", ALT)
    document.add_paragraph(CAPTION, style="Caption")
    document.add_paragraph("After the picture.")
    return saved(document)


def on_a_slide() -> bytes:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    slide.shapes.add_textbox(0, 0, Inches(2), Inches(1)).text_frame.text = "Before the picture."
    shape = slide.shapes.add_picture(io.BytesIO(photo()), 0, Inches(1))
    shape._element.nvPicPr.cNvPr.set("descr", ALT)
    slide.shapes.add_textbox(0, Inches(3), Inches(2), Inches(1)).text_frame.text = CAPTION
    slide.shapes.add_textbox(0, Inches(4), Inches(2), Inches(1)).text_frame.text = "After the picture."
    return saved(presentation)


def on_a_sheet() -> bytes:
    book: Any = Workbook()
    book.active.append(["Name", "Age"])
    book.active.append(["Ann", 31])
    book.active.add_image(SheetImage(io.BytesIO(photo())), "D2")
    return saved(book)


def in_opendocument() -> bytes:
    frame = f"<draw:frame><draw:image xlink:href='Pictures/1.png'/><svg:desc>{ALT}</svg:desc></draw:frame>"
    body = (
        f"<text:p>Before the picture.</text:p><text:p>{frame}</text:p><text:p>{CAPTION}</text:p>"
        "<text:p>After the picture.</text:p>"
    )
    content = (
        f"<office:document-content {ODF}><office:body><office:text>{body}</office:text></office:body>"
        "</office:document-content>"
    )
    return zipped(
        {
            "mimetype": b"application/vnd.oasis.opendocument.text",
            "content.xml": content.encode(),
            "Pictures/1.png": photo(),
        }
    )


def on_an_opendocument_slide() -> bytes:
    frames = [
        "<draw:frame><draw:text-box><text:p>Before the picture.</text:p></draw:text-box></draw:frame>",
        f"<draw:frame><draw:image xlink:href='Pictures/1.png'/><svg:desc>{ALT}</svg:desc></draw:frame>",
        f"<draw:frame><draw:text-box><text:p>{CAPTION}</text:p></draw:text-box></draw:frame>",
        "<draw:frame><draw:text-box><text:p>After the picture.</text:p></draw:text-box></draw:frame>",
    ]
    body = f"<office:presentation><draw:page>{''.join(frames)}</draw:page></office:presentation>"
    content = f"<office:document-content {ODF}><office:body>{body}</office:body></office:document-content>"
    return zipped(
        {
            "mimetype": b"application/vnd.oasis.opendocument.presentation",
            "content.xml": content.encode(),
            "Pictures/1.png": photo(),
        }
    )


def composed(tmp_path: Path, content: bytes) -> list[Element]:
    """Return the elements of a file, with its pictures, as the worker receives both."""
    path = tmp_path / "file"
    path.write_bytes(content)
    found = [read_line(dump_finding(one)) for one in extract(path, REQUEST)]
    request = replace(REQUEST, deep=True, pictures=True)
    seen = [read_line(dump_finding(one)) for one in extract(path, request)]
    return with_pictures(
        [one for one in found if isinstance(one, Element)], [one for one in seen if isinstance(one, Pictured)]
    )


@pytest.mark.parametrize("make", [in_word, on_a_slide, in_opendocument, on_an_opendocument_slide])
def test_a_picture_stands_with_its_caption_and_its_words(tmp_path: Path, make: Callable[[], bytes]) -> None:
    elements = composed(tmp_path, make())
    (picture,) = {element.picture for element in elements if element.picture}
    own = [element for element in elements if element.picture == picture]
    assert {element.kind for element in own} == {Kind.PICTURE}
    texts = [element.text for element in own]
    assert texts[0] == ALT
    assert CAPTION in texts
    assert SIGN.split()[0] in " ".join(texts)
    assert [element.text for element in elements if not element.picture] == [
        "Before the picture.",
        "After the picture.",
    ]


def test_a_picture_on_a_sheet_knows_its_cells(tmp_path: Path) -> None:
    elements = composed(tmp_path, on_a_sheet())
    (words,) = [element for element in elements if element.picture and element.text]
    assert "FERRY" in words.text
    (place,) = words.located.files()
    assert place.sheet == "Sheet"
    assert place.cells and place.cells[:2] == (2, 4)


def test_an_icon_that_comes_back_is_decoration(tmp_path: Path) -> None:
    document = Document()
    for _ in range(3):
        document.add_paragraph().add_run().add_picture(io.BytesIO(photo()))
    assert not any(element.text for element in composed(tmp_path, saved(document)))


def test_a_drawing_that_nobody_can_decode_costs_only_itself(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(in_word())) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    image = next(name for name in members if name.startswith("word/media/"))
    members[image] = b"\x01\x00\x00\x00 EMF"
    assert [one.text for one in composed(tmp_path, zipped(members)) if one.picture] == [ALT, CAPTION]


# --- Charts ------------------------------------------------------------------------------------------------


def with_chart(kind: Any) -> bytes:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "The Tower"
    data = CategoryChartData()
    data.categories = ["1871", "1872"]
    data.add_series("Barrels", (4, 5.5))
    data.add_series("Lamps", (1, None))
    slide.shapes.add_chart(kind, 0, 0, Inches(2), Inches(2), data)
    return saved(presentation)


def test_the_values_of_a_three_dimensional_chart(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(with_chart(XL_CHART_TYPE.COLUMN_CLUSTERED))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    chart = next(name for name in members if name.startswith("ppt/charts/chart"))
    members[chart] = members[chart].replace(b"c:barChart", b"c:bar3DChart")
    assert read_bytes(tmp_path, zipped(members)).kinds() == [
        ("heading", "The Tower"),
        ("table", "|  | Barrels | Lamps |\n| --- | --- | --- |\n| 1871 | 4 | 1 |\n| 1872 | 5.5 |  |"),
    ]


def test_an_object_that_can_not_be_read_costs_only_itself(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(with_chart(XL_CHART_TYPE.PIE))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    slide = members["ppt/slides/slide1.xml"]
    members["ppt/slides/slide1.xml"] = re.sub(rb'(<c:chart [^>]*r:id=")rId\d+', rb"\1rId99", slide)
    found = read_bytes(tmp_path, zipped(members))
    assert found.kinds() == [("heading", "The Tower")]
    assert [warning.code for warning in found.warnings] == ["shapes_unread"]
