"""Fixtures for the tests of accounts."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from tests.accounts.account_pages import PASSWORD, log_in


@pytest.fixture
def mail_server(settings: Settings) -> None:
    """A mail server, whose mails stay here."""
    settings.EMAIL_HOST = "mail.example.org"
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"


@pytest.fixture
def grace(db: None) -> User:
    """Somebody with a password."""
    return User.objects.create_user("grace@example.org", PASSWORD)


@pytest.fixture
def own(grace: User) -> Client:
    """A browser in which grace has logged in."""
    client = Client(headers={"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0"})
    assert log_in(client, grace.email).status_code == 302
    return client
