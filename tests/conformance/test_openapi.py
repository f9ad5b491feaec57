"""The API's schema: complete, valid, and true of what the addresses really answer."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient, override_settings
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator, FormatChecker

from accounts.access.identity import principal_of_user
from accounts.models import User
from kb.models import Chunk, Document, Status
from kb.summaries.making import PlacedSentence
from kb.summaries.written import WrittenStatement, WrittenSummary, store_written_summary
from runs.archives.transfers import run_transfer
from runs.models import WorkspaceTransfer
from tests.conftest import Cast, make_cast
from tests.factories import chunk_id, indexed_document, stored_document
from tests.testing.chat_models import OpenAiProvider
from tests.testing.paths import SAMPLES
from tests.testing.tool_server import ToolServerDouble

WITH_ADDRESS_TOKEN = {
    "GET /api/v1/documents/{id}/events",
    "GET /api/v1/documents/{id}/file",
    "GET /api/v1/documents/{id}/pages/{number}",
    "GET /api/v1/executions/{id}/events",
}
METHODS = ("get", "post", "put", "patch", "delete")


@pytest.fixture(scope="module")
def schema() -> Any:
    GENERATOR_STATS.reset()
    with GENERATOR_STATS.silence():
        built = SchemaGenerator().get_schema(request=None, public=True)
    assert not GENERATOR_STATS, "the generator has warnings"
    return built


def operations(schema: Any) -> list[tuple[str, Any]]:
    """Return (`GET /path`, operation) of all operations of the API."""
    return [
        (f"{method.upper()} {path}", operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
        if method in METHODS and path.startswith("/api/v1/")
    ]


def test_the_schema_is_valid(schema: Any) -> None:
    validate_schema(schema)
    ids = [operation["operationId"] for _, operation in operations(schema)]
    assert len(ids) == len(set(ids))
    assert "/chunks/{id}" not in schema["paths"]


def test_every_operation_is_whole(schema: Any) -> None:
    """There was no security scheme, two thirds of the operations were untyped, and errors were missing."""
    schemes = schema["components"]["securitySchemes"]
    assert {one["type"] for one in schemes.values()} == {"http", "apiKey"}
    assert {"Document", "Chunk", "ErrorBody"} <= set(schema["components"]["schemas"])
    tags = {tag["name"] for tag in schema["tags"]}
    for name, operation in operations(schema):
        assert operation["summary"], name
        assert set(operation["tags"]) <= tags, name
        taken = {scheme for one in operation["security"] for scheme in one}
        assert taken == set(schemes) - (set() if name in WITH_ADDRESS_TOKEN else {"addressToken"}), name
        assert {"400", "401", "403", "404", "429"} <= set(operation["responses"]), name
        good = {status: one for status, one in operation["responses"].items() if status.startswith("2")}
        assert good, name
        for status, response in good.items():
            if status not in ("204",):
                shapes = [one["schema"] for one in response["content"].values()]
                assert all({"$ref", "type", "format"} & set(shape) for shape in shapes), (name, status)
                assert all(has_types(schema, shape) for shape in shapes), (name, status)
        names = {one["name"] for one in operation["parameters"]}
        assert {"session_id", "X-External-User-Id"} <= names, name
        assert ("requestBody" in operation) <= ({"413", "415"} <= set(operation["responses"])), name


def has_types(schema: Any, shape: Any) -> bool:
    """Whether a reply's shape names its fields, if it is an object at all."""
    if "$ref" in shape:
        return has_types(schema, schema["components"]["schemas"][shape["$ref"].rpartition("/")[2]])
    if "anyOf" in shape:
        return all(has_types(schema, each) for each in shape["anyOf"])
    return shape.get("type") != "object" or bool(shape.get("properties"))


def test_numbers_have_their_bounds(schema: Any) -> None:
    bounds = {
        (one["name"], one["schema"].get("minimum"), one["schema"].get("maximum"))
        for _, operation in operations(schema)
        for one in operation["parameters"]
        if one["schema"].get("type") == "integer"
    }
    assert bounds == {
        ("limit", 1, 200),
        ("width", 1, 4000),
        ("start", 0, 10**9 - 1),
        ("sse_max_bytes", 512, 32768),
        ("after", 0, None),
        ("Last-Event-ID", 0, None),
        ("user_id", None, None),
    }


def test_what_has_a_default_may_be_left_out_of_a_request(schema: Any) -> None:
    shapes = schema["components"]["schemas"]
    assert shapes["SearchInput"]["required"] == ["query"]
    assert "required" not in shapes["NewText"]


def lock(document: Document) -> None:
    """Make a document one that failed because of its password, “secret”."""
    document.file.save("original", ContentFile((SAMPLES / "encrypted.pdf").read_bytes()), save=False)
    document.status, document.error_code = Status.FAILED, "encrypted"
    document.save()


def keep_written_summary(document: Document) -> None:
    """Make it one of which a model has written a summary already."""
    Document.unscoped.filter(pk=document.pk).update(indexed_at=document.created_at)
    document.refresh_from_db()
    statement = WrittenStatement("Solar.", [PlacedSentence(Chunk.unscoped.get(document=document), 0, 9)])
    store_written_summary(
        principal_of_user(User.objects.get(email="alice@example.org")),
        document,
        WrittenSummary("a model", [statement], []),
    )


@pytest.mark.django_db(transaction=True)
async def test_replies_have_the_shapes_of_the_schema(schema: Any) -> None:
    """Each operation is called on the real views; its reply must be what a generated client expects."""
    cast = await sync_to_async(make_cast)()
    called = Calls(schema, cast)
    document = await sync_to_async(indexed_document)(cast.team)
    documents, chunk = "/api/v1/documents", await sync_to_async(chunk_id)(document)
    one = {"{id}": str(document.pk)}
    spoken = (SAMPLES / "speech.opus").read_bytes()
    sound = await sync_to_async(stored_document)(cast.team, "a.opus", spoken, duration=1.0)

    added = await called("POST", documents, form={"files": SimpleUploadedFile("a.txt", b"One."), "tags": "a"})
    await called("POST", documents, {"text": "Two.", "external_id": "two", "metadata": {"k": 1}}, status=202)
    await called("GET", documents, query={"limit": 1})
    await called("GET", documents + "/summary", query={"tag": "a"})
    await called("POST", documents + "/bulk", {"filter": {"tag": "a"}, "action": "add_tags", "tags": ["b"]})
    collections = "/api/v1/collections"
    made = await called("POST", collections, {"name": "Sun", "workspace_id": str(cast.team.pk)}, status=201)
    collection = {"{id}": made["id"]}
    await called("GET", collections, query={"workspace_id": str(cast.team.pk)})
    await called("GET", collections + "/{id}", ids=collection)
    await called("PATCH", collections + "/{id}", {"name": "Wind"}, ids=collection)
    collecting = {"action": "add_to_collection", "collection_id": made["id"], "ids": [str(document.pk)]}
    await called("POST", documents + "/bulk", collecting)
    await called("DELETE", collections + "/{id}", ids=collection, status=204)
    await called("GET", documents + "/{id}", ids=one)
    await called("PATCH", documents + "/{id}", {"title": "New", "tags": ["a"]}, ids=one)
    await called("GET", documents + "/{id}/quality", ids=one)
    await called("GET", documents + "/{id}/summary", ids=one)
    await sync_to_async(keep_written_summary)(document)
    await called("POST", documents + "/{id}/summary/written", ids=one)
    await called("GET", documents + "/{id}/chunks", ids=one)
    await called("GET", documents + "/{id}/waveform", ids={"{id}": str(sound.pk)})
    await called("GET", documents + "/{id}/outline", ids=one, query={"chunk_id": str(chunk)})
    await called("GET", documents + "/{id}/reading", ids=one, query={"start": 0})
    await called("GET", documents + "/{id}/file", ids=one, status=206, headers={"Range": "bytes=0-3"})
    await called("GET", documents + "/{id}/pages/{number}", ids=one | {"{number}": "1"}, query={"width": 90})
    await called("GET", documents + "/{id}/pages/{number}/text", ids=one | {"{number}": "1"})
    await called("GET", "/api/v1/chunks/{id}", ids={"{id}": str(chunk)}, query={"neighbors": 1})
    await called("GET", documents + "/{id}/events", ids=one)
    await called("POST", "/api/v1/search", {"query": "solar farm", "min_score": -9.0, "per_document": 1})
    await called("POST", documents + "/{id}/reprocess", ids=one, status=202)
    await called("POST", documents + "/{id}/cancel", ids=one)
    await sync_to_async(lock)(document)
    await called("POST", documents + "/{id}/unlock", {"password": "secret"}, ids=one, status=202)
    file = {"file": SimpleUploadedFile("b.txt", b"Three.")}
    await called("PUT", documents + "/{id}/file", form=file, ids=one, status=202)
    fresh = {"{id}": added["documents"][0]["id"]}
    await called("DELETE", documents + "/{id}", ids=fresh)

    tool = {"{name}": "rag_search"}
    await called("GET", "/api/v1/tools", query={"limit": 2})
    await called("GET", "/api/v1/tools/{name}", ids=tool)
    run = await called("POST", "/api/v1/tools/{name}", {"query": "solar farm"}, ids=tool)
    inputs = {"inputs": {"query": "solar farm"}}
    await called("POST", "/api/v1/tools/{name}/execute", inputs, ids=tool, status=202)
    execution = {"{id}": run["execution_id"]}
    await called("GET", "/api/v1/executions", query={"limit": 1})
    await called("GET", "/api/v1/executions/{id}", ids=execution)
    await called("GET", "/api/v1/executions/{id}/events", ids=execution)
    await called("POST", "/api/v1/executions/{id}/cancel", ids=execution)
    await called("PUT", "/api/v1/executions/{id}/feedback", {"rating": "up"}, ids=execution)
    await called("DELETE", "/api/v1/executions/{id}/feedback", ids=execution, status=204)
    assistants = "/api/v1/assistants"
    guided = {"name": "Guide", "workspace_id": str(cast.team.pk), "settings": {"instructions": "Be brief."}}
    made = await called("POST", assistants, guided, status=201)
    guide = {"{id}": made["id"]}
    await called("GET", assistants, query={"workspace_id": str(cast.team.pk)})
    await called("GET", assistants + "/{id}", ids=guide)
    await called("PATCH", assistants + "/{id}", {"settings": {"starters": ["Why?"]}}, ids=guide)
    await called("GET", assistants + "/{id}/versions", ids=guide)
    bindings = assistants + "/{id}/bindings"
    silent = {"kind": "api_key", "overrides": {"web": {"enabled": False}}}
    bound = await called("POST", bindings, silent, ids=guide, status=201)
    binding = guide | {"{binding_id}": bound["id"]}
    await called("GET", bindings, ids=guide)
    await called("GET", assistants + "/{id}/resolved", ids=guide, query={"binding_id": bound["id"]})
    await called("PATCH", bindings + "/{binding_id}", {"overrides": {}}, ids=binding)
    await called("DELETE", bindings + "/{binding_id}", ids=binding, status=204)
    await called("DELETE", assistants + "/{id}", ids=guide, status=204)
    sessions, tools = "/api/v1/sessions", {"tools": {"web": False}, "scope": {"tags": ["a"]}}
    begun = await called("POST", sessions, {"workspace_id": str(cast.team.pk)} | tools, status=201)
    conversation = {"{id}": begun["id"]}
    await called("GET", sessions, query={"limit": 1, "q": "solar"})
    await called("GET", sessions + "/{id}", ids=conversation)
    await called("PATCH", sessions + "/{id}", {"title": "Sun", "scope": {}, "shared": True}, ids=conversation)
    said = await called(
        "POST", sessions + "/{id}/messages", {"content": "Whose is the farm?"}, ids=conversation
    )
    inputs = {"inputs": {"content": "How much did it produce?"}}
    await called("POST", sessions + "/{id}/messages/execute", inputs, ids=conversation, status=202)
    await called("GET", sessions + "/{id}/messages", ids=conversation)
    await called("GET", sessions + "/{id}/export", ids=conversation, query={"format": "md"})
    message = conversation | {"{message_id}": said["message_id"]}
    await called("DELETE", sessions + "/{id}/messages/{message_id}", ids=message)
    await called("DELETE", sessions + "/{id}", ids=conversation)
    if "DELETE /api/v1/executions/{id}" in called.left:
        await called("DELETE", "/api/v1/executions/{id}", ids=execution)

    team = {"{id}": str(cast.team.pk)}
    await called("GET", "/api/v1/me")
    await called("PATCH", "/api/v1/me", {"name": "Ada", "time_zone": "Europe/Berlin", "formats": None})
    await called("GET", "/api/v1/preferences")
    await called("PATCH", "/api/v1/preferences", {"rag": {"contexts": 3}})
    await called("GET", "/api/v1/notifications", query={"unread": "true"})
    await called("POST", "/api/v1/notifications/read", {})
    await called("GET", "/api/v1/workspaces")
    await called("GET", "/api/v1/workspaces/{id}", ids=team)
    await called("GET", "/api/v1/workspaces/{id}/usage", ids=team, query={"by": "user"})
    await called("GET", "/api/v1/me/usage", query={"by": "key"})
    await called("GET", "/api/v1/workspaces/{id}/audit", ids=team, query={"limit": 3})
    await called("GET", "/api/v1/workspaces/{id}/quotas", ids=team)
    await called("PATCH", "/api/v1/workspaces/{id}/quotas", {"documents": None}, ids=team, status=403)
    await called("GET", "/api/v1/workspaces/{id}/settings", ids=team)
    await called("PATCH", "/api/v1/workspaces/{id}/settings", {"rag": {"contexts": 4}}, ids=team)
    own = await called("POST", "/api/v1/workspaces", {"name": "Harbour"}, status=201)
    harbour = {"{id}": own["id"]}
    await called("PATCH", "/api/v1/workspaces/{id}", {"name": "Quay"}, ids=harbour)
    body: dict[str, Any] = {"email": cast.bob.email}
    bob = await called("POST", "/api/v1/workspaces/{id}/members", body, ids=harbour, status=201)
    await called("GET", "/api/v1/workspaces/{id}/members", ids=harbour)
    member = harbour | {"{user_id}": str(bob["user_id"])}
    await called("PATCH", "/api/v1/workspaces/{id}/members/{user_id}", {"role": "owner"}, ids=member)
    await called("DELETE", "/api/v1/workspaces/{id}/members/{user_id}", ids=member, status=204)
    offers = "/api/v1/workspaces/{id}/invitations"
    await called("POST", offers, {"email": "new@example.org"}, ids=harbour, status=201)
    offer = await called("POST", offers, {"role": "editor"}, ids=harbour, status=201)
    await called("GET", offers, ids=harbour)
    await called("POST", "/api/v1/invitations/accept", {"secret": offer["secret"]})
    await called("DELETE", "/api/v1/invitations/{id}", ids={"{id}": offer["id"]}, status=204)
    hook = {"url": "https://example.org/hook", "events": ["document.indexed"]}
    made = await called("POST", "/api/v1/workspaces/{id}/webhooks", hook, ids=harbour, status=201)
    await called("GET", "/api/v1/workspaces/{id}/webhooks", ids=harbour)
    webhook = {"{id}": made["id"]}
    await called("GET", "/api/v1/webhooks/{id}", ids=webhook)
    await called("PATCH", "/api/v1/webhooks/{id}", {"is_enabled": False}, ids=webhook)
    await called("POST", "/api/v1/webhooks/{id}/rotate", {}, ids=webhook)
    await called("POST", "/api/v1/webhooks/{id}/test", ids=webhook, status=202)
    await called("GET", "/api/v1/webhooks/{id}/deliveries", ids=webhook)
    await called("DELETE", "/api/v1/webhooks/{id}", ids=webhook, status=204)
    with ToolServerDouble() as tickets, override_settings(WEB_FETCH_ALLOW=[tickets.address]):
        tickets.offer("lookup", "Finds a ticket.")
        server = {"name": "tickets", "url": tickets.url, "secret": "x"}
        made = await called("POST", "/api/v1/workspaces/{id}/tool-servers", server, ids=harbour, status=201)
        await called("GET", "/api/v1/workspaces/{id}/tool-servers", ids=harbour)
        tool_server = {"{id}": made["id"]}
        await called("POST", "/api/v1/tool-servers/{id}/look", ids=tool_server)
    await called("PATCH", "/api/v1/tool-servers/{id}", {"tools": ["lookup"]}, ids=tool_server)
    await called("GET", "/api/v1/tool-servers/{id}", ids=tool_server)
    await called("DELETE", "/api/v1/tool-servers/{id}", ids=tool_server, status=204)
    address = "/api/v1/workspaces/{id}/export"
    export = await called("POST", address, ids=harbour, status=202)
    await sync_to_async(run_transfer)(UUID(export["id"]))
    transfer = harbour | {"{transfer_id}": export["id"]}
    await called("GET", f"{address}s", ids=harbour, query={"limit": 1})
    await called("GET", f"{address}s/{{transfer_id}}", ids=transfer)
    await called("GET", f"{address}s/{{transfer_id}}/file", ids=transfer)
    stored = await sync_to_async(WorkspaceTransfer.unscoped.get)(pk=export["id"])
    archive = await sync_to_async(default_storage.open)(stored.file)
    form = {"file": SimpleUploadedFile("harbour.zip", archive.read())}
    archive.close()
    landed = await called("POST", "/api/v1/workspaces/import", form=form)
    transfer = {"{id}": landed["workspace_id"], "{transfer_id}": landed["id"]}
    await called("GET", "/api/v1/workspaces/{id}/imports/{transfer_id}", ids=transfer)
    await called("DELETE", "/api/v1/workspaces/{id}", ids=harbour)
    await called("POST", "/api/v1/workspaces/{id}/restore", ids=harbour)
    body = {"user_id": cast.bob.pk}
    await called("POST", "/api/v1/workspaces/{id}/transfer", body, ids=team)
    key = await called("POST", "/api/v1/api-keys", {"name": "new"}, status=201)
    await called("GET", "/api/v1/api-keys")
    await called("POST", "/api/v1/auth/token", {"external_user_id": "x", "ttl_secs": 60})
    await called("POST", "/api/v1/api-keys/{id}/rotate", {}, ids={"{id}": key["id"]})
    await called("GET", "/api/v1/api-keys")
    await called("DELETE", "/api/v1/api-keys/{id}/old-secret", ids={"{id}": key["id"]}, status=204)
    await called("DELETE", "/api/v1/api-keys/{id}", ids={"{id}": key["id"]}, status=204)
    for id in ("one", "two"):
        await sync_to_async(indexed_document)(cast.team, f"Of {id}.", external_user_id=id)
    await called("GET", "/api/v1/external-users", query={"workspace_id": str(cast.team.pk), "q": "o"})
    await called("GET", "/api/v1/external-users/{id}", ids={"{id}": "one"})
    receipt = await called("DELETE", "/api/v1/external-users/{id}", ids={"{id}": "one"})
    await called("GET", "/api/v1/external-user-deletions/{id}", ids={"{id}": receipt["id"]})
    await of_administrators(called, cast)
    assert not called.left


async def of_administrators(called: Calls, cast: Cast) -> None:
    cast.alice.is_staff = cast.alice.is_superuser = True
    await cast.alice.asave()
    model = "/api/v1/model-connection"
    with OpenAiProvider() as provider:
        server = {"provider": "openai-compatible", "address": provider.url}
        await called("GET", model + "/servers")
        await called("POST", model + "/models", server)
        await called("POST", model + "/test", server | {"model": "qwen3:8b"})
        await called("PUT", model, server | {"model": "qwen3:8b"})
    await called("GET", model)
    await called("DELETE", model)


class Calls:
    """Calls the API as alice and compares each reply with the schema; `left` are those not called yet."""

    def __init__(self, schema: Any, cast: Cast) -> None:
        self.schema, self.cast = schema, cast
        self.left = {name for name, _ in operations(schema)}

    async def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        form: dict[str, Any] | None = None,
        ids: dict[str, str] | None = None,
        query: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        status: int | None = None,
    ) -> Any:
        """Return the JSON that is answered, None for other types."""
        address = path
        for place, id in (ids or {}).items():
            address = address.replace(place, id)
        response = await self._send(method, address, body, form, query, headers or {})
        expected = status or (202 if form else 200)
        assert response.status_code == expected, (method, address, response.content)
        self.left.discard(f"{method} {path}")
        if expected in (201, 202):
            assert response["Location"].startswith("http://testserver/api/v1/")
        declared = self.schema["paths"][path][method.lower()]["responses"][str(expected)]
        if expected == 204:
            return None
        kind = response["Content-Type"].partition(";")[0]
        kinds = declared["content"]
        if kind != "application/json":
            assert kind in kinds or "*/*" in kinds, (method, address, kind)
            return None
        shape = kinds[kind]["schema"] | {"components": self.schema["components"]}
        told = response.json()
        Draft202012Validator(shape, format_checker=FormatChecker()).validate(told)
        return told

    async def _send(
        self,
        method: str,
        address: str,
        body: Any,
        form: dict[str, Any] | None,
        query: dict[str, Any] | None,
        headers: dict[str, str],
    ) -> Any:
        client: Any = AsyncClient()
        sent = self.cast.headers("alice", **headers)
        if form is not None:
            from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

            content = encode_multipart(BOUNDARY, form)
            return await client.generic(method, address, content, MULTIPART_CONTENT, headers=sent)
        if method == "GET":
            return await client.get(address, query or {}, headers=sent)
        if body is None:
            return await getattr(client, method.lower())(address, headers=sent)
        return await getattr(client, method.lower())(address, body, "application/json", headers=sent)
