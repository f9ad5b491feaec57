"""`ETag`, `If-None-Match`, `If-Range` and `If-Match`: nothing is sent twice, no change is lost."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient, Client

from tests.conftest import Cast, make_cast
from tests.factories import chunk_id, indexed_document

API = "/api/v1/documents"


@pytest.mark.django_db(transaction=True)
async def test_documents_files_pages_and_chunks_are_sent_once() -> None:
    """Nothing had a validator: each look at a page or file was a whole download."""
    cast = await sync_to_async(make_cast)()
    document = await sync_to_async(indexed_document)(cast.team)
    chunk = await sync_to_async(chunk_id)(document)
    etags = set()
    for path in (
        f"{API}/{document.pk}",
        f"{API}/{document.pk}/file",
        f"{API}/{document.pk}/pages/1?width=90",
        f"{API}/{document.pk}/pages/1?width=91",
        f"/api/v1/chunks/{chunk}",
        f"/chunks/{chunk}?neighbors=1",
    ):
        first = await get(cast, path)
        assert (first.status_code, first["Cache-Control"]) == (200, "private, no-cache"), path
        assert {"Authorization", "X-API-KEY", "X-External-User-Id"} <= set(first["Vary"].split(", "))
        etag = first["ETag"]
        etags.add(etag)
        for given in (etag, f"W/{etag}", f'"other", {etag}', "*"):
            again = await get(cast, path, **{"If-None-Match": given})
            assert (again.status_code, again.content, again["ETag"]) == (304, b"", etag), (path, given)
        changed = await get(cast, path, **{"If-None-Match": '"other"'})
        assert changed.status_code == 200, path
    assert len(etags) == 6


async def get(cast: Cast, path: str, **headers: str) -> Any:
    return await AsyncClient().get(path, headers=cast.headers("alice", **headers))


@pytest.mark.django_db(transaction=True)
async def test_a_part_is_sent_only_of_the_file_that_the_client_has_begun() -> None:
    cast = await sync_to_async(make_cast)()
    document = await sync_to_async(indexed_document)(cast.team)
    path = f"{API}/{document.pk}/file"
    etag = (await get(cast, path))["ETag"]
    assert etag == f'"{document.sha256}"'
    for if_range, status in (
        (etag, 206),
        ('"other"', 200),
        (f"W/{etag}", 200),
        ("Sun, 22 Nov 2026 10:00:00 GMT", 200),
    ):
        response = await get(cast, path, Range="bytes=0-9", **{"If-Range": if_range})
        assert response.status_code == status, if_range


def test_a_validator_is_of_no_use_to_who_may_not_see(cast: Cast) -> None:
    document = indexed_document(cast.team)
    etag = Client().get(f"{API}/{document.pk}", headers=cast.headers("alice"))["ETag"]
    for path in (f"{API}/{document.pk}", f"{API}/{document.pk}/file"):
        response = Client().get(path, headers=cast.headers("charlie", **{"If-None-Match": etag}))
        assert response.status_code == 404


def test_a_change_of_what_has_changed_meanwhile_is_refused(cast: Cast) -> None:
    document = indexed_document(cast.team)
    path = f"{API}/{document.pk}"

    def send(method: str, etag: str, title: str = "x") -> Any:
        headers = cast.headers("alice", **{"If-Match": etag})
        body = {"title": title} if method == "patch" else None
        return getattr(Client(), method)(path, body, content_type="application/json", headers=headers)

    before = Client().get(path, headers=cast.headers("alice"))["ETag"]
    assert send("patch", before, "first").status_code == 200
    for method, etag in (("patch", before), ("delete", before), ("patch", '"other"'), ("patch", "nonsense")):
        refused = send(method, etag, "second")
        assert (refused.status_code, refused.json()["error"]["code"]) == (412, "precondition_failed")
    now = Client().get(path, headers=cast.headers("alice"))
    assert now.json()["name"] == "first"
    assert send("patch", "*", "third").status_code == 200
    latest = Client().get(path, headers=cast.headers("alice"))["ETag"]
    assert send("delete", latest).status_code == 200
