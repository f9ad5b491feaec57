"""Each step of people and workspaces by itself, for those who must not take it: see `test_steps`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

import pytest
from django.apps import apps
from django.test import Client
from django.utils import timezone
from pytest import Subtests

from accounts.access.identity import principal_of_user
from accounts.audit_api import AuditQuery
from accounts.models import (
    AuditAction,
    AuditEntry,
    Charge,
    DailyUsage,
    Membership,
    Notification,
    Session,
    Webhook,
    Workspace,
)
from accounts.people.invitations import accept_invitation, invitations_of, invite
from accounts.people.workspaces import create_workspace, locked_workspace, restore_workspace
from accounts.principal import Principal
from accounts.roles import KeyScope, Role
from accounts.scope import ScopedModel
from accounts.usage.reading import Period, UsageGrouping, UsageRows
from accounts.webhooks.managing import visible_webhook, webhooks_of
from assistants.models import ToolServer
from assistants.tool_servers.managing import tool_servers_of, visible_tool_server
from core.errors import Forbidden, NotFound
from tests.accounts.test_row_security import add_rows
from tests.conftest import Cast

pytestmark = pytest.mark.django_db
MANAGING: dict[str, Callable[[Principal, UUID], object]] = {
    "look at invitations": invitations_of,
    "accept an invitation": lambda principal, id: accept_invitation(principal, "nonsense"),
    "create a workspace": lambda principal, id: create_workspace(principal, "New"),
    "lock a workspace": lambda principal, id: locked_workspace(principal, id, Role.ADMIN).__enter__(),
    "look at webhooks": webhooks_of,
    "look at a webhook": lambda principal, id: visible_webhook(principal, Webhook.unscoped.get().pk),
    "look at tool servers": tool_servers_of,
    "look at a tool server": lambda principal, id: visible_tool_server(
        principal, ToolServer.unscoped.get().pk
    ),
}
"""By what it does: a step that only a person does, or a key with the scope `admin`."""


@pytest.fixture
def alice(cast: Cast) -> Principal:
    return principal_of_user(cast.alice)


@pytest.mark.usefixtures("in_segments")
def test_no_rule_of_a_model_shows_a_strangers_rows(cast: Cast, alice: Principal, subtests: Subtests) -> None:
    add_rows(cast.alice, cast.team)
    invite(alice, cast.team.pk, Role.VIEWER)
    charlie = principal_of_user(cast.charlie)
    scoped = [model for model in apps.get_models() if issubclass(model, ScopedModel)]
    assert len(scoped) > 12
    for model in scoped:
        with subtests.test(model=model.__name__):
            assert model.objects.restricted_to(alice).exists()
            for principal in (charlie, replace(alice, roles={})):
                assert not model.objects.restricted_to(principal).exists()
                assert not model.objects.addressable_by(principal).exists()


@pytest.mark.parametrize("model", [DailyUsage, Notification, Session, ToolServer, Webhook])
def test_no_rule_shows_an_external_user_its_makers_rows(
    cast: Cast, alice: Principal, model: type[ScopedModel]
) -> None:
    add_rows(cast.alice, cast.team)
    as_external_user = replace(alice, external_user_id="x")
    assert not model.objects.restricted_to(as_external_user).exists()
    assert not model.objects.addressable_by(as_external_user).exists()


@pytest.mark.parametrize("step", MANAGING)
def test_keys_without_the_scope_manage_nothing(cast: Cast, alice: Principal, step: str) -> None:
    Webhook.unscoped.create(workspace=cast.team, url="https://example.org/", events=[], secret="")
    ToolServer.unscoped.create(workspace=cast.team, name="tickets", url="https://example.org/mcp")
    weak = replace(alice, scopes=frozenset({KeyScope.READ, KeyScope.WRITE}))
    with pytest.raises(Forbidden, match="scope"):
        MANAGING[step](weak, cast.team.pk)


def test_a_key_without_the_scope_restores_nothing(cast: Cast, alice: Principal) -> None:
    Workspace.objects.filter(pk=cast.team.pk).update(deleted_at=timezone.now())
    with pytest.raises(Forbidden, match="scope"):
        restore_workspace(replace(alice, scopes=frozenset({KeyScope.WRITE})), cast.team.pk)


@pytest.mark.parametrize("step", ["accept an invitation", "create a workspace"])
def test_a_narrowed_key_gets_no_further_workspace(cast: Cast, alice: Principal, step: str) -> None:
    with pytest.raises(Forbidden, match="narrowed"):
        MANAGING[step](replace(alice, narrowed=True), cast.team.pk)


@pytest.mark.parametrize(("role", "refusal"), [(None, NotFound), (Role.VIEWER, Forbidden)])
def test_a_role_that_ends_before_the_lock(
    cast: Cast, alice: Principal, role: Role | None, refusal: type[Exception]
) -> None:
    """The principal was read before; what counts is what is so under the lock."""
    mine = Membership.objects.filter(workspace=cast.team, user=cast.alice)
    if role is None:
        mine.delete()
    else:
        mine.update(role=role)
    with pytest.raises(refusal), locked_workspace(alice, cast.team.pk, Role.ADMIN):
        pass


@pytest.mark.parametrize("inside", [True, False])
def test_a_lock_keeps_to_the_workspaces_of_the_key(cast: Cast, alice: Principal, inside: bool) -> None:
    roles = {id: role for id, role in alice.roles.items() if (id == cast.team.pk) == inside}
    narrow = replace(alice, roles=roles, narrowed=True)
    if inside:
        with locked_workspace(narrow, cast.team.pk, Role.ADMIN) as locked:
            assert locked.role == Role.OWNER
    else:
        with pytest.raises(NotFound), locked_workspace(narrow, cast.team.pk, Role.ADMIN):
            pass


def test_no_workspace_is_chosen_for_a_key_that_has_several(cast: Cast, alice: Principal) -> None:
    other = Workspace.create_for(cast.alice, name="Other")
    narrow = replace(alice, roles=dict.fromkeys((cast.team.pk, other.pk), Role.OWNER), narrowed=True)
    with pytest.raises(NotFound, match="personal"):
        narrow.default_workspace_id()


def test_the_audit_log(cast: Cast, alice: Principal) -> None:
    AuditEntry.unscoped.create(action=AuditAction.DOCUMENT_ADDED, workspace_id=cast.team.pk)
    assert AuditQuery().entries(alice, cast.team.pk).count() == 1
    assert not AuditQuery().entries(principal_of_user(cast.bob), cast.team.pk).exists()


def test_usage_in_a_workspace_that_one_has_left(cast: Cast, alice: Principal) -> None:
    """One's own, too, is no longer shown."""
    DailyUsage.unscoped.create(
        day=timezone.now(), workspace_id=cast.team.pk, user_id=cast.alice.pk, questions=1
    )
    charge = {"purpose": "model", "provider": "x", "lease_until": timezone.now(), "user_id": cast.alice.pk}
    Charge.unscoped.create(workspace=cast.team, amount=1, settled_at=timezone.now(), **charge)

    def amounts(rows: UsageRows) -> tuple[int, int]:
        sums = rows.sums(UsageGrouping.DAY).values()
        return sum(each.questions for each in sums), int(sum(each.cost for each in sums))

    week, left = Period.of_days(7), replace(alice, roles={})
    assert amounts(UsageRows.of_principal(alice, week)) == (1, 1)
    assert amounts(UsageRows.of_principal(left, week)) == (0, 0)


WITH_BODY = [
    ("PATCH", ""),
    ("POST", "/transfer"),
    ("POST", "/members"),
    ("PATCH", "/members/{bob}"),
    ("POST", "/invitations"),
    ("PATCH", "/settings"),
]
"""Methods and addresses of a workspace that take a body, and are not for viewers."""


def test_nobody_learns_by_a_bad_body_what_is_there(cast: Cast, subtests: Subtests) -> None:
    """A body is read for those who may send one: to others a bad one makes no difference."""
    for method, path in WITH_BODY:
        address = f"/api/v1/workspaces/{cast.team.pk}{path.format(bob=cast.bob.pk)}"
        for who, status in (("bob", 403), ("charlie", 404), ("alice", 400)):
            with subtests.test(method=method, path=path, who=who):
                reply = Client().generic(method, address, "{", "application/json", headers=cast.headers(who))
                assert reply.status_code == status
