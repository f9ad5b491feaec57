"""The page Help, the app that browsers can install, and addresses as people type them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from extract.kinds import KINDS
from kb.models import Document
from locus.help_page import GROUPS, kind_groups, limits
from tests.conftest import Cast
from tests.testing.paths import ROOT

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_static_files")]


@pytest.fixture
def alice(cast: Cast) -> Client:
    client = Client()
    client.force_login(cast.alice)
    return client


def test_it_names_every_kind_of_file() -> None:
    named = [name for _, names in GROUPS for name in names]
    assert sorted(named) == sorted(KINDS)
    assert kind_groups()[0].extensions.startswith("pdf, docx")


def test_its_limits_are_those_in_force(alice: Client, settings: Settings) -> None:
    settings.MAX_UPLOAD_BYTES, settings.MAX_PAGES, settings.QUOTA_DOCUMENTS = 7_000_000, 1234, 55
    assert {
        ("A file", "7 MB"),
        ("Pages of a document", "1,234"),
        ("Documents of a workspace", "55"),
    } <= set(limits())
    page = alice.get("/help").content.decode()
    assert "1,234" in page
    assert settings.VERSION in page


def test_a_browser_can_install_it(settings: Settings) -> None:
    answer = Client().get("/manifest.webmanifest")
    assert answer["Content-Type"] == "application/manifest+json"
    manifest = json.loads(answer.content)
    assert (manifest["start_url"], manifest["display"]) == ("/", "standalone")
    target = manifest["share_target"]
    assert (target["method"], target["action"]) == ("POST", "/share")
    for icon in manifest["icons"]:
        assert (ROOT / "frontend" / "static" / Path(icon["src"]).name).is_file()


def test_its_worker_is_at_the_root(settings: Settings) -> None:
    """A worker sees only what is below its own address."""
    answer = Client().get("/service-worker.js")
    assert answer["Content-Type"].startswith("text/javascript")
    assert answer["Cache-Control"] == "no-cache"
    assert b"/share" in answer.content


def test_a_form_of_another_site_adds_nothing(cast: Cast) -> None:
    """Without the worker the server gets what was shared: it reads nothing of it, and needs no token."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.alice)
    file = SimpleUploadedFile("evil.txt", b"Added by another site.")
    answer = client.post("/share", {"files": file, "text": "https://evil.example/"})
    assert (answer.status_code, answer["Location"]) == (303, "/documents/?shared")
    assert not Document.unscoped.exists()
