"""The name of a group of rows is repeated where a chunk begins inside the group."""

from __future__ import annotations

from collections.abc import Sequence

from core.locations import Box, LocatedText, OnPage, Page
from extract.tables import table_element
from ingestion.chunking import chunk_elements

PAGE = Page(1, 500, 2000)


class Words:
    """A tokenizer for which a word is a token."""

    max_tokens = 42

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]


def row(at: int, label: str, *figures: str, indent: float = 0.0) -> list[LocatedText]:
    cells = []
    for number, text in enumerate((label, *figures)):
        place = OnPage(
            PAGE, 10 * at + number, Box(50 + indent + 100 * number, 12 * at, 90 + 100 * number, 12 * at + 10)
        )
        cells.append(LocatedText.of_words([(word, place) for word in text.split()]))
    return cells


def chunks(indent: float) -> list[str]:
    members = [row(2 + at, f"member {at} name", "1", "2", indent=indent) for at in range(8)]
    others = [row(20 + at, f"other {at} name", "3", "4") for at in range(8)]
    table = table_element([row(0, "label", "2023", "2022"), row(1, "Three months ended"), *members, *others])
    return [draft.located.text for draft in chunk_elements([table], Words(), "en")]


def test_rows_of_a_group_stand_below_its_name_in_every_chunk() -> None:
    first, *others = chunks(indent=10)
    assert len(others) > 2
    assert first.splitlines()[2].startswith("| Three months ended |")
    for text in others:
        lines = text.splitlines()
        assert lines[0] == "| label | 2023 | 2022 |"
        begins_inside = lines[2].startswith("| Three months ended") and lines[3].startswith("| member")
        assert begins_inside or lines[2].startswith("| other")


def test_without_indentation_a_group_ends_with_the_table() -> None:
    assert all(text.splitlines()[2].startswith("| Three months ended") for text in chunks(indent=0))
