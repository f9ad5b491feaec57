"""Words that lines part are joined, and keep the places of both halves."""

from __future__ import annotations

from core.locations import Box, LocatedText, OnPage, Page
from extract.base import Element, Kind
from ingestion.structure.elements import structure_elements

PAGE = Page(1, 595, 842)


def lines(*texts: str, kind: Kind = Kind.PARAGRAPH) -> Element:
    """Return a paragraph of these lines."""
    words = [
        (word, OnPage(PAGE, row, Box(72 + 60 * column, 100 + 12 * row, 130 + 60 * column, 110 + 12 * row)))
        for row, text in enumerate(texts)
        for column, word in enumerate(text.split())
    ]
    return Element(kind, LocatedText.of_words(words), font_size=10)


def read(*elements: Element) -> str:
    return structure_elements(elements)[0].text


def test_a_word_that_stands_whole_elsewhere() -> None:
    parted = lines("It learns repre-", "sentations of words.")
    whole = lines("Such representations are vectors.")
    assert read(parted, whole) == "It learns representations of words."


def test_a_word_that_stands_nowhere_else() -> None:
    assert read(lines("an infea-", "sible plan")) == "an infeasible plan"


def test_both_halves_keep_their_places() -> None:
    [joined] = structure_elements([lines("It learns repre-", "sentations of words.")])
    word = joined.text.index("representations")
    boxes = joined.located.boxes(word, word + len("representations"))
    assert [line.box.y1 for line in boxes] == [100, 112]
    of = joined.text.index("of words")
    assert [line.box.x1 for line in joined.located.boxes(of, of + 2)] == [132]
    assert LocatedText.load(joined.text, joined.located.dump()) == joined.located


def test_a_hyphen_that_belongs_to_the_word_stays() -> None:
    assert read(lines("a self-", "contained text"), lines("It is self-contained.")) == "a self-contained text"
    assert read(lines("a stock-", "based plan"), lines("Stock plans are based here.")) == "a stock-based plan"
    assert read(lines("a proof-of-", "concept study")) == "a proof-of-concept study"


def test_two_short_words_do_not_make_a_compound() -> None:
    assert read(lines("most no-", "table of all"), lines("There is no table.")) == "most notable of all"


def test_a_hyphen_that_stands_for_what_follows_stays_as_it_is() -> None:
    for words in (("short-", "and long-term debt"), ("Haus-", "und Hofarbeit")):
        assert read(lines(*words)) == " ".join(words)


def test_what_is_no_parted_word() -> None:
    for words in (("pages 12-", "14 show it"), ("the tower -", "built late"), ("from Anglo-", "Saxon times")):
        assert read(lines(*words)) == " ".join(words)


def test_a_soft_hyphen_always_goes() -> None:
    assert read(lines("Donau\u00ad", "dampfschiff")) == "Donaudampfschiff"


def test_three_lines_and_brackets() -> None:
    assert read(lines("all (repre-", "senta-", "tions) here")) == "all (representations) here"


def test_tables_stay_as_they_are() -> None:
    table = Element(Kind.TABLE, LocatedText("| a- | b |"), rows=((0, 10),))
    assert read(table) == "| a- | b |"
