"""`/api/v1/me`, `workspaces` and `api-keys`."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Annotated, Self
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone
from pydantic import StringConstraints
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.access.keys import create_key, keys_within_reach, maker_of
from accounts.models import ApiKey, User, Workspace
from accounts.principal import Principal
from accounts.roles import KeyScope, Role
from core.api.lists import ListPage, ListQuery, page_of
from core.api.operations import ReadBody, operation, respond
from core.api.validation import ApiModel, Moment
from core.errors import Forbidden, NotFound, ValidationError


class WorkspaceShape(ApiModel):
    """A workspace, and the caller's role in it."""

    id: UUID
    name: str
    role: Role
    personal: bool
    share_with_external_users: bool
    created_at: datetime

    @classmethod
    def of(cls, principal: Principal, workspace: Workspace) -> WorkspaceShape:
        """Return what a member sees of a workspace."""
        return cls(
            id=workspace.pk,
            name=workspace.name,
            role=principal.roles[workspace.pk],
            personal=workspace.pk == principal.personal_workspace_id,
            share_with_external_users=workspace.share_with_external_users,
            created_at=workspace.created_at,
        )


class WorkspaceList(ListPage[WorkspaceShape]):
    """A page of workspaces."""


class Me(ApiModel):
    """The user behind a session or key."""

    id: int
    email: str
    is_staff: bool
    workspaces: list[WorkspaceShape]


class ApiKeyShape(ApiModel):
    """A key without its secret."""

    id: UUID
    name: str
    prefix: str
    scopes: list[KeyScope]
    workspace_ids: list[UUID] | None
    expires_at: datetime | None
    last_used_at: datetime | None
    created_at: datetime

    @classmethod
    def of(cls, row: ApiKey, **more: str) -> Self:
        """Return what may be shown of a key at any time, and `more`."""
        return cls(
            id=row.pk,
            name=row.name,
            prefix=row.prefix,
            scopes=[KeyScope(scope) for scope in row.scopes],
            workspace_ids=[workspace.pk for workspace in row.workspaces.all()] if row.narrowed else None,
            expires_at=row.expires_at,
            last_used_at=row.last_used_at,
            created_at=row.created_at,
            **more,
        )


class ApiKeyList(ListPage[ApiKeyShape]):
    """A page of keys."""


class CreatedApiKey(ApiKeyShape):
    """A new key with its secret, which can't be had again."""

    key: str


class NewKey(ApiModel):
    """The body of `POST api-keys`."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    scopes: list[KeyScope] = [KeyScope.READ, KeyScope.WRITE]
    workspace_ids: list[UUID] | None = None
    expires_at: Moment | None = None


class MeView(APIView):
    """Who the caller is."""

    @operation("me", tag="Account", answers={200: Me})
    def get(self, request: Request) -> Me:
        """Return the user behind the session or key, and the workspaces it may read."""
        principal = principal_of(request)
        user = User.objects.get(pk=principal.user_id)
        workspaces = [WorkspaceShape.of(principal, workspace) for workspace in _readable(principal)]
        return Me(id=user.pk, email=user.email, is_staff=user.is_staff, workspaces=workspaces)


class WorkspacesView(APIView):
    """The caller's workspaces."""

    @operation("workspaces_list", tag="Workspaces", query=ListQuery, answers={200: WorkspaceList})
    def get(self, request: Request, query: ListQuery) -> WorkspaceList:
        """List the workspaces the caller may read, with its role in each."""
        principal = principal_of(request)
        shown = partial(WorkspaceShape.of, principal)
        return page_of(WorkspaceList, _readable(principal), shown, request, query, ("name", "id"))


class WorkspaceView(APIView):
    """One workspace."""

    @operation("workspaces_read", tag="Workspaces", answers={200: WorkspaceShape}, fails=(404,))
    def get(self, request: Request, id: UUID) -> WorkspaceShape:
        """Return the workspace, with the caller's role in it."""
        principal = principal_of(request)
        principal.require_workspace(id)
        return WorkspaceShape.of(principal, Workspace.objects.get(pk=id))


def _readable(principal: Principal) -> QuerySet[Workspace]:
    return Workspace.objects.filter(pk__in=principal.workspace_ids)


def _key_holder(request: Request) -> Principal:
    """Return who asks, unless it is an external user: a key would speak for everybody."""
    principal = principal_of(request)
    principal.refuse_external_user("has no API keys")
    return principal


class ApiKeysView(APIView):
    """The caller's keys. Only a person logged in, or a key with scope `admin`, handles keys."""

    required_scope = KeyScope.ADMIN

    @operation("api_keys_list", tag="API keys", query=ListQuery, answers={200: ApiKeyList})
    def get(self, request: Request, query: ListQuery) -> ApiKeyList:
        """List the caller's keys; their secrets can't be had again."""
        keys = keys_within_reach(_key_holder(request)).prefetch_related("workspaces")
        return page_of(ApiKeyList, keys, ApiKeyShape.of, request, query)

    @operation("api_keys_create", tag="API keys", body=NewKey, answers={201: CreatedApiKey}, fails=(404,))
    def post(self, request: Request, read_body: ReadBody[NewKey]) -> Response:
        """Create a key and return it with its secret, shown this once."""
        principal = _key_holder(request)
        body = read_body()
        maker = maker_of(principal)
        if not set(body.scopes) <= principal.scopes:
            raise Forbidden("A key can't have a scope its maker lacks.", param="scopes")
        key, secret = create_key(
            User.objects.get(pk=principal.user_id),
            body.name,
            scopes=body.scopes,
            workspaces=_named_workspaces(principal, maker, body.workspace_ids),
            expires_at=_end_of_new_key(maker, body.expires_at),
            made_by=maker,
        )
        location = request.build_absolute_uri(f"/api/v1/api-keys/{key.pk}")
        return respond(CreatedApiKey.of(key, key=secret), 201, {"Location": location})


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


class ApiKeyView(APIView):
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
