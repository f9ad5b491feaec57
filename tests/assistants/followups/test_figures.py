"""How many follow-ups find what was meant, by the real index and model; see `bench.followups`."""

from __future__ import annotations

from statistics import mean
from uuid import uuid4

import pytest

from tests.testing.followups import FOLDER, HALVES, cases_of, changed, ingest, measure

LEAST_MET = 0.8
DOCUMENTS = {file.name: uuid4() for file in (FOLDER / "documents").iterdir()}


def test_there_are_enough_cases() -> None:
    assert sum(len(cases_of(half)) for half in HALVES) == 60
    assert any(len(case["turns"]) > 1 for half in HALVES for case in cases_of(half))


@pytest.mark.parametrize("half", HALVES)
def test_questions_that_stand_alone_stay_as_they_are(half: str) -> None:
    cases = cases_of(f"standalone_{half}")
    assert len(cases) >= 10
    assert changed(cases, DOCUMENTS) == []


@pytest.mark.slow("followups")
@pytest.mark.django_db(transaction=True)
def test_follow_ups_find_what_their_self_contained_questions_find() -> None:
    principal, ids = ingest()
    for half in HALVES:
        outcomes = list(measure(cases_of(half), principal, ids))
        assert mean(outcome.is_met for outcome in outcomes) >= LEAST_MET
        assert mean(outcome.share for outcome in outcomes) >= LEAST_MET
        assert mean(outcome.is_met for outcome in outcomes) > mean(
            outcome.is_met_bare for outcome in outcomes
        )
