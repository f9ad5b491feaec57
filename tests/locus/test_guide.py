"""The guide: every new user gets it once, and the default answerer answers questions about it well."""

from __future__ import annotations

import asyncio
import html
import json
from typing import Any
from unicodedata import normalize

import pymupdf
import pytest
from django.test import Client
from pytest import Subtests
from pytest_django import Settings

from accounts.access.identity import principal_of_user
from accounts.models import User
from accounts.scope import as_principal
from core.errors import Conflict
from core.languages import LANGUAGES
from kb.models import Chunk, Document, Status
from locus.demo import EXTERNAL_ID, NAMES, QUESTIONS, add_guide, guide_file
from runs.context import Run
from runs.events import ToolEnd
from search.events import RagResult
from search.rag import RagInput, rag_search
from tests.testing.scratch import both_steps

PASSWORD = "a long enough password"
EXPECTED = {
    "en": {
        "How do I add a document to Locus?": ("Adding documents", "drag its file onto the Documents page"),
        "How do I check an answer?": ("Checking an answer", "click the small number behind a sentence"),
        "What leaves my machine?": ("What leaves your machine", "Nothing leaves your machine unless"),
        "Who can delete a workspace?": ("Workspaces and people", "Also delete the workspace"),
        "Which files can Locus read?": ("Adding documents", "Locus can read PDF files, scanned pages"),
        "How do I connect a language model?": (
            "Connecting a language model",
            "connected by an administrator",
        ),
        "What happens when I delete a document?": ("Deleting a document", "its vectors and its cached page"),
        "How do I create an API key?": ("API keys", "open API keys in your settings"),
        "How do I make a backup?": ("Keeping it running", "stop Locus and copy the data folder"),
        "What happens if a document can't be read?": ("When a document can't be read", "marked as failed"),
    },
    "de": {
        "Wie füge ich Locus ein Dokument hinzu?": ("Dokumente hinzufügen", "ziehen Sie seine Datei auf"),
        "Wie prüfe ich eine Antwort?": ("Eine Antwort prüfen", "klicken Sie auf die kleine Zahl"),
        "Was verlässt meinen Rechner?": ("Was Ihren Rechner verlässt", "Nichts verlässt Ihren Rechner"),
        "Welche Dateien kann Locus lesen?": ("Dokumente hinzufügen", "PDF-Dateien, gescannte Seiten"),
    },
    "fr": {
        "Comment ajouter un document à Locus ?": ("Ajouter des documents", "faites glisser son fichier"),
        "Comment vérifier une réponse ?": ("Vérifier une réponse", "cliquez sur le petit numéro"),
        "Qu’est-ce qui quitte ma machine ?": ("Ce qui quitte votre machine", "Rien ne quitte votre machine"),
        "Quels fichiers Locus peut-il lire ?": (
            "Ajouter des documents",
            "les fichiers PDF, les pages numérisées",
        ),
    },
}
"""Questions by language: the section that must be quoted first, and words of the quote."""


@pytest.fixture
def guided(settings: Settings) -> None:
    settings.WELCOME_GUIDE = True


def log_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def guides(user: User) -> list[Document]:
    principal = principal_of_user(user)
    with as_principal(principal):
        return list(Document.objects.restricted_to(principal).filter(external_id=EXTERNAL_ID))


def answer(user: User, question: str) -> RagResult:
    principal = principal_of_user(user)

    async def result() -> RagResult:
        async for event in rag_search(principal, RagInput(query=question), run):
            if isinstance(event, ToolEnd) and isinstance(event.data, RagResult):
                return event.data
        raise AssertionError("The stream had no end.")

    run = Run("guide", principal.default_workspace_id())
    return asyncio.run(result())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_guide_answers_questions(guided: None, subtests: Subtests, language: str) -> None:
    user = User.objects.create_user("new@example.org", PASSWORD)
    assert add_guide(user, language)
    [guide] = guides(user)
    for step in both_steps():
        step(guide.pk)
    guide.refresh_from_db()
    assert (guide.status, guide.warnings) == (Status.READY, [])
    assert (guide.name, guide.language) == (NAMES[language], language)
    assert set(QUESTIONS[language]) <= EXPECTED[language].keys()
    assert len(QUESTIONS[language]) == 4
    for question, (section, words) in EXPECTED[language].items():
        with subtests.test(question=question):
            result = answer(user, question)
            first = next(
                each for each in result.contexts if each.quotes and each.quotes[0].response_start < 3
            )
            assert words in first.quotes[0].text
            assert Chunk.unscoped.get(pk=first.chunk_id).headings[-1] == section
            assert all(quote.bbox for quote in first.quotes)


@pytest.mark.django_db
def test_the_first_login_adds_it_and_no_other(guided: None) -> None:
    user = User.objects.create_user("new@example.org", PASSWORD)
    assert guides(user) == []
    log_in(user)
    [guide] = guides(user)
    assert (guide.workspace, guide.name) == (user.personal_workspace, "A guide to Locus.pdf")
    client = log_in(user)
    assert len(guides(user)) == 1
    assert client.delete(f"/api/v1/documents/{guide.pk}").status_code == 200
    log_in(user)
    assert guides(user) == []


@pytest.mark.django_db
def test_who_signs_up_gets_it(guided: None, settings: Settings) -> None:
    settings.SIGNUP_OPEN = True
    Client().post(
        "/accounts/signup/", {"email": "new@example.org", "password1": PASSWORD, "password2": PASSWORD}
    )
    assert len(guides(User.objects.get(email="new@example.org"))) == 1


@pytest.mark.usefixtures("plain_static_files")
@pytest.mark.django_db
def test_a_guide_that_can_not_be_stored_keeps_nobody_out(
    guided: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise Conflict("No more documents.")

    user = User.objects.create_user("new@example.org", PASSWORD)
    with monkeypatch.context() as broken:
        broken.setattr("locus.demo.add_document", refuse)
        assert log_in(user).get("/").status_code == 200
    assert guides(user) == []
    log_in(user)
    assert len(guides(user)) == 1


@pytest.mark.django_db
def test_a_deployment_can_do_without(settings: Settings) -> None:
    user = User.objects.create_user("new@example.org", PASSWORD)
    settings.WELCOME_GUIDE = False
    log_in(user)
    assert guides(user) == []


@pytest.mark.usefixtures("plain_static_files")
@pytest.mark.django_db
def test_the_cards_go_when_they_are_closed(guided: None) -> None:
    user = User.objects.create_user("new@example.org", PASSWORD)
    client = log_in(user)
    page = client.get("/").content.decode()
    assert "data-first-steps" in page
    assert all(question in page for question in QUESTIONS["en"])
    closed = client.patch("/api/v1/me", json.dumps({"shows_welcome": False}), "application/json")
    assert closed.json()["shows_welcome"] is False
    assert "data-first-steps" not in client.get("/").content.decode()


@pytest.mark.usefixtures("plain_static_files")
@pytest.mark.django_db
def test_it_is_in_the_language_of_the_pages(guided: None) -> None:
    user = User.objects.create_user("new@example.org", PASSWORD)
    client = Client(headers={"Accept-Language": "fr-CH, en;q=0.5"})
    client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    [guide] = guides(user)
    assert guide.name == "Guide de Locus.pdf"
    # Its questions stay in its language, whatever the reader chooses later.
    user.language = "de"
    user.save()
    page = html.unescape(client.get("/").content.decode())
    assert all(question in page for question in QUESTIONS["fr"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_file_is_made_from_the_text(language: str) -> None:
    with pymupdf.open(guide_file(language)) as guide:
        # Its font joins some letters: “fi” is one.
        text = normalize("NFKC", "".join(page.get_text() for page in guide))
        sections = {section for section, _ in EXPECTED[language].values()}
        assert all(section in text for section in sections)
        # The outline has no small headings.
        titles = {normalize("NFKC", title) for _, title, _ in guide.get_toc()}
        assert len(titles & sections) >= 3
