"""Text, code and data: every element knows its lines, every cell its row and column."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from extract import grids
from extract.base import Kind
from extract.errors import Corrupted, Empty, FileTooLarge
from tests.extract.reading import read_bytes, simply
from tests.extract.test_kinds import PYTHON

UMLAUTS = "Der Leuchtturmwärter heißt Jörg, und täglich grüßt die Möwe über den Dünen von Sylt."


# --- Plain text --------------------------------------------------------------------------------------------


def test_paragraphs_of_a_text_know_their_lines(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, "A lamp\r\nof brass.\r\n\r\n- oil\r\n- wicks,\r\n  trimmed\r\n")
    assert [(element.kind, element.text) for element in found.elements] == [
        (Kind.PARAGRAPH, "A lamp of brass."),
        (Kind.LIST_ITEM, "- oil"),
        (Kind.LIST_ITEM, "- wicks, trimmed"),
    ]
    assert [place.lines for place in found.places()] == [(1, 2), (4, 4), (5, 6)]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (UMLAUTS, "utf-8-sig"),
        (UMLAUTS, "utf-16"),
        (UMLAUTS, "utf-16-be"),
        (UMLAUTS, "utf-32"),
        (UMLAUTS, "cp1252"),
        ("L'été était très chaud cette année, où êtes-vous allés?", "cp1252"),
        ("Zażółć gęślą jaźń, mówił profesor do źrebięcia.", "cp1250"),
        ("Съешь же ещё этих мягких французских булок, да выпей чаю", "cp1251"),
        ("これは日本語の文章です。灯台は島にあります。", "shift_jis"),
    ],
)
def test_encodings_are_recognised(tmp_path: Path, text: str, encoding: str) -> None:
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    assert read_bytes(tmp_path, mark + text.encode(encoding)).text == text


def test_characters_that_cannot_be_stored_are_left_out(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, "whale\u0085 \ufeffoil\ufffe").text == "whale oil"


def test_a_blank_text_is_empty(tmp_path: Path) -> None:
    with pytest.raises(Empty):
        read_bytes(tmp_path, " \n\t\n")


# --- Source code -------------------------------------------------------------------------------------------


def test_code_is_kept_verbatim_and_cut_at_functions(tmp_path: Path) -> None:
    functions = [
        f"def lamp_{n}():\n    a = {n}\n\n    b = a\n    c = b\n    d = c\n    return d" for n in range(3)
    ]
    found = read_bytes(tmp_path, "\n\n\n".join(functions))
    assert [element.text for element in found.elements] == functions
    numbers = [[place.lines for place in element.located.files()] for element in found.elements]
    assert [(lines[0], lines[-1]) for lines in numbers] == [
        ((1, 1), (7, 7)),
        ((10, 10), (16, 16)),
        ((19, 19), (25, 25)),
    ]
    assert found.opened.file_type == "code"


def test_short_pieces_of_code_stay_together(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, PYTHON).texts(Kind.PARAGRAPH) == [PYTHON.rstrip()]


def test_long_functions_are_cut(tmp_path: Path) -> None:
    body = "\n".join(f"    lamp_{n} = oil({n})" for n in range(200))
    found = read_bytes(tmp_path, f"def light():\n{body}\n")
    assert len(found.elements) == 6
    assert found.place_of("lamp_150 ").lines == (152, 152)


# --- Tables ------------------------------------------------------------------------------------------------


def test_cells_of_a_csv_know_line_row_and_column(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, 'name,remark\nAnn,"two\nlines"\nBob,"a, b"\n')
    assert found.text == "| name | remark |\n| --- | --- |\n| Ann | two lines |\n| Bob | a, b |"
    place = found.place_of("a, b")
    assert (place.lines, place.cells) == ((4, 4), (3, 2, 3, 2))
    assert found.place_of("two lines").lines == (2, 3)
    assert found.units[0].tables == 1


def test_the_title_above_a_csv_is_a_heading(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, "Stanley Cups,,\nTeam,Location,Cups\nBlues,STL,1\n")
    assert found.headings() == [(1, "Stanley Cups")]
    assert found.texts(Kind.TABLE) == ["| Team | Location | Cups |\n| --- | --- | --- |\n| Blues | STL | 1 |"]


def test_long_tables_come_in_groups_under_their_header(tmp_path: Path) -> None:
    rows = "\n".join(f"{n},lamp {n}" for n in range(5000))
    found = read_bytes(tmp_path, f"number,name\n{rows}\n")
    assert len(found.elements) == 3
    assert all(element.text.startswith("| number | name |\n| --- |") for element in found.elements)
    assert found.place_of("lamp 4999").lines == (5001, 5001)


def test_too_many_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grids, "MAX_CELLS", 100)
    with pytest.raises(FileTooLarge, match="Split it"):
        read_bytes(tmp_path, "a,b\n" * 60)


# --- JSON --------------------------------------------------------------------------------------------------


def test_json_records(tmp_path: Path) -> None:
    keepers = [{"name": "Ann", "lamp": {"oil": 1.50}, "tags": ["a", "b"]}, {"name": "Bob", "gone": None}]
    found = read_bytes(tmp_path, json.dumps({"island": "Gull", "keepers": keepers}, indent=1))
    assert [element.text for element in found.elements] == [
        "island: Gull",
        "keepers name: Ann\nkeepers lamp oil: 1.5\nkeepers tags: a\nkeepers tags: b",
        "keepers name: Bob\nkeepers gone: null",
    ]
    assert found.place_of("lamp oil: 1.5").lines == (7, 7)


def test_json_lines(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, '{"a": "one\\ntwo"}\n\n{"a": "\\u00e4"}\n')
    assert [element.text for element in found.elements] == ["a: one two", "a: ä"]
    assert [place.lines for place in found.places()] == [(1, 1), (3, 3)]


def test_numbers_stay_as_they_are_written(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, '{"price": 1.10, "id": 12345678901234567890}').text == (
        "price: 1.10\nid: 12345678901234567890"
    )


@pytest.mark.parametrize("content", ['{"a": 1, "b": [1, 2', '[{"a": 1}, {"b" 2]]'])
def test_broken_json_is_named_with_its_line(tmp_path: Path, content: str) -> None:
    with pytest.raises(Corrupted, match="from line 1 on"):
        read_bytes(tmp_path, content)


def test_endless_nesting_of_json(tmp_path: Path) -> None:
    with pytest.raises(FileTooLarge):
        read_bytes(tmp_path, "[" * 50_000 + "]" * 50_000)


# --- XML ---------------------------------------------------------------------------------------------------


def test_xml_records(tmp_path: Path) -> None:
    xml = (
        '<?xml version="1.0"?>\n<isles>\n<isle id="7">\n<name>Gull</name>\n<lamp>oil</lamp>\n</isle></isles>'
    )
    found = read_bytes(tmp_path, xml)
    assert [element.text for element in found.elements] == ["isle id: 7\nname: Gull\nlamp: oil"]
    assert found.place_of("lamp: oil").lines == (5, 5)


def test_xml_documents(tmp_path: Path) -> None:
    xml = "<book><chapter><title>Lamps</title><p>Of <i>brass</i> and glass.</p><p>Oil.</p></chapter></book>"
    found = read_bytes(tmp_path, xml)
    assert found.headings() == [(2, "Lamps")]
    assert found.texts(Kind.PARAGRAPH) == ["Of brass and glass.", "Oil."]


def test_damaged_xml(tmp_path: Path) -> None:
    with pytest.raises(Corrupted, match="line 1"):
        read_bytes(tmp_path, "<?xml version='1.0'?><a><b></a>")


@pytest.mark.parametrize(
    "content", ["name,age\nAnn,31\n", '{"name": "Ann"}', "<keeper><name>Ann</name></keeper>"]
)
def test_the_sturdiest_reading_has_the_words(tmp_path: Path, content: str) -> None:
    assert "Ann" in read_bytes(tmp_path, content, simply()).text
