"""Which lines of a plain text are headings, and which only look like one."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.locations import InFile
from extract.text.drawn import tables_of
from extract.text.titles import titles_of
from tests.extract.reading import read_bytes

PROSE = "This 63-year-old driver came in with four hours of tightness in his chest.\nHe was sent home."

TITLES = {
    "underlined": (f"Spring cleaning\n===============\n{PROSE}", "Spring cleaning"),
    "in stars": (f"*** Spring cleaning ***\n{PROSE}", "Spring cleaning"),
    "between pluses": (f"+++ SPRING CLEANING +++\n\n{PROSE}", "SPRING CLEANING"),
    "between colons": (f"::: Lower Fenwick :::\n\n{PROSE}", "Lower Fenwick"),
    "between waves": (f"        ~ LES BLANCS ~\n\n{PROSE}", "LES BLANCS"),
    "above a short sentence": ("Lenten variant\n\nWith chickpeas, and no telephone.", "Lenten variant"),
    "above what is indented": ("What you need\n\n    a kilo of cod\n    three peppers", "What you need"),
    "dated, above a list": ("Version 2.4 (17 August 2024)\n- fixed: a crash", "Version 2.4 (17 August 2024)"),
    "a numbered part in capitals": (f"4.0 RISKS\n\n{PROSE}", "4.0 RISKS"),
    "behind arrows": (f">>> Spring cleaning\n- a towel\n\n{PROSE}", "Spring cleaning"),
    "numbers of two levels": (f"2.1.  Layout\n\n{PROSE}\n\n2.2.  Types\n\n{PROSE}", "2.1. Layout"),
    "above a list behind an empty line": ("Bring with you\n\n - a towel\n - a coin", "Bring with you"),
    "in brackets": ("【診療時間】\n午前は九時からです。", "診療時間"),
    "behind a square": ("■ 診療時間\n午前は九時からです。", "診療時間"),
    "in capitals": (f"SPRING CLEANING\n\n{PROSE}", "SPRING CLEANING"),
    "numbered capitals": (f"1. RENT\n{PROSE}\n\n2. PARKING\n{PROSE}", "1. RENT"),
    "an article": (f"Artículo 4. Requisitos\n{PROSE}", "Artículo 4. Requisitos"),
    "an item of an agenda": ("TOP 2  Unterricht\n- Mathe: das Einmaleins", "TOP 2 Unterricht"),
    "numbers that stand alone": (f"1. Framing\n\n{PROSE}\n\n2. Messages\n\n{PROSE}", "1. Framing"),
    "above a paragraph": (f"Investigations and treatment\n{PROSE}", "Investigations and treatment"),
    "above a list": ("Bring with you\n- a towel\n- a coin", "Bring with you"),
    "above a table": ("Prices 2025\n\nAdults     4.80\nChildren   2.50\nDogs       1.00", "Prices 2025"),
}

NO_TITLES = {
    "an address": "Millbrook Surgery\nWexcombe WX2 7AA\nKingsmead Road 4",
    "a greeting": f"Dear Dr Pelletier\n\n{PROSE}",
    "a closing": f"Kind regards\n\n{PROSE}",
    "a date": f"8 May 2024\n\n{PROSE}",
    "a name with an initial": f"L. Fisk\n\n{PROSE}",
    "a question of an interview": f"Q. When did you begin?\n\n{PROSE}",
    "two sentences": f"Sit down. Then call us\n\n{PROSE}",
    "a comment in indented lines": "    # watch only the thesis\n    path = /home/ines/thesis",
    "a label": f"Consultant: Dr Helen Marsh\n\n{PROSE}",
    "a sentence": f"He went home.\n\n{PROSE}",
    "wrapped prose": PROSE,
    "a wrapped sentence": f"Steps 11-16 are as in SOP-0388. Ten microlitres of suspension in\n{PROSE}",
    "a list with numbers": f"1. Open the cover\n\n2. Close the cover\n\n{PROSE}",
    "one number": f"1. Framing\n\n{PROSE}",
    "a text in capitals": "ALL OF THIS IS\nWRITTEN IN CAPITALS\nFROM BEGINNING TO END",
    "list items": "■ one\n■ two\n■ three",
    "a short text": "Name\n\nPlace",
    "two parts of a line": "HARBOUR HOSPITAL          DEPARTMENT OF MEDICINE\nPatient: Ada",
    "the middle of a block": f"{PROSE}\nHistory\n{PROSE}",
}


def titles(text: str) -> list[str]:
    lines = text.split("\n")
    return [title.text for title in titles_of(lines, [table.lines for table in tables_of(lines)])]


@pytest.mark.parametrize(("text", "title"), TITLES.values(), ids=TITLES)
def test_what_is_a_heading(text: str, title: str) -> None:
    assert titles(text)[0] == title


@pytest.mark.parametrize("text", NO_TITLES.values(), ids=NO_TITLES)
def test_what_is_none(text: str) -> None:
    assert titles(text) == []


def test_levels_and_places(tmp_path: Path) -> None:
    found = read_bytes(
        tmp_path,
        f"THE ORDER\n\nArticle 1. Aim\n{PROSE}\n\nPART TWO\n\nArticle 2. Plots\n--------------\n{PROSE}",
    )
    assert found.headings() == [
        (1, "THE ORDER"),
        (2, "Article 1. Aim"),
        (1, "PART TWO"),
        (3, "Article 2. Plots"),
    ]
    assert found.place_of("Article 2") == InFile(lines=(9, 10))


def test_a_text_of_titles_has_none() -> None:
    assert titles("\n\n".join(f"CHAPTER {word}" for word in ("ONE", "TWO", "THREE"))) == []


def test_a_title_above_a_table_is_no_row_of_it(tmp_path: Path) -> None:
    text = f"{PROSE}\n\nTOP 4  Termine\n    11.10.  Apfelfest\n    25.11.  Sprechtag\n    06.12.  Frühstück"
    assert [kind for kind, _ in read_bytes(tmp_path, text).kinds()] == ["paragraph", "heading", "table"]
