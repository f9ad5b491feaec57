"""The adversary at the websockets: every id that an address or a message may hold."""

from __future__ import annotations

import ast
import copy
from importlib import import_module
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from pytest import Subtests

from accounts.access.sockets import PrincipalConsumer
from accounts.models import Session
from assistants.inputs import ChatInput
from runs.registry import TOOLS
from runs.transports import websocket
from runs.transports.websocket import _Message
from tests.adversary.places import AN_ID, NO_THINGS
from tests.adversary.requests import CHATS, SAMPLES, put, unknown
from tests.adversary.requests import TOOLS as TOOLS_OF_MODELS
from tests.adversary.test_api import PLACES
from tests.adversary.world import ATTACKERS, SECRET, Attacker, World
from tests.testing.paths import ROOT
from tests.testing.sockets import Socket, socket

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE_SECS = 20

ADDRESSES = {
    ("DocumentsConsumer", "workspace"): ("/ws/documents?workspace={id}", "workspace"),
    ("DocumentsConsumer", "session_id"): ("/ws/documents?session_id={id}", "session"),
    ("NotificationsConsumer", "session_id"): ("/ws/notifications?session_id={id}", "session"),
    ("SessionConsumer", "session_id"): ("/ws/sessions/{id}", "session"),
    ("ToolConsumer", "session_id"): ("/ws/tools/rag_search?session_id={id}", "session"),
    ("UnknownPath", "session_id"): ("/ws/elsewhere?session_id={id}", "session"),
}
"""By consumer and query parameter: an address, and the kind of thing its id is of."""
NO_ID = {"token": "a credential: the tests of tokens try others'"}
MESSAGES: dict[tuple[str, str], tuple[dict[str, Any], str]] = {
    ("CancelMessage", "execution_id"): ({"type": "cancel", "execution_id": "{id}"}, "execution"),
    ("ResumeMessage", "execution_id"): ({"type": "resume", "execution_id": "{id}", "after": 0}, "execution"),
}
"""By model and field: a message with an id."""
TOOL = "rag_search"
RUNS = {
    next((tool for part, tool in TOOLS_OF_MODELS.items() if part in model), TOOL): [
        place for place in PLACES if place.model == model
    ]
    for model in sorted({place.model for place in PLACES if place.model.endswith("Call")})
}
"""By tool: a message that runs it holds its inputs, in the places that the API's schema names."""


def consumers(base: type[PrincipalConsumer] = PrincipalConsumer) -> list[type[PrincipalConsumer]]:
    """Return all consumers of the product."""
    import locus.asgi  # noqa: F401 - it imports them all

    return [each for one in base.__subclasses__() for each in (one, *consumers(one))]


def read_parameters(consumer: type[PrincipalConsumer]) -> set[str]:
    """Return the query parameters that a consumer reads, by its source and that of its bases."""
    names = set()
    for module in {base.__module__ for base in consumer.__mro__}:
        path = ROOT / (module.replace(".", "/") + ".py")
        for node in ast.walk(ast.parse(path.read_text())) if path.is_file() else ():
            if isinstance(node, ast.Call) and getattr(node.func, "attr", None) == "query":
                names.add(_value(node.args[0], module))
    return names


def _value(argument: ast.expr, module: str) -> str:
    """Return a string that is written out, or is a constant of the module."""
    if isinstance(argument, ast.Name):
        return str(getattr(import_module(module), argument.id))
    return str(ast.literal_eval(argument))


def test_every_address_and_message_has_a_case() -> None:
    read = {(each.__name__, name) for each in consumers() for name in read_parameters(each) - set(NO_ID)}
    assert read == set(ADDRESSES)
    fields = {
        (model.__name__, field)
        for model in _Message.__subclasses__()
        for field in model.model_fields
        if AN_ID.search(field) and field not in NO_THINGS
    }
    assert fields == set(MESSAGES)
    assert _routed_consumers() <= {each.__name__ for each in consumers()}
    # A new message of its own kind has to be one of these models.
    kinds = {node.value for node in ast.walk(_handler()) if isinstance(node, ast.MatchValue)}
    assert len(kinds) == len(_Message.__subclasses__())
    assert set(RUNS) == set(TOOLS)
    assert all(len(places) >= 2 for places in RUNS.values())


def _routed_consumers() -> set[str]:
    """Return the names of the consumers that have an address."""
    tree = ast.parse((ROOT / "locus/asgi.py").read_text())
    found = [node.value for node in ast.walk(tree) if getattr(node, "attr", "") == "as_asgi"]  # type: ignore[attr-defined]
    return {ast.unparse(each) for each in found}


def _handler() -> ast.AST:
    tree = ast.parse((ROOT / (websocket.__name__.replace(".", "/") + ".py")).read_text())
    return next(node for node in ast.walk(tree) if getattr(node, "name", "") == "handle")


def opened(attacker: Attacker, path: str) -> Socket:
    """Return a socket with the credentials of an attacker."""
    headers = [(name.lower().encode(), value.encode()) for name, value in attacker.headers.items()]
    if attacker.login:
        headers += [(b"cookie", f"sessionid={attacker.login}".encode()), (b"origin", b"http://testserver")]
    return socket(path, [*headers, (b"host", b"testserver")])


async def first_message(opened_socket: Socket) -> Any:
    """Return the code that a socket is closed with, or what it sends first."""
    assert (await opened_socket.connect(timeout=PATIENCE_SECS))[0]
    message = await opened_socket.receive_output(PATIENCE_SECS)
    return message["code"] if message["type"] == "websocket.close" else message


@pytest.mark.parametrize("name", ATTACKERS)
async def test_no_socket_opens_on_what_is_not_theirs(name: str, subtests: Subtests) -> None:
    world = await sync_to_async(World)()
    attacker = await sync_to_async(world.attacker)(name)
    for address, kind in ADDRESSES.values():
        for thing in world.things:
            if thing.kind == kind and not attacker.sees(thing):
                with subtests.test(address=address, thing=thing.about):
                    assert await first_message(opened(attacker, address.format(id=thing.id))) == 4404


async def test_what_has_ended_opens_no_socket(subtests: Subtests) -> None:
    world = await sync_to_async(World)()
    nobody = Attacker("anonymous", world.owner().asker)
    for attacker in (nobody, *await sync_to_async(world.ended)()):
        for address, kind in ADDRESSES.values():
            thing = next(thing for thing in world.things if thing.kind == kind)
            with subtests.test(address=address, who=attacker.name):
                said = await first_message(opened(attacker, address.format(id=thing.id)))
                # Whoever tries unknown keys for a while is told to wait.
                assert said == 4401 or said["data"]["code"] == "rate_limited"


@pytest.mark.parametrize("name", ATTACKERS)
async def test_no_message_to_a_conversation_reaches_what_is_not_theirs(name: str, subtests: Subtests) -> None:
    world = await sync_to_async(World)()
    attacker = await sync_to_async(world.attacker)(name)
    session = await sync_to_async(conversation_of)(attacker)
    conversation = opened(attacker, f"/ws/sessions/{session}")
    assert (await conversation.connect(timeout=PATIENCE_SECS))[0]
    fields = ChatInput.model_fields
    places = [place for place in PLACES if place.model == "NewMessage" and place.name[0] in fields]
    assert len(places) >= 3
    for place in places:
        [field] = place.name
        words = {} if field == "message_id" else {"content": "jam"}
        message = {"type": "message", **words, field: ["{id}"] if place.is_list else "{id}"}
        expected = await _reply(conversation, message, unknown(str(place.kind)), within=True)
        for thing in world.things:
            if thing.kind == place.kind and not attacker.sees(thing):
                with subtests.test(message=str(message), thing=thing.about):
                    assert await _reply(conversation, message, thing.id, within=True) == expected
    await conversation.disconnect()


def conversation_of(attacker: Attacker) -> UUID:
    """Return a conversation of theirs: the one that they are in, or a new one."""
    asker = attacker.asker
    if asker.session is not None:
        return UUID(str(asker.session))
    place: dict[str, Any] = {"workspace_id": min(asker.workspaces), "external_user_id": asker.external}
    made: UUID = Session.unscoped.create(user_id=asker.user, **place).pk
    return made


@pytest.mark.parametrize("name", ATTACKERS)
async def test_no_message_reaches_what_is_not_theirs(name: str, subtests: Subtests) -> None:
    world = await sync_to_async(World)()
    attacker = await sync_to_async(world.attacker)(name)
    within = f"?session_id={attacker.asker.session}" if attacker.asker.session else ""
    session = await sync_to_async(conversation_of)(attacker)
    for tool, messages in _messages(session).items():
        tools = opened(attacker, f"/ws/tools/{tool}{within}")
        assert (await tools.connect(timeout=PATIENCE_SECS))[0]
        for kind, message in messages:
            nobodys = unknown(kind)
            expected = await _reply(tools, message, nobodys, within=bool(within))
            for thing in world.things:
                if thing.kind == kind and not attacker.sees(thing):
                    with subtests.test(tool=tool, message=str(message), thing=thing.about):
                        assert await _reply(tools, message, thing.id, within=bool(within)) == expected
                        assert SECRET not in expected
        await tools.disconnect()


def _messages(session: UUID) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Return by tool the messages that hold an id, and the kind of thing that it is of.

    `session` is a conversation for what can be asked within one alone.
    """
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {
        TOOL: [(kind, dict(message)) for message, kind in MESSAGES.values()]
    }
    for tool, places in RUNS.items():
        for place in places:
            inputs = copy.deepcopy(SAMPLES[place.model])
            if place.model in CHATS:
                inputs["session_id"] = str(session)
            put(inputs, place.name, ["{id}"] if place.is_list else "{id}")
            runs = ({"type": "run", "inputs": inputs}, inputs) if tool == TOOL else (inputs,)
            found.setdefault(tool, []).extend((str(place.kind), message) for message in runs)
    return found


async def _reply(tools: Socket, message: dict[str, Any], id: str, *, within: bool) -> str:
    """Return the error that a message with an id is answered with, without the id."""

    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: filled(each) for name, each in value.items()}
        return [id] if value == ["{id}"] else id if value == "{id}" else value

    await tools.send_json_to(filled(message))
    answer = await tools.receive_json_from(PATIENCE_SECS)
    # Who opened the socket in a session, and names another one, is told that these differ.
    refusals = ("not_found", "validation_error") if within else ("not_found",)
    assert answer["event"] == "error" and answer["data"]["code"] in refusals, answer
    assert "execution_id" not in answer
    return str(answer).replace(id, "ID")
