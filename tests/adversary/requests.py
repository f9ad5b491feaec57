"""Requests that are whole but for the ids that an attacker puts in."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from runs.models import new_execution_id
from tests.adversary.places import PARAMETERS, PATHS, Place, Shape, bodies, operations
from tests.adversary.world import Attacker, Thing

JSON = "application/json"
FORM = "multipart/form-data"
QUERY = {"query": "jam"}
BOTH_QUERY = {"query": "jam", "documents": {}}
MESSAGE = {"content": "jam"}
PAGE = {"url": "https://example.org/"}
SAMPLES: dict[str, dict[str, Any]] = {
    "AgentCall": QUERY,
    "BulkRequest": {"action": "cancel"},
    "NewAssistant": {"name": "new"},
    "PatchedAssistantPatch": {"name": "Taken"},
    "NewBinding": {"kind": "api_key"},
    "PatchedBindingPatch": {"overrides": {"instructions": "Taken"}},
    "AcceptedInvitation": {"secret": "x"},
    "ModelChoice": {"provider": "anthropic", "api_key": "x", "model": "x"},
    "NewCollection": {"name": "new"},
    "PatchedCollectionPatch": {"name": "Taken"},
    "ReadNotifications": {},
    "NewInvitation": {"role": "viewer"},
    "NewKey": {"name": "new"},
    "NewMember": {"email": "nobody@example.org"},
    "NewMessage": MESSAGE,
    "NewMessageInputs": {"inputs": MESSAGE},
    "NewOwner": {"user_id": 999999},
    "NewText": {"text": "Some words."},
    "NewWebhook": {"url": "https://example.org/hook", "events": ["document.indexed"]},
    "PatchedWebhookPatch": {"description": "Taken"},
    "WebhookRotation": {},
    "NewToolServer": {"name": "new", "url": "https://example.org/mcp"},
    "PatchedToolServerPatch": {"is_enabled": False},
    "NewWorkspace": {"name": "new"},
    "PatchedDocumentPatch": {"title": "Taken"},
    "PatchedMemberPatch": {"role": "viewer"},
    "NewToken": {},
    "PatchedQuotasChange": {"documents": None},
    "PatchedProfileChange": {"name": "Taken"},
    "PatchedPreferencesChange": {"rag": {"contexts": 3}},
    "Feedback": {"rating": "up"},
    "NewSession": {"title": "new"},
    "PatchedSessionPatch": {"title": "Taken"},
    "PatchedWorkspacePatch": {"name": "Taken"},
    "PatchedWorkspaceSettingsChange": {"rag": {"contexts": 3}},
    "Rotation": {},
    "Unlocking": {"password": "x"},
    "SearchInput": QUERY,
    "ServerOfModels": {"provider": "anthropic"},
    "RagSearchCall": QUERY,
    "WebSearchCall": QUERY,
    "WebFetchCall": PAGE,
    "AnswerCall": BOTH_QUERY,
    "ChatCall": MESSAGE,
    "Execute.inputs.RagInput": {"inputs": QUERY},
    "Execute.inputs.WebSearchInput": {"inputs": QUERY},
    "Execute.inputs.WebFetchInput": {"inputs": PAGE},
    "Execute.inputs.AnswerInput": {"inputs": BOTH_QUERY},
    "Execute.inputs.AgentInput": {"inputs": QUERY},
    "Execute.inputs.ChatInput": {"inputs": MESSAGE},
}
"""By the model of a body: the least that a request must have."""
SAMPLES_AT: dict[tuple[str, str], dict[str, Any]] = {
    ("BulkRequest", "collection_id"): {
        "action": "add_to_collection",
        "filter": {"search": "no such name"},
    },
    ("BulkRequest", "workspace_id"): {"action": "move", "filter": {"search": "no such name"}},
}
"""By model and field: another sample, because the field belongs to some bodies only."""
FORMS: dict[str, str] = {"NewFiles": "files", "NewImport": "file", "Replacement": "file"}
"""By the model of a form: the field that takes a file."""
NUMBERED = {"member", "passkey", "user"}
"""Kinds of things whose ids are small numbers."""
TOOLS = {
    "WebSearch": "web_search",
    "WebFetch": "web_fetch",
    "Answer": "answer",
    "Agent": "agent",
    "Chat": "chat",
}
"""By a part of the name of a body's model: the tool that it is for."""


@dataclass(frozen=True)
class Answer:
    """A reply, without the id that was asked for and without what differs each time."""

    status: int
    body: str

    @classmethod
    async def of(cls, response: Any, *ids: str) -> Answer:
        """Read a reply to its end; of an endless one, its beginning is enough."""
        if not response.streaming:
            body = response.content
        elif response["Content-Type"].startswith("text/event-stream"):
            stream = aiter(response.streaming_content)
            body = await anext(stream)
            await stream.aclose()
        else:
            body = b"".join([block async for block in response.streaming_content])
        text = body.decode("utf-8", "replace")
        for id in ids:
            # A small number stands in any text: of that, only a part of a path is the id.
            text = re.sub(rf"(?<=/){id}\b", "ID", text) if id.isdigit() else text.replace(id, "ID")
        return cls(response.status_code, text)


def unknown(kind: str) -> str:
    """Return an id of a kind that nothing has."""
    return new_execution_id() if kind == "execution" else "999999" if kind in NUMBERED else str(uuid4())


def cases_without_sample(schema: Shape) -> set[str]:
    """Return the models of bodies that no sample is known of."""
    return {
        model
        for _, _, operation in operations(schema)
        for where, model, _ in bodies(schema, operation)
        if where in (JSON, FORM) and model not in SAMPLES and model not in FORMS
    }


async def ask(attacker: Attacker, place: Place, id: str, own: dict[str, str]) -> Any:
    """Send the request of a place with an id there; `own` fills the other ids of its path."""
    path, query, body, content_type = _request(place, id, own)
    if attacker.asker.session is not None and place.name != ("session_id",):
        query["session_id"] = str(attacker.asker.session)
    address = f"{path}?{urlencode(query, doseq=True)}" if query else path
    client: Any = attacker.client()
    if body is None:
        return await client.generic(place.method, address, headers=attacker.headers)
    sent = json.dumps(body) if content_type == JSON else encode_multipart(BOUNDARY, body)
    content_type = JSON if content_type == JSON else MULTIPART_CONTENT
    return await client.generic(place.method, address, sent, content_type, headers=attacker.headers)


def _request(
    place: Place, id: str, own: dict[str, str]
) -> tuple[str, dict[str, Any], dict[str, Any] | None, str]:
    tool = next((tool for part, tool in TOOLS.items() if part in place.model), "rag_search")
    ids = PARAMETERS | {"name": tool}
    query: dict[str, Any] = {}
    sample = SAMPLES_AT.get((place.model, place.name[0]), SAMPLES.get(place.model))
    body = copy.deepcopy(sample) if place.model else _body_of(place)
    form = FORMS.get(place.model) or (FORMS["Replacement"] if _is_upload(place) else None)
    content_type = JSON
    if form is not None and place.where != JSON:
        body, content_type = {form: SimpleUploadedFile("a.txt", b"Some words.")}, FORM
    if place.where == "path":
        ids[place.name[0]] = id
    elif place.where == "query":
        query[place.name[0]] = [id] if place.is_list else id
    elif body is not None:
        if place.model in CHATS:
            body["session_id"] = own["sessions"]
        put(body, place.name, [id] if place.is_list else id)
    path = re.sub(r"([\w-]+)/\{(\w+)\}", lambda m: f"{m[1]}/{ids.get(m[2]) or own[m[1]]}", place.path)
    return path, query, body, content_type


def _is_upload(place: Place) -> bool:
    return place.method == "PUT" and place.path.endswith("/file")


def _body_of(place: Place) -> dict[str, Any] | None:
    """Return some body for an operation whose id goes elsewhere."""
    return copy.deepcopy(WITH_BODY.get((place.method, place.path)))


WITH_BODY: dict[tuple[str, str], dict[str, Any]] = {}
"""By operation: a body for requests whose id goes into path or query. Filled by `learn_bodies`."""


def learn_bodies(schema: Shape) -> None:
    """Remember one body for each operation that takes one."""
    for method, path, operation in operations(schema):
        for where, model, _ in bodies(schema, operation):
            if where == JSON and model in SAMPLES:
                WITH_BODY.setdefault((method, path), SAMPLES[model])
            elif where == FORM and model in FORMS:
                WITH_BODY.setdefault((method, path), {})


INSTEAD = {"message_id": "content"}
"""By field: another one that can't be given with it."""
CHATS = ("ChatCall", "Execute.inputs.ChatInput")
"""Bodies that run `chat` name a session, or nothing else in them is looked at."""


def put(body: dict[str, Any], names: tuple[str, ...], value: Any) -> None:
    """Put a value at its place in a body, instead of what can't be given with it."""
    *outer, name = names
    for each in outer:
        body = body.setdefault(each, {})
    body.pop(INSTEAD.get(name, ""), None)
    body[name] = value


def own_ids(attacker: Attacker, things: list[Thing]) -> dict[str, str]:
    """Return, by the segment of a path, an id that an attacker sees, or one that nothing has."""
    seen = {thing.kind: thing.id for thing in reversed(things) if attacker.sees(thing)}
    return {segment: seen.get(kind) or unknown(kind) for segment, kind in PATHS.items()}
