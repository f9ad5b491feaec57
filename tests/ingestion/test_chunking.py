"""Chunks keep to their section and the model's window, and lose no word."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from core.locations import InFile, LocatedText, Span
from core.text.sentences import sentence_bounds
from core.text.tables import header_of, is_table, without_marks
from extract.base import Element, Kind, Pictured
from ingestion.chunking import chunk_elements
from ingestion.token_counts import Tokenizer
from kb.chunk_size import MOST_CHARS
from kb.chunks import ChunkDraft
from kb.embedding import embedding_model
from kb.embedding.hashing import HashingModel
from kb.models import with_headings

SENTENCE = "The keeper climbs the stairs and lights the lamp before the sun has gone."


def heading(text: str, level: int) -> Element:
    return Element(Kind.HEADING, LocatedText(text), level=level)


def paragraph(sentences: int, text: str = SENTENCE) -> Element:
    return Element(Kind.PARAGRAPH, LocatedText(" ".join([text] * sentences)))


def table(rows: int) -> Element:
    """Return a table of lamps with so many rows below its header."""
    lines = [
        "| Lamp | Hours burnt |\n| --- | --- |",
        *(f"| Lamp number {at} | {at * 10} |" for at in range(rows)),
    ]
    bounds, at = [], 0
    for line in lines:
        bounds.append((at, at + len(line)))
        at += len(line) + 1
    return Element(Kind.TABLE, LocatedText("\n".join(lines)), rows=tuple(bounds))


def chunks(*elements: Element, model: Tokenizer | None = None) -> list[ChunkDraft]:
    return list(chunk_elements(elements, model or HashingModel(), "en"))


def test_every_word_is_in_exactly_one_chunk() -> None:
    elements = [paragraph(3), heading("One", 1), paragraph(50), heading("Two", 2), paragraph(2)]
    words = " ".join(element.text for element in elements).split()
    assert " ".join(chunk.located.text for chunk in chunks(*elements)).split() == words


def test_running_heads_and_feet_are_left_out() -> None:
    found = chunks(Element(Kind.PAGE_HEADER, LocatedText("Page head")), paragraph(1))
    assert [chunk.located.text for chunk in found] == [SENTENCE]


def test_a_heading_of_the_same_or_a_higher_level_begins_a_chunk() -> None:
    found = chunks(
        heading("A", 1),
        heading("A.1", 2),
        paragraph(1),
        heading("A.2", 2),
        paragraph(1),
        heading("B", 1),
        paragraph(1),
    )
    assert [chunk.located.text.split("\n\n")[:-1] for chunk in found] == [["A", "A.1"], ["A.2"], ["B"]]


def test_a_heading_without_text_goes_with_what_follows() -> None:
    found = chunks(heading("A", 1), heading("B", 1), paragraph(1))
    assert [chunk.located.text.split("\n\n") for chunk in found] == [["A", "B", SENTENCE]]
    assert found[0].headings == ("B",)


def test_a_heading_alone_above_a_table_goes_with_the_table() -> None:
    head = heading("Net sales", 1)
    first, *others = chunks(head, table(200))
    assert first.located.text.startswith("Net sales\n\n|") and first.is_table
    assert is_table(first.located.text) and header_of(first.located.text).startswith("| Lamp")
    assert [bounds.kind for bounds in first.elements or ()] == [Kind.HEADING, Kind.TABLE]
    assert others and all(chunk.located.text.startswith("|") for chunk in others)
    assert all(first.located.text[start:end].strip() for start, end in first.sentences)


def test_the_sentence_that_announces_a_table_goes_with_it() -> None:
    said = paragraph(12)
    announced = Element(Kind.PARAGRAPH, LocatedText("Lamps by kind are as follows:"))
    unit = Element(Kind.PARAGRAPH, LocatedText("(in thousands)"))
    *texts, first = chunks(said, announced, unit, table(4))
    assert texts and not any("as follows" in chunk.located.text for chunk in texts)
    assert first.is_table and is_table(first.located.text)
    assert first.located.text.startswith("Lamps by kind are as follows:\n\n(in thousands)\n\n| Lamp")
    assert first.located.text[slice(*first.sentences[0])] == "Lamps by kind are as follows:"


@pytest.mark.parametrize(
    ("text", "goes_with_it"),
    [
        ("The following table shows what lamps cost.", True),
        ("Die folgende Tabelle zeigt die Preise.", True),
        ("Lamps are dear.", False),
        ("Lamps are these, " + "and many more of them, " * 30 + "as listed:", False),
    ],
)
def test_only_an_announcement_goes_with_a_table(text: str, goes_with_it: bool) -> None:
    *texts, last = chunks(paragraph(12), Element(Kind.PARAGRAPH, LocatedText(text)), table(4))
    assert last.is_table
    assert last.located.text.startswith(text) is goes_with_it
    assert texts[-1].located.text.rstrip().endswith(text) is not goes_with_it


def test_what_announces_a_picture_stays_a_text() -> None:
    announced = Element(Kind.PARAGRAPH, LocatedText("Lamps look as follows:"))
    words = Element(Kind.PARAGRAPH, LocatedText(SENTENCE), picture=Pictured(None, "lamp"))
    text, picture, last = chunks(paragraph(12), announced, words, table(4))[-3:]
    assert text.located.text.endswith("Lamps look as follows:") and not text.is_table
    assert picture.picture and picture.located.text == SENTENCE
    assert last.is_table and last.located.text.startswith("| Lamp")


def test_a_caption_stands_above_each_part_of_a_table() -> None:
    caption = "Table 3: Lamps"
    first, *others = chunks(replace(table(200), caption=LocatedText(caption)))
    assert others
    for chunk in (first, *others):
        assert chunk.located.text.startswith(f"{caption}\n\n| Lamp") and chunk.is_table
        assert is_table(chunk.located.text) and header_of(chunk.located.text).startswith("| Lamp")
        assert fits(chunk)
    assert first.located.text[slice(*first.sentences[0])] == caption
    assert not any(start == 0 for chunk in others for start, _ in chunk.sentences)


def test_footnotes_end_the_last_part_of_a_table() -> None:
    notes = ("(1) Lamps that burn oil.", "(2) Lamps that burn gas, " + "and some more " * 20)
    for rows in range(1, 60, 3):
        *others, last = chunks(replace(table(rows), notes=tuple(map(LocatedText, notes))))
        assert last.located.text.endswith("\n\n".join(["|", *notes])) and last.is_table
        assert is_table(last.located.text)
        assert [last.located.text[start:end] for start, end in last.sentences[-2:]] == list(notes)
        assert not any("(1)" in chunk.located.text for chunk in others)
        assert all(map(fits, (*others, last)))
        lines = [line for chunk in (*others, last) for line in chunk.located.text.splitlines()]
        assert sum(line.startswith("| Lamp number") for line in lines) == rows


def test_footnotes_for_which_a_chunk_has_no_room_are_a_text() -> None:
    notes = tuple(LocatedText(f"({at}) {SENTENCE}") for at in range(20))
    found = chunks(replace(table(3), notes=notes))
    assert [chunk.is_table for chunk in found][:2] == [True, False]
    assert all(map(fits, found))
    assert all(any(note.text in chunk.located.text for chunk in found) for note in notes)


def fits(chunk: ChunkDraft) -> bool:
    """Whether a chunk without a heading fits the window of the double."""
    model = HashingModel()
    return model.count_tokens([without_marks(chunk.located.text)])[0] <= model.max_tokens


def test_a_short_text_is_joined_with_its_neighbour() -> None:
    assert len(chunks(heading("A", 1), paragraph(1), heading("A.1", 2), paragraph(1, "None."))) == 1
    assert len(chunks(heading("A", 1), paragraph(1), heading("B", 1), paragraph(1, "None."))) == 2


def test_a_run_in_heading_is_in_the_path_of_its_paragraph() -> None:
    led = Element(Kind.PARAGRAPH, LocatedText("Lamps. " + " ".join([SENTENCE] * 6)), lead=6)
    found = chunks(heading("A", 1), paragraph(6), led, paragraph(1), heading("B", 1), paragraph(1))
    assert [chunk.headings for chunk in found] == [("A",), ("A", "Lamps"), ("A",), ("B",)]
    assert found[1].located.text.startswith("Lamps. The keeper")


def test_short_paragraphs_with_run_in_headings_share_a_chunk() -> None:
    led = [
        Element(Kind.PARAGRAPH, LocatedText(f"{name}. {SENTENCE}"), lead=len(name) + 1)
        for name in ("Oil", "Wick")
    ]
    (found,) = chunks(heading("A", 1), *led)
    assert found.headings == ("A",)


def test_each_chunk_carries_the_headings_it_stands_under() -> None:
    found = chunks(
        heading("A", 1), paragraph(30), heading("A.1", 2), paragraph(60), heading("B", 1), paragraph(1)
    )
    paths = list(dict.fromkeys(chunk.headings for chunk in found))
    assert paths == [("A",), ("A", "A.1"), ("B",)]


def test_a_long_heading_path_gives_way_from_outside() -> None:
    path = [heading(f"{level} {'word ' * 30}", level) for level in range(1, 6)]
    last = chunks(*path, paragraph(30))[-1]
    assert 0 < len(last.headings) < 5
    assert last.headings[-1].startswith("5") and last.headings[-1].endswith("word…")


def test_a_paragraph_that_fits_is_kept_whole() -> None:
    found = chunks(paragraph(12), paragraph(12))
    assert [chunk.located.text for chunk in found] == [paragraph(12).text] * 2


@pytest.mark.parametrize(
    "text", ["word " * 2000, "path/to/" * 600, "日本語の文章" * 500], ids=["words", "one word", "no spaces"]
)
def test_what_has_no_sentences_is_cut_to_fit(text: str) -> None:
    model = embedding_model()
    found = chunks(paragraph(1, text.strip()), model=model)
    assert len(found) > 1
    assert all(count + 2 <= model.max_tokens for count in model.count_tokens([c.located.text for c in found]))
    assert "".join("".join(c.located.text.split()) for c in found) == "".join(text.split())


def test_headings_and_text_fit_the_real_models_window() -> None:
    model = embedding_model()
    elements = [
        heading("The lamp, the lens and the clockwork of Gull Island", 1),
        heading("Winter", 2),
        paragraph(90),
    ]
    texts = [with_headings(list(c.headings), c.located.text) for c in chunks(*elements, model=model)]
    counts = model.count_tokens(texts)
    assert max(counts) + 2 <= model.max_tokens
    assert min(counts[:-1]) > model.max_tokens * 0.8


def test_sentences_cover_the_text_in_order() -> None:
    for chunk in chunks(heading("A", 1), paragraph(40), paragraph(3)):
        text = chunk.located.text
        assert all(text[start:end] in (SENTENCE, "A") for start, end in chunk.sentences)
        assert all(left[1] <= right[0] for left, right in pairwise(chunk.sentences))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Dr. Hale paid $3.5 million. Yes!", ["Dr. Hale paid $3.5 million.", "Yes!"]),
        ("😀 Astral first. Then plain.", ["😀 Astral first.", "Then plain."]),
        ("no end", ["no end"]),
        ("", []),
    ],
    ids=["abbreviation", "beyond the basic plane", "no full stop", "nothing"],
)
def test_sentence_bounds(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in sentence_bounds(text, None)] == sentences


UNBROKEN = {
    "digits": "9" * 300_000,
    "base64": "QmFzZTYx" * 40_000,
    "one letter": "a" * 300_000,
    "blanks": f"Begin.{' ' * 300_000}End.",
    "blanks between words": ("word" + " " * 70) * 4000,
    "emoji": "😀" * 100_000,
    "combining marks": "a" + "\u0301\u0327" * 100_000,
    "quotation marks": "“" * 100_000,
    "words": "word and " * 30_000,
}


@pytest.mark.parametrize("text", UNBROKEN.values(), ids=UNBROKEN)
@pytest.mark.parametrize("kind", [Kind.PARAGRAPH, Kind.HEADING, Kind.TABLE])
def test_no_chunk_is_longer_than_its_bound_in_characters(kind: Kind, text: str) -> None:
    """A run without blanks is one token of any length, and was one chunk of a million characters."""
    text = text.strip()
    rows = ((0, len(text)),) if kind is Kind.TABLE else ()
    found = chunks(Element(kind, LocatedText(text), 1, rows=rows), paragraph(2), model=embedding_model())
    texts = [with_headings(list(chunk.headings), chunk.located.text) for chunk in found]
    assert max(map(len, texts)) <= MOST_CHARS
    assert "".join("".join(c.located.text.split()) for c in found).startswith("".join(text.split()))
    assert all(chunk.sentences for chunk in found)


def test_the_pieces_of_an_unbroken_run_keep_their_places() -> None:
    """A run that is cut keeps the places of its words: here one of 30,000 characters among others."""
    text = f"{'short ' * 50}{'9' * 30_000} {'short ' * 50}".strip()
    at, spans = 0, []
    for number, word in enumerate(text.split()):
        spans.append(Span(at, at + len(word), InFile(lines=(number + 1, number + 1))))
        at += len(word) + 1
    found = chunks(Element(Kind.PARAGRAPH, LocatedText.of_spans(text, spans)), model=embedding_model())
    runs = [chunk for chunk in found if "9" * 60 in chunk.located.text]
    assert len(runs) > 5
    for chunk in runs:
        at = chunk.located.text.index("9" * 60)
        assert chunk.located.files(at, at + 60) == [InFile(lines=(51, 51))]
    last = found[-1].located
    assert last.files(len(last.text) - 5) == [InFile(lines=(101, 101))]


def test_a_table_of_empty_cells_is_cut() -> None:
    """Cells without words have no tokens, and their marks were never counted."""
    row = "|" + "  |" * 50_000
    table = Element(
        Kind.TABLE, LocatedText(f"{row}\n{row}"), rows=((0, len(row)), (len(row) + 1, 2 * len(row) + 1))
    )
    assert max(len(chunk.located.text) for chunk in chunks(table)) <= MOST_CHARS
