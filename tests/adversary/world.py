"""Two tenants with one thing of each kind, and everybody who might try to reach what is not theirs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from allauth.mfa.models import Authenticator
from django.db import connection
from django.test import AsyncClient, Client, override_settings
from django.utils import timezone

from accounts.access.identity import principal_of_key, principal_of_user
from accounts.access.keys import create_key
from accounts.access.tokens import make_token
from accounts.models import (
    ApiKey,
    ExternalUserDeletion,
    Membership,
    Notification,
    NotificationKind,
    Session,
    User,
    Webhook,
    WebhookEvent,
    Workspace,
)
from accounts.people.invitations import invite
from accounts.principal import Principal
from accounts.roles import KeyScope, Role
from accounts.webhooks.signing import new_secret
from assistants.models import (
    Assistant,
    AssistantVersion,
    Binding,
    BindingKind,
    ChatMessage,
    ToolServer,
    Visibility,
)
from core.encryption import encrypt
from kb.models import DocumentCollection
from runs.lifecycle import begin
from runs.models import Execution, ExecutionStatus, TransferKind, WorkspaceTransfer
from runs.registry import tool_named
from tests.adversary.reference import Asker, Paper, Personal, sees
from tests.factories import chunk_id, indexed_document

SECRET = "Zwetschge"
"""Stands in the name and in the text of everything that is somebody's."""
EVERYTHING = KeyScope.values


@dataclass(frozen=True)
class Thing:
    """Something with an id that not everybody may know."""

    kind: str
    id: str
    about: str
    rule: Personal | Paper | None = None
    """What contract §2 decides by; for a workspace None, for a key its maker."""
    workspace: UUID | None = None
    """Of a member, an invitation, a webhook or an external user."""
    admins: frozenset[int] = frozenset()
    """Of an invitation, a webhook, an external user or a deleted workspace: the users who see it."""


@dataclass
class Attacker:
    """Somebody who sends requests, and what contract §2 needs to know of them."""

    name: str
    asker: Asker
    headers: dict[str, str] = field(default_factory=dict)
    login: str | None = None
    """The cookie of a browser's session."""
    narrowed: bool = False

    def client(self) -> AsyncClient:
        """Return a client, logged in if they are."""
        client = AsyncClient()
        if self.login is not None:
            client.cookies["sessionid"] = self.login
        return client

    def sees(self, thing: Thing) -> bool:
        """Return whether contract §2 shows them a thing."""
        if thing.kind == "workspace":
            return UUID(thing.id) in self.asker.workspaces
        if thing.kind == "user":
            return int(thing.id) == self.asker.user
        if thing.kind == "deleted workspace":
            own = self.asker.user in thing.admins and self.asker.external is None
            return own and not self.narrowed
        if thing.kind in ("member", "invitation"):
            is_shown = thing.kind == "member" or self.asker.user in thing.admins
            return is_shown and thing.workspace in self.asker.workspaces
        if thing.kind in ("assistant", "binding") and thing.workspace is not None:
            return thing.workspace in self.asker.workspaces
        if thing.kind == "passkey":
            return self.name.startswith("alice")
        if thing.kind in ("external user", "webhook", "tool server"):
            administers = self.asker.external is None and self.asker.user in thing.admins
            return administers and thing.workspace in self.asker.workspaces
        assert thing.rule is not None
        if thing.kind == "key":
            # A narrowed key handles no key that reads more than it does.
            assert isinstance(thing.rule, Personal)
            return thing.rule.user == self.asker.user and not self.narrowed
        return sees(self.asker, thing.rule)


class World:
    """alice's team, which bob views, dana edits and erin administrates; alice's own; charlie, a stranger."""

    def __init__(self) -> None:
        User.objects.all().delete()
        names = ("alice", "bob", "dana", "erin", "charlie")
        self.people = {name: User.objects.create_user(f"{name}@example.org") for name in names}
        alice = self.people["alice"]
        self.team = Workspace.create_for(alice, name=f"{SECRET} team")
        self.other = Workspace.create_for(alice, name=f"{SECRET} other")
        for name, role in (("bob", Role.VIEWER), ("dana", Role.EDITOR), ("erin", Role.ADMIN)):
            Membership.objects.create(workspace=self.team, user=self.people[name], role=role)
        self.readable = {name: principal_of_user(user).workspace_ids for name, user in self.people.items()}
        self.keys = {
            name: create_key(user, f"{SECRET} key", scopes=EVERYTHING)[1]
            for name, user in self.people.items()
        }
        self.things = list(self._things(alice))

    def _things(self, alice: User) -> Iterator[Thing]:
        for workspace, about in (
            (self.team, "team"),
            (self.other, "other"),
            (alice.personal_workspace, "personal"),
        ):
            yield Thing("workspace", str(workspace.pk), about)
        yield Thing("user", str(alice.pk), "alice")
        team, admins = self.team.pk, frozenset({alice.pk, self.people["erin"].pk})
        yield Thing("member", str(self.people["bob"].pk), "bob in the team", workspace=team)
        invitation, _ = invite(principal_of_user(alice), team, Role.VIEWER)
        yield Thing("invitation", str(invitation.pk), "to the team", workspace=team, admins=admins)
        webhook = Webhook.unscoped.create(
            workspace=self.team,
            made_by=alice,
            url=f"https://{SECRET}.example.org/",
            events=[WebhookEvent.DOCUMENT_INDEXED],
            secret=encrypt(new_secret()),
        )
        yield Thing("webhook", str(webhook.pk), "of the team", workspace=team, admins=admins)
        server = ToolServer.unscoped.create(
            workspace=self.team, made_by=alice, name="tickets", url=f"https://{SECRET}.example.org/mcp"
        )
        yield Thing("tool server", str(server.pk), "of the team", workspace=team, admins=admins)
        yield from self._assistants(alice)
        hidden = Workspace.create_for(alice, name=f"{SECRET} hidden")
        Workspace.objects.filter(pk=hidden.pk).update(deleted_at=timezone.now())
        owner = frozenset({alice.pk})
        yield Thing("deleted workspace", str(hidden.pk), "of alice", admins=owner)
        for external in (None, "x"):
            session = Session.unscoped.create(
                user=alice, workspace=self.team, external_user_id=external, title=SECRET
            )
            rule = Personal(session.pk, alice.pk, self.team.pk, external)
            yield Thing("session", str(session.pk), f"of {external}", rule)
            message = ChatMessage.unscoped.create(
                session=session, user=alice, workspace=self.team, external_user_id=external, content=SECRET
            )
            rule_of_message = Personal(message.pk, alice.pk, self.team.pk, external)
            yield Thing("message", str(message.pk), f"of {external}", rule_of_message)
            yield from self.document(self.team, external, session, rule)
            yield self._execution(alice, external)
            yield from self.document(self.team, external)
            yield self.collection(self.team, external)
        yield from self.document(self.other)
        yield self.collection(self.other)
        for kind in TransferKind:
            transfer = WorkspaceTransfer.unscoped.create(kind=kind, user=alice, workspace=self.team)
            rule = Personal(transfer.pk, alice.pk, self.team.pk)
            yield Thing(str(kind), str(transfer.pk), "of the team, by alice", rule)
        passkey = Authenticator.objects.create(
            user=alice, type=Authenticator.Type.WEBAUTHN, data={"name": SECRET, "credential": {}}
        )
        yield Thing("passkey", str(passkey.pk), "alice's")
        customer = f"{SECRET}-customer"
        Session.unscoped.create(user=alice, workspace=self.team, external_user_id=customer)
        yield Thing("external user", customer, "of the team", workspace=team, admins=admins)
        deletion = ExternalUserDeletion.unscoped.create(
            user=alice, workspace_ids=[self.team.pk], external_user_id=SECRET
        )
        rule = Personal(deletion.pk, alice.pk, self.team.pk)
        yield Thing("deletion", str(deletion.pk), "alice's", rule)
        notification = Notification.unscoped.create(
            kind=NotificationKind.WEBHOOK_DISABLED, user=alice, workspace=self.team
        )
        rule = Personal(notification.pk, alice.pk, self.team.pk)
        yield Thing("notification", str(notification.pk), "alice's", rule)
        key = ApiKey.objects.get(user=alice)
        yield Thing("key", str(key.pk), key.name, Personal(key.pk, alice.pk, None))

    def _assistants(self, alice: User) -> Iterator[Thing]:
        """Add an assistant of the team with a widget, and then one of alice's own with a binding."""
        for visibility in (Visibility.WORKSPACE, Visibility.MINE):
            made = Assistant.unscoped.create(
                user=alice, workspace=self.team, name=f"{SECRET} {visibility}", visibility=visibility
            )
            AssistantVersion.objects.create(
                assistant=made, number=1, name=made.name, settings={"instructions": SECRET}
            )
            if visibility == Visibility.MINE:
                rule = Personal(made.pk, alice.pk, self.team.pk)
                yield Thing("assistant", str(made.pk), "alice's own", rule)
                bound = Binding.objects.create(assistant=made, kind=BindingKind.PAGE)
                yield Thing("binding", str(bound.pk), "of alice's own", rule)
            else:
                yield Thing("assistant", str(made.pk), "of the team", workspace=self.team.pk)
                widget = Binding.objects.create(
                    assistant=made, kind=BindingKind.WIDGET, origins=["https://shop.example"]
                )
                yield Thing("binding", str(widget.pk), "of the team", workspace=self.team.pk)

    def document(
        self,
        workspace: Workspace,
        external: str | None = None,
        session: Session | None = None,
        of: Personal | None = None,
    ) -> Iterator[Thing]:
        """Add a document, and yield it and its chunk."""
        document = indexed_document(
            workspace, f"{SECRET} jam.", name=f"{SECRET}.pdf", external_user_id=external, session=session
        )
        rule = Paper(document.pk, workspace.pk, external, of)
        about = f"in {workspace.name}, of {external}, {'in a session' if session else 'in none'}"
        yield Thing("document", str(document.pk), about, rule)
        yield Thing("chunk", str(chunk_id(document)), about, rule)

    def collection(self, workspace: Workspace, external: str | None = None) -> Thing:
        """Add a collection."""
        made = DocumentCollection.unscoped.create(
            workspace=workspace, external_user_id=external, name=f"{SECRET} files"
        )
        rule = Paper(made.pk, workspace.pk, external)
        return Thing("collection", str(made.pk), f"in {workspace.name}, of {external}", rule)

    def _execution(self, alice: User, external: str | None) -> Thing:
        tool, principal = tool_named("rag_search"), principal_of_user(alice, external)
        execution = begin(principal, tool, tool.parse(principal, {"query": SECRET}), self.team.pk)
        Execution.unscoped.filter(pk=execution.pk).update(
            status=ExecutionStatus.COMPLETED,
            finished_at=timezone.now(),
            result={"response": SECRET, "contexts": [], "answered": True},
        )
        rule = Personal(execution.pk, alice.pk, self.team.pk, external)
        return Thing("execution", execution.pk, f"of {external}", rule)

    # --- Who tries ---

    def attacker(self, name: str) -> Attacker:
        """Return one of `ATTACKERS`."""
        make: dict[str, Any] = {
            "narrowed key": self._narrowed,
            "narrowed token": self._narrowed_token,
            "token as x": self._token_as_x,
            "inside a session": self._inside,
        }
        return make[name]() if name in make else self._by_words(name)

    def _by_words(self, name: str) -> Attacker:
        """Read “bob”, “alice as x”, “charlie logged in”."""
        who, _, how = name.partition(" ")
        user, external = self.people[who], how.removeprefix("as ") if how.startswith("as ") else None
        asker = Asker(user.pk, self.readable[who], external)
        if how == "logged in":
            browser = Client()
            browser.force_login(user)
            session = browser.session
            # As after a login with a password: changes of the second factor ask for one.
            method = {"method": "password", "at": time.time(), "email": user.email}
            session["account_authentication_methods"] = [method]
            session.save()
            return Attacker(name, asker, login=browser.cookies["sessionid"].value)
        extra = {"X-External-User-Id": external} if external else {}
        return Attacker(name, asker, {"Authorization": f"Bearer {self.keys[who]}"} | extra)

    def _narrowed(self) -> Attacker:
        alice = self.people["alice"]
        _, secret = create_key(alice, "narrow", scopes=EVERYTHING, workspaces=[self.other])
        asker = Asker(alice.pk, {self.other.pk})
        return Attacker("narrowed key", asker, {"X-API-KEY": secret}, narrowed=True)

    def _inside(self) -> Attacker:
        """alice in a conversation of hers that nothing is attached to; see `ask`."""
        alice = self.people["alice"]
        session = Session.unscoped.create(user=alice, workspace=self.team)
        asker = Asker(alice.pk, self.readable["alice"], session=session.pk)
        return Attacker("inside a session", asker, {"Authorization": f"Bearer {self.keys['alice']}"})

    def _narrowed_token(self) -> Attacker:
        narrow = self._narrowed()
        key = ApiKey.objects.get(user=narrow.asker.user, name="narrow")
        return Attacker("narrowed token", narrow.asker, self._by_token(principal_of_key(key)), narrowed=True)

    def _token_as_x(self) -> Attacker:
        """What a page of x's has: nothing in its requests can make it speak for another."""
        alice = self.people["alice"]
        key = ApiKey.objects.get(user=alice, name=f"{SECRET} key")
        asker = Asker(alice.pk, self.readable["alice"], "x")
        return Attacker("token as x", asker, self._by_token(principal_of_key(key, "x")))

    @staticmethod
    def _by_token(principal: Principal, expires_at: datetime | None = None) -> dict[str, str]:
        token = make_token(principal, expires_at or timezone.now() + timedelta(minutes=10))
        return {"Authorization": f"Bearer {token}"}

    def ended(self) -> list[Attacker]:
        """Return alice with keys and tokens that no longer open anything, or never did."""
        asker, past = self.owner().asker, timezone.now() - timedelta(minutes=1)
        found = [Attacker(name, asker, {"X-API-KEY": key}) for name, key in self._ended_keys().items()]
        key, _ = create_key(self.people["alice"], "of tokens", scopes=EVERYTHING)
        principal = principal_of_key(key)
        found.append(Attacker("expired token", asker, self._by_token(principal, past)))
        found.append(Attacker("token of a revoked key", asker, self._by_token(principal)))
        key.delete()
        with override_settings(SECRET_KEY="another installation's"):
            key = ApiKey.objects.get(user=asker.user, name=f"{SECRET} key")
            foreign = self._by_token(principal_of_key(key))
        return [*found, Attacker("token of another installation", asker, foreign)]

    def _ended_keys(self) -> dict[str, str]:
        alice, past = self.people["alice"], timezone.now() - timedelta(minutes=1)
        _, expired = create_key(alice, "expired", scopes=EVERYTHING, expires_at=past)
        row, revoked = create_key(alice, "revoked", scopes=EVERYTHING)
        row.delete()
        gone = User.objects.create_user("gone@example.org")
        _, of_nobody = create_key(gone, "of a deactivated user", scopes=EVERYTHING)
        User.objects.filter(pk=gone.pk).update(is_active=False)
        changed = self.keys["alice"][:-1] + ("a" if self.keys["alice"][-1] != "a" else "b")
        return {"expired": expired, "revoked": revoked, "deactivated": of_nobody, "tampered": changed}

    def owner(self, external: str | None = None) -> Attacker:
        """Return alice, who may see her own."""
        return self._by_words(f"alice as {external}" if external else "alice")


ALWAYS = ["charlie", "bob", "alice", "alice as x", "narrowed key", "inside a session"]
SLOW = [
    "narrowed token",
    "token as x",
    "charlie logged in",
    "charlie as x",
    "dana",
    "erin",
    "erin logged in",
    "bob as x",
    "alice as y",
]
ATTACKERS = [*ALWAYS, *(pytest.param(name, marks=pytest.mark.slow("adversary")) for name in SLOW)]
# They change with each request, or record that somebody asked.
NOT_COMPARED = {
    "django_session",
    "locus_cache",
    "django_migrations",
    "accounts_attemptbucket",
    "accounts_auditentry",
}


def rows() -> dict[str, set[str]]:
    """Return all rows of all tables as text, but for those that each request changes."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        tables = {name for (name,) in cursor.fetchall()} - NOT_COMPARED
        found = {}
        for table in sorted(tables):
            without = " - 'last_used_at' - 'last_login'"
            cursor.execute(f'SELECT (to_jsonb(t){without})::text FROM "{table}" t')
            found[table] = {text for (text,) in cursor.fetchall()}
    return found


def rows_for_others(
    before: dict[str, set[str]], after: dict[str, set[str]], attacker: Attacker
) -> dict[str, set[str]]:
    """Return the new rows of workspaces that an attacker does not see: usage and charges among them."""
    seen = {str(each) for each in attacker.asker.workspaces}

    def is_foreign(text: str) -> bool:
        workspace = json.loads(text).get("workspace_id")
        return workspace is not None and workspace not in seen

    added = {table: has - before.get(table, set()) for table, has in after.items()}
    found = {table: {text for text in new if is_foreign(text)} for table, new in added.items()}
    return {table: new for table, new in found.items() if new}


def lost_rows(before: dict[str, set[str]], after: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the rows that are gone or have changed since."""
    return {table: gone for table, had in before.items() if (gone := had - after.get(table, set()))}
