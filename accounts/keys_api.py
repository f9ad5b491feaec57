"""`/api/v1/api-keys` and `auth/token`: credentials of programs."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Self
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from pydantic import Field, StringConstraints
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.access.keys import create_key, end_old_secret, keys_within_reach, lineage_of, maker_of, rotate
from accounts.audit.recording import record
from accounts.models import ApiKey, AuditAction, User, Workspace
from accounts.principal import Principal
from accounts.roles import KeyScope
from core.api.lists import ListPage, ListQuery, page_of
from core.api.operations import ReadBody, operation, respond
from core.api.validation import ApiModel, Moment
from core.errors import Forbidden, NotFound, ValidationError

MAX_OVERLAP_SECS, DEFAULT_OVERLAP_SECS = 30 * 24 * 3600, 24 * 3600


class OldSecret(ApiModel):
    """The secret before the last rotation, while it works."""

    works_until: datetime
    last_used_at: datetime | None


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
    old_secret: OldSecret | None = Field(
        description="The secret before the last rotation, while it works; null without one."
    )

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
            old_secret=_old_secret_of(row),
            **more,
        )


def _old_secret_of(row: ApiKey) -> OldSecret | None:
    if row.old_secret_until is None or not row.old_secret_works():
        return None
    return OldSecret(works_until=row.old_secret_until, last_used_at=row.old_secret_used_at)


class ApiKeyList(ListPage[ApiKeyShape]):
    """A page of keys."""


class CreatedApiKey(ApiKeyShape):
    """A new or rotated key with its secret, which can't be had again."""

    key: str


class NewKey(ApiModel):
    """The body of `POST api-keys`."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    scopes: list[KeyScope] = [KeyScope.READ, KeyScope.WRITE]
    workspace_ids: list[UUID] | None = None
    expires_at: Moment | None = None


class Rotation(ApiModel):
    """The body of `POST api-keys/{id}/rotate`."""

    overlap_secs: int = Field(
        DEFAULT_OVERLAP_SECS,
        ge=0,
        le=MAX_OVERLAP_SECS,
        strict=True,
        description="For how long the old secret goes on working; 0 ends it at once.",
    )


def _key_holder(request: Request) -> Principal:
    """Return who asks, unless it is an external user, or a token: a key would outlast it."""
    principal = principal_of(request)
    principal.refuse_external_user("has no API keys")
    principal.refuse_token("handles no API keys")
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
        record(
            AuditAction.KEY_CREATED,
            principal,
            target=("api_key", key.pk),
            scopes=list(key.scopes),
            narrowed=key.narrowed,
            expires_at=key.expires_at.isoformat() if key.expires_at else None,
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
        key = _key(request, id)
        record(AuditAction.KEY_REVOKED, principal_of(request), target=("api_key", key.pk))
        key.delete()
        return Response(status=204)


class RotateApiKeyView(APIView):
    """A new secret for a key."""

    required_scope = KeyScope.ADMIN

    @operation("api_keys_rotate", tag="API keys", body=Rotation, answers={200: CreatedApiKey}, fails=(404,))
    def post(self, request: Request, id: UUID, read_body: ReadBody[Rotation]) -> Response:
        """Give the key a new secret, shown this once; the old one works on until the overlap ends.

        A secret that an earlier rotation left working ends at once. Tokens end with the secret that made
        them.
        """
        key = _key(request, id)
        _require_rotatable(principal_of(request), key)
        body = read_body()
        with transaction.atomic():
            secret = rotate(key, timedelta(seconds=body.overlap_secs))
            record(
                AuditAction.KEY_ROTATED,
                principal_of(request),
                target=("api_key", key.pk),
                overlap_secs=body.overlap_secs,
            )
        key.refresh_from_db()
        return respond(CreatedApiKey.of(key, key=secret))


def _require_rotatable(principal: Principal, key: ApiKey) -> None:
    """Raise `Forbidden` if the caller must not get a new secret of the key.

    A key gets that of itself and of the keys it made, which end with it: with the secret of any other key of
    its user it could do more, or for longer.
    """
    if key.is_expired():
        raise Forbidden("This key has expired. Make a new one.")
    if principal.key_id is None:
        return
    if principal.key_id == key.pk and principal.secret_number != key.secret_number:
        raise Forbidden("This secret of the key has been replaced. Use the new one.")
    if not any(each.pk == principal.key_id for each in lineage_of(key)):
        raise Forbidden("A key can rotate only itself and the keys it made. Log in to rotate others.")


class OldSecretView(APIView):
    """The secret that a rotation left working."""

    required_scope = KeyScope.ADMIN

    @operation("api_keys_end_old_secret", tag="API keys", answers={204: None}, fails=(404,))
    def delete(self, request: Request, id: UUID) -> Response:
        """End the old secret now, before its overlap is over."""
        key = _key(request, id)
        if not key.old_secret_works():
            raise NotFound("This key has no old secret that works.")
        end_old_secret(key)
        record(AuditAction.KEY_REVOKED, principal_of(request), target=("api_key", key.pk), old_secret=True)
        return Response(status=204)


def _key(request: Request, id: UUID) -> ApiKey:
    """Return a key that the caller may change; raise `NotFound`, or `Forbidden` for tokens."""
    key = keys_within_reach(principal_of(request)).filter(pk=id).first()
    if key is None:
        raise NotFound
    _key_holder(request)
    return key
