"""Workspaces and members over HTTP: each rule of contract §2, by each role."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import close_old_connections, connection
from django.test import Client
from pytest import Subtests

from accounts.access.identity import principal_of_user
from accounts.access.keys import create_key
from accounts.models import AuditAction, AuditEntry, Membership, User, Workspace
from accounts.people.members import change_role, remove_member
from accounts.people.workspaces import transfer_workspace
from accounts.principal import Principal
from accounts.roles import KeyScope, Role
from core.errors import LocusError
from tests.conftest import Cast, make_cast

pytestmark = pytest.mark.django_db


def call(
    cast: Cast, who: str, method: str, path: str, body: Any = None, status: int = 200, **headers: str
) -> Any:
    """Return the JSON of a reply, which must have this status."""
    send = getattr(Client(), method)
    sent = cast.headers(who, **headers)
    address = f"/api/v1/{path}"
    reply = (
        send(address, headers=sent)
        if body is None
        else send(address, body, content_type="application/json", headers=sent)
    )
    assert reply.status_code == status, reply.content
    return reply.json() if reply.content else None


def of(workspace: Workspace, tail: str = "") -> str:
    return f"workspaces/{workspace.pk}{tail}"


def give(cast: Cast, who: str, role: Role | None) -> User:
    """Give somebody a role in the team's workspace; None makes them a stranger."""
    user: User = getattr(cast, who)
    Membership.objects.filter(workspace=cast.team, user=user)._raw_delete("default")
    if role is not None:
        Membership.objects.create(workspace=cast.team, user=user, role=role)
    return user


def role_of(cast: Cast, user: User) -> str | None:
    return Membership.objects.filter(workspace=cast.team, user=user).values_list("role", flat=True).first()


def actions() -> list[str]:
    return list(AuditEntry.unscoped.order_by("id").values_list("action", flat=True))


# --- Workspaces ------------------------------------------------------------------------------------------


def test_who_creates_a_workspace_owns_it(cast: Cast) -> None:
    made = call(cast, "charlie", "post", "workspaces", {"name": "  Harbour  "}, status=201)
    assert (made["name"], made["role"], made["personal"]) == ("Harbour", "owner", False)
    assert call(cast, "charlie", "get", f"workspaces/{made['id']}") == made
    assert call(cast, "alice", "get", f"workspaces/{made['id']}", status=404)
    entry = AuditEntry.unscoped.get()
    assert (entry.action, entry.user, entry.workspace_id) == (
        AuditAction.WORKSPACE_CREATED,
        cast.charlie,
        UUID(made["id"]),
    )


@pytest.mark.parametrize("name", ["", "   ", "\u200b", "x" * 201, 7, None])
def test_a_name_is_one_visible_line(cast: Cast, name: Any) -> None:
    error = call(cast, "alice", "post", "workspaces", {"name": name}, status=400)["error"]
    assert error["param"] == "name"
    error = call(cast, "alice", "patch", of(cast.team), {"name": name}, status=400)["error"]
    assert error["param"] == "name"


def test_what_each_role_may_do_with_a_workspace(cast: Cast, subtests: Subtests) -> None:
    """Strangers get 404 with the body of an unknown id; members without the right get 403."""
    stranger = User.objects.create_user("new@example.org")
    deeds: list[tuple[str, str, Any, Role]] = [
        ("patch", "", {"name": "Harbour"}, Role.ADMIN),
        ("patch", "", {"share_with_external_users": True}, Role.ADMIN),
        ("get", "/members", None, Role.VIEWER),
        ("post", "/members", {"email": "unknown@example.org"}, Role.ADMIN),
        ("patch", f"/members/{stranger.pk}", {"role": "viewer"}, Role.ADMIN),
        ("delete", f"/members/{stranger.pk}", None, Role.ADMIN),
        ("get", "/invitations", None, Role.ADMIN),
        ("post", "/invitations", {}, Role.ADMIN),
        ("post", "/transfer", {"user_id": stranger.pk}, Role.OWNER),
        ("delete", "", None, Role.OWNER),
    ]
    unknown = call(cast, "charlie", "get", f"workspaces/{uuid4()}", status=404)
    for method, tail, body, needed in deeds:
        for role in (None, *Role):
            give(cast, "charlie", role)
            with subtests.test(method=method, tail=tail, role=role):
                if role is None:
                    told = call(cast, "charlie", method, of(cast.team, tail), body, status=404)
                    assert told["error"]["message"] == unknown["error"]["message"]
                elif not role.covers(needed):
                    call(cast, "charlie", method, of(cast.team, tail), body, status=403)
                else:
                    # Allowed: it succeeds, or it is about somebody who is not there.
                    address, client = f"/api/v1/{of(cast.team, tail)}", Client()
                    send = getattr(client, method)
                    reply = (
                        send(
                            address,
                            body or {},
                            content_type="application/json",
                            headers=cast.headers("charlie"),
                        )
                        if method != "get"
                        else client.get(address, headers=cast.headers("charlie"))
                    )
                    assert reply.status_code in (200, 201, 404), reply.content
                    assert "This needs the role" not in reply.content.decode()
            Workspace.objects.filter(pk=cast.team.pk).update(deleted_at=None)


def test_keys_and_external_users_manage_nothing(cast: Cast, subtests: Subtests) -> None:
    write = create_key(cast.alice, "w", scopes=[KeyScope.READ, KeyScope.WRITE])[1]
    deeds: list[tuple[str, str, Any]] = [
        ("post", "workspaces", {"name": "New"}),
        ("patch", of(cast.team), {"name": "New"}),
        ("delete", of(cast.team), None),
        ("post", of(cast.team, "/members"), {"email": "charlie@example.org"}),
        ("patch", of(cast.team, f"/members/{cast.bob.pk}"), {"role": "editor"}),
        ("delete", of(cast.team, f"/members/{cast.bob.pk}"), None),
        ("post", of(cast.team, "/invitations"), {}),
        ("get", of(cast.team, "/invitations"), None),
        ("post", of(cast.team, "/transfer"), {"user_id": cast.bob.pk}),
        ("post", "invitations/accept", {"secret": "x"}),
    ]
    cast.keys["writer"] = write
    for method, path, body in deeds:
        with subtests.test(method=method, path=path):
            call(cast, "writer", method, path, body, status=403)
            call(cast, "alice", method, path, body, status=403, **{"X-External-User-Id": "x"})
    call(cast, "alice", "get", of(cast.team, "/members"), status=403, **{"X-External-User-Id": "x"})
    assert actions() == []


def test_a_narrowed_key_stays_narrowed(cast: Cast) -> None:
    own = cast.alice.personal_workspace
    cast.keys["narrow"] = create_key(cast.alice, "n", scopes=KeyScope.values, workspaces=[own])[1]
    call(cast, "narrow", "post", "workspaces", {"name": "New"}, status=403)
    call(cast, "narrow", "post", "invitations/accept", {"secret": "x"}, status=403)
    call(cast, "narrow", "patch", of(cast.team), {"name": "New"}, status=404)
    call(cast, "narrow", "get", of(cast.team, "/members"), status=404)
    call(cast, "alice", "delete", of(cast.team))
    call(cast, "narrow", "post", of(cast.team, "/restore"), status=404)
    assert call(cast, "narrow", "get", "workspaces?deleted=true")["results"] == []


def test_a_personal_workspace_is_renamed_and_nothing_else(cast: Cast) -> None:
    own = cast.alice.personal_workspace
    assert call(cast, "alice", "patch", of(own), {"name": "Mine"})["name"] == "Mine"
    for method, tail, body in (
        ("delete", "", None),
        ("post", "/members", {"email": cast.bob.email}),
        ("post", "/invitations", {}),
        ("post", "/transfer", {"user_id": cast.bob.pk}),
        ("delete", f"/members/{cast.alice.pk}", None),
        ("patch", f"/members/{cast.alice.pk}", {"role": "viewer"}),
    ):
        error = call(cast, "alice", method, of(own, tail), body, status=400)["error"]
        assert error["code"] == "conflict" and "personal workspace" in error["message"]


def test_sharing_with_external_users_is_switched(cast: Cast) -> None:
    changed = call(cast, "alice", "patch", of(cast.team), {"share_with_external_users": True})
    assert changed["share_with_external_users"] is True
    assert call(cast, "alice", "patch", of(cast.team), {}) == changed
    entry = AuditEntry.unscoped.get()
    assert entry.details == {"share_with_external_users": True}


# --- Members ---------------------------------------------------------------------------------------------


def test_every_member_sees_who_the_members_are(cast: Cast) -> None:
    cast.alice.name = "Alice Liddell"
    cast.alice.save()
    told = call(cast, "bob", "get", of(cast.team, "/members"))["results"]
    assert [(one["email"], one["name"], one["role"]) for one in told] == [
        ("alice@example.org", "Alice Liddell", "owner"),
        ("bob@example.org", "", "viewer"),
    ]


def test_colleagues_are_added_and_strangers_are_not_found(cast: Cast) -> None:
    """An address that has an account, and one that has none, get the same answer."""
    new = Workspace.create_for(cast.alice, name="New")
    added = call(cast, "alice", "post", of(new, "/members"), {"email": " BOB@example.org"}, status=201)
    assert (added["user_id"], added["role"]) == (cast.bob.pk, "viewer")
    call(cast, "alice", "post", of(new, "/members"), {"email": cast.bob.email}, status=400)
    answers = [
        call(cast, "alice", "post", of(new, "/members"), {"email": email}, status=404)["error"]
        for email in (cast.charlie.email, "nobody@example.org")
    ]
    assert answers[0] == answers[1]
    body = {"email": cast.bob.email, "role": "owner"}
    Membership.objects.filter(workspace=new, user=cast.bob).delete()
    call(cast, "alice", "post", of(new, "/members"), body, status=400)


def test_an_admin_manages_members_but_not_owners(cast: Cast) -> None:
    give(cast, "bob", Role.ADMIN)
    give(cast, "charlie", Role.VIEWER)
    charlie, alice = (of(cast.team, f"/members/{who.pk}") for who in (cast.charlie, cast.alice))
    assert call(cast, "bob", "patch", charlie, {"role": "admin"})["role"] == "admin"
    call(cast, "bob", "patch", charlie, {"role": "owner"}, status=403)
    call(cast, "bob", "patch", alice, {"role": "viewer"}, status=403)
    call(cast, "bob", "delete", alice, status=403)
    call(cast, "bob", "delete", charlie, status=204)
    assert role_of(cast, cast.charlie) is None and role_of(cast, cast.alice) == "owner"
    assert call(cast, "bob", "patch", charlie, {"role": "viewer"}, status=404)
    assert actions() == [AuditAction.MEMBER_CHANGED, AuditAction.MEMBER_REMOVED]
    call(cast, "charlie", "get", of(cast.team), status=404)


def test_owners_make_owners_and_the_last_one_stays(cast: Cast) -> None:
    alice, bob = (of(cast.team, f"/members/{who.pk}") for who in (cast.alice, cast.bob))
    for method, body in (("patch", {"role": "admin"}), ("delete", None)):
        error = call(cast, "alice", method, alice, body, status=400)["error"]
        assert error["code"] == "conflict" and "needs an owner" in error["message"]
    call(cast, "alice", "patch", bob, {"role": "owner"})
    call(cast, "bob", "patch", alice, {"role": "viewer"})
    assert role_of(cast, cast.alice) == "viewer"


def test_everybody_may_leave(cast: Cast) -> None:
    call(cast, "bob", "delete", of(cast.team, f"/members/{cast.bob.pk}"), status=204)
    call(cast, "bob", "get", of(cast.team), status=404)
    entry = AuditEntry.unscoped.get()
    assert entry.details == {"role": "viewer", "left": True}


def test_a_viewer_removes_nobody_else(cast: Cast) -> None:
    call(cast, "bob", "delete", of(cast.team, f"/members/{cast.alice.pk}"), status=403)


def test_a_workspace_is_handed_over(cast: Cast) -> None:
    transfer = of(cast.team, "/transfer")
    call(cast, "alice", "post", transfer, {"user_id": cast.charlie.pk}, status=404)
    call(cast, "alice", "post", transfer, {"user_id": cast.alice.pk}, status=400)
    call(cast, "alice", "post", transfer, {"user_id": 2**70}, status=400)
    told = call(cast, "alice", "post", transfer, {"user_id": cast.bob.pk})
    assert told["role"] == "admin"
    assert (role_of(cast, cast.alice), role_of(cast, cast.bob)) == ("admin", "owner")
    call(cast, "alice", "delete", of(cast.team), status=403)
    assert actions() == [AuditAction.WORKSPACE_TRANSFERRED]


# --- At the same moment ----------------------------------------------------------------------------------


def together(*deeds: Callable[[], Any]) -> list[str]:
    """Do things at once, each with its own connection; return `done`, or the code of what went wrong."""
    barrier, outcomes = threading.Barrier(len(deeds)), [""] * len(deeds)

    def do(index: int) -> None:
        close_old_connections()
        barrier.wait()
        try:
            deeds[index]()
            outcomes[index] = "done"
        except LocusError as error:
            outcomes[index] = error.code
        finally:
            connection.close()

    threads = [threading.Thread(target=do, args=[index]) for index in range(len(deeds))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def both_leave(team: UUID, alice: Principal, bob: Principal) -> list[str]:
    return together(
        lambda: remove_member(alice, team, alice.user_id), lambda: remove_member(bob, team, bob.user_id)
    )


def both_resign(team: UUID, alice: Principal, bob: Principal) -> list[str]:
    return together(
        lambda: change_role(alice, team, alice.user_id, Role.ADMIN),
        lambda: change_role(bob, team, bob.user_id, Role.ADMIN),
    )


def each_demotes_the_other(team: UUID, alice: Principal, bob: Principal) -> list[str]:
    return together(
        lambda: change_role(alice, team, bob.user_id, Role.VIEWER),
        lambda: change_role(bob, team, alice.user_id, Role.VIEWER),
    )


def the_heir_leaves(team: UUID, alice: Principal, bob: Principal) -> list[str]:
    return together(
        lambda: transfer_workspace(alice, team, bob.user_id), lambda: remove_member(bob, team, bob.user_id)
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("deed", [both_leave, both_resign, each_demotes_the_other, the_heir_leaves])
def test_a_workspace_always_has_an_owner(deed: Callable[..., list[str]]) -> None:
    cast = make_cast()
    for _ in range(4):
        for user in (cast.alice, cast.bob):
            Membership.objects.update_or_create(workspace=cast.team, user=user, defaults={"role": Role.OWNER})
        outcomes = deed(cast.team.pk, principal_of_user(cast.alice), principal_of_user(cast.bob))
        assert "done" in outcomes
        assert Membership.objects.filter(workspace=cast.team, role=Role.OWNER).exists(), outcomes
