"""`/api/v1/me`, `workspaces` and `api-keys`."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from pydantic import BaseModel
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access.auth import principal_of
from accounts.access.keys import create_key, keys_within_reach, maker_of
from accounts.models import ApiKey, User, Workspace
from accounts.principal import Principal
from accounts.roles import KeyScope, Role
from core.api.operations import LIST_PARAMETERS, ApiView, operation
from core.api.rest import CursorLists, StrictSerializer, parsed
from core.errors import Forbidden, NotFound, ValidationError


class WorkspaceShape(BaseModel):
    """A workspace, and the caller's role in it."""

    id: UUID
    name: str
    role: Role
    personal: bool
    share_with_external_users: bool
    created_at: datetime


class WorkspaceList(BaseModel):
    """A page of workspaces."""

    results: list[WorkspaceShape]
    next: str | None
    previous: str | None


class Me(BaseModel):
    """The user behind a session or key."""

    id: int
    email: str
    is_staff: bool
    workspaces: list[WorkspaceShape]


class ApiKeyShape(BaseModel):
    """A key without its secret."""

    id: UUID
    name: str
    prefix: str
    scopes: list[KeyScope]
    workspace_ids: list[UUID] | None
    expires_at: datetime | None
    last_used_at: datetime | None
    created_at: datetime


class ApiKeyList(BaseModel):
    """A page of keys."""

    results: list[ApiKeyShape]
    next: str | None
    previous: str | None


class CreatedApiKey(ApiKeyShape):
    """A new key with its secret, which can't be had again."""

    key: str


class MeView(ApiView):
    """Who the caller is."""

    @operation("me", tag="Account", answers={200: Me})
    def get(self, request: Request) -> Response:
        """Return the user behind the session or key, and the workspaces it may read."""
        principal = principal_of(request)
        user = User.objects.get(pk=principal.user_id)
        return Response(
            {
                "id": user.pk,
                "email": user.email,
                "is_staff": user.is_staff,
                "workspaces": _workspaces(principal),
            }
        )


class WorkspaceLists(CursorLists):
    """Workspaces by name."""

    ordering = ("name", "id")


class WorkspacesView(ApiView):
    """The caller's workspaces."""

    @operation("workspaces_list", tag="Workspaces", query=LIST_PARAMETERS, answers={200: WorkspaceList})
    def get(self, request: Request) -> Response:
        """List the workspaces the caller may read, with its role in each."""
        principal = principal_of(request)
        pages = WorkspaceLists()
        visible = Workspace.objects.filter(pk__in=principal.workspace_ids)
        rows: list[Workspace] | None = pages.paginate_queryset(visible, request, self)
        return pages.get_paginated_response([_workspace_json(principal, row) for row in rows or []])


class WorkspaceView(ApiView):
    """One workspace."""

    @operation("workspaces_read", tag="Workspaces", answers={200: WorkspaceShape}, fails=(404,))
    def get(self, request: Request, id: UUID) -> Response:
        """Return the workspace, with the caller's role in it."""
        principal = principal_of(request)
        principal.require_workspace(id)
        return Response(_workspace_json(principal, Workspace.objects.get(pk=id)))


def _workspaces(principal: Principal) -> list[dict[str, Any]]:
    rows = Workspace.objects.filter(pk__in=principal.workspace_ids)
    return [_workspace_json(principal, workspace) for workspace in rows]


def _workspace_json(principal: Principal, workspace: Workspace) -> dict[str, Any]:
    return {
        "id": str(workspace.pk),
        "name": workspace.name,
        "role": principal.roles[workspace.pk].value,
        "personal": workspace.pk == principal.personal_workspace_id,
        "share_with_external_users": workspace.share_with_external_users,
        "created_at": workspace.created_at,
    }


class NewKey(StrictSerializer):
    """The body of `POST api-keys`."""

    name = serializers.CharField(max_length=200)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=KeyScope.choices), default=[KeyScope.READ, KeyScope.WRITE]
    )
    workspace_ids = serializers.ListField(child=serializers.UUIDField(), required=False, allow_null=True)
    expires_at = serializers.DateTimeField(required=False, allow_null=True)


def _key_holder(request: Request) -> Principal:
    """Return who asks, unless it is an external user: a key would speak for everybody."""
    principal = principal_of(request)
    principal.refuse_external_user("has no API keys")
    return principal


class ApiKeysView(ApiView):
    """The caller's keys. Only a person logged in, or a key with scope `admin`, handles keys."""

    required_scope = KeyScope.ADMIN

    @operation("api_keys_list", tag="API keys", query=LIST_PARAMETERS, answers={200: ApiKeyList})
    def get(self, request: Request) -> Response:
        """List the caller's keys; their secrets can't be had again."""
        keys = keys_within_reach(_key_holder(request)).prefetch_related("workspaces")
        pages = CursorLists()
        rows: list[ApiKey] | None = pages.paginate_queryset(keys, request, self)
        return pages.get_paginated_response([_key_json(key) for key in rows or []])

    @operation("api_keys_create", tag="API keys", request=NewKey, answers={201: CreatedApiKey}, fails=(404,))
    def post(self, request: Request) -> Response:
        """Create a key and return it with its secret, shown this once."""
        principal = _key_holder(request)
        body = parsed(NewKey, request.data)
        maker = maker_of(principal)
        if not set(body["scopes"]) <= principal.scopes:
            raise Forbidden("A key can't have a scope its maker lacks.", param="scopes")
        key, secret = create_key(
            User.objects.get(pk=principal.user_id),
            body["name"],
            scopes=body["scopes"],
            workspaces=_named_workspaces(principal, maker, body.get("workspace_ids")),
            expires_at=_end_of_new_key(maker, body.get("expires_at")),
            made_by=maker,
        )
        location = request.build_absolute_uri(f"/api/v1/api-keys/{key.pk}")
        return Response(_key_json(key) | {"key": secret}, status=201, headers={"Location": location})


def _end_of_new_key(maker: ApiKey | None, wanted: datetime | None) -> datetime | None:
    """Return when a new key expires; one that a key makes does not outlive it."""
    if wanted is not None and wanted <= timezone.now():
        raise ValidationError("expires_at must lie in the future.", param="expires_at")
    latest = maker.expires_at if maker else None
    if wanted is not None and latest is not None and wanted > latest:
        raise Forbidden(
            f"A key can't outlive its maker, which expires at {latest:%Y-%m-%dT%H:%M:%SZ}.",
            param="expires_at",
        )
    return wanted or latest


def _named_workspaces(
    principal: Principal, maker: ApiKey | None, ids: list[UUID] | None
) -> list[Workspace] | None:
    """Return the workspaces a new key is narrowed to; a narrowed key can't make one that reads more."""
    if ids is None:
        return list(maker.workspaces.all()) if maker and maker.narrowed else None
    for index, id in enumerate(ids):
        if id not in principal.roles:
            raise NotFound(f"There is no workspace {id} that you can see.", param=f"workspace_ids[{index}]")
    return list(Workspace.objects.filter(pk__in=ids))


class ApiKeyView(ApiView):
    """One key."""

    required_scope = KeyScope.ADMIN

    @operation("api_keys_delete", tag="API keys", answers={204: None}, fails=(404,))
    def delete(self, request: Request, id: UUID) -> Response:
        """Revoke the key at once, and the keys it has made."""
        keys = keys_within_reach(principal_of(request)).filter(pk=id)
        if not keys.exists():
            raise NotFound
        _key_holder(request)
        keys.delete()
        return Response(status=204)


def _key_json(key: ApiKey) -> dict[str, Any]:
    return {
        "id": str(key.pk),
        "name": key.name,
        "prefix": key.prefix,
        "scopes": key.scopes,
        "workspace_ids": [str(w.pk) for w in key.workspaces.all()] if key.narrowed else None,
        "expires_at": key.expires_at,
        "last_used_at": key.last_used_at,
        "created_at": key.created_at,
    }
