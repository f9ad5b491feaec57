"""Connecting a language model on a page: found, listed, tested, stored encrypted, in force at once."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection as database
from django.test import Client
from django.utils import timezone
from pytest import Subtests
from pytest_django import Settings

from accounts.access.identity import principal_of_key
from accounts.access.keys import create_key
from accounts.access.tokens import make_token
from accounts.models import ApiKey, AuditEntry, User, Workspace
from core.encryption import Undecryptable, decrypt, encrypt
from core.llm import listing
from search.generation.base import Choice
from search.generation.connection import connected_choice, renew_encryption
from search.generation.registry import choices, resident
from search.models import ModelConnection
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.locus.test_dashboard import root as root
from tests.locus.test_dashboard import staff_with
from tests.testing.chat_models import KEY, AnthropicProvider, OpenAiProvider, Turn

ADDRESS = "/api/v1/model-connection"
COMPATIBLE = "openai-compatible"

pytestmark = [
    # Calls pay in threads of their own, which see only what is committed.
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("plain_static_files"),
]


@pytest.fixture(autouse=True)
def _without_environment(settings: Settings) -> None:
    settings.GENERATION_PROVIDER = settings.GENERATION_MODEL = ""
    resident.cache_clear()


def send(client: Client, method: str, path: str = "", **body: Any) -> Any:
    if method == "get":
        return client.get(f"{ADDRESS}{path}")
    return getattr(client, method)(f"{ADDRESS}{path}", json.dumps(body), content_type="application/json")


def ask(client: Client) -> dict[str, Any]:
    body = json.dumps({"query": "Who owns the solar farm in Almería?"})
    result: dict[str, Any] = client.post("/api/v1/tools/rag_search", body, "application/json").json()
    return result


def test_a_model_is_listed_tested_used_and_forgotten(cast: Cast, root: Client) -> None:
    user = User.objects.get(email="root@example.org")
    indexed_document(user.personal_workspace)
    assert ask(root)["model"] == "extractive"
    with OpenAiProvider(key=KEY) as server:
        wanted = {"provider": COMPATIBLE, "address": server.url, "api_key": KEY}
        listed = send(root, "post", "/models", **wanted)
        assert listed.json() == {"models": ["llama3.2:3b", "qwen3:8b"]}
        tested = send(root, "post", "/test", **wanted, model="qwen3:8b").json()
        assert tested["is_good"], tested
        assert "The lighthouse was built in 1893." in tested["words"]
        assert not ModelConnection.objects.exists()
        changed = send(root, "put", **wanted, model="qwen3:8b")
        assert changed.status_code == 200
        assert KEY not in changed.content.decode() + root.get("/connect-model").content.decode()
        now = root.get(ADDRESS).json()
        assert (now["source"], now["model"], now["has_key"]) == ("page", "qwen3:8b", True)
        assert now["leaves_machine"] == "Nothing leaves this machine: the model runs on it."
        # The key is still used, though nobody sends it again.
        assert send(root, "post", "/models", provider=COMPATIBLE, address=server.url).status_code == 200
        assert ask(root)["model"] == "qwen3:8b"
        assert server.requests[-1]["headers"]["authorization"] == f"Bearer {KEY}"
    assert root.delete(ADDRESS).json()["source"] == "default"
    assert ask(root)["model"] == "extractive"
    entries = AuditEntry.unscoped.filter(action__startswith="model.").order_by("id")
    assert [each.action for each in entries] == ["model.connected", "model.disconnected"]
    assert entries[0].details == {"provider": COMPATIBLE, "model": "qwen3:8b"}
    assert not any(KEY in json.dumps(each.details) for each in AuditEntry.unscoped.all())


def test_anthropic_lists_its_models_for_a_key(cast: Cast, root: Client) -> None:
    with AnthropicProvider(key=KEY, models=["claude-haiku-4-5"]) as server:
        wanted = {"provider": "anthropic", "address": server.url, "api_key": KEY}
        assert send(root, "post", "/models", **wanted).json() == {"models": ["claude-haiku-4-5"]}
        refused = send(root, "post", "/models", **wanted | {"api_key": "wrong"})
        assert refused.status_code == 502
        assert "refused the key" in refused.json()["error"]["message"]


def test_failures_say_what_to_do(cast: Cast, root: Client, subtests: Subtests) -> None:
    with OpenAiProvider(key=KEY) as server:
        cases = [
            ({"address": "http://127.0.0.1:9/v1"}, 502, "Is the server running"),
            ({"address": f"{server.address}/other"}, 502, "end with /v1"),
            ({"address": server.url}, 502, "refused the key"),
            ({"address": "ftp://127.0.0.1/v1"}, 400, "Write an address such as"),
            ({"address": "http://me:secret@127.0.0.1/v1"}, 400, "without name and password"),
            ({"address": "http://169.254.169.254/v1"}, 400, "link-local"),
            ({"address": "http://[::ffff:169.254.169.254]/v1"}, 400, "link-local"),
            ({"address": ""}, 400, "Write the address"),
            ({"provider": "anthropic"}, 400, "Enter the key"),
            ({"provider": "anthropic", "api_key": "schlüssel"}, 400, "api_key"),
            ({"provider": "best", "address": server.url}, 400, "provider"),
        ]
        for body, status, words in cases:
            with subtests.test(body=body):
                answer = send(root, "post", "/models", **{"provider": COMPATIBLE} | body)
                assert (answer.status_code, words in answer.content.decode()) == (status, True)
    with OpenAiProvider(listing=b"<html>") as server:
        answer = send(root, "post", "/models", provider=COMPATIBLE, address=server.url)
        assert "not with a list of models" in answer.json()["error"]["message"]
    with OpenAiProvider(turns=[Turn(status=401, error="invalid_api_key")]) as server:
        body = {"provider": COMPATIBLE, "address": server.url, "model": "x", "api_key": KEY}
        tested = send(root, "post", "/test", **body).json()
        assert not tested["is_good"]
        assert KEY not in json.dumps(tested)


def test_the_stored_key_goes_to_no_other_address(cast: Cast, root: Client) -> None:
    with OpenAiProvider() as mine, OpenAiProvider() as theirs:
        send(root, "put", provider=COMPATIBLE, address=mine.url, api_key=KEY, model="x")
        send(root, "post", "/test", provider=COMPATIBLE, address=theirs.url, model="x")
        assert theirs.requests
        assert KEY not in json.dumps(theirs.requests)


def test_servers_on_this_machine_are_found(cast: Cast, root: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAiProvider() as server, OpenAiProvider() as own:
        port, own_port = (int(each.address.rpartition(":")[2]) for each in (server, own))
        known = [
            listing.LocalServer(*each) for each in (("Ollama", port), ("vLLM", own_port), ("LM Studio", 9))
        ]
        monkeypatch.setattr(listing, "LOCAL_SERVERS", known)
        monkeypatch.setattr("django.conf.settings.PORT", own_port)
        found = root.get(f"{ADDRESS}/servers").json()["servers"]
        assert [(each["name"], each["models"]) for each in found] == [("Ollama", ["llama3.2:3b", "qwen3:8b"])]
        assert found[0]["address"] == server.url


def test_the_fixed_addresses_are_loopback() -> None:
    assert {each.address for each in listing.LOCAL_SERVERS} == {
        f"http://127.0.0.1:{port}/v1" for port in (11434, 1234, 8080, 8000)
    }


def test_only_administrators(cast: Cast, subtests: Subtests) -> None:
    alice, clerk, staff = (
        Client(),
        staff_with("locus.view_components"),
        User.objects.create_superuser("s@example.org"),
    )
    alice.force_login(cast.alice)
    key, whole = create_key(staff, "whole", scopes=["read", "write", "admin"])
    in_an_hour = timezone.now() + timedelta(hours=1)
    _, reading = create_key(staff, "reading", scopes=["read"])
    _, narrow = create_key(
        staff, "narrow", scopes=["admin"], workspaces=[Workspace.objects.get(personal_of=staff)]
    )
    assert ApiKey.objects.filter(user=staff).count() == 3
    paths = [
        ("get", ""),
        ("put", ""),
        ("delete", ""),
        ("get", "/servers"),
        ("post", "/models"),
        ("post", "/test"),
    ]
    body = {"provider": COMPATIBLE, "address": "http://127.0.0.1:9/v1", "model": "x"}
    for method, path in paths:
        with subtests.test(method=method, path=path):
            assert send(alice, method, path, **body).status_code == 403
            assert send(clerk, method, path, **body).status_code == 403
            for secret in (reading, narrow, make_token(principal_of_key(key), in_an_hour)):
                program = Client(headers={"Authorization": f"Bearer {secret}"})
                assert send(program, method, path, **body).status_code == 403
            external = Client(headers={"Authorization": f"Bearer {whole}", "X-External-User-Id": "x"})
            assert send(external, method, path, **body).status_code == 403
    assert Client(headers={"Authorization": f"Bearer {whole}"}).get(ADDRESS).status_code == 200
    assert alice.get("/connect-model").status_code == 403
    assert "connect-model" not in alice.get("/").content.decode()


def test_the_environment_goes_first(cast: Cast, root: Client, settings: Settings) -> None:
    send(root, "put", provider="anthropic", api_key=KEY, model="claude-haiku-4-5")
    assert choices()[0].model == "claude-haiku-4-5"
    assert "sent to Anthropic" in root.get(ADDRESS).json()["leaves_machine"]
    settings.GENERATION_PROVIDER = "extractive"
    assert choices() == [Choice("extractive")]
    now = root.get(ADDRESS).json()
    assert (now["source"], now["provider"], now["has_key"]) == ("environment", "extractive", False)
    assert "GENERATION_PROVIDER" in root.get("/connect-model").content.decode()
    refused = send(root, "put", provider=COMPATIBLE, address="http://127.0.0.1:9/v1", model="y")
    assert refused.status_code == 400
    assert "Remove it there first" in refused.json()["error"]["message"]


def test_the_key_is_encrypted_and_survives_a_rotation(cast: Cast, root: Client, settings: Settings) -> None:
    send(root, "put", provider="openai", api_key=KEY, model="gpt-5-mini")
    with database.cursor() as cursor:
        cursor.execute("SELECT m::text FROM search_modelconnection m")
        assert KEY not in cursor.fetchone()[0]
    old, settings.ENCRYPTION_KEY = settings.ENCRYPTION_KEY, "a new one"
    assert connected_choice() == Choice("openai", "gpt-5-mini", "", "")
    assert "can't be decrypted" in root.get(ADDRESS).json()["problem"]
    settings.ENCRYPTION_KEY_FALLBACKS = [old]
    renew_encryption()
    settings.ENCRYPTION_KEY_FALLBACKS = []
    assert connected_choice() == Choice("openai", "gpt-5-mini", "", KEY)


def test_what_was_changed_is_not_decrypted() -> None:
    encrypted = encrypt("secret")
    assert encrypt("secret") != encrypted
    with pytest.raises(Undecryptable):
        decrypt(encrypted[:-4] + "AAA=")


def test_a_lost_key_is_said_in_words(cast: Cast, root: Client, settings: Settings) -> None:
    send(root, "put", provider="openai", api_key=KEY, model="gpt-5-mini")
    settings.ENCRYPTION_KEY = "a new one"
    assert root.get("/connect-model").status_code == 200
    assert root.get("/api/v1/preferences").status_code == 200
    indexed_document(User.objects.get(email="root@example.org").personal_workspace)
    assert "can't be used as it is set up" in ask(root)["error"]["message"]
