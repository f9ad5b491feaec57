"""OpenAI's files and vector stores through its own client, against a running web server and a worker."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any
from uuid import uuid4

import openai
import pytest
from pytest import Subtests

from accounts.models import AuditAction, AuditEntry
from kb.models import Document, Status
from tests.conformance.gateway import QUESTION, SOLAR, Gateway
from tests.conftest import Cast
from tests.factories import stored_document
from tests.testing.live import live_worker

pytestmark = pytest.mark.django_db(transaction=True)
TOWN = "The town of Almería is older than its solar farm. Its harbour has a lighthouse."
POLL_MS = 200


@pytest.fixture
def client(gateway: Gateway) -> Any:
    return gateway.openai()


@pytest.fixture
def worker(gateway: Gateway) -> Iterator[None]:
    with live_worker():
        yield


def text_file(text: str, name: str) -> BytesIO:
    file = BytesIO(text.encode())
    file.name = name
    return file


# --- A program that searches in files ----------------------------------------------------------------------


def test_a_program_from_upload_to_answer(gateway: Gateway, client: Any, worker: None) -> None:
    """As the guides of this API have it: upload, put into a store, wait, search, ask, tidy up."""
    store = client.vector_stores.create(name="Energy")
    assert (store.object, store.status, store.file_counts.total) == ("vector_store", "completed", 0)
    batch = client.vector_stores.file_batches.upload_and_poll(
        store.id,
        files=[text_file(SOLAR, "solar.txt"), text_file(TOWN, "town.txt")],
        poll_interval_ms=POLL_MS,
    )
    assert (batch.status, batch.file_counts.completed, batch.file_counts.total) == ("completed", 2, 2)
    assert batch.vector_store_id == store.id
    in_batch = client.vector_stores.file_batches.list_files(batch.id, vector_store_id=store.id)
    assert {each.status for each in in_batch} == {"completed"}
    ready = client.vector_stores.retrieve(store.id)
    assert (ready.file_counts.completed, ready.usage_bytes) == (2, len((SOLAR + TOWN).encode()))

    found = client.vector_stores.search(store.id, query=QUESTION, max_num_results=1)
    [hit] = found.data
    assert (found.object, found.search_query) == ("vector_store.search_results.page", [QUESTION])
    assert (hit.filename, hit.content[0].type) == ("solar.txt", "text")
    assert "42 gigawatt hours" in hit.content[0].text
    assert 0 <= hit.score <= 1

    tool = {"type": "file_search", "vector_store_ids": [store.id], "max_num_results": 4}
    response = client.responses.create(model="locus", input=QUESTION, tools=[tool])
    assert "42 gigawatt hours in 2023. [1]" in response.output_text
    citation = response.output[-1].content[0].annotations[0]
    assert (citation.type, citation.file_id, citation.filename) == ("file_citation", hit.file_id, "solar.txt")

    content = client.vector_stores.files.content(hit.file_id, vector_store_id=store.id)
    assert " ".join(part.text for part in content.data).split() == SOLAR.split()
    assert {part.type for part in content} == {"text"}

    deleted = client.files.delete(hit.file_id)
    assert (deleted.id, deleted.deleted) == (hit.file_id, True)
    assert client.vector_stores.retrieve(store.id).file_counts.total == 1
    with pytest.raises(openai.NotFoundError):
        client.vector_stores.files.content(hit.file_id, vector_store_id=store.id)
    assert client.vector_stores.delete(store.id).deleted
    assert [each.filename for each in client.files.list()] == ["town.txt", "solar.pdf"]


# --- Files -------------------------------------------------------------------------------------------------


def test_a_file(client: Any, cast: Cast, subtests: Subtests) -> None:
    made = client.files.create(file=text_file(TOWN, "town.txt"), purpose="assistants")
    assert (made.object, made.bytes, made.filename, made.status) == (
        "file",
        len(TOWN.encode()),
        "town.txt",
        "uploaded",
    )
    assert client.files.create(file=text_file(TOWN, "again.txt"), purpose="user_data").id == made.id
    assert client.files.retrieve(made.id) == made
    assert client.files.content(made.id).read() == TOWN.encode()
    statuses = {
        Status.READY: "processed",
        Status.PARTIAL: "processed",
        Status.FAILED: "error",
        Status.CANCELLED: "error",
        Status.INDEXING: "uploaded",
    }
    for ours, theirs in statuses.items():
        with subtests.test(status=ours):
            Document.unscoped.filter(pk=made.id).update(status=ours, error_message="It is no book.")
            assert client.files.retrieve(made.id).status == theirs
    assert client.files.delete(made.id).deleted
    with pytest.raises(openai.NotFoundError):
        client.files.retrieve(made.id)
    entries = AuditEntry.unscoped.filter(action=AuditAction.DOCUMENT_DELETED)
    assert list(entries.values_list("user_id", flat=True)) == [cast.alice.pk]


def test_lists_in_pages(client: Any, cast: Cast) -> None:
    names = [f"{number}.txt" for number in range(5)]
    for name in names:
        stored_document(cast.team, name, name.encode())
    all_names = ["solar.pdf", *names]
    assert [each.filename for each in client.files.list(limit=2, order="asc")] == all_names
    assert [each.filename for each in client.files.list(limit=4)] == all_names[::-1]
    first = client.files.list(limit=2, order="asc")
    assert [each.filename for each in first.data] == all_names[:2]
    assert first.has_more
    second = client.files.list(limit=2, order="asc", after=first.data[-1].id)
    assert [each.filename for each in second.data] == all_names[2:4]
    assert client.files.list(purpose="fine-tune").data == []
    with pytest.raises(openai.NotFoundError):
        client.files.list(after=str(uuid4()))


# --- Vector stores -----------------------------------------------------------------------------------------


def test_a_store(gateway: Gateway, client: Any, cast: Cast, document: Document) -> None:
    team = {"extra_body": {"workspace_id": str(cast.team.pk)}}
    store = client.vector_stores.create(name="Energy", file_ids=[str(document.pk)], **team)
    assert (store.name, store.file_counts.completed, store.usage_bytes) == ("Energy", 1, document.size)
    assert client.vector_stores.retrieve(store.id) == store
    with gateway.http() as http:
        assert http.get(f"/api/v1/collections/{store.id}").json()["documents"] == 1
    # Names need not differ here, but collections' do.
    second = client.vector_stores.create(name="Energy", **team)
    assert second.name.startswith("Energy ") and second.file_counts.total == 0
    assert client.vector_stores.create(**team).name.startswith("Vector store ")
    renamed = client.vector_stores.update(second.id, name="Old energy")
    assert renamed.name == "Old energy"
    with pytest.raises(openai.BadRequestError) as refused:
        client.vector_stores.update(second.id, name="Energy")
    assert refused.value.code == "conflict"
    assert len(list(client.vector_stores.list(limit=2))) == 3
    newest, middle, oldest = client.vector_stores.list().data
    assert [each.id for each in client.vector_stores.list(before=oldest.id, limit=1).data] == [middle.id]
    assert client.vector_stores.delete(newest.id).deleted
    with pytest.raises(openai.NotFoundError):
        client.vector_stores.retrieve(newest.id)


def test_files_of_a_store(client: Any, cast: Cast, document: Document) -> None:
    files, team = client.vector_stores.files, {"workspace_id": str(cast.team.pk)}
    store = client.vector_stores.create(name="Energy", extra_body=team)
    put = files.create(store.id, file_id=str(document.pk), attributes={"year": 2023, "kind": "report"})
    assert (put.object, put.status, put.vector_store_id) == ("vector_store.file", "completed", store.id)
    changed = files.update(put.id, vector_store_id=store.id, attributes={"year": 2024})
    assert changed.attributes == {"year": 2024, "kind": "report"}
    document.refresh_from_db()
    assert document.metadata == {"year": 2024, "kind": "report"}
    failed = stored_document(
        cast.team, "x.bin", b"x", status=Status.FAILED, error_code="unsupported_type", error_message="What?"
    )
    assert files.create(store.id, file_id=str(failed.pk)).last_error.code == "unsupported_file"
    assert [each.id for each in files.list(store.id, filter="failed")] == [str(failed.pk)]
    assert [each.id for each in files.list(store.id, order="asc")] == [put.id, str(failed.pk)]
    counts = client.vector_stores.retrieve(store.id).file_counts
    assert (counts.completed, counts.failed, counts.total) == (1, 1, 2)
    assert files.delete(put.id, vector_store_id=store.id).deleted
    with pytest.raises(openai.NotFoundError):
        files.retrieve(put.id, vector_store_id=store.id)
    assert client.files.retrieve(put.id).id == put.id


def test_filters_narrow_a_search(client: Any, cast: Cast, document: Document) -> None:
    team = {"workspace_id": str(cast.team.pk)}
    store = client.vector_stores.create(file_ids=[str(document.pk)], extra_body=team)
    client.vector_stores.files.update(
        str(document.pk), vector_store_id=store.id, attributes={"year": 2023, "kind": "report"}
    )

    def names(**options: Any) -> list[str]:
        found = client.vector_stores.search(store.id, **{"query": QUESTION} | options)
        return [hit.filename for hit in found.data]

    year = {"type": "eq", "key": "year", "value": 2023}
    kinds = {"type": "in", "key": "kind", "value": ["report", "letter"]}
    assert names() == names(filters=year) == names(filters={"type": "and", "filters": [year, kinds]})
    assert names(query=[QUESTION, "Who owns it?"]) == ["solar.pdf"]
    assert names(ranking_options={"ranker": "none", "score_threshold": 0.1}) == ["solar.pdf"]
    assert names(ranking_options={"score_threshold": 1}) == names(filters=year | {"value": 1999}) == []
    for wrong in (
        {"type": "ne", "key": "year", "value": 1},
        {"type": "or", "filters": [year]},
        {"type": "eq"},
    ):
        with pytest.raises(openai.BadRequestError) as refused:
            names(filters=wrong)
        assert refused.value.param == "filters"


def test_what_is_refused(client: Any, document: Document, subtests: Subtests) -> None:
    stores, file = client.vector_stores, {"file": text_file("One.", "one.txt")}
    static: Any = {"type": "static", "static": {"max_chunk_size_tokens": 100, "chunk_overlap_tokens": 0}}
    elsewhere = stores.create(name="My own")
    cases: dict[str | None, Any] = {
        "purpose": lambda: client.files.create(**file, purpose="fine-tune"),
        "expires_after": lambda: stores.create(expires_after={"anchor": "last_active_at", "days": 1}),
        "metadata": lambda: stores.create(metadata={"a": "b"}),
        "chunking_strategy": lambda: stores.create(chunking_strategy=static),
        "file_ids": lambda: stores.file_batches.create(elsewhere.id, file_ids=[str(uuid4())] * 101),
        "limit": lambda: stores.list(limit=101),
        None: lambda: stores.files.create(elsewhere.id, file_id=str(document.pk)),
    }
    for param, call in cases.items():
        with subtests.test(param=param):
            with pytest.raises(openai.BadRequestError) as refused:
                call()
            assert refused.value.param == param


def test_a_viewer_reads_and_a_key_that_reads_changes_nothing(
    gateway: Gateway, client: Any, cast: Cast, document: Document
) -> None:
    team = {"workspace_id": str(cast.team.pk)}
    store = client.vector_stores.create(file_ids=[str(document.pk)], extra_body=team)
    viewer = gateway.openai(api_key=cast.keys["bob"])
    assert [hit.filename for hit in viewer.vector_stores.search(store.id, query=QUESTION).data] == [
        "solar.pdf"
    ]
    with gateway.http() as http:
        asked = {"name": "reads", "scopes": ["read"]}
        reader = gateway.openai(api_key=http.post("/api/v1/api-keys", json=asked).json()["key"])
    assert reader.vector_stores.search(store.id, query=QUESTION).data
    file_id = str(document.pk)
    for other in (viewer, reader):
        for change in (
            lambda: other.files.delete(file_id),  # noqa: B023 - called at once
            lambda: other.vector_stores.delete(store.id),  # noqa: B023
            lambda: other.vector_stores.update(store.id, name="x"),  # noqa: B023
            lambda: other.vector_stores.files.delete(file_id, vector_store_id=store.id),  # noqa: B023
            lambda: other.files.create(  # noqa: B023
                file=text_file("x", "x.txt"), purpose="assistants", extra_body=team
            ),
        ):
            with pytest.raises(openai.PermissionDeniedError):
                change()


def test_one_file_into_many_stores_at_once(gateway: Gateway, client: Any, document: Document) -> None:
    """Programs attach a file to several stores side by side: none of them is forgotten."""
    here = {"workspace_id": str(document.workspace_id)}
    stores = [client.vector_stores.create(name=f"Store {number}", extra_body=here) for number in range(6)]

    def attach(store: Any) -> str:
        return str(client.vector_stores.files.create(store.id, file_id=str(document.pk)).vector_store_id)

    def detach(store: Any) -> bool:
        return bool(client.vector_stores.files.delete(str(document.pk), vector_store_id=store.id).deleted)

    with ThreadPoolExecutor(len(stores)) as threads:
        assert list(threads.map(attach, stores)) == [store.id for store in stores]
        document.refresh_from_db()
        assert {str(id) for id in document.collection_ids} == {store.id for store in stores}
        assert all(threads.map(detach, stores[1:]))
    document.refresh_from_db()
    assert [str(id) for id in document.collection_ids] == [stores[0].id]
