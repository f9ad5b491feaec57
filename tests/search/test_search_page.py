"""The page Search: what it offers, and to whom."""

from __future__ import annotations

import pytest
from django.test import Client

from accounts.access.identity import principal_of_user
from kb.models import Document
from search.search_page import offers_for
from tests.conftest import Cast
from tests.factories import indexed_document

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_static_files")]


def log_in(cast: Cast, name: str) -> Client:
    client = Client()
    client.force_login(getattr(cast, name))
    return client


def labelled(document: Document, tags: list[str], language: str) -> Document:
    Document.unscoped.filter(pk=document.pk).update(tags=tags, language=language)
    return document


def test_it_offers_what_the_readers_documents_have(cast: Cast) -> None:
    labelled(indexed_document(cast.team), ["energy", "Report"], "de")
    labelled(indexed_document(cast.charlie.personal_workspace, name="secret.pdf"), ["secret"], "fr")
    offers = offers_for(principal_of_user(cast.alice))
    assert offers.tags == ["energy", "Report"]
    assert offers.languages == [("de", "German")]
    assert offers.kinds == ["pdf"]
    assert cast.team in offers.workspaces
    page = log_in(cast, "alice").get("/search").content.decode()
    assert "secret" not in page
    assert "German" in page


def test_it_names_only_a_document_that_the_reader_sees(cast: Cast) -> None:
    own = indexed_document(cast.team, name="Almería.pdf")
    others = indexed_document(cast.charlie.personal_workspace, name="secret.pdf")
    alice = log_in(cast, "alice")
    assert "Almería.pdf" in alice.get(f"/search?document={own.pk}").content.decode()
    for address in (f"/search?document={others.pk}", "/search?document=nonsense", "/search?document="):
        page = alice.get(address)
        assert page.status_code == 200
        assert "secret.pdf" not in page.content.decode()


def test_it_is_for_everybody_who_is_logged_in(cast: Cast) -> None:
    assert log_in(cast, "charlie").get("/search").status_code == 200
    assert Client().get("/search").status_code == 302
