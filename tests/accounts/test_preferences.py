"""Preferences and settings over HTTP: what may be given, who may give it, and what then counts."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.access.keys import create_key
from accounts.models import Membership, Preferences, User, Workspace
from accounts.roles import Role
from kb.pictures import is_multimodal
from tests.conftest import Cast

# Spelled out: the ids of tests have to be the same in each process that collects them.
NOWHERE = "00000000-0000-4000-8000-000000000000"
OWN = "/api/v1/preferences"
NOTHING = {"generation_model": None, "reranker": None, "contexts": None, "reflection": None}
NOTHING_SET = NOTHING | {"multimodal": None}


def of_team(cast: Cast) -> str:
    return f"/api/v1/workspaces/{cast.team.pk}/settings"


def get(address: str, headers: dict[str, str]) -> Any:
    return Client().get(address, headers=headers)


def patch(address: str, headers: dict[str, str], body: Any) -> Any:
    return Client().patch(address, json.dumps(body), content_type="application/json", headers=headers)


def values(settings: dict[str, dict[str, Any]]) -> dict[str, tuple[Any, str]]:
    """Return value and source of each field of `rag`."""
    return {field: (one["value"], one["source"]) for field, one in settings["rag"].items()}


# --- What is given, and what counts --------------------------------------------------------------------


def test_without_preferences_the_deployment_counts(cast: Cast) -> None:
    answer = get(OWN, cast.headers("alice")).json()
    assert answer["rag"] == NOTHING
    assert answer["workspace_id"] == str(cast.alice.personal_workspace.pk)
    assert values(answer["effective"]) == {
        "generation_model": ("extractive", "deployment"),
        "reranker": ("auto", "deployment"),
        "contexts": (5, "deployment"),
        "reflection": (False, "deployment"),
        "multimodal": (False, "deployment"),
    }
    assert answer["inherited"] == answer["effective"]
    assert answer["choices"] == {
        "notifications": {"mail": ["never", "failures", "long"]},
        "rag": {"generation_model": ["extractive"], "reranker": ["auto", "none"]},
    }


def test_a_value_replaces_and_null_inherits_again(cast: Cast) -> None:
    headers = cast.headers("alice")
    patch(OWN, headers, {"rag": {"contexts": 8, "reflection": False}})
    answer = patch(OWN, headers, {"rag": {"reranker": "none"}}).json()
    assert answer["rag"] == NOTHING | {"contexts": 8, "reflection": False, "reranker": "none"}
    assert values(answer["effective"])["contexts"] == (8, "user")
    assert values(answer["effective"])["reflection"] == (False, "user")
    assert values(answer["inherited"])["contexts"] == (5, "deployment")
    answer = patch(OWN, headers, {"rag": {"contexts": None}}).json()
    assert answer["rag"] == NOTHING | {"reflection": False, "reranker": "none"}
    assert patch(OWN, headers, {"rag": None}).json()["rag"] == NOTHING
    assert Preferences.objects.get(pk=cast.alice.pk).values == {"rag": {}}


def test_an_empty_change_changes_nothing(cast: Cast) -> None:
    headers = cast.headers("alice")
    patch(OWN, headers, {"rag": {"contexts": 8}})
    changes: list[dict[str, Any]] = [{}, {"rag": {}}]
    for body in changes:
        assert patch(OWN, headers, body).json()["rag"]["contexts"] == 8


def test_the_workspace_counts_where_the_user_prefers_nothing(cast: Cast) -> None:
    headers = cast.headers("alice")
    patch(of_team(cast), headers, {"rag": {"contexts": 12}})
    patch(OWN, headers, {"rag": {"reranker": "none"}})
    counting = values(get(f"{OWN}?workspace_id={cast.team.pk}", headers).json()["effective"])
    assert counting["contexts"] == (12, "workspace")
    assert counting["reranker"] == ("none", "user")
    assert values(get(OWN, headers).json()["effective"])["contexts"] == (5, "deployment")


def test_the_deployments_settings_are_the_last_to_be_asked(cast: Cast, settings: Settings) -> None:
    settings.RAG_CONTEXTS, settings.RAG_REFLECTION = 3, True
    settings.RERANKER, settings.GENERATION_FALLBACKS = "overlap", ["openai:small@http://10.0.0.7/v1"]
    answer = get(of_team(cast), cast.headers("bob")).json()
    assert answer["rag"] == NOTHING_SET
    assert values(answer["effective"])["contexts"] == (3, "deployment")
    assert values(answer["effective"])["reflection"] == (True, "deployment")
    assert answer["choices"]["rag"] == {
        "generation_model": ["extractive", "small"],
        "reranker": ["auto", "overlap", "none"],
    }


def test_what_is_no_longer_offered_counts_as_not_given(cast: Cast, settings: Settings) -> None:
    headers = cast.headers("alice")
    settings.RERANKER = "overlap"
    patch(OWN, headers, {"rag": {"reranker": "overlap", "contexts": 7}})
    settings.RERANKER = "auto"
    Preferences.objects.update(values={"rag": {"reranker": "overlap", "contexts": 7, "gone": 1}, "old": {}})
    answer = get(OWN, headers).json()
    assert answer["rag"] == NOTHING | {"contexts": 7}
    assert values(answer["effective"])["reranker"] == ("auto", "deployment")


# --- What may be given -----------------------------------------------------------------------------------


def test_pictures_are_the_workspaces_alone_to_decide(cast: Cast, settings: Settings) -> None:
    headers = cast.headers("alice")
    refused = patch(OWN, headers, {"rag": {"multimodal": True}})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "unknown_field")
    assert patch(of_team(cast), headers, {"rag": {"multimodal": True}}).json()["rag"]["multimodal"] is True
    assert is_multimodal(cast.team.pk) is True
    assert is_multimodal(cast.alice.personal_workspace.pk) is False
    settings.RAG_MULTIMODAL = True
    assert is_multimodal(cast.alice.personal_workspace.pk) is True
    patch(of_team(cast), headers, {"rag": {"multimodal": False}})
    assert is_multimodal(cast.team.pk) is False


@pytest.mark.parametrize(
    ("body", "code", "param"),
    [
        ({"rag": {"contexts": 0}}, "validation_error", "rag.contexts"),
        ({"rag": {"contexts": 21}}, "validation_error", "rag.contexts"),
        ({"rag": {"contexts": "5"}}, "validation_error", "rag.contexts"),
        ({"rag": {"contexts": 5.5}}, "validation_error", "rag.contexts"),
        ({"rag": {"contexts": True}}, "validation_error", "rag.contexts"),
        ({"rag": {"reflection": "yes"}}, "validation_error", "rag.reflection"),
        ({"rag": {"reflection": 1}}, "validation_error", "rag.reflection"),
        ({"rag": {"reranker": "cross-encoder"}}, "validation_error", "rag.reranker"),
        ({"rag": {"reranker": ""}}, "validation_error", "rag.reranker"),
        ({"rag": {"generation_model": "gpt-9"}}, "validation_error", "rag.generation_model"),
        ({"rag": {"context": 5}}, "unknown_field", "rag.context"),
        ({"rag": []}, "validation_error", "rag"),
        ({"rga": {}}, "unknown_field", "rga"),
        ({"effective": {}}, "unknown_field", "effective"),
        ([], "validation_error", None),
        ({"rag": {"contexts": 6, "reranker": "none\0"}}, "validation_error", "rag.reranker"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named_and_nothing_changes(
    cast: Cast, body: Any, code: str, param: str | None
) -> None:
    for address in (OWN, of_team(cast)):
        reply = patch(address, cast.headers("alice"), body)
        error = reply.json()["error"]
        assert (reply.status_code, error["code"], error.get("param")) == (400, code, param)
        assert set(get(address, cast.headers("alice")).json()["rag"].values()) == {None}


def test_the_message_says_what_may_be_named(cast: Cast) -> None:
    error = patch(OWN, cast.headers("alice"), {"rag": {"reranker": "best"}}).json()["error"]
    assert error["message"] == "rag.reranker: must be one of auto, none."


@pytest.mark.parametrize(
    ("query", "status"), [("workspace_id=5", 400), (f"workspace_id={NOWHERE}", 404), ("workspace=5", 400)]
)
def test_the_workspace_named_must_be_one_the_caller_sees(cast: Cast, query: str, status: int) -> None:
    headers = cast.headers("alice")
    assert get(f"{OWN}?{query}", headers).status_code == status
    assert patch(f"{OWN}?{query}", headers, {"rag": {"contexts": 8}}).status_code == status
    assert get(f"{OWN}?workspace_id={cast.team.pk}", cast.headers("charlie")).status_code == 404
    assert not Preferences.objects.exists()


# --- Who may give it -------------------------------------------------------------------------------------


def test_preferences_are_everybodys_own(cast: Cast) -> None:
    patch(OWN, cast.headers("alice"), {"rag": {"contexts": 8}})
    assert get(OWN, cast.headers("bob")).json()["rag"] == NOTHING


@pytest.mark.parametrize(
    ("role", "reads", "changes"),
    [(None, 404, 404), (Role.VIEWER, 200, 403), (Role.EDITOR, 200, 403), (Role.ADMIN, 200, 200)],
)
def test_members_read_settings_and_admins_change_them(
    cast: Cast, role: Role | None, reads: int, changes: int
) -> None:
    if role:
        Membership.objects.create(workspace=cast.team, user=cast.charlie, role=role)
    headers = cast.headers("charlie")
    assert get(of_team(cast), headers).status_code == reads
    assert patch(of_team(cast), headers, {"rag": {"contexts": 8}}).status_code == changes
    # Whether a change makes sense is nothing to tell those who may not make it.
    assert patch(of_team(cast), headers, {"rga": 1}).status_code == (400 if changes == 200 else changes)
    unknown = of_team(cast).replace(str(cast.team.pk), str(uuid4()))
    assert get(unknown, headers).status_code == 404


@pytest.mark.parametrize(
    ("scopes", "prefers", "sets"),
    [(["read"], 403, 403), (["read", "write"], 200, 403), (["read", "write", "admin"], 200, 200)],
    ids=str,
)
def test_a_key_needs_the_scope(cast: Cast, scopes: list[str], prefers: int, sets: int) -> None:
    headers = {"X-API-KEY": create_key(cast.alice, "some", scopes=scopes)[1]}
    assert get(OWN, headers).status_code == get(of_team(cast), headers).status_code == 200
    assert patch(OWN, headers, {"rag": {"contexts": 8}}).status_code == prefers
    assert patch(of_team(cast), headers, {"rag": {"contexts": 8}}).status_code == sets


def test_an_external_user_has_no_preferences_and_changes_nothing(cast: Cast) -> None:
    patch(OWN, cast.headers("alice"), {"rag": {"contexts": 8}})
    headers = cast.headers("alice", **{"X-External-User-Id": "x"})
    seen = get(OWN, headers).json()
    assert seen["rag"] == NOTHING
    assert values(seen["effective"])["contexts"] == (5, "deployment")
    for address in (OWN, of_team(cast)):
        reply = patch(address, headers, {"rag": {"contexts": 9}})
        assert (reply.status_code, reply.json()["error"]["code"]) == (403, "forbidden")
    assert get(OWN, cast.headers("alice")).json()["rag"]["contexts"] == 8


def test_a_key_narrowed_to_several_workspaces_may_name_none(cast: Cast) -> None:
    other = Workspace.create_for(cast.alice, name="Other")
    headers = {"X-API-KEY": create_key(cast.alice, "two", workspaces=[cast.team, other])[1]}
    assert get(OWN, headers).json()["workspace_id"] is None
    personal = cast.alice.personal_workspace.pk
    assert get(f"{OWN}?workspace_id={personal}", headers).status_code == 404
    assert get(f"/api/v1/workspaces/{personal}/settings", headers).status_code == 404


def test_what_a_workspace_sets_stays_until_it_is_changed(cast: Cast) -> None:
    patch(of_team(cast), cast.headers("alice"), {"rag": {"contexts": 8}})
    patch(of_team(cast), cast.headers("alice"), {"rag": {"reflection": True}})
    cast.team.refresh_from_db()
    assert cast.team.settings == {"rag": {"contexts": 8, "reflection": True}}


def test_a_workspace_by_its_id(cast: Cast) -> None:
    address = f"/api/v1/workspaces/{cast.team.pk}"
    workspace = get(address, cast.headers("bob")).json()
    assert (workspace["name"], workspace["role"], workspace["personal"]) == ("Team", "viewer", False)
    assert workspace in get("/api/v1/workspaces", cast.headers("bob")).json()["results"]
    assert get(address, cast.headers("charlie")).status_code == 404
    assert get("/api/v1/workspaces/7", cast.headers("bob")).status_code == 404


def test_the_schema_shows_what_can_be_given(client: Client) -> None:
    import yaml

    schemas = yaml.safe_load(client.get("/api/schema").content)["components"]["schemas"]
    assert set(schemas["RagPreferences"]["properties"]) == set(NOTHING)


def test_a_deleted_user_takes_the_preferences_along(cast: Cast) -> None:
    patch(OWN, cast.headers("bob"), {"rag": {"contexts": 8}})
    User.objects.get(pk=cast.bob.pk).delete()
    assert not Preferences.objects.exists()
