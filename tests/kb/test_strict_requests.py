"""Requests that can't mean what they say are refused by every address, and nothing crafted ends in a 500."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient, Client

from accounts.models import Workspace
from kb.metadata import MAX_BYTES, MAX_DEPTH
from kb.models import Document
from tests.accounts.test_walk import ROUTES, Owned, own
from tests.conftest import Cast, make_cast
from tests.factories import indexed_document

API = "/api/v1/documents"
LISTS = [
    route
    for method, route in ROUTES
    if method == "get"
    and route
    in {
        "api/v1/documents",
        "api/v1/workspaces",
        "api/v1/api-keys",
        "api/v1/tools",
        "api/v1/executions",
        "api/v1/documents/<str:id>/chunks",
    }
]


@pytest.fixture
def owned(cast: Cast) -> Owned:
    return own(cast)


def asked(cast: Cast, path: str, **query: Any) -> tuple[int, str | None, str | None]:
    """Return status, code and param of a GET by alice."""
    headers = cast.headers("alice", **{"X-External-User-Id": "x"})
    response = Client().get(f"{path}?{urlencode(query, doseq=True)}", headers=headers)
    error = response.json()["error"] if response.status_code >= 400 else {}
    return response.status_code, error.get("code"), error.get("param")


def test_an_upload_without_body_or_content_type_is_told_that_it_has_no_file(cast: Cast) -> None:
    """An upload without a body and a content type ended in a 500."""
    for kind in ("", "multipart/form-data", "application/octet-stream", "text/html"):
        response = Client().generic("POST", API, b"", kind, headers=cast.headers("alice"))
        assert (response.status_code, response.json()["error"]["param"]) == (400, "files"), kind


def test_every_operation_refuses_a_query_parameter_it_does_not_know(cast: Cast, owned: Owned) -> None:
    """me, tools, workspaces, keys and chunks ignored unknown parameters: a misspelt filter widened a list."""
    headers = cast.headers("alice")
    # Protocols of others add parameters that we do not know.
    served = [(method, route) for method, route in ROUTES if route.startswith(("api/v1/", "chunks/"))]
    assert len(served) > 100
    for method, route in served:
        address = f"{owned.address(route)}?no_such_parameter=1"
        response = getattr(Client(), method)(address, headers=headers)
        error = response.json()["error"]
        assert (response.status_code, error["code"], error["param"]) == (
            *(400, "unknown_field"),
            "no_such_parameter",
        ), (method, route)


def test_filters_that_cannot_match_are_refused(cast: Cast) -> None:
    """An unknown status and an invisible workspace gave an empty list, an empty workspace id the default."""
    invisible, unknown = Workspace.create_for(cast.charlie, name="Other"), uuid4()
    for path, query, expected in [
        (API, {"status": "foo"}, (400, "validation_error", "status")),
        (API, {"workspace": invisible.pk}, (404, "not_found", "workspace")),
        (API, {"tag": " "}, (400, "validation_error", "tag")),
        (API, {"workspace_id": unknown}, (404, "not_found", "workspace_id")),
        (API, {"workspace_id": unknown, "workspace": invisible.pk}, (400, "conflict", "workspace")),
        (API, {"workspace_id": ""}, (400, "validation_error", "workspace_id")),
        (API, {"attached_to": unknown}, (404, "not_found", "attached_to")),
        (API, {"id": [unknown]}, (404, "not_found", "id[0]")),
        (API, {"id": ["x"]}, (400, "validation_error", "id")),
        (API, {"status": ["ready", "failed"]}, (400, "conflict", "status")),
        (API, {"search": "a\0b"}, (400, "validation_error", "search")),
        (API, {"created_after": "soon"}, (400, "validation_error", "created_after")),
        (API, {"metadata": "[]"}, (400, "validation_error", "metadata")),
        (API, {"metadata": '{"a": NaN}'}, (400, "validation_error", "metadata")),
        (API, {"metadata": json.dumps({"a": list(range(101))})}, (400, "validation_error", "metadata")),
        ("/api/v1/tools", {"workspace_id": ""}, (400, "validation_error", "workspace_id")),
        ("/api/v1/tools", {"workspace_id": unknown}, (404, "not_found", "workspace_id")),
        ("/api/v1/preferences", {"workspace_id": ""}, (400, "validation_error", "workspace_id")),
        ("/api/v1/executions", {"tool": "foo"}, (404, "not_found", None)),
    ]:
        assert asked(cast, path, **query) == expected, (path, query)


@pytest.mark.parametrize("route", LISTS)
def test_every_list_has_pages_and_refuses_crafted_cursors(cast: Cast, owned: Owned, route: str) -> None:
    """Cursors that nobody made here ended in a 500; tools, workspaces and keys ignored limit and cursor."""
    path, headers = owned.address(route), cast.headers("alice", **{"X-External-User-Id": "x"})
    if route == "api/v1/api-keys":
        headers = cast.headers("alice")
    for inner in ("p=abc", "p=%00", "p=infinity", f"p={'9' * 5000}", "o=-1", "r=1&p=2023", "", "x"):
        for cursor in (inner, base64.b64encode(inner.encode()).decode()):
            response = Client().get(path, {"cursor": cursor}, headers=headers)
            assert (response.status_code, response.json()["error"]["param"]) == (400, "cursor"), inner
    for limit in ("0", "201", "x", "9" * 5000):
        response = Client().get(path, {"limit": limit}, headers=headers)
        assert (response.status_code, response.json()["error"]["param"]) == (400, "limit"), limit
    assert set(Client().get(path, {"limit": "200"}, headers=headers).json()) == {
        "results",
        "next",
        "previous",
    }


@pytest.mark.parametrize("path", ["/api/v1/workspaces", "/api/v1/tools", "/api/v1/api-keys"])
def test_pages_of_short_lists_join_to_the_whole(cast: Cast, path: str) -> None:
    client, headers = Client(), cast.headers("alice")
    for name in ("One", "Two"):
        Workspace.create_for(cast.alice, name=name)
        client.post("/api/v1/api-keys", {"name": name}, "application/json", headers=headers)
    whole = client.get(path, headers=headers).json()["results"]
    page = client.get(path, {"limit": "1"}, headers=headers).json()
    joined, pages = page["results"], 1
    while page["next"]:
        page = client.get(page["next"], headers=headers).json()
        joined, pages = joined + page["results"], pages + 1
    assert (pages, joined) == (len(whole), whole)
    assert client.get(page["previous"], headers=headers).json()["results"] == whole[-2:-1]


def test_a_cursor_of_another_ordering_is_refused(cast: Cast) -> None:
    for name in ("a.pdf", "b.pdf"):
        indexed_document(cast.team, name=name)
    client, headers = Client(), cast.headers("alice")
    following = client.get(API, {"limit": "1", "ordering": "name"}, headers=headers).json()["next"]
    assert client.get(following, headers=headers).status_code == 200
    other = client.get(following.replace("ordering=name", "ordering=size"), headers=headers)
    assert (other.status_code, other.json()["error"]["param"]) == (400, "cursor")


def test_deep_large_and_unstorable_metadata_is_refused(cast: Cast) -> None:
    """Metadata nested a thousand deep ended in a 500, by an upload and by a change."""
    document = indexed_document(cast.team)
    headers = cast.headers("alice")

    def uploaded(metadata: str) -> int:
        form = {"files": SimpleUploadedFile("a.txt", b"x"), "metadata": metadata}
        response = Client().post(API, form, headers=headers)
        assert response.status_code == 202 or response.json()["error"]["param"].startswith("metadata")
        return response.status_code

    def changed(metadata: str) -> int:
        body = f'{{"metadata": {metadata}}}'
        return Client().patch(f"{API}/{document.pk}", body, "application/json", headers=headers).status_code

    for depth in (MAX_DEPTH + 1, 960, 975, 5000, 100_000):
        deep = '{"a":' * depth + "1" + "}" * depth
        assert (uploaded(deep), changed(deep)) == (400, 400), depth
    for bad in ('{"a": 1e999}', '{"a": NaN}', json.dumps({"a": "x" * MAX_BYTES}), '{"a": "\\u0000"}'):
        assert (uploaded(bad), changed(bad)) == (400, 400), bad[:20]
    allowed = '{"a":' * MAX_DEPTH + "1" + "}" * MAX_DEPTH
    assert (uploaded(allowed), changed(allowed)) == (202, 200)


def test_names_tags_and_metadata_keep_nothing_that_hides(cast: Cast) -> None:
    """Titles kept characters that turn the direction of writing, and line breaks."""
    body = {
        "title": "annual\u202efdp.exe\nsecond\x07 line\u2028",
        "tags": ["a\u2066b", "c\r\nd", "\u200b"],
        "metadata": {"k\u202ey": "one\ntwo\u202e", "emoji": "👩\u200d🚀", "list": ["\x1b[31mred"]},
    }
    document = indexed_document(cast.team)
    path, headers = f"{API}/{document.pk}", cast.headers("alice")
    reply = Client().patch(path, body, "application/json", headers=headers).json()
    assert reply["name"] == "annualfdp.exe second line"
    assert reply["tags"] == ["ab", "c d"]
    assert reply["metadata"] == {"ky": "one\ntwo", "emoji": "👩\u200d🚀", "list": ["[31mred"]}
    blank = Client().patch(path, {"title": "\u202e\u200b"}, "application/json", headers=headers)
    assert (blank.status_code, blank.json()["error"]["param"]) == (400, "title")


@pytest.mark.django_db(transaction=True)
class TestFile:
    async def test_ranges_that_cannot_be_served(self) -> None:
        """416 was an empty HTML page, and a range of thousands of digits a 500."""
        from asgiref.sync import sync_to_async

        cast = await sync_to_async(make_cast)()
        document = await sync_to_async(indexed_document)(cast.team)
        many, size = "9" * 5000, document.size
        for asked_for, status, body in [
            ("bytes=99999999-", 416, None),
            (f"bytes={many}-", 416, None),
            (f"bytes={many}-{many}", 416, None),
            ("bytes=-0", 416, None),
            (f"bytes=0-{many}", 206, size),
            (f"bytes=-{many}", 206, size),
            ("bytes=" + "0" * 5000 + "1-2", 206, 2),
            ("lines=1-2", 200, size),
        ]:
            response: Any = await AsyncClient().get(
                f"{API}/{document.pk}/file", headers=cast.headers("alice", Range=asked_for)
            )
            assert response.status_code == status, asked_for[:30]
            if body is None:
                assert response["Content-Range"] == f"bytes */{size}"
                assert response["Content-Type"] == "application/json"
                assert response.json()["error"]["code"] == "range_not_satisfiable"
            else:
                assert len(b"".join([block async for block in response.streaming_content])) == body

    async def test_a_download_never_bears_a_name_that_hides_its_kind(self) -> None:
        from asgiref.sync import sync_to_async

        cast = await sync_to_async(make_cast)()
        document = await sync_to_async(indexed_document)(cast.team)
        # As it was stored before names were cleaned.
        await sync_to_async(Document.unscoped.update)(name="annual\u202efdp.exe\n")
        response = await AsyncClient().get(f"{API}/{document.pk}/file", headers=cast.headers("alice"))
        assert 'filename="annualfdp.exe"' in response["Content-Disposition"]
