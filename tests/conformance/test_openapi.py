"""The API's schema: complete, valid, and true of what the addresses really answer."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator, FormatChecker

from tests.conftest import Cast, make_cast
from tests.factories import chunk_id, indexed_document

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
        assert {scheme for one in operation["security"] for scheme in one} == set(schemes), name
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
        ("sse_max_bytes", 512, 32768),
        ("after", 0, None),
        ("Last-Event-ID", 0, None),
    }


def test_what_has_a_default_may_be_left_out_of_a_request(schema: Any) -> None:
    shapes = schema["components"]["schemas"]
    assert shapes["SearchInput"]["required"] == ["query"]
    assert "required" not in shapes["NewText"]


@pytest.mark.django_db(transaction=True)
async def test_replies_have_the_shapes_of_the_schema(schema: Any) -> None:
    """Each operation is called on the real views; its reply must be what a generated client expects."""
    cast = await sync_to_async(make_cast)()
    called = Calls(schema, cast)
    document = await sync_to_async(indexed_document)(cast.team)
    documents, chunk = "/api/v1/documents", await sync_to_async(chunk_id)(document)
    one = {"{id}": str(document.pk)}

    added = await called("POST", documents, form={"files": SimpleUploadedFile("a.txt", b"One."), "tags": "a"})
    await called("POST", documents, {"text": "Two.", "external_id": "two", "metadata": {"k": 1}}, status=202)
    await called("GET", documents, query={"limit": 1})
    await called("GET", documents + "/{id}", ids=one)
    await called("PATCH", documents + "/{id}", {"title": "New", "tags": ["a"]}, ids=one)
    await called("GET", documents + "/{id}/quality", ids=one)
    await called("GET", documents + "/{id}/chunks", ids=one)
    await called("GET", documents + "/{id}/file", ids=one, status=206, headers={"Range": "bytes=0-3"})
    await called("GET", documents + "/{id}/pages/{number}", ids=one | {"{number}": "1"}, query={"width": 90})
    await called("GET", "/api/v1/chunks/{id}", ids={"{id}": str(chunk)}, query={"neighbors": 1})
    await called("GET", documents + "/{id}/events", ids=one)
    await called("POST", "/api/v1/search", {"query": "solar farm", "min_score": -9.0, "per_document": 1})
    await called("POST", documents + "/{id}/reprocess", ids=one, status=202)
    await called("POST", documents + "/{id}/cancel", ids=one)
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
    if "DELETE /api/v1/executions/{id}" in called.left:
        await called("DELETE", "/api/v1/executions/{id}", ids=execution)

    team = {"{id}": str(cast.team.pk)}
    await called("GET", "/api/v1/me")
    await called("GET", "/api/v1/preferences")
    await called("PATCH", "/api/v1/preferences", {"rag": {"contexts": 3}})
    await called("GET", "/api/v1/workspaces")
    await called("GET", "/api/v1/workspaces/{id}", ids=team)
    await called("GET", "/api/v1/workspaces/{id}/settings", ids=team)
    await called("PATCH", "/api/v1/workspaces/{id}/settings", {"rag": {"contexts": 4}}, ids=team)
    key = await called("POST", "/api/v1/api-keys", {"name": "new"}, status=201)
    await called("GET", "/api/v1/api-keys")
    await called("DELETE", "/api/v1/api-keys/{id}", ids={"{id}": key["id"]}, status=204)
    assert not called.left


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
