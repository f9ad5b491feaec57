"""Files of several kinds for the pages that show documents; what they say belongs together."""

from __future__ import annotations

import io
from email.message import EmailMessage

import docx
import openpyxl
import pptx
import pymupdf

from tests.testing.paths import SAMPLES

FERRIES = SAMPLES / "followups" / "documents"
HARBOUR = [
    ("The harbour", "The harbour of Gull Island has two quays. The western one was rebuilt in 1921."),
    (
        "Arrivals",
        "The harbour master enters each ship in a book, with its cargo and the hour.",
    ),
    ("Winter", "From November to March the ferry sails on Tuesdays and Fridays only, if the sea allows it."),
]
SHIPS = [
    ("Ship", "Arrived", "Cargo", "Tonnes"),
    ("Ellen", "3 May", "Timber", 210),
    ("Aurora", "4 May", "", 0),
]
TIMETABLE = """\
THE FERRY TO GULL ISLAND

Timetable from 1 May
The ferry sails every day of the week but Monday, and waits for nobody but the doctor.

                     First   Second
-----------------------------------
To the island
  Harbour             7:40    14:10
  Gull Island         8:25    14:55
Back
  Gull Island         9:00    15:30
  Harbour             9:45    16:15

Fares
Children below six years sail free of charge, and so does the mail.

  Adult ............. 4.80
  Child ............. 2.40
  Bicycle ........... 1.50
"""


def sample_files() -> list[tuple[str, bytes]]:
    """Return names and contents of a report, scans, office files, a mail, a web page, a text, a recording."""
    stored = ["report.pdf", "scan.png", "notes.md", "speech.opus", "encrypted.pdf"]
    made = {
        "scan.pdf": _scan(),
        "harbour.docx": _word_file(),
        "harbour slides.pptx": _slides(),
        "arrivals.xlsx": _workbook(),
        "supply boat.eml": _mail(),
        "island.html": _web_page(),
        "timetable.txt": TIMETABLE.encode(),
    }
    ferries = [(path.name, path.read_bytes()) for path in sorted(FERRIES.glob("ferries-*.md"))]
    return [*((name, (SAMPLES / name).read_bytes()) for name in stored), *made.items(), *ferries]


def _scan() -> bytes:
    """Return a PDF of a picture alone."""
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=595, height=842)
        page.insert_image(page.rect, filename=SAMPLES / "scan.png")
        return bytes(pdf.tobytes())


def _word_file() -> bytes:
    document, written = docx.Document(), io.BytesIO()
    document.add_heading("Rules of the harbour", 0)
    for heading, words in HARBOUR:
        document.add_heading(heading, 1)
        for _ in range(3):
            document.add_paragraph(words)
    table = document.add_table(rows=0, cols=len(SHIPS[0]))
    for row in SHIPS:
        for cell, value in zip(table.add_row().cells, row, strict=True):
            cell.text = str(value)
    document.save(written)
    return written.getvalue()


def _slides() -> bytes:
    deck, written = pptx.Presentation(), io.BytesIO()
    for heading, words in HARBOUR:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = heading
        slide.placeholders[1].text = words
    deck.save(written)
    return written.getvalue()


def _workbook() -> bytes:
    book, written = openpyxl.Workbook(), io.BytesIO()
    sheet = book.active
    sheet.title = "Arrivals"
    for row in SHIPS:
        sheet.append(row)
    book.save(written)
    return written.getvalue()


def _mail() -> bytes:
    message = EmailMessage()
    message["From"], message["To"] = "keeper@example.org", "harbour@example.org"
    message["Subject"], message["Date"] = "The supply boat", "Tue, 04 May 1954 09:30:00 +0000"
    message.set_content("\n\n".join(words for _, words in HARBOUR))
    return message.as_bytes()


def _web_page() -> bytes:
    words = (SAMPLES / "notes.md").read_text().split("\n\n")
    parts = "".join(f"<p>{paragraph}</p>" for paragraph in words if len(paragraph) > 80)
    page = f"<title>Gull Island</title><article><h1>Gull Island</h1>{parts}</article>"
    return f"<!doctype html><html lang=en>{page}</html>".encode()
