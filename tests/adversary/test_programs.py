"""The adversary with a connected program's token: it opens `/mcp`, and nothing else."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest import Subtests

from accounts.models import ApiKey
from tests.accounts.test_walk import ROUTES, SOCKETS, Owned, close_code, own
from tests.conftest import Cast
from tests.testing.connecting import TestProgram, call_mcp, result_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("plain_static_files")]
PROGRAM = "program"


@pytest.fixture
def owned(cast: Cast) -> Owned:
    """Things of alice's, for external user “x”."""
    return own(cast)


@pytest.fixture
def token(cast: Cast, owned: Owned) -> str:
    """The token of a program that alice lets read her team."""
    browser = Client()
    browser.force_login(cast.alice)
    return str(TestProgram.registered(PROGRAM).connect(browser, cast.team.pk)["access_token"])


def test_it_opens_no_other_address(
    owned: Owned, token: str, subtests: Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accounts.access.auth.take", lambda *_: None)
    for method, route in ROUTES:
        if route == "mcp":
            continue
        for headers in ({"Authorization": f"Bearer {token}"}, {"X-API-KEY": token}):
            with subtests.test(method=method, route=route, by=next(iter(headers))):
                reply = getattr(Client(), method)(owned.address(route), headers=headers)
                assert reply.status_code == 401
    for address in ("/", "/accounts/programs/", "/documents/"):
        assert Client().get(address, headers={"Authorization": f"Bearer {token}"}).status_code == 302
    assert call_mcp(token).status_code == 200


async def test_it_opens_no_websocket(token: str) -> None:
    headers = [(b"authorization", f"Bearer {token}".encode()), (b"host", b"testserver")]
    for path in SOCKETS:
        assert await close_code(path, headers) in (4401, 4404)


def test_its_key_is_no_key(cast: Cast, token: str) -> None:
    """What holds its rights has no secret, and nobody can give it one."""
    key = ApiKey.objects.get(program__name=PROGRAM)
    headers = cast.headers("alice")
    listed = Client().get("/api/v1/api-keys", headers=headers).json()["results"]
    assert str(key.pk) not in {each["id"] for each in listed}
    for method, address in (("delete", ""), ("post", "/rotate"), ("delete", "/old-secret")):
        path = f"/api/v1/api-keys/{key.pk}{address}"
        reply = getattr(Client(), method)(path, "{}", content_type="application/json", headers=headers)
        assert reply.status_code == 404
    for secret in (f"locus_{key.prefix}_", f"locus_{key.prefix}_x", key.prefix):
        assert Client().get("/api/v1/me", headers={"X-API-KEY": secret}).status_code == 401


def test_its_arguments_name_nothing_of_others(cast: Cast, owned: Owned, token: str) -> None:
    document = owned.document.pk
    own_workspace = cast.alice.personal_workspace.pk
    for tool, arguments in (
        ("fetch", {"id": str(document)}),
        ("list_documents", {"workspace_id": str(own_workspace)}),
        ("add_document", {"text": "x", "workspace_id": str(own_workspace)}),
        ("rag_search", {"query": "x", "workspace_ids": [str(own_workspace)]}),
        ("rag_search", {"query": "x", "document_ids": [str(document)]}),
    ):
        assert result_of(call_mcp(token, tool, **arguments))["error"]["code"] == "not_found", tool
