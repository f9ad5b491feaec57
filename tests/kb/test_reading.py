"""Documents as one readable text: every character of every chunk has its place in the blocks."""

from __future__ import annotations

import io
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import docx
import openpyxl
import pptx
import pytest
from django.test import Client

from core.errors import DocumentError
from core.locations import InTime, LocatedText
from core.text.tables import RULE
from ingestion import pipeline
from kb.models import Chunk, Document, Modality
from kb.reading.blocks import blocks_of
from tests.conftest import Cast
from tests.factories import indexed_document, stored_document
from tests.ingestion.conftest import upload_to

pytestmark = pytest.mark.django_db

FILLER = "The keeper wrote down every ship that passed, with its flag and its cargo. " * 12
MARKDOWN = f"""# Harbour

Opened in 1868. See https://example.org/harbour for the plan.

## Rules

- No anchors in the channel.
- Lights at night.

```python
def light(hour):

    return hour > 18
```

| Town | Ships |
| --- | --- |
| Almería | 42 |
| a\\|b | 17 |

## Long part

{FILLER}

### Details

{FILLER * 3}
"""
PAGE = """<html><body><h1>Ferries</h1><p>They leave at <b>noon</b>.</p><ol><li>North</li><li>South</li></ol>
<pre>A  1
B  2</pre><table><tr><th>Day</th><th>Ships</th></tr><tr><td>Monday</td><td>3</td></tr>
<tr><td>Tuesday</td><td></td></tr></table></body></html>"""


def of_word() -> bytes:
    """Return a document with headings, a list and a table of two hundred rows."""
    document = docx.Document()
    document.add_heading("Report", 1)
    document.add_paragraph("An introduction that says what is in it.")
    document.add_heading("Findings", 2)
    for text in ("First finding.", "Second finding."):
        document.add_paragraph(text, style="List Bullet")
    document.add_paragraph(FILLER)
    table = document.add_table(rows=200, cols=3)
    for number, row in enumerate(table.rows):
        texts = [f"r{number}c{column} and some words" for column in range(3)] if number else ["A", "B", "C"]
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    return saved(document)


def of_slides() -> bytes:
    """Return three slides, the second of them without a title."""
    shown = pptx.Presentation()
    for title, lines in (("Goals", "Grow\nLearn"), ("", "No title here"), ("End", "Thanks")):
        slide = shown.slides.add_slide(shown.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = lines
    return saved(shown)


def of_sheets() -> bytes:
    """Return two sheets, the first with three hundred rows."""
    book = openpyxl.Workbook()
    first, second = book.active, book.create_sheet("Prices")
    first.title = "Sales"
    first.append(["Town", "Ships", "Remark"])
    for number in range(300):
        first.append([f"Town {number}", number, None if number % 3 else "a | b"])
    second.append(["Item", "Price"])
    second.append(["Rope", 12.5])
    return saved(book)


def saved(document: Any) -> bytes:
    """Return what a library writes."""
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


MAIL = b"""From: a@example.org
To: b@example.org
Subject: Plans

Dear B,

the plans are ready.

- one
- two
"""
FILES: dict[str, bytes] = {
    "harbour.md": MARKDOWN.encode(),
    "ferries.html": PAGE.encode(),
    "report.docx": of_word(),
    "goals.pptx": of_slides(),
    "sales.xlsx": of_sheets(),
    "plans.eml": MAIL,
    "towns.csv": b'Town,Ships\nPunta Brava,3\n"a | b",\n',
    "light.py": b"import math\n\n\ndef light(hour):\n    if hour > 18:\n        return 1\n\n    return 0\n",
    "notes.txt": "Emoji \U0001f6a2 first.\n\n1. one\n2. two\n".encode(),
    "list.json": b'[{"town": "Almeria", "ships": 3}, {"town": "Punta Brava", "ships": 4}]',
}
CORPUS = ["docling", "markitdown", "unstructured"]
READABLE = {".docx", ".pptx", ".xlsx", ".html", ".epub", ".eml", ".odt", ".odp", ".csv", ".md"}


def processed(cast: Cast, name: str, content: bytes) -> Document:
    """Upload a file and process it."""
    document = upload_to(cast.team, content, name)
    pipeline.read(document.pk, lambda: False)
    document.refresh_from_db()
    return document


def read_whole(cast: Cast, document: Document, limit: int = 60) -> list[dict[str, Any]]:
    """Return all blocks of a document, read part by part."""
    blocks: list[dict[str, Any]] = []
    address = f"/api/v1/documents/{document.pk}/reading?limit={limit}"
    while address:
        part = Client().get(address, headers=cast.headers("alice")).json()
        blocks += part["blocks"]
        address = part["next"]
    return blocks


def check_every_character(document: Document, blocks: list[dict[str, Any]]) -> None:
    """Check that the blocks hold each chunk's text exactly once, at the offsets that they say."""
    for chunk in Chunk.unscoped.filter(document=document, replaced_by=None):
        held: list[Any] = [None] * len(chunk.text)
        own = [block for block in blocks if block["chunk_id"] == str(chunk.pk)]
        assert own, chunk
        for block in own:
            cells = [cell for row in block.get("rows", ()) for cell in row["cells"]]
            for piece in cells if block["kind"] == "table" else [block]:
                assert chunk.text[piece["start"] : piece["end"]] == piece["text"]
                for at in range(piece["start"], piece["end"]):
                    assert held[at] is None
                    held[at] = piece
        left = "".join(char for char, piece in zip(chunk.text, held, strict=True) if piece is None)
        is_table = chunk.modality == "table"
        assert not (RULE.sub("", left).replace("|", "").replace("-", "") if is_table else left).strip()


@pytest.mark.parametrize("name", FILES)
def test_every_character_has_its_place(cast: Cast, name: str) -> None:
    document = processed(cast, name, FILES[name])
    assert Chunk.unscoped.filter(document=document, elements=None).count() == 0
    check_every_character(document, read_whole(cast, document, limit=2))
    # Documents of earlier releases have no stored elements.
    Chunk.unscoped.filter(document=document).update(elements=None)
    check_every_character(document, read_whole(cast, document))


def test_kinds_of_blocks(cast: Cast) -> None:
    blocks = read_whole(cast, processed(cast, "harbour.md", FILES["harbour.md"]))
    kinds = [(block["kind"], block.get("level"), block["text"][:10]) for block in blocks if "text" in block]
    assert kinds[:7] == [
        ("heading", 1, "Harbour"),
        ("paragraph", None, "Opened in "),
        ("heading", 2, "Rules"),
        ("list_item", None, "No anchors"),
        ("list_item", None, "Lights at "),
        ("code", None, "def light("),
        ("heading", 2, "Long part"),
    ]
    [table] = [block for block in blocks if block["kind"] == "table"]
    assert [[cell["text"] for cell in row["cells"]] for row in table["rows"]] == [
        ["Town", "Ships"],
        ["Almería", "42"],
        ["a|b", "17"],
    ]
    assert any(block.get("continued") for block in blocks)


def test_a_long_table_says_which_header_is_repeated(cast: Cast) -> None:
    blocks = read_whole(cast, processed(cast, "report.docx", FILES["report.docx"]), limit=3)
    tables = [block for block in blocks if block["kind"] == "table"]
    assert len(tables) > 3
    assert [table.get("continued", False) for table in tables] == [False] + [True] * (len(tables) - 1)
    rows = [row["cells"][0]["text"] for table in tables for row in table["rows"][1:]]
    assert rows == [f"r{number}c0 and some words" for number in range(1, 200)]


def test_a_table_that_names_no_column_has_no_header(cast: Cast) -> None:
    text = b"Fares\n\n  Adult ...... 4.80\n  Child ...... 2.40\n  Bicycle .... 1.50\n"
    heading, table = read_whole(cast, processed(cast, "fares.txt", text))
    assert (heading["kind"], heading["text"]) == ("heading", "Fares")
    assert "has_header" not in table
    assert [[cell["text"] for cell in row["cells"]] for row in table["rows"]] == [
        ["Adult", "4.80"],
        ["Child", "2.40"],
        ["Bicycle", "1.50"],
    ]


def test_sheets_and_slides_know_their_places(cast: Cast) -> None:
    sheets = read_whole(cast, processed(cast, "sales.xlsx", FILES["sales.xlsx"]))
    cells = {
        (block["sheet"], cell["row"], cell["column"]): cell["text"]
        for block in sheets
        if block["kind"] == "table"
        for row in block["rows"]
        for cell in row["cells"]
    }
    assert cells["Sales", 1, 2] == "Ships"
    assert cells["Sales", 2, 3] == "a | b"
    assert cells["Sales", 301, 1] == "Town 299"
    assert cells["Prices", 2, 2] == "12.5"
    slides = read_whole(cast, processed(cast, "goals.pptx", FILES["goals.pptx"]))
    assert [(block["slide"], block["text"]) for block in slides] == [
        (1, "Goals"),
        (1, "Grow"),
        (1, "Learn"),
        (2, "No title here"),
        (3, "End"),
        (3, "Thanks"),
    ]


def outline(cast: Cast, document: Document, who: str = "alice", **query: str) -> Any:
    """Return what the outline's address answers."""
    return Client().get(f"/api/v1/documents/{document.pk}/outline", query, headers=cast.headers(who))


def test_outline(cast: Cast) -> None:
    document = processed(cast, "harbour.md", FILES["harbour.md"])
    last = Chunk.unscoped.filter(document=document).order_by("ordinal").last()
    assert last
    shown = outline(cast, document, chunk_id=str(last.pk)).json()
    titles = [(heading["text"], heading["level"]) for heading in shown["headings"]]
    assert titles == [("Harbour", 1), ("Rules", 2), ("Long part", 2), ("Details", 3)]
    assert shown["position"] == last.ordinal == shown["chunks"] - 1
    assert sum(window["chunks"] for window in shown["windows"]) == shown["chunks"]
    sheets = outline(cast, processed(cast, "sales.xlsx", FILES["sales.xlsx"])).json()
    assert {window["sheet"] for window in sheets["windows"]} == {"Sales", "Prices"}
    slides = outline(cast, processed(cast, "goals.pptx", FILES["goals.pptx"])).json()
    assert [(one["text"], one["slide"]) for one in slides["headings"]] == [("Goals", 1), ("End", 3)]


def test_a_replaced_chunk_leads_to_its_successor(cast: Cast) -> None:
    document = indexed_document(cast.team)
    chunk = Chunk.unscoped.get(document=document)
    old = Chunk.unscoped.create(
        id="00000000-0000-4000-8000-000000000001",
        document=document,
        workspace=cast.team,
        ordinal=0,
        text="Before.",
        replaced_by=[chunk.pk],
    )
    assert outline(cast, document, chunk_id=str(old.pk)).json()["position"] == 0
    assert len(read_whole(cast, document)) == 1


def test_only_what_is_visible(cast: Cast) -> None:
    document, other = indexed_document(cast.team), indexed_document(cast.team, name="other.pdf")
    assert outline(cast, document, "charlie").status_code == 404
    reading = f"/api/v1/documents/{document.pk}/reading"
    assert Client().get(reading, headers=cast.headers("charlie")).status_code == 404
    chunk = Chunk.unscoped.get(document=other)
    assert outline(cast, document, chunk_id=str(chunk.pk)).status_code == 404
    for query in ("start=-1", "start=x", "limit=0", "limit=201", "begin=1"):
        assert Client().get(f"{reading}?{query}", headers=cast.headers("alice")).status_code == 400
    answer = Client().get(reading, headers=cast.headers("alice"))
    again = Client().get(reading, headers=cast.headers("alice") | {"If-None-Match": answer["ETag"]})
    assert again.status_code == 304
    beyond = Client().get(f"{reading}?start=999999999", headers=cast.headers("alice")).json()
    assert beyond["blocks"] == []


def test_elements_of_an_archive_that_make_no_sense_are_not_believed(cast: Cast) -> None:
    document = stored_document(cast.team, "a.txt", b"a", file_type="txt")
    chunk = Chunk.unscoped.create(
        id="00000000-0000-4000-8000-000000000002",
        document=document,
        workspace=cast.team,
        ordinal=0,
        text="One.\n\nTwo.",
        elements=[[4, 9, "paragraph", None, False], [0, 900, "heading", 1, False]],
    )
    blocks = read_whole(cast, document)
    assert [(block["chunk_id"], block["text"]) for block in blocks] == [
        (str(chunk.pk), "One."),
        (str(chunk.pk), "Two."),
    ]


@pytest.mark.slow("corpora")
def test_real_files(cast: Cast, shared_data: Path, subtests: Any) -> None:
    files = [
        file
        for folder in CORPUS
        for file in sorted((shared_data / "robustness" / folder).iterdir())
        if file.suffix in READABLE
    ]
    read = 0
    for file in files:
        # Some of them can't be read, and should not.
        with subtests.test(file.name), suppress(DocumentError):
            document = processed(cast, file.name, file.read_bytes())
            check_every_character(document, read_whole(cast, document))
            read += document.chunk_count > 0
    assert read > 12


def test_a_recording_says_who_speaks_where_its_channels_tell() -> None:
    said = [("Hello?", "channel 1"), ("Here is the keeper.", "channel 2"), ("Good.", None)]
    texts = [
        LocatedText.of_words([(word, InTime(at, at + 1)) for word in text.split()])
        for at, (text, _) in enumerate(said)
    ]
    located = LocatedText.join(texts, "\n\n")
    starts = [located.text.index(text) for text, _ in said]
    bounds = [(start, start + len(text)) for start, (text, _) in zip(starts, said, strict=True)]
    chunk = Chunk(
        pk=uuid4(),
        text=located.text,
        spans=located.dump(),
        sentences=[list(each) for each in bounds],
        elements=[
            [*each, "paragraph", None, False, who] for each, (_, who) in zip(bounds, said, strict=True)
        ],
        start_time=0.0,
        modality=Modality.AUDIO,
        ordinal=0,
    )
    blocks = [block.model_dump(exclude_unset=True) for block in blocks_of(chunk, None, "wav")]
    assert [block.get("speaker") for block in blocks] == ["channel 1", "channel 2", None]
    assert all(block["sentences"] for block in blocks)


def test_a_caption_is_shown_once_above_the_parts_of_a_table(cast: Cast) -> None:
    rows = "".join(f"<tr><td>Lamp number {at}</td><td>{at * 10}</td></tr>" for at in range(200))
    page = f"<table><caption>Table 3: Lamps</caption><tr><th>Lamp</th><th>Hours</th></tr>{rows}</table>"
    document = processed(cast, "lamps.html", f"<html><body><p>{FILLER}</p>{page}</body></html>".encode())
    chunks = Chunk.unscoped.filter(document=document, replaced_by=None, modality=Modality.TABLE)
    assert chunks.count() > 1 and all(chunk.text.startswith("Table 3: Lamps\n\n|") for chunk in chunks)
    blocks = read_whole(cast, document)
    assert [block["text"] for block in blocks if block["kind"] == "caption"] == ["Table 3: Lamps"]
    tables = [block for block in blocks if block["kind"] == "table"]
    assert [table.get("continued", False) for table in tables] == [False] + [True] * (len(tables) - 1)
