"""Statements and spelt-out abbreviations come along with what the words of a question find."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.access.identity import principal_of_user
from accounts.principal import Principal
from core.locations import LocatedText
from kb.models import Chunk, Modality
from search.companions import with_companions
from search.questions import DEFAULT, Question
from search.retrieval import RankedChunk, Scores
from tests.conftest import Cast
from tests.factories import stored_document
from tests.testing.payments import UNRECORDED

TALK = "Gross margin is what we look at most of all, and TAM is what we call our market."
STATEMENT = "| | 2023 |\n| --- | --- |\n| Net sales | 800 |\n| Gross profit | 200 |"
LAMPS = "| | 2023 |\n| --- | --- |\n| Lamps | 8 |"
SPELT = "The total addressable market (TAM) is large."


@pytest.fixture
def report(cast: Cast, settings: Any) -> Principal:
    """A report of the team that bob reads, and another's with the same statement."""
    settings.EMBEDDING_BACKEND = settings.EMBEDDING_MODEL = "hashing"
    texts = (TALK, LAMPS, STATEMENT, SPELT)
    stored_document(cast.team, "acme.pdf", b"acme", map(LocatedText, texts))
    stored_document(cast.alice.personal_workspace, "mine.pdf", b"mine", map(LocatedText, texts))
    return principal_of_user(cast.bob)


def texts_beside(principal: Principal, query: str, limit: int = 3) -> tuple[list[str], bool]:
    chunk = Chunk.objects.restricted_to(principal).select_related("document").get(text=TALK)
    found = [RankedChunk(chunk, 1.0, 0.9, Scores())]
    kept, is_named = with_companions(principal, Question(query), found, limit, DEFAULT, UNRECORDED)
    assert {each.chunk.document_id for each in kept} == {chunk.document_id}
    return [each.chunk.text for each in kept], is_named


@pytest.mark.django_db
def test_a_measure_brings_the_tables_with_its_lines(report: Principal) -> None:
    assert texts_beside(report, "What was the gross margin in 2023?") == ([TALK, STATEMENT], True)
    assert texts_beside(report, "What was the gross margin in 2023?", limit=1) == ([TALK], True)
    assert texts_beside(report, "By what percentage did sales grow?") == ([TALK, STATEMENT], True)
    assert texts_beside(report, "What share of sales are lamps?") == ([TALK], False)


@pytest.mark.django_db
def test_a_table_that_was_found_far_behind_comes_to_the_front(report: Principal) -> None:
    live = Chunk.objects.restricted_to(report).select_related("document")
    chunks = [live.get(text=text) for text in (TALK, SPELT, LAMPS, STATEMENT)]
    found = [RankedChunk(chunk, 1.0, 0.9, Scores()) for chunk in chunks]
    kept, _ = with_companions(
        report, Question("What was the gross margin in 2023?"), found, 3, DEFAULT, UNRECORDED
    )
    assert [each.chunk.text for each in kept] == [TALK, SPELT, STATEMENT]


OF_PART = "| | 2023 |\n| --- | --- |\n| Net sales | 8,000 |\n| Gross profit | 7,000 |"
OF_WHOLE = "| | 2023 |\n| --- | --- |\n| Net sales | 800 |"
GOES_ON = "| | 2023 |\n| --- | --- |\n| Gross profit | 200 |"


@pytest.mark.django_db
def test_the_statement_of_the_whole_company_comes_first_and_whole(cast: Cast, settings: Any) -> None:
    settings.EMBEDDING_BACKEND = settings.EMBEDDING_MODEL = "hashing"
    document = stored_document(
        cast.team, "acme.pdf", b"acme", map(LocatedText, (TALK, OF_PART, OF_WHOLE, GOES_ON))
    )
    chunks = Chunk.unscoped.filter(document=document)
    chunks.filter(text=OF_PART).update(headings=["Statements of Income of the Guarantors"])
    chunks.filter(text__in=(OF_WHOLE, GOES_ON)).update(headings=["Consolidated Statements of Income"])
    told, _ = texts_beside(principal_of_user(cast.bob), "What was the gross margin in 2023?", limit=4)
    assert told[0] == TALK
    assert set(told[1:3]) == {OF_WHOLE, GOES_ON}
    assert told[3] == OF_PART


PARTS = "| | 2023 |\n| --- | --- |\n| Inventories, net | |\n| Raw materials | 30 |\n| Finished goods | 70 |"
REST = "| | 2023 |\n| --- | --- |\n| Total current assets | 300 |\n| Total current liabilities | 250 |"


@pytest.mark.django_db
def test_a_line_is_found_by_its_parts(cast: Cast, settings: Any) -> None:
    settings.EMBEDDING_BACKEND = settings.EMBEDDING_MODEL = "hashing"
    document = stored_document(cast.team, "acme.pdf", b"acme", map(LocatedText, (TALK, PARTS, REST)))
    headings = ["Consolidated Balance Sheets"]
    Chunk.unscoped.filter(document=document).exclude(text=TALK).update(headings=headings)
    told, _ = texts_beside(principal_of_user(cast.bob), "What was the quick ratio in 2023?")
    assert (told[0], set(told[1:])) == (TALK, {PARTS, REST})


FLOWS_BEGIN = (
    "| | 2023 |\n| --- | --- |\n| Net cash flows from operating activities: | |\n| Net income | 40 |"
)
FLOWS_END = "| | 2023 |\n| --- | --- |\n| Net cash provided by operating activities | 90 |"


@pytest.mark.django_db
def test_a_heading_within_a_statement_is_no_line_of_it(cast: Cast, settings: Any) -> None:
    """The first part of a statement has “Cash flows from operating activities:”, and no figure of it."""
    settings.EMBEDDING_BACKEND = settings.EMBEDDING_MODEL = "hashing"
    texts = (TALK, FLOWS_BEGIN, FLOWS_END)
    document = stored_document(cast.team, "acme.pdf", b"acme", map(LocatedText, texts))
    headings = ["Consolidated Statements of Cash Flows"]
    Chunk.unscoped.filter(document=document).exclude(text=TALK).update(headings=headings)
    question = "What was cash from operations in 2023?"
    assert texts_beside(principal_of_user(cast.bob), question, limit=2) == ([TALK, FLOWS_END], True)


OF_SEGMENT = "| | 2023 |\n| --- | --- |\n| Net sales | 300 |\n| Operating income | 30 |"
OF_COUNTRIES = "| | 2023 |\n| --- | --- |\n| Norway | 700 |\n| Spain | 100 |\n| Total net sales | 800 |"
OF_SEGMENTS = "| Segment | 2023 |\n| --- | --- |\n| Lamps | 300 |\n| Desks | 500 |\n| Total net sales | 800 |"
CALLED = "The Desks segment makes desks, the Lamps segment makes lamps."


@pytest.fixture
def with_segments(cast: Cast, settings: Any) -> Principal:
    """A report with an income statement, and with tables of a segment, of all segments and of countries."""
    settings.EMBEDDING_BACKEND = settings.EMBEDDING_MODEL = "hashing"
    texts = (TALK, STATEMENT, OF_SEGMENT, OF_COUNTRIES, OF_SEGMENTS, CALLED)
    document = stored_document(cast.team, "acme.pdf", b"acme", map(LocatedText, texts))
    chunks = Chunk.unscoped.filter(document=document)
    chunks.filter(text=STATEMENT).update(headings=["Consolidated Statements of Income"])
    chunks.filter(text=OF_SEGMENT).update(headings=["Lamps Segment"])
    chunks.filter(text__in=(OF_COUNTRIES, OF_SEGMENTS)).update(headings=["Segment information"])
    chunks.exclude(text__in=(TALK, CALLED)).update(modality=Modality.TABLE)
    return principal_of_user(cast.bob)


@pytest.mark.django_db
def test_a_segment_brings_its_own_tables_and_not_the_statement(with_segments: Principal) -> None:
    told, is_named = texts_beside(with_segments, "What were net sales of the Lamps segment in 2023?", limit=4)
    assert is_named and told[0] == TALK
    assert set(told[1:]) == {OF_SEGMENT, OF_SEGMENTS}
    assert texts_beside(with_segments, "What were net sales of the Chairs segment?") == ([TALK], False)


@pytest.mark.django_db
def test_of_segments_only_what_is_called_so_counts(with_segments: Principal) -> None:
    live = Chunk.objects.restricted_to(with_segments).select_related("document")
    # Countries were found first, and both far behind.
    order = (TALK, CALLED, OF_COUNTRIES, OF_SEGMENTS)
    found = [RankedChunk(live.get(text=text), 1.0, 0.9, Scores()) for text in order]
    question = Question("Which segment had the highest net sales in 2023?")
    kept, _ = with_companions(with_segments, question, found, 3, DEFAULT, UNRECORDED)
    assert [each.chunk.text for each in kept if each.is_decisive] == [OF_SEGMENTS]


@pytest.mark.django_db
def test_an_abbreviation_brings_where_it_is_spelt_out(report: Principal) -> None:
    assert texts_beside(report, "What does TAM stand for?") == ([TALK, SPELT], True)


CITIES = [
    f"| City | Inhabitants |\n| --- | --- |\n| {name} | {count} |"
    for name, count in [("Aldhaven", 120), ("Brightmoor", 98), ("Castor", 310), ("Dunmere", 145)]
]
RIVERS = "| River | Length |\n| --- | --- |\n| Wend | 800 |"


@pytest.mark.django_db
def test_the_parts_of_a_table_that_decide_come_along_and_are_marked(cast: Cast) -> None:
    document = stored_document(cast.team, "cities.csv", b"cities", map(LocatedText, [*CITIES, RIVERS]))
    Chunk.unscoped.filter(document=document).update(modality=Modality.TABLE)
    principal = principal_of_user(cast.bob)

    def beside(query: str, limit: int = 5) -> list[tuple[str, bool]]:
        chunk = Chunk.objects.restricted_to(principal).select_related("document").get(text=CITIES[0])
        found = [RankedChunk(chunk, 1.0, 0.9, Scores())]
        kept, _ = with_companions(principal, Question(query), found, limit, DEFAULT, UNRECORDED)
        return [(each.chunk.text, each.is_decisive) for each in kept]

    assert beside("Which city has the most inhabitants?") == [
        (CITIES[0], False), (CITIES[2], True), (CITIES[3], True)
    ]  # fmt: skip
    assert beside("Which city has the fewest inhabitants?") == [(CITIES[0], True), (CITIES[1], True)]
    assert beside("Which river has the most inhabitants?") == [(CITIES[0], False)]
    # A table of too many parts is not looked through.
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("search.companions.MOST_PARTS", 3)
        assert beside("Which city has the most inhabitants?") == [(CITIES[0], False)]
    # Where one of them has no room none decides: the second would be taken for the first.
    assert beside("Which city has the most inhabitants?", limit=2) == [(CITIES[0], False), (CITIES[2], False)]


@pytest.mark.django_db
def test_of_a_table_without_header_nothing_decides(cast: Cast) -> None:
    bare = ["| Aldhaven | 120 |\n| Brightmoor | 98 |", "| Castor | 310 |"]
    document = stored_document(cast.team, "cities.csv", b"cities", map(LocatedText, bare))
    Chunk.unscoped.filter(document=document).update(modality=Modality.TABLE)
    principal = principal_of_user(cast.bob)
    chunk = Chunk.objects.restricted_to(principal).select_related("document").get(text=bare[0])
    found = [RankedChunk(chunk, 1.0, 0.9, Scores())]
    question = Question("What is the largest?")
    kept, is_named = with_companions(principal, question, found, 5, DEFAULT, UNRECORDED)
    assert ([each.is_decisive for each in kept], is_named) == ([False], False)


PRODUCTS_THEN = "| | 2020 |\n| --- | --- |\n| Abatrel (a) | 70 |\n| Bexavol | 60 |"
PRODUCTS = "| | 2022 | 2023 |\n| --- | --- | --- |\n| Abatrel (a) | 80 | 90 |\n| Bexavol | 30 | 40 |"
OF_ISSUER = "| | 2022 | 2023 |\n| --- | --- | --- |\n| Acme Europe | 5 | 6 |"
NAMED_INSIDE = "| | 2023 |\n| --- | --- |\n| Growth from Abatrel | 10 |"


@pytest.mark.django_db
def test_a_name_brings_the_table_with_its_row_of_these_years(cast: Cast, settings: Any) -> None:
    settings.EMBEDDING_BACKEND = settings.EMBEDDING_MODEL = "hashing"
    texts = (TALK, NAMED_INSIDE, OF_ISSUER, PRODUCTS_THEN, PRODUCTS)
    document = stored_document(cast.team, "acme.pdf", b"acme", map(LocatedText, texts))
    stored_document(cast.alice.personal_workspace, "mine.pdf", b"mine", map(LocatedText, texts))
    Chunk.unscoped.exclude(text=TALK).update(modality=Modality.TABLE)
    bob = principal_of_user(cast.bob)
    assert Chunk.objects.restricted_to(bob).filter(document=document).count() == len(texts)
    grown = "By how many percent did the revenue of Abatrel grow from 2022 to 2023?"
    assert texts_beside(bob, grown)[0] == [TALK, PRODUCTS, PRODUCTS_THEN]
    assert texts_beside(bob, "What share of revenue came from Abatrel in 2020?", limit=2) == (
        [TALK, PRODUCTS_THEN],
        False,
    )
    assert texts_beside(bob, "What share of revenue came from Cortaxin?") == ([TALK], False)
    of_issuer = "By how many percent did Acme's revenue of Bexavol grow from 2022 to 2023?"
    assert texts_beside(bob, of_issuer, limit=2)[0] == [TALK, PRODUCTS]
    assert texts_beside(bob, "Why did the revenue of Abatrel grow?")[0] == [TALK]
    assert texts_beside(bob, "Who makes Abatrel?") == ([TALK], False)


@pytest.mark.django_db
def test_other_questions_bring_nothing(report: Principal) -> None:
    assert texts_beside(report, "Why is the market large?") == ([TALK], False)
    nothing = with_companions(report, Question("What was the gross margin?"), [], 3, DEFAULT, UNRECORDED)
    assert nothing == ([], False)
