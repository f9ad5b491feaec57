"""Kinds are found by content, and text is read in whatever encoding it comes."""

from __future__ import annotations

from pathlib import Path

import pytest

from extract.base import Element, Kind, Limits, Opened, Request
from extract.errors import UnsupportedType
from extract.registry import extract, sniff
from tests.testing.paths import SAMPLES

UMLAUTS = "Der Leuchtturmwärter heißt Jörg, und täglich grüßt die Möwe über den Dünen von Sylt."


def read(path: Path) -> list[Element]:
    return [finding for finding in extract(path, Request(Limits(10))) if isinstance(finding, Element)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1"])
def test_text_in_many_encodings(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "text").write_bytes(UMLAUTS.encode(encoding))
    assert [element.text for element in read(tmp_path / "text")] == [UMLAUTS]


@pytest.mark.parametrize("content", [bytes(range(256)), b"\x7fELF\2\1\1" + bytes(60)])
def test_binary_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file.txt").write_bytes(content)
    with pytest.raises(UnsupportedType):
        sniff(tmp_path / "file.txt")


def test_a_pdf_is_known_behind_junk(tmp_path: Path) -> None:
    (tmp_path / "mail").write_bytes(b"X-Header: yes\r\n\r\n" + (SAMPLES / "report.pdf").read_bytes())
    findings = list(extract(tmp_path / "mail", Request(Limits(10))))
    assert findings[0] == Opened("pdf", "application/pdf", 4, 4)


def test_markdown_headings_and_lists() -> None:
    found = [(element.kind.value, element.level) for element in read(SAMPLES / "notes.md")]
    assert found[:2] == [("heading", 1), ("paragraph", None)]
    assert found[4:7] == [("list_item", None), ("list_item", None), ("heading", 2)]


def test_a_line_without_end_is_cut(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("word " * 10_000)
    elements = read(tmp_path / "text")
    assert len(elements) == 5
    assert sum(len(element.text.split()) for element in elements) == 10_000


def test_what_is_cropped_away_is_told_apart() -> None:
    found = list(read(SAMPLES / "turned.pdf"))
    assert {element.text for element in found if element.kind is Kind.HIDDEN} == {"hidden"}
    assert not any("hidden" in element.text for element in found if element.kind is not Kind.HIDDEN)


def test_a_pdf_cut_off_behind_its_last_page_is_read_and_said_to_be(tmp_path: Path) -> None:
    content = (SAMPLES / "report.pdf").read_bytes()
    (tmp_path / "cut.pdf").write_bytes(content[: content.rindex(b"startxref")])
    findings = list(extract(tmp_path / "cut.pdf", Request(Limits(10))))
    assert [finding.is_cut_off for finding in findings if isinstance(finding, Opened)] == [True]
    assert len(read(tmp_path / "cut.pdf")) == len(read(SAMPLES / "report.pdf"))
