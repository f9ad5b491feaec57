"""What an external user may do to documents: to its own what its program may, to shared ones nothing."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from kb.models import Document, Status
from tests.conftest import Cast
from tests.factories import indexed_document

API = "/api/v1/documents"
CHANGES: list[tuple[str, str, Any]] = [
    ("patch", "", {"title": "mine"}),
    ("post", "/reprocess", {}),
    ("post", "/cancel", {}),
    ("delete", "", None),
]


@pytest.fixture
def cast_sharing(cast: Cast) -> Cast:
    cast.team.share_with_external_users = True
    cast.team.save()
    return cast


def change(cast: Cast, document: Document, how: tuple[str, str, Any], external_user: str | None) -> Any:
    method, path, body = how
    extra = {"X-External-User-Id": external_user} if external_user else {}
    headers = cast.headers("alice", **extra)
    address = f"{API}/{document.pk}{path}"
    return getattr(Client(), method)(address, body, content_type="application/json", headers=headers)


def test_what_is_shared_with_an_external_user_is_not_its_to_change(cast_sharing: Cast) -> None:
    """An external user could rename, reprocess, cancel and delete documents that are merely shared."""
    document = indexed_document(cast_sharing.team)
    before = Document.unscoped.filter(pk=document.pk).values().get()
    for how in CHANGES:
        reply = change(cast_sharing, document, how, "e1")
        assert (reply.status_code, reply.json()["error"]["code"]) == (403, "forbidden"), how
    assert Document.unscoped.filter(pk=document.pk).values().get() == before
    assert change(cast_sharing, document, CHANGES[0], None).status_code == 200


def test_what_is_anothers_does_not_exist_and_what_is_its_own_can_be_changed(cast_sharing: Cast) -> None:
    for how in CHANGES:
        others = indexed_document(cast_sharing.team, external_user_id="e2")
        own = indexed_document(cast_sharing.team, external_user_id="e1")
        assert change(cast_sharing, others, how, "e1").status_code == 404, how
        assert change(cast_sharing, others, how, None).status_code == 404, how
        assert change(cast_sharing, own, how, "e1").status_code in (200, 202), how
    assert Document.unscoped.filter(external_user_id="e2", status=Status.READY).count() == len(CHANGES)


def test_an_external_user_handles_no_api_keys(cast: Cast) -> None:
    """A key that an external user had made spoke for everybody."""
    headers = cast.headers("alice", **{"X-External-User-Id": "e1"})
    id = Client().get("/api/v1/api-keys", headers=cast.headers("alice")).json()["results"][0]["id"]
    for method, path in (("get", ""), ("post", ""), ("delete", f"/{id}")):
        body = {"name": "mine"} if method == "post" else None
        reply = getattr(Client(), method)(
            f"/api/v1/api-keys{path}", body, content_type="application/json", headers=headers
        )
        assert (reply.status_code, reply.json()["error"]["code"]) == (403, "forbidden"), method
