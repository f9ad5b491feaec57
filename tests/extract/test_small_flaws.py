"""Small things that spoil sentences: stamps, symbols, encoded words, cells of several lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pymupdf
import pytest
from docx import Document
from docx.oxml import parse_xml

from extract.base import Kind
from extract.mail.encoded_words import decode_words
from extract.pdf import visible_lines
from tests.extract.reading import read, read_bytes
from tests.extract.test_office import W, saved

STAMP = "arXiv:2101.00001v1 [cs.CL] 1 Jan 2021"
SENTENCE = "The lighthouse on Gull Island was built in 1871 from grey granite."


def page_of(tmp_path: Path, rotation: int = 0) -> Path:
    """Store a page with a stamp along its left margin, perhaps shown turned."""
    pdf = pymupdf.open()
    page = pdf.new_page(width=595, height=842)
    for line in range(12):
        page.insert_text((90, 100 + 14 * line), SENTENCE, fontsize=11)
    page.insert_text((30, 600), STAMP, fontsize=20, rotate=90)
    page.set_rotation(rotation)
    path = tmp_path / "paper.pdf"
    pdf.save(path)
    return path


def test_the_stamp_of_a_preprint_is_no_text(tmp_path: Path) -> None:
    found = read(page_of(tmp_path))
    assert found.texts(Kind.PAGE_HEADER) == [STAMP]
    assert STAMP not in " ".join(found.texts(Kind.PARAGRAPH))


def test_a_page_on_its_side_has_no_stamp(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page(width=595, height=842)
    page.insert_text((40, 700), SENTENCE, fontsize=20, rotate=90)
    pdf.save(tmp_path / "turned.pdf")
    assert read(tmp_path / "turned.pdf").texts(Kind.PARAGRAPH) == [SENTENCE]


def test_words_of_a_line_that_mupdf_does_not_describe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visible_lines, "_spans", lambda _: {})
    (paragraph, *_) = read(page_of(tmp_path)).elements
    assert paragraph.text.startswith(SENTENCE)
    assert paragraph.font_size and 8 <= paragraph.font_size <= 14


def test_bullets_of_symbol_fonts(tmp_path: Path) -> None:
    document: Any = Document()
    symbol = '<w:sym w:font="Symbol" w:char="F0B7"/>'
    document.element.body.insert(
        0,
        parse_xml(f"<w:p {W}><w:r>{symbol}</w:r><w:r><w:t xml:space='preserve'> whale oil</w:t></w:r></w:p>"),
    )
    assert read_bytes(tmp_path, saved(document)).texts(Kind.PARAGRAPH) == ["• whale oil"]
    assert read_bytes(tmp_path, "\uf0a7 whale oil\n\uf0fc wicks").text == "▪ whale oil ✓ wicks"


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("=?UTF-8?Q?Caf=C3=A9 am?= =?UTF-8?B?IE1lZXI=?= heute", "Café am Meer heute"),
        ("=?x-unknown?Q?abc?=", "=?x-unknown?Q?abc?="),
        ("=?utf-8?B?!!!?=", "=?utf-8?B?!!!?="),
        ("2 =? 3", "2 =? 3"),
    ],
)
def test_encoded_words_that_break_the_rules(header: str, text: str) -> None:
    assert decode_words(header) == text


def test_the_subject_of_a_mail_that_breaks_the_rules(tmp_path: Path) -> None:
    raw = b'From: a@example.org\nTo: b@example.org\nSubject: "=?UTF-8?Q?Caf=C3=A9 am Meer?="\nDate: x\n\nHi\n'
    assert "=?" not in read_bytes(tmp_path, raw).text


def test_cells_of_several_lines_in_rich_text(tmp_path: Path) -> None:
    row = r"\trowd\cellx2000\cellx4000\pard\intbl {}\cell {}\cell\row "
    rows = [("Name", "Age"), (r"Ann\par Smith", "31"), ("Bo", "")]
    body = "".join(row.format(*cells) for cells in rows)
    found = read_bytes(tmp_path, r"{\rtf1\ansi Before.\par " + body + r"\pard After.\par}")
    assert found.kinds() == [
        ("paragraph", "Before."),
        ("table", "| Name | Age |\n| --- | --- |\n| Ann Smith | 31 |\n| Bo |  |"),
        ("paragraph", "After."),
    ]
