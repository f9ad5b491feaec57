"""The language of pages and mails: the profile's, else the browser's, else the deployment's."""

from __future__ import annotations

import re
from queue import Queue
from typing import Any

import pytest
from django.core.mail import EmailMessage
from django.test import Client

from accounts.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_static_files")]
GERMAN = "de-CH,de;q=0.9,en;q=0.5"


@pytest.fixture
def grace(db: None) -> User:
    return User.objects.create_user("grace@example.org", "a long password")


def own(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def language_of(client: Client, address: str = "/help", **headers: Any) -> str:
    page = client.get(address, headers=headers)
    found = re.search(r'<html lang="(\w+)"', page.content.decode())
    assert found
    assert page["Content-Language"] == found[1]
    assert "Accept-Language" in page["Vary"]
    return found[1]


def test_a_browser_chooses_for_who_has_not(grace: User) -> None:
    assert language_of(own(grace)) == "en"
    assert language_of(own(grace), accept_language=GERMAN) == "de"
    assert language_of(own(grace), accept_language="ja") == "en"
    assert language_of(Client(), "/accounts/login/", accept_language="fr") == "fr"


def test_the_profile_comes_first(grace: User) -> None:
    grace.language = "fr"
    grace.save()
    assert language_of(own(grace), accept_language=GERMAN) == "fr"


def test_pages_load_the_texts_of_their_modules_before_them(grace: User, static_files: None) -> None:
    page = own(grace).get("/help", headers={"accept-language": "de"}).content.decode()
    texts = re.search(r'<script defer src="/static/language-de-app(\.\w+)?\.js"></script>', page)
    assert texts
    assert texts.end() < page.index('<script type="module"')
    assert re.search(r'data-all-texts="/static/language-de(\.\w+)?\.js"', page)
    assert "language-" not in own(grace).get("/help").content.decode()


def test_a_page_is_in_the_language_it_names(grace: User) -> None:
    assert (
        "Was Sie fragen können" in own(grace).get("/help", headers={"accept-language": "de"}).content.decode()
    )
    assert (
        "Ce que vous pouvez demander"
        in own(grace).get("/help", headers={"accept-language": "fr"}).content.decode()
    )
    missing = Client().get("/accounts/none-such", headers={"accept-language": "de"})
    assert missing.status_code == 404
    assert "Hier ist nichts, was Sie sehen können" in missing.content.decode()


def test_the_api_and_the_admin_panel_are_english(grace: User) -> None:
    refused = own(grace).get("/api/v1/documents/nothing", headers={"accept-language": "de"})
    assert refused.json()["error"]["message"].isascii()
    assert "Content-Language" not in refused
    grace.is_staff = grace.is_superuser = True
    grace.language = "de"
    grace.save()
    page = own(grace).get("/admin/").content.decode()
    assert "Administration" in page
    assert "Abmelden" not in page


@pytest.mark.parametrize(("language", "subject"), [("", "Neues Passwort"), ("fr", "nouveau mot de passe")])
def test_a_mail_is_in_the_language_of_its_receiver(
    grace: User, language: str, subject: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EMAIL_HOST = "mail.example.org"
    sent: Queue[EmailMessage] = Queue()
    monkeypatch.setattr("accounts.people.adapter._send", sent.put)
    grace.language = language
    grace.save()
    Client().post("/accounts/password/reset/", {"email": grace.email}, headers={"accept-language": "de"})
    assert subject in sent.get(timeout=30).subject
