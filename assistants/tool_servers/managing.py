"""What admins do with the tool servers of their workspaces."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from uuid import UUID

from asgiref.sync import async_to_sync
from django.db import IntegrityError, close_old_connections, transaction
from django.db.models import QuerySet
from django.utils import timezone
from pydantic import JsonValue

from accounts.audit.recording import record
from accounts.models import AuditAction
from accounts.people.workspaces import locked_workspace, refuse_unless_admin_key
from accounts.principal import Principal
from accounts.roles import Role
from accounts.webhooks.managing import checked_address
from assistants.models import Assistant, ToolServer, Visibility
from assistants.models.tool_servers import MAX_NAME
from assistants.tool_servers.client import ServerAddress, offered_tools
from core.encryption import Undecryptable, decrypt, encrypt, renew_columns
from core.errors import Conflict, NotFound, ValidationError
from core.row_access import as_system

MOST_SERVERS = 10
"""Of a workspace."""
MAX_SECRET = 4000
_NAME = re.compile(rf"[a-z][a-z0-9]{{0,{MAX_NAME - 1}}}")


def tool_servers_of(principal: Principal, workspace_id: UUID) -> QuerySet[ToolServer]:
    """Return the tool servers of a workspace, for its admins."""
    principal.require_workspace(workspace_id, Role.ADMIN)
    refuse_unless_admin_key(principal)
    rows = ToolServer.objects.restricted_to(principal).filter(workspace=workspace_id)
    return rows.select_related("made_by")


def visible_tool_server(principal: Principal, id: UUID) -> ToolServer:
    """Return a tool server that the principal may manage, or raise `NotFound`."""
    server = ToolServer.objects.restricted_to(principal).select_related("made_by").filter(pk=id).first()
    if server is None:
        raise NotFound
    refuse_unless_admin_key(principal)
    return server


def create_tool_server(
    principal: Principal, workspace_id: UUID, name: str, url: str, secret: str = ""
) -> ToolServer:
    """Add a server, without tools; raise `Conflict` for a name that is taken."""
    server = ToolServer(
        workspace_id=workspace_id,
        made_by_id=principal.user_id,
        name=_checked_name(name),
        url=checked_address(url),
        secret=_stored_secret(secret),
    )
    with locked_workspace(principal, workspace_id, Role.ADMIN):
        if tool_servers_of(principal, workspace_id).count() >= MOST_SERVERS:
            raise Conflict(f"A workspace has at most {MOST_SERVERS} tool servers. Delete one first.")
        _save(server)
        _record(AuditAction.TOOL_SERVER_CREATED, principal, server)
    return server


@transaction.atomic
def change_tool_server(
    principal: Principal,
    server: ToolServer,
    *,
    name: str | None = None,
    url: str | None = None,
    secret: str | None = None,
    tools: Sequence[str] | None = None,
    assistant_ids: Collection[UUID] | None = None,
    is_enabled: bool | None = None,
) -> None:
    """Change a server; None keeps. Another address forgets the tools and the secret of the one before."""
    _lock(server)
    if name is not None:
        server.name = _checked_name(name)
    if url is not None and (address := checked_address(url)) != server.url:
        server.url, server.secret, server.offered, server.tools = address, "", [], []
    if secret is not None:
        server.secret = _stored_secret(secret)
    if tools is not None:
        server.tools = _checked_tools(server, tools)
    if assistant_ids is not None:
        server.assistant_ids = _checked_assistants(principal, server, assistant_ids)
    if is_enabled is not None:
        server.is_enabled = is_enabled
    _save(server)
    given = {
        "name": name,
        "url": url,
        "secret": secret,
        "tools": tools,
        "assistant_ids": assistant_ids,
        "is_enabled": is_enabled,
    }
    fields: list[JsonValue] = [name for name, value in given.items() if value is not None]
    _record(AuditAction.TOOL_SERVER_CHANGED, principal, server, fields=fields)


def look_at_tools(server: ToolServer) -> None:
    """Ask a server for its tools and keep what it says; raise `ToolServerFailed` or `Timeout`.

    A chosen tool that is described in another way than before is no longer chosen: nobody has allowed it so.
    Raise `NotFound` or `Conflict` if the server was deleted or has got another address meanwhile.
    """
    address = address_of_server(server)
    # Other requests can use the view's connection while the server thinks.
    close_old_connections()
    found = async_to_sync(offered_tools)(address)
    with transaction.atomic():
        # Another admin may have changed it while it was thinking.
        _lock(server)
        if server.url != address.url:
            raise Conflict("The server has got another address meanwhile. Look at its tools again.")
        before = {each["name"]: each for each in server.offered}
        server.offered = [each.as_stored() for each in found]
        same = {each["name"] for each in server.offered if before.get(each["name"]) == each}
        server.tools = [name for name in server.tools if name in same]
        server.looked_at = timezone.now()
        server.save(update_fields=["offered", "tools", "looked_at"])


@transaction.atomic
def delete_tool_server(principal: Principal, server: ToolServer) -> None:
    """Delete a server: assistants use its tools no more."""
    _record(AuditAction.TOOL_SERVER_DELETED, principal, server)
    server.delete()


def address_of_server(server: ToolServer) -> ServerAddress:
    """Return where a server is, with its secret; raise `Conflict` for one that can't be read any more."""
    try:
        return ServerAddress(server.url, decrypt(server.secret) if server.secret else "")
    except Undecryptable:
        raise Conflict("The secret of this tool server has to be entered again.") from None


def assistants_of_workspace(principal: Principal, workspace_id: UUID) -> QuerySet[Assistant]:
    """Return the assistants that may be given tools: those that all members of the workspace see."""
    rows = Assistant.objects.restricted_to(principal)
    return rows.filter(workspace=workspace_id, visibility=Visibility.WORKSPACE).order_by("name", "pk")


@as_system("the secrets of all workspaces, which nobody is shown")
def renew_tool_secrets() -> int:
    """Encrypt the secrets with the present `ENCRYPTION_KEY`; return how many no key can decrypt."""
    return renew_columns(ToolServer.unscoped.all(), "secret")


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValidationError(
            f"A name has 1 to {MAX_NAME} small letters and digits, and begins with a letter.", param="name"
        )
    return name


def _stored_secret(secret: str) -> str:
    if len(secret) > MAX_SECRET or not secret.isascii() or not (secret.isprintable() and " " not in secret):
        raise ValidationError("A secret has no blanks, and only characters of ASCII.", param="secret")
    return encrypt(secret) if secret else ""


def _checked_tools(server: ToolServer, tools: Sequence[str]) -> list[str]:
    offered = [each["name"] for each in server.offered]
    unknown = [name for name in tools if name not in offered]
    if unknown:
        raise ValidationError(f"The server offers no tool “{unknown[0][:100]}”.", param="tools")
    return [name for name in offered if name in tools]


def _checked_assistants(principal: Principal, server: ToolServer, ids: Collection[UUID]) -> list[UUID]:
    allowed = set(assistants_of_workspace(principal, server.workspace_id).values_list("pk", flat=True))
    # One that was deleted since may stay in the list.
    for id in ids:
        if id not in allowed and id not in server.assistant_ids:
            raise NotFound(f"There is no assistant {id} of this workspace.", param="assistant_ids")
    return sorted(set(ids) & allowed)


def _lock(server: ToolServer) -> None:
    """Lock a server's row and read it again, within a transaction; raise `NotFound` if it was deleted."""
    try:
        server.refresh_from_db(from_queryset=ToolServer.unscoped.select_for_update())
    except ToolServer.DoesNotExist:
        raise NotFound from None


def _save(server: ToolServer) -> None:
    try:
        with transaction.atomic():
            server.save()
    except IntegrityError:
        raise Conflict("There is a tool server of this name already.", param="name") from None


def _record(action: AuditAction, principal: Principal, server: ToolServer, **details: JsonValue) -> None:
    record(
        action,
        principal,
        workspace_id=server.workspace_id,
        target=("tool_server", server.pk),
        name=server.name,
        **details,
    )
