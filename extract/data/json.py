"""JSON and JSON lines: each value on its own line after the keys that lead to it, grouped into records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from extract.base import Element, Finding, Kind, Opened, Request, TextOrigin, UnitRead
from extract.data.records import Fact, record_elements
from extract.errors import Corrupted, FileTooLarge
from extract.json_tokens import Leaf, Malformed, TooDeep, leaves
from extract.places import fold_spaces
from extract.text.plain import paragraphs_of, plain_elements, read_text


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the records with their lines; raise `Corrupted`, `Empty` or `FileTooLarge`."""
    text = read_text(path)
    try:
        elements = list(paragraphs_of(text) if request.safe_mode else _records(text))
    except Corrupted:
        # Of a file that is not called JSON, the beginning alone looked like it.
        if request.promised in (None, "json"):
            raise
        yield Opened("txt", "text/plain")
        elements = list(plain_elements(text))
    else:
        yield Opened("json", "application/json")
    yield from elements
    yield UnitRead(1, TextOrigin.TEXT)


def _records(text: str) -> Iterator[Element]:
    try:
        yield from record_elements(_facts(text), Kind.PARAGRAPH)
    except TooDeep as error:
        raise FileTooLarge(
            "The JSON is nested too deeply. Flatten it, or upload it as plain text."
        ) from error
    except Malformed as error:
        raise Corrupted(
            f"The JSON can't be read from line {error.line} on. Correct it and upload it."
        ) from error


def _facts(text: str) -> Iterator[Fact]:
    for leaf in leaves(text):
        if value := fold_spaces(leaf.text):
            keys = (step for step in leaf.path if isinstance(step, str))
            yield Fact(_record(leaf), " ".join(keys), value, leaf.line)


def _record(leaf: Leaf) -> tuple[str | int, ...]:
    """Return the part of a value's path that it shares with its record: up to an item of the outermost list.

    `[{…}, {…}]` and `{"items": [{…}, {…}]}` both have a record for each item of the list.
    """
    items = (at for at, step in enumerate(leaf.path[:-1]) if at and isinstance(step, int))
    return leaf.path[: next(items, 0) + 1]
