"""Source code is cut at its definitions, each below the names of what holds it, with exact lines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.locations import LocatedText
from extract.base import Kind
from extract.kinds import code_suffix
from extract.text.definitions import DEEPEST, Definition, definitions_of
from ingestion.chunking import chunk_elements
from ingestion.sections import sections
from ingestion.structure.elements import structure_elements
from tests.extract.reading import REQUEST, Read, read_bytes, simply

BODY = "\n".join(f"        oil = oil + {n}" for n in range(30))
PROGRAM = f'''"""Lamps."""

import oil

GALLONS = 4


class Lamp:
    """A lamp."""

    height = 2

    def __init__(self):
{BODY}

    # Lights it.
    @once
    def light(self):
{BODY}


def trim(wick):
    """Trim a wick."""
    cut = wick
    return cut
'''


def parts_of(found: Read) -> list[tuple[tuple[str, ...], int, int]]:
    """Return the headings of each section, and its first and last line."""
    parts = []
    for section in sections(structure_elements(found.elements)):
        lines = [place.lines for one in section.elements for place in one.located.files() if place.lines]
        parts.append((section.headings, lines[0][0], lines[-1][1]))
    return parts


def test_a_program_is_cut_at_its_definitions(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, PROGRAM, replace(REQUEST, promised="code", suffix=".py"))
    assert parts_of(found) == [
        ((), 1, 5),
        (("Lamp",), 8, 11),
        (("Lamp", "__init__"), 13, 43),
        (("Lamp", "light"), 45, 77),
        (("trim",), 80, 83),
    ]
    texts = "\n".join(found.texts(Kind.PARAGRAPH)).split()
    assert texts == PROGRAM.split()


def test_the_names_are_headings_and_no_text(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, PROGRAM, replace(REQUEST, promised="code", suffix=".py"))
    drafts = list(chunk_elements(found.elements, Words(), "en"))
    (light,) = [draft for draft in drafts if draft.located.text.lstrip().startswith("# Lights it.")]
    assert light.headings == ("Lamp", "light")
    assert all(draft.located.text.strip() not in ("Lamp", "light", "trim") for draft in drafts)


class Words:
    """Counts words."""

    max_tokens = 256

    def count_tokens(self, texts: list[str]) -> list[int]:
        return [len(text.split()) for text in texts]


def test_what_follows_a_definition_leaves_its_name(tmp_path: Path) -> None:
    program = f"def trim(wick):\n{BODY}\n\n\nif __name__ == '__main__':\n    trim(1)\n    trim(2)\n"
    found = read_bytes(tmp_path, program, replace(REQUEST, promised="code", suffix=".py"))
    assert parts_of(found) == [(("trim",), 1, 31), ((), 34, 36)]


@pytest.mark.parametrize("suffix", [None, ".nim"])
def test_other_programs_are_cut_at_blank_lines(tmp_path: Path, suffix: str | None) -> None:
    found = read_bytes(tmp_path, PROGRAM, replace(REQUEST, promised="code", suffix=suffix))
    assert not found.headings()
    assert "def light" in found.text
    assert not read_bytes(
        tmp_path, PROGRAM, simply(replace(REQUEST, promised="code", suffix=".py"))
    ).headings()


LANGUAGES = {
    ".js": ("class A {\n  b() {\n    c();\n  }\n}\nconst d = (e) => {\n  f();\n};\n", ["A", "A.b", "d"]),
    ".ts": ("export interface A {\n  b: string;\n}\nfunction c(): void {\n  d();\n}\n", ["A", "c"]),
    ".tsx": ("export function A() {\n  return <p>b</p>;\n}\n", ["A"]),
    ".java": ("class A {\n  A() {\n  }\n  int b() {\n    return 1;\n  }\n}\n", ["A", "A.A", "A.b"]),
    ".c": ("struct a {\n  int b;\n};\n\nstatic int *c(int d)\n{\n  return 0;\n}\n", ["a", "c"]),
    ".cpp": (
        "namespace a {\ntemplate <class T> class B {\n  void c() {\n  }\n};\n}\nvoid B::d() {\n}\n",
        ["a", "a.B", "a.B.c", "B::d"],
    ),
    ".cs": ("namespace A {\n  class B {\n    void C() {\n    }\n  }\n}\n", ["A", "A.B", "A.B.C"]),
    ".go": ("package a\n\ntype B struct {\n  c int\n}\n\nfunc (b B) D() int {\n  return 1\n}\n", ["B", "D"]),
    ".rs": ("struct A {\n  b: i32,\n}\nimpl A {\n  fn c() {\n  }\n}\n", ["A", "A", "A.c"]),
    ".rb": ("module A\n  class B\n    def c\n      1\n    end\n  end\nend\n", ["A", "A.B", "A.B.c"]),
    ".php": ("<?php\nclass A {\n  function b() {\n    return 1;\n  }\n}\n", ["A", "A.b"]),
    ".kt": ("class A {\n  fun b(): Int {\n    return 1\n  }\n}\n", ["A", "A.b"]),
    ".scala": ("object A {\n  def b(c: Int): Int = {\n    c\n  }\n}\n", ["A", "A.b"]),
    ".sh": ("light() {\n  echo oil\n}\n", ["light"]),
}


@pytest.mark.parametrize("suffix", LANGUAGES)
def test_definitions_of_each_language(suffix: str) -> None:
    text, names = LANGUAGES[suffix]
    assert list(named(definitions_of(text, suffix))) == names
    assert code_suffix(f"Program{suffix.upper()}") == suffix


def named(definitions: tuple[Definition, ...], around: str = "") -> list[str]:
    found = []
    for one in definitions:
        found += [around + one.name, *named(one.inner, f"{around}{one.name}.")]
    return found


def test_definitions_in_definitions_without_end_stop() -> None:
    nested = "\n".join(f"{' ' * depth}class A{depth}:" for depth in range(60)) + f"\n{' ' * 60}pass\n"
    depth, inner = 0, definitions_of(nested, ".py")
    while inner:
        depth, inner = depth + 1, inner[0].inner
    assert 3 < depth <= DEEPEST


def test_a_piece_of_a_long_function_knows_its_own_lines(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, PROGRAM, replace(REQUEST, promised="code", suffix=".py"))
    located = next(one.located for one in found.elements if "def light" in one.text)
    half: LocatedText = located.slice(
        located.text.index("oil + 10"), located.text.index("        oil = oil + 12")
    )
    assert [place.lines for place in half.files()] == [(58, 58), (59, 59)]
