"""The adversary at the API: every id of others, in every place where an id goes, by everybody.

The places come from the API's schema: a new field, parameter or address with an id is tried without anybody
naming it, or fails `test_every_place_has_a_case`. What is foreign decides `reference.sees`, which knows the
contract and not our code. The reply to a foreign id must equal that to an id that nothing has.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.urls import get_resolver
from drf_spectacular.generators import SchemaGenerator
from pytest import Subtests

from tests.adversary.places import PATHS, operations, pages, places
from tests.adversary.requests import (
    NUMBERED,
    Answer,
    ask,
    cases_without_sample,
    learn_bodies,
    own_ids,
    unknown,
)
from tests.adversary.world import ATTACKERS, SECRET, Attacker, World, lost_rows, rows, rows_for_others

pytestmark = pytest.mark.django_db(transaction=True)


def _schema() -> Any:
    schema = SchemaGenerator().get_schema(request=None, public=True)
    learn_bodies(schema)
    return schema


SCHEMA = _schema()
PLACES = list(places(SCHEMA))


def test_every_place_has_a_case() -> None:
    """An id that nobody has said the kind of, or a body that nobody knows a sample of."""
    assert _addresses() == set(SCHEMA["paths"])
    assert not [str(place) for place in PLACES if place.kind is None]
    assert not cases_without_sample(SCHEMA)
    assert len(PLACES) > 60


def _addresses() -> set[str]:
    """Return the addresses of the API that the URL configuration has, as a schema writes them."""
    patterns = [page.pattern for page in pages(get_resolver().url_patterns)]
    return {
        re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", f"/{each}") for each in patterns if each.startswith("api/v1/")
    }


async def test_each_place_is_one(subtests: Subtests) -> None:
    """The owner's own id must be answered otherwise than an unknown one, or the walk below proves nothing."""
    world = None
    for place in PLACES:
        world = world or await sync_to_async(World)()
        owner = world.owner()
        own = own_ids(owner, world.things)
        thing = next(thing for thing in world.things if thing.kind == place.kind and owner.sees(thing))
        nobodys = unknown(thing.kind)
        nothing = await Answer.of(await ask(owner, place, nobodys, own), nobodys)
        mine = await Answer.of(await ask(owner, place, thing.id, own), thing.id)
        with subtests.test(place=str(place)):
            # 502: a server of somebody else, which can't be reached here.
            assert (mine.status < 500 or mine.status == 502) and nothing.status in (400, 404), (mine, nothing)
            assert mine != nothing, mine
        if place.method == "DELETE":
            # It took what other places need.
            world = None


@pytest.mark.parametrize("name", ATTACKERS)
async def test_nobody_reaches_what_is_not_theirs(name: str, subtests: Subtests) -> None:
    world = await sync_to_async(World)()
    attacker = await sync_to_async(world.attacker)(name)
    own = own_ids(attacker, world.things)
    before = await sync_to_async(rows)()
    tried = 0
    for place in PLACES:
        nobodys = unknown(str(place.kind))
        expected = await Answer.of(await ask(attacker, place, nobodys, own), nobodys)
        for thing in world.things:
            if thing.kind == place.kind and not attacker.sees(thing):
                tried += 1
                answer = await Answer.of(await ask(attacker, place, thing.id, own), thing.id)
                with subtests.test(place=str(place), thing=f"{thing.kind} {thing.about}"):
                    assert answer.status in (400, 401, 403, 404)
                    assert answer == expected
                    assert SECRET not in answer.body
    assert tried
    after = await sync_to_async(rows)()
    assert not lost_rows(before, after)
    assert not rows_for_others(before, after, attacker)


@pytest.mark.parametrize("name", ATTACKERS)
async def test_lists_show_nothing_foreign_whatever_cursor_they_are_given(name: str) -> None:
    world = await sync_to_async(World)()
    attacker = await sync_to_async(world.attacker)(name)
    foreign = [thing for thing in world.things if not attacker.sees(thing) and thing.kind not in NUMBERED]
    for path in _lists():
        owners = await _pages(world.owner(), path) + await _pages(world.owner("x"), path)
        for address in (f"{path}?limit=200", *owners):
            response = await attacker.client().get(address, headers=attacker.headers)
            assert response.status_code in (200, 400, 403), (address, response.content)
            told = response.content.decode()
            assert not [thing for thing in foreign if thing.id in told], address


def _lists() -> list[str]:
    return [
        path
        for method, path, operation in operations(SCHEMA)
        if method == "GET" and "{" not in path and path.startswith("/api/v1/")
    ]


async def _pages(owner: Attacker, path: str) -> list[str]:
    """Return the addresses of the owner's second page, which hold a signed cursor."""
    response = await owner.client().get(f"{path}?limit=1", headers=owner.headers)
    following = response.json().get("next") if response.status_code == 200 else None
    return [following.removeprefix("http://testserver")] if following else []


async def test_what_has_ended_opens_nothing(subtests: Subtests) -> None:
    """Without a key, and with a key or token that has ended or is not ours: 401 alone."""
    world = await sync_to_async(World)()
    own = own_ids(world.owner(), world.things)
    nobody = Attacker("anonymous", world.owner().asker)
    for attacker in (nobody, *await sync_to_async(world.ended)()):
        for place in PLACES:
            thing = next(thing for thing in world.things if thing.kind == place.kind)
            answer = await Answer.of(await ask(attacker, place, thing.id, own), thing.id)
            with subtests.test(place=str(place), key=attacker.name):
                # Whoever sends unknown keys for a while is told to wait.
                assert answer.status in ((401, 429) if attacker.headers else (401,))
                assert SECRET not in answer.body


def test_each_kind_of_path_is_in_the_world() -> None:
    kinds = {thing.kind for thing in World().things}
    assert {place.kind for place in PLACES} <= kinds
    assert set(PATHS.values()) <= kinds
