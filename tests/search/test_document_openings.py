"""Contexts know how their documents begin and when fiscal years end, where the question needs that."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.access.identity import principal_of_user
from core.locations import LocatedText
from core.text.fiscal import FiscalCalendar
from kb.models import Chunk, Document
from search.contexts import ChunkContext, context_of_chunk
from search.document_openings import with_openings
from tests.conftest import Cast
from tests.factories import stored_document

COVER = "Fourth Quarter Fiscal 2022 Results. The fiscal year ended January 28, 2023 was a good one."
TABLE = "| | 52 Weeks Ended January 28, 2023 |\n| --- | --- |\n| Net income | 1,242 |"
STORY = "The lighthouse of Punta Brava was lit in 1871."


def contexts_of(document: Document) -> list[ChunkContext]:
    last = Chunk.unscoped.filter(document=document).order_by("ordinal").last()
    assert last is not None
    return [context_of_chunk(1, last, document.name, 1.0)]


@pytest.mark.django_db
def test_the_first_chunks_of_a_report_tell_its_calendar(cast: Cast) -> None:
    report = stored_document(cast.team, "beauty.pdf", b"beauty", map(LocatedText, (COVER, TABLE)))
    story = stored_document(cast.team, "story.pdf", b"story", map(LocatedText, (STORY, STORY)))
    bob = principal_of_user(cast.bob)
    question = "What was net income in fiscal 2022?"
    [told] = with_openings(bob, question, contexts_of(report))
    assert told.calendar == FiscalCalendar(1, 28, is_called_before=True)
    [told] = with_openings(bob, question, contexts_of(story))
    assert told.calendar is None


@pytest.mark.django_db
def test_other_questions_read_nothing_more(
    cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    report = stored_document(cast.team, "beauty.pdf", b"beauty", map(LocatedText, (COVER, TABLE)))
    contexts, bob = contexts_of(report), principal_of_user(cast.bob)
    with django_assert_num_queries(0):
        assert with_openings(bob, "When was the lighthouse lit?", contexts) == contexts


@pytest.mark.django_db
def test_what_the_asker_may_not_read_tells_nothing(cast: Cast) -> None:
    report = stored_document(
        cast.alice.personal_workspace, "beauty.pdf", b"beauty", map(LocatedText, (COVER, TABLE))
    )
    question = "What was net income in fiscal 2022?"
    [told] = with_openings(principal_of_user(cast.bob), question, contexts_of(report))
    assert told.calendar is None
