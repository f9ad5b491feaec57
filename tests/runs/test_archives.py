"""A workspace goes into an archive and comes out as another: whole, with the same chunk ids."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from asgiref.sync import async_to_sync
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pytest import Subtests
from pytest_django import Settings

from accounts.access.identity import principal_of_user
from accounts.access.keys import create_key
from accounts.models import AuditAction, AuditEntry, Membership, Session, Workspace
from accounts.people.deletion import delete_workspaces
from accounts.roles import Role
from kb.chunks import ChunkDraft, swap_chunks
from kb.embedding import active_space
from kb.models import Chunk, ChunkVector, Document, DocumentCollection, Searchable, Status
from runs.archives.transfers import remove_expired, run_transfer
from runs.lifecycle import begin
from runs.models import Execution, ExecutionStatus, TransferStatus, WorkspaceTransfer
from runs.registry import tool_named
from tests.conftest import Cast
from tests.factories import indexed_document, located_words, pdf_of

pytestmark = pytest.mark.django_db
TEXTS = ("The solar farm in Almería produced 42 gigawatt hours.", "Its owner is the town itself.")


def filled(cast: Cast) -> list[Document]:
    """Give the team documents of its own, of an external user, and a conversation with an answer."""
    own = with_derived_ids(cast.team, TEXTS[0])
    external = with_derived_ids(cast.team, TEXTS[1], external_user_id="x")
    session = Session.unscoped.create(user=cast.alice, workspace=cast.team, title="Energy")
    attached = with_derived_ids(cast.team, "A note of alice's.", session=session)
    others = Session.unscoped.create(user=cast.bob, workspace=cast.team, title="bob's own")
    with_derived_ids(cast.team, "A note of bob's.", session=others)
    Document.unscoped.filter(pk=own.pk).update(tags=["energy"], metadata={"year": 2023}, external_id="one")
    for document, place, name in ((own, None, "Power"), (external, "x", "Quay")):
        kept = DocumentCollection.unscoped.create(workspace=cast.team, name=name, external_user_id=place)
        # One that was deleted an instant ago.
        Document.unscoped.filter(pk=document.pk).update(collection_ids=[kept.pk, uuid4()])
    principal, tool = principal_of_user(cast.alice), tool_named("rag_search")
    run = begin(principal, tool, tool.parse(principal, {"query": "Who owns it?"}), cast.team.pk)
    chunk = Chunk.unscoped.filter(document=own).values_list("pk", flat=True)[0]
    context = {"rank": 1, "chunk_id": str(chunk), "document_id": str(own.pk)}
    Execution.unscoped.filter(pk=run.pk).update(
        status=ExecutionStatus.COMPLETED,
        finished_at=timezone.now(),
        session=session,
        read_documents=[own.pk],
        result={"response": "The town.", "contexts": [context]},
    )
    return [own, external, attached]


def with_derived_ids(workspace: Workspace, text: str, **more: Any) -> Document:
    """Return an indexed document whose chunk's id follows from it, as ingestion makes them."""
    document = indexed_document(workspace, text, **more)
    Chunk.unscoped.filter(document=document).delete()
    located = located_words(pdf_of(text))
    swap_chunks(document.pk, [ChunkDraft(located, ("Energy",), ((0, len(located.text)),))], "en")
    chunk = Chunk.unscoped.get(document=document)
    vector = [0.25] * active_space().dimensions
    ChunkVector.objects.create(chunk=chunk, space=active_space(), embedding=vector)
    return document


def export(cast: Cast, name: str = "alice") -> bytes:
    """Export the team as its owner, and return the archive."""
    address = f"/api/v1/workspaces/{cast.team.pk}/export"
    reply = Client().post(address, headers=cast.headers(name))
    assert reply.status_code == 202, reply.content
    run_transfer(UUID(reply.json()["id"]))
    state = Client().get(reply["Location"], headers=cast.headers(name)).json()
    assert state["status"] == "completed", state
    assert state["documents_done"] == state["documents_total"]
    archive: Any = Client().get(state["download_url"], headers=cast.headers(name))
    assert archive.status_code == 200
    return async_to_sync(whole)(archive)


async def whole(reply: Any) -> bytes:
    """Return all that a reply streams."""
    return b"".join([bytes(block) async for block in reply.streaming_content])


def send(cast: Cast, archive: bytes, who: str = "charlie", **fields: str) -> Any:
    """Send an archive as somebody."""
    form = {"file": SimpleUploadedFile("team.zip", archive), **fields}
    return Client().post("/api/v1/workspaces/import", form, headers=cast.headers(who))


def imported(cast: Cast, archive: bytes, who: str = "charlie") -> Workspace:
    """Import an archive as somebody; return the workspace."""
    reply = send(cast, archive, who)
    assert reply.status_code == 202, reply.content
    run_transfer(UUID(reply.json()["id"]))
    state = Client().get(reply["Location"], headers=cast.headers(who)).json()
    assert state["status"] == "completed", state
    return Workspace.objects.get(pk=state["workspace_id"])


def chunks_of(workspace: Workspace) -> dict[UUID, tuple[Any, ...]]:
    """Return all that is stored of a workspace's chunks, by id."""
    stored = ("text", "headings", "spans", "sentences", "elements", "modality", "language")
    fields = (*stored, "page_number", "ordinal")
    rows = Chunk.unscoped.filter(workspace=workspace).values_list("pk", *fields)
    return {id: tuple(rest) for id, *rest in rows}


def test_what_was_deleted_comes_back_with_the_same_chunk_ids(cast: Cast) -> None:
    documents = filled(cast)
    with documents[0].file.open() as file:
        content = file.read()
    before = {id: chunk for id, chunk in chunks_of(cast.team).items() if chunk[0] != "A note of bob's."}
    archive = export(cast)
    delete_workspaces([cast.team.pk])
    workspace = imported(cast, archive, "alice")
    assert chunks_of(workspace) == before
    rows = {row.pk: row for row in Document.unscoped.filter(workspace=workspace)}
    assert set(rows) == {document.pk for document in documents}
    own, external, attached = (rows[document.pk] for document in documents)
    assert (own.tags, own.metadata, own.external_id) == (["energy"], {"year": 2023}, "one")
    assert (own.status, own.searchable, own.chunk_count) == (Status.READY, Searchable.FULL, 1)
    with own.file.open() as file:
        assert file.read() == content
    assert external.external_user_id == "x"
    kept = {row.name: row for row in DocumentCollection.unscoped.filter(workspace=workspace)}
    assert kept.keys() == {"Power", "Quay"}
    assert (kept["Power"].external_user_id, kept["Quay"].external_user_id) == (None, "x")
    assert (own.collection_ids, external.collection_ids) == ([kept["Power"].pk], [kept["Quay"].pk])
    assert attached.session is not None and attached.session.title == "Energy"
    assert ChunkVector.objects.filter(chunk__workspace=workspace).count() == 3
    assert list(Membership.objects.filter(workspace=workspace).values_list("user", "role")) == [
        (cast.alice.pk, Role.OWNER)
    ]
    run = Execution.unscoped.get(workspace=workspace)
    result: Any = run.result
    assert (run.session, result["response"]) == (attached.session, "The town.")
    assert result["contexts"][0]["document_id"] == str(own.pk)
    found = Client().post(
        "/api/v1/search", {"query": "solar farm"}, "application/json", headers=cast.headers("alice")
    )
    assert [hit["document_id"] for hit in found.json()["results"]] == [str(own.pk)]


def test_beside_the_original_ids_are_others_and_citations_follow(cast: Cast) -> None:
    own, *_ = filled(cast)
    before = chunks_of(cast.team)
    workspace = imported(cast, export(cast))
    assert chunks_of(cast.team) == before
    assert not before.keys() & chunks_of(workspace).keys()
    copy = Document.unscoped.get(workspace=workspace, external_id="one")
    assert copy.pk != own.pk
    result: Any = Execution.unscoped.get(workspace=workspace).result
    [chunk] = Chunk.unscoped.filter(document=copy)
    assert result["contexts"][0] == {"rank": 1, "chunk_id": str(chunk.pk), "document_id": str(copy.pk)}


def test_an_import_that_is_begun_again_doubles_nothing(cast: Cast) -> None:
    filled(cast)
    reply = send(cast, export(cast))
    id = UUID(reply.json()["id"])
    archive = WorkspaceTransfer.unscoped.get(pk=id).file
    with default_storage.open(archive) as kept:
        content = kept.read()
    run_transfer(id)
    counts = [model.unscoped.count for model in (Document, Chunk, Execution, DocumentCollection)]
    first = [count() for count in counts]
    default_storage.save(archive, SimpleUploadedFile("again", content))
    WorkspaceTransfer.unscoped.filter(pk=id).update(status="running", file=archive)
    run_transfer(id)
    assert [count() for count in counts] == first


def test_an_import_keeps_to_the_quota(cast: Cast, settings: Settings) -> None:
    """What an archive says of sizes does not count: the files do."""
    documents = filled(cast)
    archive = changed(export(cast), with_lines("documents", size=0))
    settings.QUOTA_STORAGE_BYTES = documents[0].size + 1
    transfer = WorkspaceTransfer.unscoped.get(pk=send(cast, archive).json()["id"])
    run_transfer(transfer.pk)
    transfer.refresh_from_db()
    assert transfer.status == TransferStatus.FAILED
    assert "This workspace may hold" in transfer.error
    assert Document.unscoped.filter(workspace=transfer.workspace).count() == 1


def test_vectors_of_another_model_are_made_anew(cast: Cast) -> None:
    filled(cast)
    other = {"model": "another", "revision": "1", "dimensions": 8}
    workspace = imported(cast, changed(export(cast), with_manifest(space=other)))
    rows = Document.unscoped.filter(workspace=workspace)
    assert {(row.status, row.searchable) for row in rows} == {(Status.INDEXING, Searchable.WORDS)}
    assert not ChunkVector.objects.filter(chunk__workspace=workspace).exists()


def test_by_the_commands(cast: Cast, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled(cast)
    archive = tmp_path / "team.zip"
    archive.write_text("an older one")
    call_command("export_workspace", str(cast.team.pk), str(archive), user=cast.alice.email)
    assert "3 documents" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["team.zip"]
    entry = AuditEntry.unscoped.get(action=AuditAction.WORKSPACE_EXPORTED)
    assert (entry.workspace_id, entry.target_id) == (cast.team.pk, str(cast.alice.pk))
    call_command("import_workspace", str(archive), user=cast.charlie.email, name="Copy")
    copy = Workspace.objects.get(name="Copy")
    assert f"3 documents in the new workspace {copy.pk}" in capsys.readouterr().out
    assert Document.unscoped.filter(workspace=copy).count() == 3


def test_the_commands_say_what_is_wrong(cast: Cast, tmp_path: Path) -> None:
    def export_to(file: Path, user: str) -> None:
        call_command("export_workspace", str(cast.team.pk), str(file), user=user)

    with pytest.raises(CommandError, match="is not a member"):
        export_to(tmp_path / "team.zip", cast.charlie.email)
    with pytest.raises(CommandError, match="can’t be written"):
        export_to(tmp_path / "missing" / "team.zip", cast.alice.email)
    with pytest.raises(CommandError, match="There is no file"):
        call_command("import_workspace", str(tmp_path / "none.zip"), user=cast.alice.email)
    damaged = tmp_path / "damaged.zip"
    damaged.write_bytes(
        changed(export(cast), lambda name, text: (name, text + b"{}\n" * (name == "documents.jsonl")))
    )
    with pytest.raises(CommandError, match="What could be read is in the new workspace"):
        call_command("import_workspace", str(damaged), user=cast.charlie.email, name="Half")


# --- Who ---------------------------------------------------------------------------------------------------


def test_only_admins_export_and_only_the_maker_downloads(cast: Cast, subtests: Subtests) -> None:
    filled(cast)
    address = f"/api/v1/workspaces/{cast.team.pk}/export"
    assert Client().post(address, headers=cast.headers("bob")).status_code == 403
    assert Client().post(address, headers=cast.headers("charlie")).status_code == 404
    as_external = cast.headers("alice", **{"X-External-User-Id": "x"})
    assert Client().post(address, headers=as_external).status_code == 403
    _, reading = create_key(cast.alice, "reads", scopes=["read", "write"])
    assert Client().post(address, headers={"X-API-KEY": reading}).status_code == 403
    export(cast)
    transfer = WorkspaceTransfer.unscoped.get()
    Membership.objects.filter(user=cast.bob).update(role=Role.ADMIN)
    for part in ("", "/file"):
        place = f"/api/v1/workspaces/{cast.team.pk}/exports/{transfer.pk}{part}"
        for name in ("bob", "charlie"):
            with subtests.test(name=name, part=part):
                assert Client().get(place, headers=cast.headers(name)).status_code == 404


def test_everyone_lists_exports_of_their_own_newest_first(cast: Cast, subtests: Subtests) -> None:
    address = f"/api/v1/workspaces/{cast.team.pk}/exports"
    for _ in range(2):
        export(cast)
    page = Client().get(f"{address}?limit=1", headers=cast.headers("alice")).json()
    newest, oldest = WorkspaceTransfer.unscoped.order_by("-created_at")
    assert [row["id"] for row in page["results"]] == [str(newest.pk)]
    rest = Client().get(page["next"], headers=cast.headers("alice")).json()["results"]
    assert [row["id"] for row in rest] == [str(oldest.pk)]
    WorkspaceTransfer.unscoped.filter(pk=newest.pk).update(expires_at=timezone.now())
    [expired, ready] = Client().get(address, headers=cast.headers("alice")).json()["results"]
    assert expired["download_url"] is None
    assert ready["download_url"].endswith("/file")
    _, reading = create_key(cast.alice, "reads", scopes=["read", "write"])
    refused = [
        (cast.headers("charlie"), 404),
        (cast.headers("bob"), 403),
        (cast.headers("alice", **{"X-External-User-Id": "x"}), 403),
        ({"X-API-KEY": reading}, 403),
    ]
    for headers, status in refused:
        with subtests.test(headers=headers):
            assert Client().get(address, headers=headers).status_code == status
    Membership.objects.filter(user=cast.bob).update(role=Role.ADMIN)
    assert Client().get(address, headers=cast.headers("bob")).json()["results"] == []
    imported_here = imported(cast, export(cast), "alice")
    theirs = f"/api/v1/workspaces/{imported_here.pk}/exports"
    assert Client().get(theirs, headers=cast.headers("alice")).json()["results"] == []


def test_an_archive_expires_and_goes_with_its_workspace(cast: Cast) -> None:
    export(cast)
    transfer = WorkspaceTransfer.unscoped.get()
    WorkspaceTransfer.unscoped.update(expires_at=timezone.now() - timedelta(seconds=1))
    address = f"/api/v1/workspaces/{cast.team.pk}/exports/{transfer.pk}/file"
    assert Client().get(address, headers=cast.headers("alice")).status_code == 404
    remove_expired()
    assert not default_storage.exists(transfer.file)
    export(cast)
    last = WorkspaceTransfer.unscoped.exclude(file="").get()
    delete_workspaces([cast.team.pk])
    assert not default_storage.exists(last.file)


def test_who_is_no_admin_any_more_when_the_worker_comes_gets_nothing(cast: Cast) -> None:
    reply = Client().post(f"/api/v1/workspaces/{cast.team.pk}/export", headers=cast.headers("alice"))
    Membership.objects.filter(user=cast.alice, workspace=cast.team).update(role=Role.VIEWER)
    run_transfer(UUID(reply.json()["id"]))
    assert WorkspaceTransfer.unscoped.get().status == "failed"


def test_the_document_of_another_tenant_is_not_taken(cast: Cast) -> None:
    """An archive that names a foreign document's id must neither change that nor its chunks."""
    filled(cast)
    victim = with_derived_ids(cast.bob.personal_workspace, "A secret of bob's.")
    before = chunks_of(cast.bob.personal_workspace)
    own = Document.unscoped.get(workspace=cast.team, external_id="one")
    ids = str(own.pk), str(victim.pk)

    def steal(name: str, content: bytes) -> tuple[str, bytes]:
        return name.replace(*ids), content.replace(*(id.encode() for id in ids))

    archive = changed(export(cast), steal)
    workspace = imported(cast, archive)
    assert chunks_of(cast.bob.personal_workspace) == before
    assert Document.unscoped.get(pk=victim.pk).workspace == cast.bob.personal_workspace
    assert Document.unscoped.filter(workspace=workspace).count() == 3


# --- Hostile archives --------------------------------------------------------------------------------------

Change = Callable[[str, bytes], tuple[str, bytes]]


def changed(archive: bytes, change: Change, *more: tuple[str, bytes]) -> bytes:
    """Return an archive with other members."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(*change(name, old.read(name)))
        for name, content in more:
            new.writestr(name, content)
    return out.getvalue()


def same(name: str, content: bytes) -> tuple[str, bytes]:
    return name, content


def with_manifest(**values: Any) -> Change:
    def change(name: str, content: bytes) -> tuple[str, bytes]:
        return name, json.dumps(json.loads(content) | values).encode() if name == "manifest.json" else content

    return change


def with_lines(part: str, **values: Any) -> Change:
    """Return a change of the first line of some members."""

    def change(name: str, content: bytes) -> tuple[str, bytes]:
        if not name.startswith(part) or not content:
            return name, content
        first, *rest = content.splitlines(keepends=True)
        return name, json.dumps(json.loads(first) | values).encode() + b"\n" + b"".join(rest)

    return change


def twice_with_another_name(name: str, content: bytes) -> tuple[str, bytes]:
    """Add a collection of the first one's id, which would stand at another place than its row."""
    if name != "collections.jsonl":
        return name, content
    first = json.loads(content.splitlines()[0])
    return name, content + json.dumps(first | {"name": "Same", "external_user_id": "z"}).encode() + b"\n"


def test_what_is_no_archive_is_refused_before_anything_is_made(cast: Cast, subtests: Subtests) -> None:
    filled(cast)
    good = export(cast)
    a_file = f"files/{uuid4()}"
    bad = {
        "no zip": b"not a zip file at all",
        "cut off": good[: len(good) // 2],
        "empty": b"PK\x05\x06" + bytes(18),
        "another format": changed(good, with_manifest(format="other")),
        "another version": changed(good, with_manifest(version=2)),
        "an unknown field": changed(good, with_manifest(owner="charlie")),
        "endless documents": changed(good, with_manifest(documents=10**9)),
        "a way out": changed(good, same, ("../../etc/passwd", b"x")),
        "an absolute path": changed(good, same, ("/etc/passwd", b"x")),
        "a file of another name": changed(good, same, ("files/readme.txt", b"x")),
        "a bomb": changed(good, same, (a_file, bytes(64 << 20))),
    }
    before = Workspace.objects.count()
    for name, archive in bad.items():
        with subtests.test(name):
            reply = send(cast, archive)
            assert reply.status_code == 400, reply.content
            assert reply.json()["error"]["param"] == "file"
    assert Workspace.objects.count() == before


def test_a_bad_line_fails_the_import_with_a_reason(cast: Cast, subtests: Subtests) -> None:
    filled(cast)
    good = export(cast)
    bad = {
        "a size": changed(good, with_lines("documents.jsonl", size=-1)),
        "a status": changed(good, with_lines("documents.jsonl", status="magic")),
        "a NUL": changed(good, with_lines("documents.jsonl", name="a\0b")),
        "a foreign conversation": changed(good, with_lines("documents.jsonl", session_id=str(uuid4()))),
        "a foreign collection": changed(good, with_lines("documents.jsonl", collection_ids=[str(uuid4())])),
        "a collection of another place": changed(good, with_lines("collections.jsonl", external_user_id="y")),
        "a collection twice": changed(
            good, lambda name, text: (name, 2 * text if name == "collections.jsonl" else text)
        ),
        "collections of one id": changed(good, twice_with_another_name),
        "collections of one name": changed(
            good, with_lines("collections.jsonl", external_user_id="x", name="Quay")
        ),
        "places beyond the text": changed(good, with_lines("chunks/", sentences=[[0, 10**6]])),
        "places of another shape": changed(good, with_lines("chunks/", spans=[{"page": "x", "words": []}])),
        "a place that is no number": changed(
            good, with_lines("chunks/", spans=[{"words": [[0, 1, "x", 2]]}])
        ),
        "a vector of another length": changed(good, with_lines("chunks/", vector="AAAA")),
        "a vector that is none": changed(good, with_lines("chunks/", vector="%%%")),
        "more documents than it says": changed(good, with_manifest(documents=1)),
        "no documents": changed(
            good, lambda name, text: (name, b"[]" if name == "documents.jsonl" else text)
        ),
    }
    for name, archive in bad.items():
        reply = send(cast, archive)
        assert reply.status_code == 202, (name, reply.content)
        run_transfer(UUID(reply.json()["id"]))
        state = Client().get(reply["Location"], headers=cast.headers("charlie")).json()
        with subtests.test(name):
            assert state["status"] == "failed"
            assert "archive" in state["error"] or "export" in state["error"]


def test_a_narrowed_key_and_an_external_user_import_nothing(cast: Cast) -> None:
    archive = export(cast)
    _, narrow = create_key(cast.charlie, "narrow", scopes=["read", "write", "admin"], workspaces=[])
    form = {"file": SimpleUploadedFile("team.zip", archive)}
    assert Client().post("/api/v1/workspaces/import", form, headers={"X-API-KEY": narrow}).status_code == 403
    form = {"file": SimpleUploadedFile("team.zip", archive)}
    headers = cast.headers("charlie", **{"X-External-User-Id": "x"})
    assert Client().post("/api/v1/workspaces/import", form, headers=headers).status_code == 403
