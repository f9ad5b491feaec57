"""`/api/v1/auth/token`: a key is turned into a short-lived token for a browser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, Literal
from uuid import UUID

from django.utils import timezone
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.access.identity import AskerFields, narrowed
from accounts.access.tokens import DEFAULT_TTL_SECS, MAX_TTL_SECS, make_token
from accounts.audit.recording import record
from accounts.models import ApiKey, AuditAction
from accounts.principal import Principal
from accounts.roles import KeyScope
from core.api.operations import ReadBody, operation, respond
from core.api.validation import ABSENT, ApiModel
from core.errors import Forbidden, NotFound

Binder = Callable[[Principal, UUID], Principal]
binders: list[Binder] = []
"""Return the principal as the visitor of the widget with an id; the app that has widgets registers."""


class NewToken(AskerFields):
    """The body of `POST auth/token`; what is left out is as the key has it."""

    binding_id: UUID | None = Field(
        None,
        description="The widget that the token is for: it opens that widget for `external_user_id`, "
        "and nothing else. With `session_id` the visitor goes on with an earlier conversation.",
    )

    workspace_ids: list[UUID] | None = Field(None, description="Only these workspaces of the key.")
    scopes: list[KeyScope] | None = Field(None, min_length=1, description="Only these scopes of the key.")
    ttl_secs: int = Field(
        DEFAULT_TTL_SECS, ge=1, le=MAX_TTL_SECS, strict=True, description="For how long the token works."
    )


class TokenShape(ApiModel):
    """A token; it is not stored and can't be looked up."""

    token: str
    token_type: Literal["Bearer"]
    expires_at: datetime
    session_id: Annotated[UUID, Field(description="Of a widget's token: its conversation.")] = ABSENT


class TokenView(APIView):
    """Tokens for browsers."""

    # A token that only reads is for any key that reads.
    required_scope = KeyScope.READ

    @operation("auth_token", tag="API keys", body=NewToken, answers={200: TokenShape}, fails=(404,))
    def post(self, request: Request, read_body: ReadBody[NewToken]) -> Response:
        """Turn the key into a short-lived token, for a browser that must not hold the key.

        The token is never wider than its key, and its external user and session are pinned: a request can't
        change them. It ends with its key, and with each right of the key that it has.
        """
        principal = principal_of(request)
        principal.refuse_token("can't make tokens; send the API key")
        if principal.key_id is None:
            raise Forbidden("Only an API key makes tokens.")
        body = read_body()
        asker = _narrowed(body.asker(principal), body)
        if body.binding_id is not None:
            for bind in binders:
                asker = bind(asker, body.binding_id)
        token_ends = _end_of_token(ApiKey.objects.get(pk=principal.key_id), principal, body.ttl_secs)
        record(
            AuditAction.TOKEN_CREATED,
            asker,
            target=("api_key", principal.key_id),
            scopes=[*sorted(asker.scopes)],
            narrowed=asker.narrowed,
            session_id=str(asker.session_id) if asker.session_id else None,
            binding_id=str(asker.binding_id) if asker.binding_id else None,
            expires_at=token_ends.isoformat(),
        )
        token = make_token(asker, token_ends)
        made = TokenShape(token=token, token_type="Bearer", expires_at=token_ends)  # noqa: S106
        if asker.binding_id is not None:
            assert asker.session_id is not None
            made.session_id = asker.session_id
        return respond(made)


def _narrowed(principal: Principal, body: NewToken) -> Principal:
    """Return the principal with only the scopes and workspaces that the body names."""
    if body.scopes is not None:
        if not set(body.scopes) <= principal.scopes:
            raise Forbidden("A token can't have a scope that its key lacks.", param="scopes")
        principal = replace(principal, scopes=frozenset(body.scopes))
    for index, id in enumerate(body.workspace_ids or []):
        if id not in principal.roles:
            raise NotFound(f"There is no workspace {id} that you can see.", param=f"workspace_ids[{index}]")
    return principal if body.workspace_ids is None else narrowed(principal, body.workspace_ids)


def _end_of_token(key: ApiKey, principal: Principal, ttl_secs: int) -> datetime:
    """Return when a token ends: no later than its key, or than the old secret that made it."""
    ends = [timezone.now() + timedelta(seconds=ttl_secs), key.expires_at]
    if principal.secret_number != key.secret_number:
        ends.append(key.old_secret_until)
    return min(end for end in ends if end is not None)
