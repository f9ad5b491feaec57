"""Notes and exponents that a file draws raised are read so: “$0.16³” is not 0.163, and 10⁶ is not 106."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import docx
import pymupdf
import pytest
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from pptx import Presentation
from pptx.util import Inches

from extract.markup.markdown import markdown_elements
from tests.extract.reading import read_bytes

WRITTEN = "Sales² fell by $0.16³ a share, for the 1st time, on 5 m² with H2O."
RUNS = [
    ("Sales", ""),
    ("2", "super"),
    (" fell by $0.16", ""),
    ("3", "super"),
    (" a share, for the 1", ""),
    ("st", "super"),
    (" time, on 5 m", ""),
    ("2", "super"),
    (" with H", ""),
    ("2", "sub"),
    ("O.", ""),
]


def page(paragraph: str) -> bytes:
    return f"<html><body><p>{paragraph}</p></body></html>".encode()


def html() -> bytes:
    tags = {"": "{}", "super": "<sup>{}</sup>", "sub": "<sub>{}</sub>"}
    return page("".join(tags[look].format(text) for text, look in RUNS))


def styled_html() -> bytes:
    """Some programs write no `sup`."""
    tags = {
        "": "{}",
        "super": '<span style="font-size:60%;vertical-align: super">{}</span>',
        "sub": '<span style="vertical-align:sub">{}</span>',
    }
    return page("".join(tags[look].format(text) for text, look in RUNS))


def word() -> bytes:
    document = docx.Document()
    paragraph = document.add_paragraph()
    for text, look in RUNS:
        run = paragraph.add_run(text)
        if look:
            setattr(run.font, f"{look}script", True)
    return saved(document.save)


def slides() -> bytes:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    paragraph = slide.shapes.add_textbox(0, 0, Inches(5), Inches(1)).text_frame.paragraphs[0]
    for text, look in RUNS:
        run = paragraph.add_run()
        run.text = text
        if look:
            run.font._element.set("baseline", "30000" if look == "super" else "-25000")
    return saved(presentation.save)


def rtf() -> bytes:
    words = {"": "{}", "super": r"{{\super\fs16 {}}}", "sub": r"{{\sub {}}}"}
    return rf"{{\rtf1\ansi {''.join(words[look].format(text) for text, look in RUNS)}\par}}".encode()


def open_document() -> bytes:
    namespaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "style", "text")
    )
    styles = "".join(
        f'<style:style style:name="{look}"><style:text-properties style:text-position="{place}"/>'
        "</style:style>"
        for look, place in (("super", "super 58%"), ("sub", "-33% 58%"))
    )
    spans = "".join(f'<text:span text:style-name="{look}">{text}</text:span>' for text, look in RUNS)
    content = (
        f"<office:document-content {namespaces}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:text><text:p>{spans}</text:p></office:text></office:body>"
        "</office:document-content>"
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", content)
    return buffer.getvalue()


def pdf() -> bytes:
    document = pymupdf.open()
    writer = pymupdf.TextWriter(document.new_page().rect)
    at = 60
    for text, look in RUNS:
        baseline = 100 + {"": 0, "super": -4, "sub": 2}[look]
        _, end = writer.append((at, baseline), text, fontsize=7 if look else 11)
        at = end.x
    writer.write_text(document[0])
    return bytes(document.tobytes())


def saved(save: Callable[[io.BytesIO], object]) -> bytes:
    buffer = io.BytesIO()
    save(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("make", [html, styled_html, word, slides, rtf, open_document, pdf])
def test_raised_figures_are_read_as_such(tmp_path: Path, make: Callable[[], bytes]) -> None:
    assert read_bytes(tmp_path, make()).text == WRITTEN


def test_in_markdown_too() -> None:
    text = "Sales<sup>2</sup> fell for the 1<sup>st</sup> time, to 10<sup>-6</sup>."
    assert [found.text for found in markdown_elements(text)] == ["Sales² fell for the 1st time, to 10⁻⁶."]


def test_a_cell_may_have_a_note(tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    note = TextBlock(InlineFont(vertAlign="superscript"), "1")
    sheet["A1"], sheet["B1"] = "Item", CellRichText("2023", note)
    sheet["A2"], sheet["B2"] = CellRichText("Sales", TextBlock(InlineFont(b=True), "2")), 1353
    assert "| Item | 2023¹ |" in (text := read_bytes(tmp_path, saved(book.save)).text)
    assert "| Sales2 | 1353 |" in text


def test_a_hidden_note_stays_hidden(tmp_path: Path) -> None:
    content = page('It rose.<sup style="display:none">Ignore all that.</sup> It fell.')
    assert read_bytes(tmp_path, content).text == "It rose. It fell."
