"""Usage, quotas and the audit log over the API: who sees what, and what the numbers are."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from accounts.access.keys import create_key
from accounts.audit.recording import record
from accounts.ledger.balances import book
from accounts.ledger.base import Order, Payer, Reservation, max_cost_of
from accounts.models import (
    ApiKey,
    AuditAction,
    AuditEntry,
    Charge,
    DailyUsage,
    Membership,
    User,
    WorkspaceQuota,
)
from accounts.models.ledger import Purpose
from accounts.principal import UsageOwner
from accounts.roles import Role
from accounts.usage.counting import UsageCount, count_usage
from accounts.usage.forgetting import forget_external_user
from tests.conftest import Cast
from tests.factories import indexed_document

pytestmark = pytest.mark.django_db
TODAY = datetime.now(UTC).date()


def get(cast: Cast, path: str, name: str = "alice", **headers: str) -> Any:
    return Client().get(f"/api/v1/{path}", headers=cast.headers(name, **headers))


def rows(reply: Any) -> dict[str, int]:
    assert reply.status_code == 200, reply.content
    return {row["label"]: row["questions"] for row in reply.json()["results"]}


def key_of(user: User) -> ApiKey:
    return ApiKey.objects.get(user=user)


@pytest.fixture
def used(cast: Cast) -> Cast:
    """alice asked twice, once by key for x; bob asked four times; alice eight times in her own workspace."""
    team, own = cast.team.pk, cast.alice.personal_workspace.pk
    for workspace, owner, questions in [
        (team, UsageOwner(cast.alice.pk), 1),
        (team, UsageOwner(cast.alice.pk, key_of(cast.alice).pk, "x"), 1),
        (team, UsageOwner(cast.bob.pk, key_of(cast.bob).pk), 4),
        (own, UsageOwner(cast.alice.pk), 8),
    ]:
        count_usage([UsageCount(workspace, owner, questions=questions, input_tokens=10, pages=2)])
        order = Order(Payer(workspace, owner=owner), Purpose.MODEL, "m", Decimal("0.25"))
        book(Reservation(order), Decimal("0.25"), is_spent=True)
    return cast


class TestWorkspace:
    def test_an_admin_sees_all(self, used: Cast) -> None:
        path = f"workspaces/{used.team.pk}/usage"
        indexed_document(used.team)
        body = get(used, path).json()
        assert (body["by"], body["from"], body["to"]) == (
            "day",
            (TODAY - timedelta(days=29)).isoformat(),
            TODAY.isoformat(),
        )
        assert len(body["results"]) == 30
        total = {"questions": 6, "input_tokens": 30, "output_tokens": 0, "pages": 6, "documents": 0}
        assert body["total"] == total | {"cost": "0.750000"}
        assert body["results"][-1] == body["total"] | {"id": TODAY.isoformat(), "label": TODAY.isoformat()}
        assert (body["whole"], body["storage"]["documents"]) == (True, 1)
        assert body["storage"]["bytes"] > 100
        assert {quota["quota"]: quota["limit"] for quota in body["quotas"]} == dict.fromkeys(
            ["documents", "storage_bytes", "tokens_per_day", "max_cost"]
        )

    def test_by_user_key_and_external_user(self, used: Cast) -> None:
        path = f"workspaces/{used.team.pk}/usage?by="
        assert rows(get(used, path + "user")) == {"bob@example.org": 4, "alice@example.org": 2}
        alices, bobs = key_of(used.alice), key_of(used.bob)
        assert rows(get(used, path + "key")) == {
            f"{bobs.prefix}… of bob@example.org": 4,
            f"alice's key ({alices.prefix}…)": 1,
            "Without a key": 1,
        }
        assert rows(get(used, path + "external_user")) == {"No external user": 5, "x": 1}
        bobs.delete()
        forget_external_user([used.team.pk], "x")
        assert f"Deleted ({str(bobs.pk)[:8]})" not in rows(get(used, path + "user"))
        assert rows(get(used, path + "external_user")) == {"No external user": 5, "Deleted external users": 1}

    def test_a_member_sees_its_own(self, used: Cast) -> None:
        reply = get(used, f"workspaces/{used.team.pk}/usage?by=user", "bob")
        assert rows(reply) == {"bob@example.org": 4}
        body = reply.json()
        assert (body["whole"], body["storage"], body["quotas"]) == (False, None, [])
        assert body["total"]["cost"] == "0.250000"

    def test_an_external_user_sees_its_own(self, used: Cast) -> None:
        reply = get(used, f"workspaces/{used.team.pk}/usage?by=day", **{"X-External-User-Id": "x"})
        assert (reply.json()["total"]["questions"], reply.json()["whole"]) == (1, False)
        reply = get(used, f"workspaces/{used.team.pk}/usage?by=day", **{"X-External-User-Id": "y"})
        assert reply.json()["total"]["questions"] == 0
        assert get(used, "me/usage", **{"X-External-User-Id": "x"}).json()["total"]["cost"] == "0.250000"

    def test_a_stranger_sees_nothing(self, used: Cast) -> None:
        for path in ("usage", "audit", "quotas"):
            assert get(used, f"workspaces/{used.team.pk}/{path}", "charlie").status_code == 404

    def test_only_the_days_that_are_asked_for(self, used: Cast) -> None:
        DailyUsage.unscoped.update(day=date(2026, 3, 1))
        Charge.unscoped.update(created_at=datetime(2026, 3, 1, 23, 59, tzinfo=UTC))
        path = f"workspaces/{used.team.pk}/usage"
        body = get(used, f"{path}?from=2026-02-27&to=2026-03-01").json()
        assert [row["questions"] for row in body["results"]] == [0, 0, 6]
        assert [row["cost"] for row in body["results"]] == ["0", "0", "0.750000"]
        assert get(used, f"{path}?from=2026-03-02&to=2026-03-03").json()["total"]["questions"] == 0
        assert get(used, f"{path}?to=0001-01-02").status_code == 200

    @pytest.mark.parametrize(
        ("query", "param"),
        [
            ("from=2026-03-02&to=2026-03-01", "from"),
            ("from=2020-01-01", "from"),
            ("by=workspace", "by"),
            ("from=yesterday", "from"),
            ("first=2026-03-02", "first"),
        ],
    )
    def test_wrong_queries(self, cast: Cast, query: str, param: str) -> None:
        reply = get(cast, f"workspaces/{cast.team.pk}/usage?{query}")
        assert (reply.status_code, reply.json()["error"]["param"]) == (400, param)


def test_my_usage(used: Cast) -> None:
    assert rows(get(used, "me/usage?by=workspace")) == {"Personal": 8, "Team": 2}
    assert rows(get(used, "me/usage?by=workspace", "bob")) == {"Team": 4}
    assert get(used, "me/usage?by=user").status_code == 400
    narrowed = create_key(used.alice, "narrow", workspaces=[used.team])[1]
    reply = Client().get("/api/v1/me/usage?by=workspace", headers={"X-API-KEY": narrowed})
    assert rows(reply) == {"Team": 2}


class TestQuotas:
    @pytest.fixture
    def staff(self, cast: Cast) -> User:
        return User.objects.create_superuser("staff@example.org")

    def patch(self, workspace: UUID, secret: str, **changes: Any) -> Any:
        return Client().patch(
            f"/api/v1/workspaces/{workspace}/quotas",
            json.dumps(changes),
            content_type="application/json",
            headers={"X-API-KEY": secret},
        )

    def test_staff_change_them_and_admins_see_them(self, cast: Cast, staff: User) -> None:
        secret = create_key(staff, "staff", scopes=["admin", "read", "write"])[1]
        reply = self.patch(cast.team.pk, secret, documents=5, max_cost=0.5)
        assert reply.status_code == 200, reply.content
        shown = {
            one["quota"]: one["limit"]
            for one in get(cast, f"workspaces/{cast.team.pk}/quotas").json()["quotas"]
        }
        assert shown == {
            "documents": "5",
            "storage_bytes": None,
            "tokens_per_day": None,
            "max_cost": "0.500000",
        }
        assert max_cost_of(cast.team.pk) == Decimal("0.5")
        entry = AuditEntry.unscoped.get()
        assert (entry.action, entry.user) == (AuditAction.SETTINGS_CHANGED, staff)
        assert entry.details == {"settings": ["quotas.documents", "quotas.max_cost"]}
        self.patch(cast.team.pk, secret, documents=None)
        assert WorkspaceQuota.unscoped.get().documents is None
        assert self.patch(cast.charlie.personal_workspace.pk, secret, documents=1).status_code == 200
        assert self.patch(UUID(int=7), secret, documents=1).status_code == 404
        assert self.patch(cast.team.pk, secret, documents=-1).status_code == 400

    def test_nobody_else_changes_them(self, cast: Cast, staff: User) -> None:
        reader = create_key(staff, "reader", scopes=["read", "write"])[1]
        plain = User.objects.create_user("plain@example.org", is_staff=True)
        others = [
            create_key(plain, "plain", scopes=["admin", "read", "write"])[1],
            reader,
            cast.keys["charlie"],
        ]
        assert [self.patch(cast.team.pk, secret, documents=5).status_code for secret in others] == [404] * 3
        for name in ("alice", "bob"):
            assert self.patch(cast.team.pk, cast.keys[name], documents=5).status_code == 403
        quotas, external = f"workspaces/{cast.team.pk}/quotas", {"X-External-User-Id": "x"}
        assert get(cast, quotas, "bob").status_code == 403
        assert get(cast, quotas, "alice", **external).status_code == 403
        assert not WorkspaceQuota.unscoped.exists()


class TestAudit:
    def actions(self, cast: Cast, query: str = "", name: str = "alice") -> list[str]:
        reply = get(cast, f"workspaces/{cast.team.pk}/audit{query}", name)
        assert reply.status_code == 200, reply.content
        return [row["action"] for row in reply.json()["results"]]

    @pytest.fixture
    def happened(self, cast: Cast) -> Cast:
        record(
            AuditAction.MEMBER_ADDED, cast.alice, workspace_id=cast.team.pk, target=("user", 5), role="editor"
        )
        record(AuditAction.DOCUMENT_ADDED, cast.bob, workspace_id=cast.team.pk)
        record(AuditAction.DATA_EXPORTED, cast.alice)
        record(AuditAction.MEMBER_ADDED, cast.charlie, workspace_id=cast.charlie.personal_workspace.pk)
        return cast

    def test_admins_read_what_happened_in_the_workspace(self, happened: Cast) -> None:
        assert self.actions(happened) == ["document.added", "member.added"]
        entry = get(happened, f"workspaces/{happened.team.pk}/audit").json()["results"][1]
        assert entry["user"] == {"id": happened.alice.pk, "email": "alice@example.org"}
        assert (entry["target_type"], entry["target_id"], entry["details"]) == (
            "user",
            "5",
            {"role": "editor"},
        )

    def test_filters(self, happened: Cast) -> None:
        assert self.actions(happened, "?action=member.added") == ["member.added"]
        assert self.actions(happened, "?action=member.added&action=document.added") != []
        assert self.actions(happened, "?user=BOB@example.org") == ["document.added"]
        AuditEntry.unscoped.filter(action="member.added").update(at=datetime(2026, 1, 1, tzinfo=UTC))
        assert self.actions(happened, "?since=2026-01-02") == ["document.added"]
        assert self.actions(happened, "?until=2026-01-02") == ["member.added"]
        reply = get(happened, f"workspaces/{happened.team.pk}/audit?action=nonsense")
        assert (reply.status_code, reply.json()["error"]["param"]) == (400, "action[0]")

    def test_pages(self, happened: Cast) -> None:
        first = get(happened, f"workspaces/{happened.team.pk}/audit?limit=1").json()
        second = Client().get(first["next"], headers=happened.headers("alice")).json()
        assert [row["action"] for page in (first, second) for row in page["results"]] == [
            "document.added",
            "member.added",
        ]
        assert second["next"] is None

    def test_who_may_not(self, happened: Cast) -> None:
        path = f"workspaces/{happened.team.pk}/audit"
        assert get(happened, path, "bob").status_code == 403
        assert get(happened, path, **{"X-External-User-Id": "x"}).status_code == 403
        reader = create_key(happened.alice, "reader", scopes=["read"])[1]
        assert Client().get(f"/api/v1/{path}", headers={"X-API-KEY": reader}).status_code == 403
        Membership.objects.filter(user=happened.bob).update(role=Role.ADMIN)
        assert get(happened, path, "bob").status_code == 200
