"""A question finds the report that it names, whatever other reports say in the same words."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.access.identity import principal_of_user
from core.locations import LocatedText
from kb.models import Document, Status
from search.finding import find
from search.questions import Question
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
    others = {
        stored_document(
            cast.charlie.personal_workspace, name, name.encode(), [LocatedText(SAYING.format(999))]
        ).pk
        for name in ("2023_Q2_ACME.pdf", "2024_Q1_ACME.pdf")
    }

    def found(question: str) -> list[str]:
        results = find(
            principal_of_user(cast.bob), Question(question), limit=4, payment=UNRECORDED
        ).ranking.results
        assert others.isdisjoint(each.chunk.document_id for each in results)
        return [each.chunk.document.name for each in results]

    assert found("What was the revenue of Q2 2023?") == ["2023_Q2_ACME.pdf"]
    assert found("What was the revenue of the latest quarter?") == ["2023_Q4_ACME.pdf"]
    assert len(found("What was the revenue?")) == 4


@pytest.mark.django_db
def test_a_report_is_named_that_was_not_among_the_first(
    cast: Cast, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EMBEDDING_BACKEND = settings.EMBEDDING_MODEL = "hashing"
    monkeypatch.setattr("search.finding.LOOKED_AT", 1)
    often, once = "Revenue, revenue: of the quarter.", SAYING.format(222)
    for quarter, status, text in (
        (1, Status.READY, often),
        (2, Status.READY, once),
        (3, Status.FAILED, "Fog."),
    ):
        name = f"2023_Q{quarter}_ACME.pdf"
        document = stored_document(cast.team, name, name.encode(), [LocatedText(text)])
        Document.objects.restricted_to(principal_of_user(cast.alice)).filter(pk=document.pk).update(
            status=status
        )
    bob = principal_of_user(cast.bob)

    def found(question: Question) -> set[str]:
        results = find(bob, question, limit=1, payment=UNRECORDED).ranking.results
        return {each.chunk.document.name for each in results}

    asked = "What was the revenue of the latest quarter?"
    assert found(Question(asked)) == {"2023_Q2_ACME.pdf"}
    first = Document.objects.restricted_to(bob).get(name="2023_Q1_ACME.pdf")
    assert found(Question(asked, document_ids=(first.pk,))) == {"2023_Q1_ACME.pdf"}
    assert found(Question(asked, workspace_ids=())) == set()


@pytest.mark.django_db
def test_a_course_takes_the_figure_of_each_report_of_the_series(cast: Cast, settings: Any) -> None:
    settings.EMBEDDING_BACKEND = settings.EMBEDDING_MODEL = "hashing"
    table = "| (in millions) | Three Months Ended June {0}, 2023 |\n| --- | --- |\n| Net revenue | {0} |"
    for quarter in (1, 2, 3):
        name = f"2023_Q{quarter}_ACME.pdf"
        texts = [LocatedText(SAYING.format(quarter)), LocatedText(table.format(quarter))]
        stored_document(cast.team, name, name.encode(), texts)
    annual = LocatedText(table.format(9))
    stored_document(cast.team, "ACME_2022_10K.pdf", b"annual", [annual])
    stored_document(cast.charlie.personal_workspace, "2023_Q4_ACME.pdf", b"theirs", [annual])
    bob = principal_of_user(cast.bob)
    found = find(bob, Question("How has ACME's revenue trended over time?"), limit=5, payment=UNRECORDED)
    assert found.is_certain
    chunks = [each.chunk for each in found.ranking.results]
    assert len(chunks) == len({chunk.pk for chunk in chunks}) == 5
    first = chunks[:3]
    assert [chunk.document.name for chunk in first] == [f"2023_Q{quarter}_ACME.pdf" for quarter in (1, 2, 3)]
    assert all(chunk.text.startswith("|") for chunk in first)
    # As many as an answer may use, the latest ones.
    few = find(bob, Question("How has ACME's revenue trended over time?"), limit=2, payment=UNRECORDED)
    assert [each.chunk.document.name[5:7] for each in few.ranking.results] == ["Q2", "Q3"]
