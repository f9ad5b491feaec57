"""A sentence that runs over a chunk's border is found whole."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accounts.access.identity import principal_of_user
from accounts.principal import Principal
from core.locations import LocatedText
from kb.models import Chunk
from search.continuations import runs_on, with_continuations
from search.retrieval import RankedChunk, Scores
from tests.conftest import Cast
from tests.factories import stored_document

BEFORE, CUT, REST, OTHER = (
    "The storm began at noon.",
    "The lighthouse keeper saw the ship and then",
    "went down the stairs to the harbour.",
    "Nobody was hurt.",
)


@pytest.mark.parametrize(
    ("first", "second", "does"),
    [
        (CUT, REST, True),
        (BEFORE, REST, False),
        (CUT, OTHER, False),
        ("A list of lamps:", "oil lamps", False),
        ("1,234", "5,678", False),
    ],
)
def test_what_runs_on(first: str, second: str, does: bool) -> None:
    assert runs_on(Chunk(text=first), Chunk(text=second)) is does


def test_a_table_never_runs_on() -> None:
    assert not runs_on(Chunk(text=CUT), Chunk(text=REST, modality="table"))


def found(principal: Principal, *texts: str) -> list[RankedChunk]:
    chunks = {
        chunk.text: chunk for chunk in Chunk.objects.restricted_to(principal).select_related("document")
    }
    return [RankedChunk(chunks[text], 1.0, 0.9, Scores(words=2.0)) for text in texts]


@pytest.mark.django_db
def test_the_other_half_comes_along(cast: Cast) -> None:
    stored_document(cast.team, "log.txt", b"log", map(LocatedText, (BEFORE, CUT, REST, OTHER)))
    stored_document(
        cast.alice.personal_workspace, "mine.txt", b"mine", map(LocatedText, (CUT + " too", REST))
    )
    bob = principal_of_user(cast.bob)

    def texts(limit: int, *given: str) -> list[str]:
        return [each.chunk.text for each in with_continuations(bob, found(bob, *given), limit)]

    assert texts(5, CUT, BEFORE) == [CUT, REST, BEFORE]
    assert texts(5, REST) == [CUT, REST]
    assert texts(5, REST, CUT) == [CUT, REST]
    assert texts(2, OTHER, CUT, BEFORE) == [OTHER, CUT]
    assert texts(5) == []
    cut, other = found(bob, CUT, OTHER)
    needed = replace(other, is_needed=True)
    assert [each.chunk.text for each in with_continuations(bob, [cut, needed], 2)] == [CUT, OTHER]
    own, joined = with_continuations(bob, found(bob, CUT), 5)
    assert (own.scores.words, joined.scores.words, joined.relevance) == (2.0, None, 0.9)
