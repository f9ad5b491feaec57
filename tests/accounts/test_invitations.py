"""Invitations: by link and by e-mail, single or many uses, and one answer for all that are not valid."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.db.models import F
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.access.identity import principal_of_user
from accounts.access.keys import create_key
from accounts.models import AuditAction, AuditEntry, Invitation, Membership, User, Workspace
from accounts.people.invitations import accept_invitation, invite
from accounts.roles import KeyScope, Role
from tests.accounts.account_pages import sent_mail
from tests.accounts.test_workspaces import actions, call, give, of, role_of, together
from tests.conftest import Cast, make_cast

pytestmark = pytest.mark.django_db


def make(cast: Cast, who: str = "alice", status: int = 201, **body: Any) -> Any:
    return call(cast, who, "post", of(cast.team, "/invitations"), body, status=status)


def accept(cast: Cast, who: str, secret: str, status: int = 200) -> Any:
    return call(cast, who, "post", "invitations/accept", {"secret": secret}, status=status)


def test_by_link_a_stranger_becomes_a_member(cast: Cast) -> None:
    made = make(cast, role="editor")
    assert made["link"] == f"http://testserver/invitations/{made['secret']}"
    assert (made["email"], made["mailed"], made["max_uses"], made["open"]) == (None, False, 1, True)
    assert made["secret"] not in str(Invitation.unscoped.values()[0]), "only its keyed hash is stored"
    joined = accept(cast, "charlie", made["secret"])
    assert (joined["id"], joined["role"]) == (str(cast.team.pk), "editor")
    assert role_of(cast, cast.charlie) == "editor"
    [listed] = call(cast, "alice", "get", of(cast.team, "/invitations"))["results"]
    assert (listed["uses"], listed["open"], listed["invited_by"]) == (1, False, "alice@example.org")
    assert "secret" not in listed
    assert actions() == [
        AuditAction.INVITATION_CREATED,
        AuditAction.MEMBER_ADDED,
        AuditAction.INVITATION_ACCEPTED,
    ]
    assert made["secret"] not in str(list(AuditEntry.unscoped.values()))


def test_all_that_is_not_valid_gets_one_answer(cast: Cast, plain_static_files: None) -> None:
    used, expired, revoked, gone = (make(cast) for _ in range(4))
    accept(cast, "charlie", used["secret"])
    give(cast, "charlie", None)
    Invitation.unscoped.filter(pk=expired["id"]).update(expires_at=timezone.now())
    call(cast, "alice", "delete", f"invitations/{revoked['id']}", status=204)
    give(cast, "bob", Role.ADMIN)
    orphaned = make(cast, "bob")
    give(cast, "bob", Role.EDITOR)
    answers = [
        accept(cast, "charlie", secret, status=404)
        for secret in ("nonsense", used["secret"], expired["secret"], revoked["secret"], orphaned["secret"])
    ]
    call(cast, "alice", "delete", of(cast.team))
    answers.append(accept(cast, "charlie", gone["secret"], status=404))
    assert all(answer == answers[0] for answer in answers)
    client = Client()
    pages = [client.get(f"/invitations/{secret}") for secret in ("nonsense", used["secret"], gone["secret"])]
    assert {page.status_code for page in pages} == {404}
    assert all("This invitation is not valid" in page.content.decode() for page in pages)
    assert role_of(cast, cast.charlie) is None


def test_guessing_is_throttled_and_known_secrets_are_not(cast: Cast, plain_static_files: None) -> None:
    made = make(cast)
    statuses = [
        Client()
        .post(
            "/api/v1/invitations/accept",
            {"secret": f"wrong {turn}"},
            content_type="application/json",
            headers=cast.headers("charlie"),
        )
        .status_code
        for turn in range(22)
    ]
    assert statuses == [404] * 20 + [429] * 2
    assert Client().get("/invitations/wrong").status_code == 429
    accept(cast, "charlie", made["secret"])


def test_only_whole_keys_with_the_scope_admin_handle_them(cast: Cast) -> None:
    """Nor does an external user: who accepts becomes a member, and who lists sees addresses."""
    secret = make(cast)["secret"]
    _, weak = create_key(cast.alice, "weak")
    _, narrowed = create_key(cast.charlie, "narrowed", scopes=KeyScope.values, workspaces=[])
    cast.keys.update(weak=weak, narrowed=narrowed, weak_charlie=create_key(cast.charlie, "weak")[1])
    invitations = of(cast.team, "/invitations")
    make(cast, "weak", status=403)
    call(cast, "weak", "get", invitations, status=403)
    call(cast, "alice", "get", invitations, status=403, **{"X-External-User-Id": "x"})
    for who in ("weak_charlie", "narrowed"):
        accept(cast, who, secret, status=403)
    assert role_of(cast, cast.charlie) is None


@pytest.mark.parametrize("role", ["owner", "emperor", None])
def test_nobody_is_invited_as_owner(cast: Cast, role: Any) -> None:
    assert make(cast, role=role, status=400)["error"]["param"] == "role"


def test_the_role_of_who_is_a_member_stays(cast: Cast) -> None:
    made = make(cast, role="admin")
    assert accept(cast, "bob", made["secret"])["role"] == "viewer"
    assert Invitation.unscoped.get().uses == 0


def test_an_address_is_for_its_verified_user(cast: Cast, settings: Settings) -> None:
    settings.EMAIL_HOST = "mail.example.org"
    made = make(cast, email="Charlie@Example.org", max_uses=5)
    assert (made["email"], made["max_uses"]) == ("charlie@example.org", 1)
    other = User.objects.create_user("other@example.org")
    with pytest.raises(Exception, match="another address"):
        accept_invitation(principal_of_user(other), made["secret"])
    EmailAddress.objects.filter(user=cast.charlie).update(verified=False)
    assert "Confirm" in accept(cast, "charlie", made["secret"], status=403)["error"]["message"]
    EmailAddress.objects.filter(user=cast.charlie).update(verified=True)
    accept(cast, "charlie", made["secret"])


@pytest.mark.django_db(transaction=True)
def test_an_email_goes_out_where_there_is_a_mail_server(settings: Settings) -> None:
    cast = make_cast()
    assert make(cast, email="new@example.org")["mailed"] is False
    assert mail.outbox == []
    settings.EMAIL_HOST = "mail.example.org"
    made = make(cast, email="new@example.org")
    assert made["mailed"] is True
    sent = sent_mail()
    assert sent.to == ["new@example.org"] and made["link"] in str(sent.body)
    assert "alice@example.org" in str(sent.subject) and "Team" in str(sent.subject)


@pytest.mark.parametrize("email", ["nobody", "a@b", "", 7, "a@example.org\nBcc: b@example.org"])
def test_an_address_is_an_address(cast: Cast, email: Any) -> None:
    assert make(cast, email=email, status=400)["error"]["param"] == "email"


def test_mailed_invitations_are_throttled(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    for turn in range(30):
        make(cast, email=f"person{turn}@example.org")
    assert make(cast, email="one.more@example.org", status=429)["error"]["code"] == "rate_limited"
    make(cast)


def test_only_admins_see_and_withdraw_them(cast: Cast) -> None:
    made = make(cast)
    for who, status in (("bob", 404), ("charlie", 404)):
        call(cast, who, "delete", f"invitations/{made['id']}", status=status)
    call(cast, "bob", "get", of(cast.team, "/invitations"), status=403)
    elsewhere = Workspace.create_for(cast.charlie, name="Elsewhere")
    assert call(cast, "charlie", "get", of(elsewhere, "/invitations"))["results"] == []
    call(cast, "alice", "delete", f"invitations/{made['id']}", status=204)
    call(cast, "alice", "delete", f"invitations/{made['id']}", status=404)


@pytest.mark.django_db(transaction=True)
def test_uses_are_counted_when_many_accept_at_once() -> None:
    cast = make_cast()
    people = [User.objects.create_user(f"p{number}@example.org") for number in range(6)]
    principals = [principal_of_user(user) for user in people]
    _, secret = invite(principal_of_user(cast.alice), cast.team.pk, Role.VIEWER, max_uses=3)
    outcomes = together(*(lambda p=p: accept_invitation(p, secret) for p in principals))
    assert sorted(outcomes) == ["done"] * 3 + ["not_found"] * 3
    assert Membership.objects.filter(workspace=cast.team, user__in=people).count() == 3
    assert Invitation.unscoped.get(uses=F("max_uses")).uses == 3


def test_expired_ones_are_deleted_later(cast: Cast) -> None:
    from accounts.people.deletion_jobs import delete_old_invitations

    old, ended, fresh = (make(cast)["id"] for _ in range(3))
    Invitation.unscoped.filter(pk=old).update(expires_at=timezone.now() - timedelta(days=31))
    Invitation.unscoped.filter(pk=ended).update(expires_at=timezone.now() - timedelta(days=1))
    delete_old_invitations(0)
    assert {str(pk) for pk in Invitation.unscoped.values_list("pk", flat=True)} == {ended, fresh}
