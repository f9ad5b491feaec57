"""The adversary at the websockets: every id that an address or a message may hold."""

from __future__ import annotations

import ast
from importlib import import_module
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pytest import Subtests

from accounts.access.sockets import PrincipalConsumer
from assistants.inputs import ChatInput
from runs.transports import websocket
from runs.transports.websocket import _Message
from tests.adversary.places import AN_ID, NO_THINGS
from tests.adversary.requests import unknown
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
RUNS = [place for place in PLACES if place.model == "RagSearchCall"]
"""A message that runs the tool holds its inputs, in the places that the API's schema names."""


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
    assert len(RUNS) >= 3


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


async def test_no_message_to_a_conversation_reaches_what_is_not_theirs(subtests: Subtests) -> None:
    world = await sync_to_async(World)()
    alice = world.owner()
    session = next(thing.id for thing in world.things if thing.kind == "session" and alice.sees(thing))
    conversation = opened(alice, f"/ws/sessions/{session}")
    assert (await conversation.connect(timeout=PATIENCE_SECS))[0]
    fields = ChatInput.model_fields
    places = [place for place in PLACES if place.model == "NewMessage" and place.name[0] in fields]
    assert len(places) >= 3
    for place in places:
        [name] = place.name
        words = {} if name == "message_id" else {"content": "jam"}
        message = {"type": "message", **words, name: ["{id}"] if place.is_list else "{id}"}
        expected = await _reply(conversation, message, unknown(str(place.kind)), within=True)
        for thing in world.things:
            if thing.kind == place.kind and not alice.sees(thing):
                with subtests.test(message=str(message), thing=thing.about):
                    assert await _reply(conversation, message, thing.id, within=True) == expected
    await conversation.disconnect()


@pytest.mark.parametrize("name", ATTACKERS)
async def test_no_message_reaches_what_is_not_theirs(name: str, subtests: Subtests) -> None:
    world = await sync_to_async(World)()
    attacker = await sync_to_async(world.attacker)(name)
    within = f"?session_id={attacker.asker.session}" if attacker.asker.session else ""
    tools = opened(attacker, f"/ws/tools/rag_search{within}")
    assert (await tools.connect(timeout=PATIENCE_SECS))[0]
    for kind, message in _messages():
        nobodys = unknown(kind)
        expected = await _reply(tools, message, nobodys, within=bool(within))
        for thing in world.things:
            if thing.kind == kind and not attacker.sees(thing):
                with subtests.test(message=str(message), thing=thing.about):
                    assert await _reply(tools, message, thing.id, within=bool(within)) == expected
                    assert SECRET not in expected
    await tools.disconnect()


def _messages() -> list[tuple[str, dict[str, Any]]]:
    runs: list[tuple[str, dict[str, Any]]] = []
    for place in RUNS:
        value: Any = ["{id}"] if place.is_list else "{id}"
        for name in reversed(place.name):
            value = {name: value}
        runs += [
            (str(place.kind), {"type": "run", "inputs": {"query": "jam", **value}}),
            (str(place.kind), {"query": "jam", **value}),
        ]
    return [*((kind, dict(message)) for message, kind in MESSAGES.values()), *runs]


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
