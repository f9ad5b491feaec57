"""What tests of a person's own pages share."""

from __future__ import annotations

import re
import time
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.core import mail
from django.core.mail import EmailMessage
from django.test import Client

from tests.testing.live import wait_until

PASSWORD = "a long enough password"
LOGIN = "/accounts/login/"
SECURITY = "/accounts/security/"


def log_in(client: Client, email: str, password: str = PASSWORD) -> Any:
    """Log in with the form."""
    return client.post(LOGIN, {"login": email, "password": password})


def reauthenticate(client: Client, password: str = PASSWORD) -> Any:
    """Say the password once more."""
    return client.post("/accounts/reauthenticate/", {"password": password})


def code_of(secret: str, step: int = 0) -> str:
    """Return the code that an app shows now, or some steps later."""
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30 + step)))


def add_app(client: Client) -> str:
    """Add an app for codes to the account of a logged-in client; return its key."""
    page = client.get(f"{SECURITY}app/add/").content.decode()
    [secret] = re.findall(r'<code data-part="secret">([A-Z2-7]+)</code>', page)
    # The code before, so that the one after can still be used.
    added = client.post(f"{SECURITY}app/add/", {"code": code_of(secret, -1)})
    assert added.status_code == 302, added.content.decode()
    assert Authenticator.objects.filter(type="totp").exists()
    return str(secret)


def sent_mail(number: int = 1) -> EmailMessage:
    """Return the last of so many mails; they are sent by threads of their own."""
    wait_until(lambda: len(mail.outbox) >= number, "so many mails are sent")
    assert len(mail.outbox) == number, [each.subject for each in mail.outbox]
    return mail.outbox[-1]


def link_in(message: EmailMessage) -> str:
    """Return the path of the one link of a mail."""
    [link] = re.findall(r"http://testserver(/\S+)", str(message.body))
    return str(link)
