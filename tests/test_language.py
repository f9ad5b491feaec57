"""One noun, one meaning: no two classes share a name, and the words of the glossary are the code's words."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.testing.paths import ROOT

ROOMS = ("core", "extract", "accounts", "kb", "runs", "ingestion", "search", "assistants", "locus")
OF_THE_FRAMEWORK = {"Command", "Meta", "Media"}
SHARED = {
    "Document": "the table, and its shape in the API's schema",
    "Chunk": "the table, and its shape in the API's schema",
    "Session": "the conversation",
}
"""Names of several classes, each with the reason."""
NOT_IN_CODE = {"session", "row group", "head"}


def sources() -> Iterator[Path]:
    for room in ROOMS:
        yield from (path for path in (ROOT / room).rglob("*.py") if "migrations" not in path.parts)


def test_no_two_classes_share_a_name() -> None:
    places = defaultdict(list)
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            # What begins with an underscore is known in its own file alone.
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(ROOT)))
    shared = {
        name: found for name, found in places.items() if len(found) > 1 and name not in OF_THE_FRAMEWORK
    }
    assert {name: found for name, found in shared.items() if name not in SHARED} == {}


def glossary() -> list[tuple[str, str]]:
    """Return each word with those that stand for something else."""
    lines = (ROOT / "docs" / "glossary.md").read_text("utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return [(word, avoided) for word, _, avoided in cells[1:]]


def test_the_words_of_the_glossary_exist() -> None:
    text = " ".join(path.read_text().lower() for path in sources())
    words = set(re.findall(r"[a-z]+", re.sub(r"([a-z])_([a-z])", r"\1 \2", text)))
    missing = [
        word
        for word, _ in glossary()
        if not all(part in words for part in re.findall(r"[a-z]+", word.lower()))
    ]
    assert missing == []


def test_each_word_of_the_glossary_has_one_entry() -> None:
    words = [word for word, _ in glossary()]
    assert sorted(words) == sorted(set(words))


ARCHAIC = {
    "heed",
    "tell",
    "told",
    "sturdily",
    "sturdy",
    "shelf",
    "manners",
    "leash",
    "whoever",
    "wishes",
    "walls",
}
"""Words that stand in no name: the field has a term for each."""


def names(path: Path) -> Iterator[str]:
    """Yield the names of functions, classes and parameters, and of all that is assigned."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def test_no_name_has_an_archaic_word() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources()
        for name in names(path)
        if ARCHAIC & set(re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower().split("_"))
    }
    assert found == set()
