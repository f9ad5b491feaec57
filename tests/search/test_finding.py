"""A question finds the report that it names, whatever other reports say in the same words."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.access.identity import principal_of_user
from core.locations import LocatedText
from search.finding import find
from search.retrieval import Question
from tests.conftest import Cast
from tests.factories import stored_document
from tests.testing.payments import UNRECORDED

SAYING = "Revenue of the quarter was {} million."


@pytest.mark.django_db
def test_only_the_report_that_is_named_is_searched(cast: Cast, settings: Any) -> None:
    settings.EMBEDDING_BACKEND = settings.EMBEDDING_MODEL = "hashing"
    for quarter in range(1, 5):
        name, text = f"2023_Q{quarter}_ACME.pdf", LocatedText(SAYING.format(quarter * 111))
        stored_document(cast.team, name, name.encode(), [text])
    alone = stored_document(
        cast.charlie.personal_workspace, "2023_Q2_ACME.pdf", b"secret", [LocatedText(SAYING.format(999))]
    )

    def found(question: str) -> list[str]:
        results = find(
            principal_of_user(cast.bob), Question(question), limit=4, payment=UNRECORDED
        ).ranking.results
        assert alone.pk not in {each.chunk.document_id for each in results}
        return [each.chunk.document.name for each in results]

    assert found("What was the revenue of Q2 2023?") == ["2023_Q2_ACME.pdf"]
    assert found("What was the revenue of the latest quarter?") == ["2023_Q4_ACME.pdf"]
    assert len(found("What was the revenue?")) == 4
