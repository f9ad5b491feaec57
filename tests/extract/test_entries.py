"""A line that begins with a label is a paragraph of its own, in all kinds of file; wrapped prose is not."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from core.text.entries import begins_entry
from extract.base import Kind
from extract.entries import paragraphs
from tests.extract.reading import read, read_bytes

ENTRIES = ["Name: Elif Kaya", "Born: 7 October 1991, Izmir", "2015 - 2019 Analyst, Vistaro, Ankara"]
WRAPPED = [
    "The board met twice, and came to the following result after hours",
    "of debate: nobody wants to pay for the new bridge across the bay.",
]


@pytest.mark.parametrize(
    "line", ["Date: 14 March", "19 % VAT: 304.67", "電話番号：03-5555-0199", "2015 – 2019 Data analyst"]
)
def test_what_begins_an_entry(line: str) -> None:
    assert begins_entry(line)


@pytest.mark.parametrize(
    "line",
    [
        "https://example.org",
        "At 10:30 we met.",
        "The result:",
        ": x",
        f"A {'long ' * 9} label: x",
        "2015 was wet.",
    ],
)
def test_what_begins_none(line: str) -> None:
    assert not begins_entry(line)


@pytest.mark.parametrize(
    ("lines", "parts"),
    [
        (ENTRIES, [1, 1, 1]),
        (WRAPPED, [2]),
        (["Name: Elif Kaya", "who lives in Izmir"], [2]),
        (["Skills: reading,", "Writing: no"], [2]),
        (["Name: Elif Kaya", "She lives in Izmir."], [1, 1]),
        (["Elif Kaya", "Harbour Street 3", "Tel.: 030 555"], [2, 1]),
        ([f"Languages: {'Turkish, ' * 9}German", "Born: 1991"], [1, 1]),
    ],
)
def test_lines_that_a_writer_has_begun(lines: list[str], parts: list[int]) -> None:
    assert [len(part) for part in paragraphs(lines)] == parts


def test_plain_text(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, "\n".join(["Curriculum vitae", "", *ENTRIES, "", *WRAPPED]))
    assert found.texts(Kind.PARAGRAPH) == ["Curriculum vitae", *ENTRIES, " ".join(WRAPPED)]
    assert found.place_of("Born").lines == (4, 4)
    assert found.place_of("The board").lines == (7, 8)


def test_markdown(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("\n".join(["# Life", "", *ENTRIES, "", *WRAPPED]), encoding="utf-8")
    found = read(path)
    assert found.texts(Kind.PARAGRAPH) == [*ENTRIES, " ".join(WRAPPED)]
    assert found.place_of("Born").lines == (4, 4)


def test_a_page_with_line_ends(tmp_path: Path) -> None:
    lines = "<br>".join(
        f"<b>{label}:</b> {value}" for label, value in (each.split(": ") for each in ENTRIES[:2])
    )
    found = read_bytes(
        tmp_path, f"<!DOCTYPE html><html><body><p>{lines}</p><p>Quay 3,<br>Bath</p></body></html>"
    )
    assert found.texts(Kind.PARAGRAPH) == [*ENTRIES[:2], "Quay 3, Bath"]


def test_the_head_of_a_mail(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, "From: a@example.org\nTo: b@example.org\nSubject: Tea\n\nAt five.\n")
    assert found.kinds() == [
        ("heading", "Tea"),
        ("paragraph", "From: a@example.org"),
        ("paragraph", "To: b@example.org"),
        ("paragraph", "At five."),
    ]


def test_a_pdf(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    for number, line in enumerate([*ENTRIES, "", *WRAPPED]):
        page.insert_text((60, 60 + 15 * number), line, fontsize=11)
    path = tmp_path / "a.pdf"
    document.save(path)
    assert read(path).texts(Kind.PARAGRAPH) == [*ENTRIES, " ".join(WRAPPED)]
