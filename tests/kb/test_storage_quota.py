"""Quotas of workspaces: they hold however many ask at once, and deletions give back."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from pytest_django import Settings

from accounts.access.identity import principal_of_user
from accounts.models import Workspace, WorkspaceQuota
from accounts.principal import UsageOwner
from accounts.quotas.rates import shared_rates
from accounts.usage.counting import UsageCount, count_usage
from core.errors import DocumentError, QuotaExceeded
from extract.base import Attached, Warned
from ingestion import fetching
from ingestion.attachments import add_attachments
from kb.documents import Details, add_document, store_fetched
from kb.models import Document
from kb.storage_quota import stored_in
from tests.conftest import Cast, make_cast
from tests.factories import indexed_document, stored_document
from tests.testing.stored import all_stored

pytestmark = pytest.mark.django_db


def limit(workspace: Workspace, **quotas: Any) -> None:
    WorkspaceQuota.unscoped.update_or_create(pk=workspace.pk, defaults=quotas)


def upload(cast: Cast, *contents: bytes, workspace: Workspace | None = None) -> Any:
    files = [SimpleUploadedFile(f"{number}.txt", content) for number, content in enumerate(contents)]
    body = {"files": files, "workspace_id": str((workspace or cast.team).pk)}
    return Client().post("/api/v1/documents", body, headers=cast.headers("alice"))


def error_of(reply: Any) -> dict[str, Any]:
    assert reply.status_code == 429, reply.content
    error: dict[str, Any] = reply.json()["error"]
    assert error["code"] == "quota_exceeded"
    assert int(reply["Retry-After"]) > 0
    return {**error["details"], "message": error["message"]}


class TestDocuments:
    def test_the_quota_of_documents(self, cast: Cast) -> None:
        limit(cast.team, documents=2)
        first = upload(cast, b"one").json()["documents"][0]["id"]
        assert upload(cast, b"two").status_code == 202
        refused = error_of(upload(cast, b"three"))
        assert {name: refused[name] for name in ("quota", "limit", "used", "resets_at")} == {
            "quota": "documents",
            "limit": 2,
            "used": 2,
            "resets_at": None,
        }
        assert "Delete documents" in refused["message"]
        # What is there already is no more.
        assert upload(cast, b"one").status_code == 200
        assert upload(cast, b"three", workspace=cast.alice.personal_workspace).status_code == 202
        Client().delete(f"/api/v1/documents/{first}", headers=cast.headers("alice"))
        assert upload(cast, b"three").status_code == 202

    def test_the_quota_of_storage(self, cast: Cast, settings: Settings) -> None:
        settings.QUOTA_STORAGE_BYTES = 100
        assert upload(cast, b"x" * 60).status_code == 202
        refused = error_of(upload(cast, b"y" * 41))
        assert (refused["quota"], refused["limit"], refused["used"]) == ("storage_bytes", 100, 60)
        assert upload(cast, b"y" * 40).status_code == 202
        limit(cast.team, storage_bytes=101)
        assert upload(cast, b"z").status_code == 202
        assert error_of(upload(cast, b"a"))["limit"] == 101

    def test_a_refused_file_leaves_nothing(self, cast: Cast) -> None:
        limit(cast.team, storage_bytes=10)
        before = all_stored()
        error_of(upload(cast, b"x" * 11))
        assert all_stored() == before
        assert not Document.unscoped.exists()

    def test_a_replaced_file_counts_by_its_difference(self, cast: Cast) -> None:
        limit(cast.team, storage_bytes=100)
        id = upload(cast, b"x" * 60).json()["documents"][0]["id"]

        def replace(content: bytes) -> Any:
            return Client().put(
                f"/api/v1/documents/{id}/file",
                content,
                content_type="application/octet-stream",
                headers=cast.headers("alice"),
            )

        assert replace(b"y" * 100).status_code == 202
        assert error_of(replace(b"z" * 101))["used"] == 100
        assert replace(b"z" * 5).status_code == 202
        assert stored_in(cast.team.pk).bytes == 5

    def test_a_document_moves_only_where_there_is_room(self, cast: Cast) -> None:
        limit(cast.team, documents=1)
        document = indexed_document(cast.alice.personal_workspace)

        def move() -> Any:
            return Client().patch(
                f"/api/v1/documents/{document.pk}",
                json.dumps({"workspace_id": str(cast.team.pk)}),
                content_type="application/json",
                headers=cast.headers("alice"),
            )

        assert move().status_code == 200
        document = indexed_document(cast.alice.personal_workspace)
        error_of(move())
        document.refresh_from_db()
        assert document.workspace == cast.alice.personal_workspace

    def test_a_fetched_page_without_room_fails(self, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
        limit(cast.team, storage_bytes=10)
        document = stored_document(cast.team, "page", b"", url="http://example.org/", status="extracting")
        with pytest.raises(QuotaExceeded):
            store_fetched(document, ContentFile(b"x" * 11), "text/html")
        document.refresh_from_db()
        assert document.size == 0

        def refuse(*_: Any) -> bool:
            raise QuotaExceeded("No room.", quota="storage_bytes", limit=1, used=1)

        class Fetched:
            size, mime_type = 11, "text/html"

        monkeypatch.setattr(fetching, "fetch_blocking", lambda *_, **__: Fetched)
        monkeypatch.setattr(fetching, "store_fetched", refuse)
        with pytest.raises(DocumentError, match="No room") as failed:
            fetching.fetch_document(document)
        assert failed.value.code == "too_large"

    def test_an_attachment_without_room_is_left_out_with_a_warning(self, cast: Cast, tmp_path: Any) -> None:
        limit(cast.team, documents=1)
        mail = indexed_document(cast.team)
        (tmp_path / "0").write_bytes(b"attached")
        warnings = list(add_attachments(mail, [Attached("a.txt", "0")], tmp_path))
        assert [type(each) for each in warnings] == [Warned]
        assert "limit of documents: 1 of 1" in warnings[0].message
        assert Document.unscoped.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("quotas", [{"documents": 3}, {"storage_bytes": 31}])
def test_simultaneous_uploads_never_exceed_a_quota(quotas: dict[str, int]) -> None:
    cast = make_cast()
    limit(cast.team, **quotas)
    principal = principal_of_user(cast.alice)
    start = threading.Barrier(8)

    def add(number: int) -> bool:
        start.wait()
        try:
            content = ContentFile(f"document {number}".encode(), name=f"{number}.txt")
            add_document(principal, content, Details(cast.team.pk))
        except QuotaExceeded:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        added = list(pool.map(add, range(8)))
    assert sum(added) == 3 == Document.unscoped.count()


class TestQuestions:
    def search(self, cast: Cast) -> Any:
        return Client().post(
            "/api/v1/search",
            json.dumps({"query": "Who?"}),
            content_type="application/json",
            headers=cast.headers("alice"),
        )

    def test_tokens_of_a_day(self, cast: Cast) -> None:
        limit(cast.team, tokens_per_day=100)
        count_usage([UsageCount(cast.team.pk, UsageOwner(cast.bob.pk), input_tokens=90, output_tokens=20)])
        refused = error_of(self.run(cast))
        midnight = datetime.fromisoformat(refused["resets_at"])
        assert (refused["quota"], refused["limit"], refused["used"]) == ("tokens_per_day", 100, 110)
        assert timedelta(0) < midnight - datetime.now(UTC) <= timedelta(days=1)
        assert (midnight.hour, midnight.minute, midnight.second) == (0, 0, 0)
        limit(cast.team, tokens_per_day=111)
        assert self.run(cast).status_code == 202

    def run(self, cast: Cast) -> Any:
        return Client().post(
            "/api/v1/tools/rag_search/execute",
            json.dumps({"inputs": {"query": "Who?"}, "workspace_id": str(cast.team.pk)}),
            content_type="application/json",
            headers=cast.headers("alice"),
        )

    def test_runs_of_a_minute(self, cast: Cast) -> None:
        shared_rates.forget()
        limit(cast.alice.personal_workspace, runs_per_minute=2)
        assert [self.search(cast).status_code for _ in range(3)] == [200, 200, 429]
        refused = error_of(self.search(cast))
        assert (refused["quota"], refused["limit"]) == ("runs_per_minute", 2)
        limit(cast.alice.personal_workspace, runs_per_minute=0)
        error_of(self.search(cast))
