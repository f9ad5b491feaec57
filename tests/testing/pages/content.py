"""What pages show: people, a team, documents of many kinds that the worker has read, answers, failures.

Everything is made as people would make it, through the API of a running server with a worker, unless that
would take another company or a broken machine.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import httpx
from django.db import transaction

from tests.testing.pages.files import sample_files

if TYPE_CHECKING:
    from accounts.models import User, Workspace

OWNER, NEWCOMER, NOBODY = "owner", "newcomer", "nobody"
"""Who opens a page: who has everything and administrates, who has just come, who is not logged in."""
PASSWORD = "a password for the pages"
GUARDED = "guarded@example.org"
"""The address of somebody whose login asks for a code."""
QUESTION = "When was the lighthouse on Gull Island built?"
DAY_SECS = 86_400
FINISHED = ["ready", "partial", "failed"]


@dataclass(frozen=True)
class PageContent:
    """Ids for addresses, by what stands for them there, and a session's cookie for each visitor."""

    ids: dict[str, str]
    sessions: dict[str, str]


def make_content(server: str, *, files: bool = True) -> PageContent:
    """Fill the database through the server at this URL, with a worker beside it; wait until all is read."""
    from accounts.access.keys import create_key
    from accounts.models import Membership, User, Workspace
    from accounts.roles import KeyScope, Role

    owner = User.objects.create_superuser("maria.lindqvist@example.org", PASSWORD, name="Maria Lindqvist")
    newcomer = User.objects.create_user("newcomer@example.org", PASSWORD)
    colleague = User.objects.create_user("tom.okafor@example.org", PASSWORD, name="Tom Okafor")
    team = Workspace.create_for(owner, name="Harbour office")
    Membership.objects.create(workspace=team, user=colleague, role=Role.EDITOR)
    key, secret = create_key(owner, "Night import", scopes=KeyScope.values)
    api = httpx.Client(base_url=f"{server}/api/v1", headers={"Authorization": f"Bearer {secret}"}, timeout=60)
    with api:
        ids = _documents(api, team, sample_files() if files else sample_files()[:1])
        ids |= _answers(api, team) | _assistant(api, team)
    ids |= {"workspace": str(team.pk), "user": str(owner.pk), "colleague": str(colleague.pk)}
    ids |= {"key": str(key.pk)} | _invitation(owner, team) | _second_factors(owner)
    ids |= _operations(owner, team, ids["report"]) | _programs(owner, team)
    _tool_server(owner, team, ids["assistant"])
    sessions = {OWNER: _session(owner), NEWCOMER: _session(newcomer)}
    # A login makes links of mails invalid.
    return PageContent(ids | _links(owner, colleague), sessions)


def _documents(api: httpx.Client, team: Workspace, files: list[tuple[str, bytes]]) -> dict[str, str]:
    # Django's apps must be ready before it is imported.
    from tests.testing.live import wait_until

    reply = api.post(
        "/documents",
        files=[("files", each) for each in files],
        data={"workspace_id": str(team.pk), "tags": "harbour"},
    )
    reply.raise_for_status()
    ids = [one["id"] for one in reply.json()["documents"]]
    wait_until(lambda: _are_finished(api, ids), "the worker has read the sample files", secs=300)
    names = [name.replace(" ", "_").replace(".", "_") for name, _ in files]
    return dict(zip(names, ids, strict=True)) | {"report": ids[0]}


def _are_finished(api: httpx.Client, ids: list[str]) -> bool:
    return all(api.get(f"/documents/{id}").json()["status"] in FINISHED for id in ids)


def _answers(api: httpx.Client, team: Workspace) -> dict[str, str]:
    """Ask by the tool, and in a conversation with a second question."""
    asked = api.post("/tools/rag_search", json={"query": QUESTION, "workspace_id": str(team.pk)})
    asked.raise_for_status()
    session = api.post("/sessions", json={"workspace_id": str(team.pk)}).raise_for_status().json()["id"]
    for question in (QUESTION, "And who lived there?"):
        api.post(f"/sessions/{session}/messages", json={"content": question}).raise_for_status()
    return {"execution": asked.headers["X-Execution-Id"], "session": session}


def _assistant(api: httpx.Client, team: Workspace) -> dict[str, str]:
    """Make an assistant of the team, with a binding of its own settings and a widget."""
    settings = {
        "instructions": "Answer as the harbour master would: short, and with the year.",
        "starters": [QUESTION, "Which ships came in?"],
        "limits": {"max_steps": 4},
    }
    facts = {"name": "Harbour master", "description": "Knows the port.", "visibility": "workspace"}
    body = facts | {"workspace_id": str(team.pk), "settings": settings}
    made = api.post("/assistants", json=body).raise_for_status().json()["id"]
    bound = {"kind": "api_key", "overrides": {"tools": ["rag_search"], "limits": {"max_steps": 2}}}
    widget = {"kind": "widget", "allowed_origins": ["https://harbour.example"], "overrides": {}}
    ids = [
        api.post(f"/assistants/{made}/bindings", json=body).raise_for_status().json()["id"]
        for body in (bound, widget)
    ]
    return {"assistant": made, "binding": ids[0], "widget": ids[1]}


def _invitation(owner: User, team: Workspace) -> dict[str, str]:
    from accounts.access.identity import principal_of_user
    from accounts.people.invitations import invite
    from accounts.roles import Role

    _, secret = invite(principal_of_user(owner), team.pk, Role.VIEWER)
    return {"invitation": secret}


def _programs(owner: User, team: Workspace) -> dict[str, str]:
    """Connect a program, and let another ask."""
    from urllib.parse import urlencode

    from django.utils import timezone

    from accounts.models import ApiKey, Program
    from accounts.oauth.connections import issue

    program = Program.objects.create(name="Desk assistant", redirect_uris=["http://127.0.0.1:3333/callback"])
    key = ApiKey.objects.create(
        user=owner,
        program=program,
        name=program.name,
        prefix="d35ca55157",
        scopes=["read", "write"],
        narrowed=True,
        last_used_at=timezone.now(),
    )
    key.workspaces.set([team])
    # Without tokens that still count it would be swept away.
    issue(key, "http://127.0.0.1/mcp", key.scopes, "access", "refresh")
    asking = Program.objects.create(name="Research assistant", redirect_uris=["https://research.example/cb"])
    asked = {
        "response_type": "code",
        "client_id": asking.client_id,
        "redirect_uri": asking.redirect_uris[0],
        "scope": "read write",
        "code_challenge": "c" * 43,
        "code_challenge_method": "S256",
    }
    return {"program_question": urlencode(asked)}


def _tool_server(owner: User, team: Workspace, assistant: str) -> None:
    """Let an assistant use a tool of another server."""
    from django.utils import timezone

    from assistants.models import ToolServer

    described = {
        "lookup": "Finds a ticket by its number, and says who works on it.",
        "close": "Closes a ticket.",
    }
    schema = {"type": "object", "properties": {"number": {"type": "string"}}}
    ToolServer.unscoped.create(
        workspace=team,
        made_by=owner,
        name="tickets",
        url="https://tickets.example.org/mcp",
        secret="x",
        offered=[
            {"name": name, "description": words, "input_schema": schema} for name, words in described.items()
        ],
        tools=["lookup"],
        assistant_ids=[UUID(assistant)],
        looked_at=timezone.now(),
    )


def _second_factors(owner: User) -> dict[str, str]:
    """Give the owner a passkey and recovery codes, and make somebody whose login asks for a code."""
    from allauth.mfa.models import Authenticator
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
    from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret

    from accounts.models import User

    data = {"name": "Blue key", "credential": _credential()}
    passkey = Authenticator.objects.create(user=owner, type=Authenticator.Type.WEBAUTHN, data=data)
    RecoveryCodes.activate(owner)
    TOTP.activate(User.objects.create_user(GUARDED, PASSWORD), generate_totp_secret())
    return {"passkey": str(passkey.pk)}


def _credential() -> dict[str, Any]:
    """Return what the browser sends of a new passkey; nobody has its private key."""
    from cryptography.hazmat.primitives.asymmetric import ec
    from fido2 import cose, webauthn
    from fido2.utils import sha256, websafe_encode

    key = cose.ES256.from_cryptography_key(ec.generate_private_key(ec.SECP256R1()).public_key())
    credential = webauthn.AttestedCredentialData.create(webauthn.Aaguid.NONE, bytes(32), key)
    flags = webauthn.AuthenticatorData.FLAG.UP | webauthn.AuthenticatorData.FLAG.AT
    made = webauthn.AuthenticatorData.create(sha256(b"localhost"), flags, 0, credential)
    response = {
        "clientDataJSON": webauthn.CollectedClientData.create(
            "webauthn.create", bytes(32), "http://localhost"
        ),
        "attestationObject": webauthn.AttestationObject.create("none", made, {}),
    }
    id = websafe_encode(bytes(32))
    coded = {name: websafe_encode(value) for name, value in response.items()}
    return {"id": id, "rawId": id, "type": "public-key", "response": coded}


def _links(owner: User, unverified: User) -> dict[str, str]:
    """Return what stands in the links of mails."""
    from allauth.account.forms import default_token_generator
    from allauth.account.models import EmailAddress, EmailConfirmationHMAC
    from allauth.account.utils import user_pk_to_url_str
    from django.core import signing

    from accounts.people.address_change import SALT
    from kb.notifications.mail import unsubscribe_path

    address, _ = EmailAddress.objects.update_or_create(
        user=unverified, email=unverified.email, defaults={"verified": False, "primary": True}
    )
    return {
        "uid": user_pk_to_url_str(owner),
        "reset": default_token_generator.make_token(owner),
        "confirmation": EmailConfirmationHMAC.create(address).key,
        "address": signing.dumps([owner.pk, owner.email, "maria@example.org"], salt=SALT),
        "unsubscribe": unsubscribe_path(owner.pk).removeprefix("/unsubscribe/"),
    }


def _operations(owner: User, team: Workspace, document: str) -> dict[str, str]:
    """Make what operators look at: money spent, an engine that fails, a job that failed, own settings."""
    from django.db import connection

    from accounts.ledger.balances import book
    from accounts.ledger.base import Order, Payer, Reservation
    from accounts.models import AuditEntry, Preferences
    from accounts.models.ledger import Charge, Purpose
    from kb.jobs import INGEST_TASK, defer_for_document
    from kb.models import EmbeddingSpace
    from locus.models import QueuedJob
    from search.models import Breaker

    for provider, amount in (("brave", "0.42"), ("tavily", "0.16")):
        order = Order(Payer(team.pk), Purpose.SEARCH, provider, Decimal(amount))
        book(Reservation(order), Decimal(amount), is_spent=True)
    breaker, _ = Breaker.objects.get_or_create(name="web_search:brave")
    preferences, _ = Preferences.objects.get_or_create(user=owner, defaults={"values": {}})
    # In one transaction, so that the worker does not take the job.
    with transaction.atomic(), connection.cursor() as cursor:
        defer_for_document(INGEST_TASK, UUID(document))
        for status in ("doing", "failed"):
            cursor.execute(
                "UPDATE procrastinate_jobs SET status = %s WHERE status IN ('todo', 'doing')", [status]
            )
    rows: dict[str, Any] = {
        "charge": Charge.unscoped.first(),
        "breaker": breaker,
        "preferences": preferences,
        "job": QueuedJob.objects.first(),
        "audit": AuditEntry.unscoped.first(),
        "space": EmbeddingSpace.objects.first(),
    }
    return {name: str(row.pk) for name, row in rows.items()}


def _session(user: User) -> str:
    """Return the cookie of somebody who has just logged in with a password."""
    from django.test import Client

    client = Client()
    client.force_login(user)
    session = client.session
    # Some pages ask for the password again: here that was done, and stays new for as long as anybody looks.
    done = {"method": "password", "at": time.time() + DAY_SECS, "email": user.email, "reauthenticated": True}
    session["account_authentication_methods"] = [done]
    session["account_authentication_methods_user"] = str(user.pk)
    session.save()
    return client.cookies["sessionid"].value
