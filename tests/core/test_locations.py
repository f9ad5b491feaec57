"""Places survive every merge, cut and storage."""

from __future__ import annotations

import json

import pytest

from core.locations import Box, InTime, LocatedText, OnPage, Page

PAGE = Page(2, 200.0, 100.0)


def at(line: int, x1: float, x2: float) -> OnPage:
    """Return a word's place: line n is 10 points high and starts at 10 n."""
    return OnPage(PAGE, line, Box(x1, 10.0 * line, x2, 10.0 * line + 10))


FIRST = LocatedText.of_words([("The", at(0, 0, 15)), ("light", at(0, 20, 45)), ("burns", at(1, 0, 25))])
SECOND = LocatedText.of_words([("all", at(2, 0, 15)), ("night", at(2, 20, 45))])


def test_words_are_joined_and_each_knows_its_place() -> None:
    assert FIRST.text == "The light burns"
    assert [FIRST.text[span.start : span.end] for span in FIRST.spans] == ["The", "light", "burns"]


def test_one_box_for_each_line() -> None:
    assert [box.box for box in FIRST.boxes()] == [Box(0, 0, 45, 10), Box(0, 10, 25, 20)]


@pytest.mark.parametrize(
    ("start", "end", "boxes"),
    [
        (4, 9, [Box(20, 0, 45, 10)]),
        (6, 7, [Box(20, 0, 45, 10)]),
        (3, 4, []),
        (0, 0, []),
        (8, 11, [Box(20, 0, 45, 10), Box(0, 10, 25, 20)]),
    ],
    ids=["a word", "a letter has its word's box", "a gap has none", "nothing", "across two lines"],
)
def test_boxes_of_a_part(start: int, end: int, boxes: list[Box]) -> None:
    assert [box.box for box in FIRST.boxes(start, end)] == boxes


def test_joining_keeps_places_and_slicing_undoes_it() -> None:
    both = LocatedText.join([FIRST, SECOND], "\n\n")
    assert both.text == "The light burns\n\nall night"
    assert both.boxes() == FIRST.boxes() + SECOND.boxes()
    assert both.slice(0, len(FIRST.text)) == FIRST
    assert both.slice(len(FIRST.text) + 2, len(both.text)) == SECOND


def test_a_cut_word_keeps_its_whole_box() -> None:
    cut = FIRST.slice(6, 12)
    assert cut.text == "ght bu"
    assert (
        cut.boxes()
        == FIRST.boxes()[:0]
        + LocatedText.of_words([("light", at(0, 20, 45)), ("burns", at(1, 0, 25))]).boxes()
    )
    assert [(span.start, span.end) for span in cut.spans] == [(0, 3), (4, 6)]


def test_times_span_from_the_first_to_the_last_word() -> None:
    spoken = LocatedText.of_words([("one", InTime(1.0, 1.4)), ("two", InTime(1.5, 2.25))])
    assert (spoken.times(), spoken.times(4, 7), spoken.boxes()) == ((1.0, 2.25), (1.5, 2.25), [])
    assert FIRST.times() is None


def test_spans_come_back_from_storage() -> None:
    spoken = LocatedText.of_words([("one", InTime(1.0, 1.4)), ("two", InTime(1.5, 2.25))])
    for located in (FIRST, LocatedText.join([FIRST, SECOND], "\n"), spoken, LocatedText("no places")):
        assert LocatedText.load(located.text, json.loads(json.dumps(located.dump()))).spans == located.spans


def test_a_box_tells_the_page_it_is_on() -> None:
    assert SECOND.boxes()[0].as_json() == {
        "bbox": [0, 20, 45, 30],
        "page_number": 2,
        "layout_width": 200.0,
        "layout_height": 100.0,
    }
