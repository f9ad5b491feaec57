"""In a company's own report a question is looked for without its name, and nowhere else."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.access.identity import principal_of_user
from core.locations import LocatedText
from kb.models import Document
from search.finding import find
from search.own_reports import put_to_own_report
from search.questions import Question
from tests.conftest import Cast
from tests.factories import stored_document
from tests.testing.payments import UNRECORDED

COVER = "FORM 10-K. ANNUAL REPORT. NORTHWIND TRADERS, INC. (Exact name of registrant as specified)"
LETTER = "Dear shareholders, Northwind Traders has had a good year."
CONTRACT = "Agreement between Northwind Traders, Inc. and Contoso Ltd about the supply of tea."


def report_of(cast: Cast, *texts: str, name: str = "a.pdf") -> Document:
    return stored_document(cast.team, name, " ".join(texts).encode(), map(LocatedText, texts))


def put(cast: Cast, text: str, *documents: Document) -> str:
    ids: list[UUID] = [document.pk for document in documents]
    return put_to_own_report(principal_of_user(cast.bob), text, ids)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many employees does Northwind Traders have?", "How many employees does the company have?"),
        ("Who are the competitors of Northwind Traders?", "Who are the competitors of the company?"),
        ("What is Northwind Traders' fiscal year end?", "What is the company's fiscal year end?"),
        ("What is Northwind's fiscal year end?", "What is the company's fiscal year end?"),
        ("For Northwind Traders's 10-K, what drove revenue?", "For the company's 10-K, what drove revenue?"),
        ("How many people does Northwind Traders employ, according to its latest 10-K?",
         "How many people does the company employ?"),
        ("Which shops did Northwind Traders close in its Q2 2023 10-Q?",
         "Which shops did the company close?"),
        ("In Northwind Traders' fiscal 2022 annual report, who is the auditor?", "who is the auditor?"),
        ("Which firms bought by Northwind Traders are mentioned in this 10-K report?",
         "Which firms bought by the company are?"),
        ("Did Northwind Traders report its sales?", "Did the company report its sales?"),
        ("Wie viele Mitarbeiter hat Northwind Traders?", "Wie viele Mitarbeiter hat das Unternehmen?"),
        ("Wie viele Läden hat Northwind Traders laut diesem Geschäftsbericht?",
         "Wie viele Läden hat das Unternehmen?"),
        ("Welche Risiken von Northwind Traders stehen im Geschäftsbericht 2023?",
         "Welche Risiken von das Unternehmen stehen?"),
        ("Quels sont les magasins de Northwind selon le rapport annuel de 2022 ?",
         "Quels sont les magasins de l'entreprise ?"),
        ("¿Cuáles son las tiendas de Northwind según su último informe anual?",
         "¿Cuáles son las tiendas de la empresa?"),
        ("How much revenue came from Northwind Traders?", "How much revenue came from Northwind Traders?"),
        ("Does Contoso supply tea?", "Does Contoso supply tea?"),
        ("How many employees are there?", "How many employees are there?"),
    ],
)  # fmt: skip
def test_the_name_of_the_company_is_left_out(cast: Cast, question: str, expected: str) -> None:
    assert put(cast, question, report_of(cast, LETTER, LETTER, LETTER, LETTER, COVER)) == expected


@pytest.mark.django_db
def test_among_other_documents_the_name_stays(cast: Cast) -> None:
    report, contract = report_of(cast, COVER), report_of(cast, CONTRACT, name="b.pdf")
    other = report_of(cast, COVER.replace("NORTHWIND", "SOUTHWIND"), name="c.pdf")
    theirs = stored_document(cast.charlie.personal_workspace, "d.pdf", b"d", [LocatedText(COVER)])
    question = "What does Northwind Traders sell?"
    assert put(cast, question, contract) == question
    assert put(cast, question, report, contract) == question
    assert put(cast, question, report, other) == question
    assert put(cast, question, report, theirs) == question
    assert put(cast, question) == question
    assert put(cast, question, report) == "What does the company sell?"


@pytest.mark.django_db
def test_a_question_without_a_name_reads_nothing(
    cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    report, bob = report_of(cast, COVER), principal_of_user(cast.bob)
    with django_assert_num_queries(0):
        put_to_own_report(bob, "What was net income in 2022?", [report.pk])


@pytest.mark.django_db
def test_what_is_asked_is_found_and_not_where_the_company_is_named(cast: Cast, settings: Any) -> None:
    settings.EMBEDDING_BACKEND = settings.EMBEDDING_MODEL = "hashing"
    named = [f"Northwind Traders is what Northwind Traders is, says page {number}." for number in range(3)]
    report = report_of(cast, COVER, *named, "The company has the following competitors: Contoso, Fabrikam.")
    question = Question("Who are the competitors of Northwind Traders?", document_ids=(report.pk,))
    found = find(principal_of_user(cast.bob), question, limit=2, payment=UNRECORDED)
    assert found.ranking.results[0].chunk.text.endswith("Contoso, Fabrikam.")
    assert found.is_certain


@pytest.mark.django_db
def test_what_is_found_in_own_reports_alone_is_asked_once_more(cast: Cast, settings: Any) -> None:
    settings.EMBEDDING_BACKEND = settings.EMBEDDING_MODEL = "hashing"
    named = [f"Northwind Traders is what Northwind Traders is, says page {number}." for number in range(3)]
    report_of(cast, COVER, *named, "The company has the following competitors: Contoso, Fabrikam.")
    report_of(cast, "The sea is blue.", name="sea.pdf")
    bob, question = principal_of_user(cast.bob), Question("Who are the competitors of Northwind Traders?")
    [best, _] = find(bob, question, limit=2, payment=UNRECORDED).ranking.results
    assert best.chunk.text.endswith("Contoso, Fabrikam.")
    # Of another document that is found, too, the name tells which one is meant.
    report_of(cast, "Northwind Traders has competitors, Northwind Traders, says Contoso.", name="b.pdf")
    texts = [each.chunk.text for each in find(bob, question, limit=2, payment=UNRECORDED).ranking.results]
    assert any("says Contoso" in text for text in texts)
