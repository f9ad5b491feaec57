"""What stands before a table is known where the table is read, without being part of its text."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.access.identity import principal_of_user
from core.locations import LocatedText
from kb.models import Chunk, Document
from search.contexts import ChunkContext, context_of_chunk
from search.table_introductions import with_introductions
from tests.conftest import Cast
from tests.factories import stored_document

STORY = "The lighthouse of Punta Brava was lit in 1871."
ANNOUNCED = "Nobody lives there. The lamps bought are as follows:"
TABLE = "| Year | Lamps |\n| --- | --- |\n| 2019 | 12 |"
REST = "| Year | Lamps |\n| --- | --- |\n| 2020 | 14 |"
OTHER = "| Place | Steps |\n| --- | --- |\n| Punta Brava | 99 |"


def contexts_of(document: Document) -> list[ChunkContext]:
    chunks = Chunk.unscoped.filter(document=document).order_by("ordinal")
    return [context_of_chunk(rank, chunk, document.name, 1.0) for rank, chunk in enumerate(chunks, start=1)]


@pytest.mark.django_db
def test_the_parts_of_a_table_have_the_text_before_the_first(cast: Cast) -> None:
    texts = map(LocatedText, (STORY, ANNOUNCED, TABLE, REST, OTHER))
    document = stored_document(cast.team, "lamps.pdf", b"lamps", texts)
    found = with_introductions(principal_of_user(cast.bob), contexts_of(document))
    assert [each.introduction for each in found] == ["", "", ANNOUNCED, ANNOUNCED, ""]
    assert [each.text for each in found] == [STORY, ANNOUNCED, TABLE, REST, OTHER]


@pytest.mark.django_db
def test_it_may_stand_in_the_chunk_of_the_first_part(cast: Cast) -> None:
    texts = map(LocatedText, (STORY, f"{ANNOUNCED}\n\n{TABLE}", REST))
    document = stored_document(cast.team, "lamps.pdf", b"lamps", texts)
    *_, rest = with_introductions(principal_of_user(cast.bob), contexts_of(document))
    assert rest.introduction.strip() == ANNOUNCED


@pytest.mark.django_db
def test_a_table_that_has_it_in_its_own_chunk_has_no_other(cast: Cast) -> None:
    texts = map(LocatedText, (STORY, f"{ANNOUNCED}\n\n{TABLE}"))
    document = stored_document(cast.team, "lamps.pdf", b"lamps", texts)
    *_, first = with_introductions(principal_of_user(cast.bob), contexts_of(document))
    assert first.introduction == ""


@pytest.mark.django_db
def test_without_tables_nothing_is_read(
    cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    document = stored_document(cast.team, "story.pdf", b"story", map(LocatedText, (STORY, ANNOUNCED)))
    contexts, bob = contexts_of(document), principal_of_user(cast.bob)
    with django_assert_num_queries(0):
        assert with_introductions(bob, contexts) == contexts


@pytest.mark.django_db
def test_what_the_asker_may_not_read_introduces_nothing(cast: Cast) -> None:
    texts = map(LocatedText, (ANNOUNCED, TABLE))
    document = stored_document(cast.alice.personal_workspace, "lamps.pdf", b"lamps", texts)
    found = with_introductions(principal_of_user(cast.bob), contexts_of(document))
    assert all(each.introduction == "" for each in found)
