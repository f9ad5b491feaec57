"""One's own data: an archive of it, and the deletion of the account."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Iterator
from typing import Any
from zipfile import ZipFile

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient, Client

from accounts.access.keys import create_key
from accounts.models import AuditEntry, Membership, User, Workspace
from accounts.people import deletion
from accounts.people.export import members_of
from accounts.roles import Role
from core.http.zip_stream import zip_parts
from kb.models import Document
from runs.models import Execution
from tests.accounts.account_pages import log_in, reauthenticate
from tests.factories import indexed_document

EXPORT = "/accounts/data/export/"
DELETE = "/accounts/data/delete/"

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("plain_static_files")]


def add_data(grace: User) -> dict[str, Any]:
    """Give grace a document, an execution, a key, and a colleague's workspace with a document."""
    other = Workspace.create_for(User.objects.create_user("owner@example.org"), name="Theirs")
    Membership.objects.create(workspace=other, user=grace, role=Role.EDITOR)
    own, foreign = indexed_document(grace.personal_workspace), indexed_document(other)
    more = {"user": grace, "workspace": grace.personal_workspace, "tool": "rag_search"}
    Execution.unscoped.create(**more, inputs={"query": "mine?"}, result={"response": "Yes."})
    Execution.unscoped.create(**more, inputs={"query": "of a customer"}, external_user_id="x")
    key, secret = create_key(grace, "laptop", scopes=["read"])
    return {"own": own, "foreign": foreign, "secret": secret, "key": key}


async def download(user: User) -> ZipFile:
    client = AsyncClient()
    await sync_to_async(client.force_login)(user)
    await sync_to_async(_say_password)(client, user)
    reply: Any = await client.post(EXPORT)
    assert reply["Content-Disposition"].startswith('attachment; filename="locus-')
    return ZipFile(io.BytesIO(b"".join([part async for part in reply.streaming_content])))


def _say_password(client: Any, user: User) -> None:
    sync = Client()
    sync.cookies = client.cookies
    assert reauthenticate(sync).status_code == 302


async def test_the_archive_has_ones_own_data_and_nobody_elses(grace: User) -> None:
    data = await sync_to_async(add_data)(grace)
    archive = await download(grace)
    assert archive.testzip() is None

    def read(name: str) -> Any:
        text = archive.read(name).decode()
        return [json.loads(line) for line in text.splitlines()] if name.endswith("l") else json.loads(text)

    assert read("profile.json")["email"] == grace.email
    assert {each["workspace"] for each in read("memberships.json")} == {"Personal", "Theirs"}
    assert [each["name"] for each in read("api_keys.json")] == ["laptop"]
    assert [each["inputs"].get("query") for each in read("executions.jsonl")].count("mine?") == 1
    assert "data.exported" in {each["action"] for each in read("audit.jsonl")}
    assert [each["id"] for each in read("documents.jsonl")] == [str(data["own"].pk)]
    originals = [name for name in archive.namelist() if name.startswith("documents/")]
    assert originals == [f"documents/{data['own'].pk}/{data['own'].name}"]
    everything = b"".join(archive.read(name) for name in archive.namelist())
    for foreign in (data["secret"], data["key"].digest, "of a customer", str(data["foreign"].pk), "pbkdf2"):
        assert foreign.encode() not in everything


def test_the_archive_asks_for_the_password_first(own: Client) -> None:
    assert own.post(EXPORT)["Location"].startswith("/accounts/reauthenticate/")
    assert Client().post(EXPORT)["Location"].startswith("/accounts/login/")


def test_memory_does_not_grow_with_the_archive() -> None:
    def blocks() -> Iterator[bytes]:
        for number in range(64):
            yield bytes([number]) * 2**20

    tracemalloc.start()
    size = sum(len(part) for part in zip_parts(("a", blocks()) for _ in range(1)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size > 0 and peak < 8 * 2**20


def test_rows_are_read_some_at_a_time(grace: User, django_assert_max_num_queries: Any) -> None:
    more = {"user": grace, "workspace": grace.personal_workspace, "tool": "rag_search", "inputs": {}}
    Execution.unscoped.bulk_create([Execution(**more) for _ in range(450)])
    with django_assert_max_num_queries(40):
        members = {path: b"".join(blocks) for path, blocks in members_of(grace)}
    assert len(members["executions.jsonl"].splitlines()) == 450


# --- Deletion --------------------------------------------------------------------------------------------


def test_an_account_is_deleted_with_a_receipt(own: Client, grace: User) -> None:
    data = add_data(grace)
    reauthenticate(own)
    page = own.get(DELETE).content.decode()
    assert "1 workspace, 1 document" in page
    wrong = own.post(DELETE, {"email": "someone@example.org"})
    assert "This is not grace@example.org." in wrong.content.decode()
    receipt = own.post(DELETE, {"email": "Grace@example.org"}).content.decode()
    assert "Your account is deleted" in receipt and "1 document" in receipt and "1 API key" in receipt
    assert not User.objects.filter(pk=grace.pk).exists()
    assert not Document.unscoped.filter(pk=data["own"].pk).exists()
    assert Document.unscoped.filter(pk=data["foreign"].pk).exists()
    assert own.get("/")["Location"] == "/accounts/login/?next=/"
    assert log_in(Client(), "grace@example.org").status_code == 200
    entry = AuditEntry.unscoped.get(action="user.deleted")
    assert (entry.user, entry.target_id) == (None, str(grace.pk))


def test_a_workspace_that_others_need_blocks_the_deletion(own: Client, grace: User) -> None:
    shared = Workspace.create_for(grace, name="Harbour")
    alone = Workspace.create_for(grace, name="Attic")
    friend = User.objects.create_user("friend@example.org")
    membership = Membership.objects.create(workspace=shared, user=friend, role=Role.ADMIN)
    reauthenticate(own)
    page = own.get(DELETE).content.decode()
    assert "<li>Harbour</li>" in page and "Attic" in page and 'name="email"' not in page
    own.post(DELETE, {"email": grace.email})
    assert User.objects.filter(pk=grace.pk).exists()
    membership.role = Role.OWNER
    membership.save()
    assert "is deleted" in own.post(DELETE, {"email": grace.email}).content.decode()
    assert list(Workspace.objects.filter(pk__in=[shared.pk, alone.pk])) == [shared]


def test_the_last_administrator_stays(own: Client, grace: User) -> None:
    User.objects.filter(pk=grace.pk).update(is_staff=True, is_superuser=True)
    reauthenticate(own)
    assert "the only administrator" in own.get(DELETE).content.decode()
    own.post(DELETE, {"email": grace.email})
    assert User.objects.filter(pk=grace.pk).exists()


def test_the_worker_deletes_what_is_large(own: Client, grace: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "MAX_DOCUMENTS", 0)
    indexed_document(grace.personal_workspace)
    reauthenticate(own)
    assert "is being deleted" in own.post(DELETE, {"email": grace.email}).content.decode()
    grace.refresh_from_db()
    assert not grace.is_active
    assert own.get("/").status_code == 302


def test_nobody_exports_what_is_anothers(grace: User) -> None:
    """The archive has no address: it exists only while its user downloads it."""
    stranger = User.objects.create_user("stranger@example.org")
    add_data(grace)
    assert b"mine?" not in b"".join(b"".join(blocks) for _, blocks in members_of(stranger))
