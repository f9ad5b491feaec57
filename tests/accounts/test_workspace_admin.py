"""Workspaces and keys in the admin panel: what is known about them, and what is recorded."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts import workspace_admin
from accounts.access.identity import principal_of_user
from accounts.access.keys import create_key
from accounts.models import ApiKey, AuditEntry, Membership
from accounts.models.usage import WorkspaceQuota
from accounts.people.workspaces import delete_workspace
from accounts.roles import Role
from kb.models import Document, Status
from tests.accounts.test_people_admin import inline
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.locus.test_dashboard import root as root
from tests.locus.test_dashboard import staff_with

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_static_files")]


def at(page: str, *args: Any) -> str:
    return reverse(f"admin:accounts_{page}", args=args)


def words(html: str) -> str:
    return " ".join(re.sub("<[^>]+>", " ", html).split())


def entries() -> list[tuple[str, Any]]:
    deeds = AuditEntry.unscoped.exclude(action__startswith="login.").order_by("pk")
    return list(deeds.values_list("action", "details"))


def test_the_page_says_what_is_known(root: Client, cast: Cast) -> None:
    cast.team.settings = {"rag": {"contexts": 12}}
    cast.team.save()
    for status in (Status.FAILED, Status.READY):
        Document.unscoped.filter(pk=indexed_document(cast.team).pk).update(status=status)
    html = root.get(at("workspace_change", cast.team.pk)).content.decode()
    page = words(html)
    assert "Contexts of an answer, at most 12" in page
    assert "Reflection no (inherited)" in page
    assert "Failed 1" in page and "Ready 1" in page
    assert "Use in 30 days" in page and "Access by programs" in page and "Danger zone" in page
    [link] = re.findall(r'href="([^"]*status__exact=failed)"', html)
    assert root.get(link.replace("&amp;", "&")).context["cl"].result_count == 1
    # Whoever is no admin of the workspace is not led to a page that they may not see.
    assert reverse("workspace_settings", args=[cast.team.pk]) not in html


def test_what_takes_too_long_is_left_out(root: Client, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object) -> None:
        raise OperationalError("canceling statement due to statement timeout")

    monkeypatch.setattr(workspace_admin, "workspace_facts", [slow])
    assert "Counting took too long" in root.get(at("workspace_change", cast.team.pk)).content.decode()


def test_changes_of_members_are_recorded(root: Client, cast: Cast) -> None:
    owner, viewer = (Membership.objects.get(workspace=cast.team, user=u) for u in (cast.alice, cast.bob))
    form = {"name": "Team two"}
    form |= inline(
        (owner, cast.alice, Role.OWNER),
        (viewer, cast.bob, Role.EDITOR),
        (None, cast.charlie, Role.VIEWER),
        existing=2,
    )
    assert root.post(at("workspace_change", cast.team.pk), form).status_code == 302
    charlie = Membership.objects.get(workspace=cast.team, user=cast.charlie)
    form |= inline(
        (owner, cast.alice, Role.OWNER),
        (viewer, cast.bob, Role.EDITOR),
        (charlie, cast.charlie, Role.VIEWER),
        existing=3,
        delete=2,
    )
    assert root.post(at("workspace_change", cast.team.pk), form).status_code == 302
    found = [(action, details.get("role") or details.get("name")) for action, details in entries()]
    assert found == [
        ("workspace.changed", "Team two"),
        ("member.added", "viewer"),
        ("member.changed", "editor"),
        ("member.removed", None),
    ]
    of_members = AuditEntry.unscoped.filter(action__startswith="member.")
    assert {entry.workspace_id for entry in of_members} == {cast.team.pk}


def test_quotas_are_set_and_recorded(root: Client, cast: Cast) -> None:
    quota = {
        "quota-TOTAL_FORMS": 1,
        "quota-INITIAL_FORMS": 0,
        "quota-0-workspace": str(cast.team.pk),
        "quota-0-documents": "100",
    }
    owner, viewer = (Membership.objects.get(workspace=cast.team, user=u) for u in (cast.alice, cast.bob))
    members = inline((owner, cast.alice, Role.OWNER), (viewer, cast.bob, Role.VIEWER), existing=2)
    assert (
        root.post(at("workspace_change", cast.team.pk), {"name": "Team"} | members | quota).status_code == 302
    )
    assert WorkspaceQuota.unscoped.get(workspace=cast.team).documents == 100
    assert entries() == [("workspace.changed", {"quotas": ["documents"]})]


def test_a_deletion_is_recorded(root: Client, cast: Cast, django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        root.post(at("workspace_delete", cast.team.pk), {"name": "Team"})
        root.post(at("user_delete", cast.charlie.pk), {"name": cast.charlie.email})
    assert [action for action, _ in entries()] == ["workspace.deleted", "user.deleted"]


def test_what_its_owner_deleted_is_restored(root: Client, cast: Cast) -> None:
    delete_workspace(principal_of_user(cast.alice), cast.team.pk)
    listed = root.get(at("workspace_changelist"), {"deleted_at__isempty": "0"})
    assert [row.name for row in listed.context["cl"].result_list] == ["Team"]
    page = root.get(at("workspace_change", cast.team.pk)).content.decode()
    assert "Restore</button>" in page and "Delete workspace …" not in page
    assert "deleted already" in root.get(at("workspace_delete", cast.team.pk)).content.decode()
    address = at("workspace_restore", cast.team.pk)
    assert staff_with("accounts.change_workspace").post(address).status_code == 403
    assert root.get(address).status_code == 403
    reply = root.post(address, follow=True)
    assert "“Team” is restored." in reply.content.decode()
    assert (
        Client().get(f"/api/v1/workspaces/{cast.team.pk}", headers=cast.headers("alice")).status_code == 200
    )
    assert [action for action, _ in entries()] == ["workspace.deleted", "workspace.restored"]
    assert root.post(address).status_code == 404


def test_what_is_being_erased_is_not_restored(root: Client, cast: Cast, settings: Any) -> None:
    settings.WORKSPACE_GRACE_DAYS = 0
    delete_workspace(principal_of_user(cast.alice), cast.team.pk)
    assert "The worker is erasing it" in root.get(at("workspace_change", cast.team.pk)).content.decode()
    assert root.post(at("workspace_restore", cast.team.pk)).status_code == 404


def test_who_may_only_look_sees_no_danger_zone(cast: Cast) -> None:
    client = staff_with("accounts.view_workspace")
    page = client.get(at("workspace_change", cast.team.pk)).content.decode()
    assert "Team" in page and "Danger zone" not in page
    # Facts about tables that they may not view stay hidden.
    assert "Access by programs" not in page and 'name="_save"' not in page
    assert client.post(at("workspace_delete", cast.team.pk), {"name": "Team"}).status_code == 403


# --- Keys --------------------------------------------------------------------------------------------------


def test_scopes_are_checkboxes(root: Client, cast: Cast) -> None:
    key, secret = create_key(cast.alice, "Import", scopes=["read", "write"])
    made, _ = create_key(cast.alice, "Made by it", scopes=["read", "write"], made_by=key)
    page = root.get(at("apikey_change", key.pk)).content.decode()
    boxes = re.findall(r'<input[^>]+name="scopes"[^>]*>', page)
    assert len(boxes) == 3 and sum(bool(re.search(r"\schecked[\s>]", box)) for box in boxes) == 2
    assert secret not in page and key.digest not in page
    form = {"name": "Import", "scopes": ["read"], "narrowed": "on", "workspaces": [str(cast.team.pk)]}
    assert root.post(at("apikey_change", key.pk), form).status_code == 302
    for each in (key, made):
        each.refresh_from_db()
        assert (each.scopes, each.narrowed, list(each.workspaces.all())) == (["read"], True, [cast.team])
    [(action, details)] = entries()
    assert (action, details["of_user"]) == ("key.changed", cast.alice.pk)
    assert set(details["fields"]) == {"scopes", "narrowed", "workspaces"}
    nothing = root.post(at("apikey_change", key.pk), form | {"scopes": []})
    assert (nothing.status_code, "This field is required" in nothing.content.decode()) == (200, True)


def test_keys_are_found_by_their_validity(root: Client, cast: Cast) -> None:
    create_key(cast.alice, "Old", expires_at=timezone.now() - timedelta(days=1))
    shown = root.get(at("apikey_changelist"), {"validity": "expired"})
    assert [key.name for key in shown.context["cl"].result_list] == ["Old"]
    assert "all of its user" in shown.content.decode()


def test_revoking_is_recorded(root: Client, cast: Cast) -> None:
    one, two = (create_key(cast.alice, name)[0] for name in ("One", "Two"))
    root.post(at("apikey_delete", one.pk), {"post": "yes"})
    chosen = {"action": "delete_selected", "_selected_action": [str(two.pk)], "post": "yes"}
    root.post(at("apikey_changelist"), chosen)
    assert not ApiKey.objects.filter(pk__in=[one.pk, two.pk]).exists()
    assert [action for action, _ in entries()] == ["key.revoked", "key.revoked"]


def test_keys_need_their_permission(cast: Cast) -> None:
    key, _ = create_key(cast.alice, "Import")
    client = staff_with("accounts.view_apikey")
    assert 'name="_save"' not in client.get(at("apikey_change", key.pk)).content.decode()
    assert client.post(at("apikey_change", key.pk), {"name": "x", "scopes": ["read"]}).status_code == 403
    assert client.post(at("apikey_delete", key.pk), {"post": "yes"}).status_code == 403
