"""`/api/v1/me`: the user behind a session or key, and what they chose for themselves."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.audit.recording import record
from accounts.models import AuditAction, Theme, User
from accounts.people.profiles import Formats, Language, ProfileChange
from accounts.people.workspaces import readable_workspaces
from accounts.principal import Principal
from accounts.roles import KeyScope
from accounts.workspace_shapes import WorkspaceShape
from core.api.operations import ReadBody, operation
from core.api.validation import ApiModel


class Me(ApiModel):
    """The user behind a session or key."""

    id: int
    email: str
    name: str
    language: Language | None
    formats: Formats | None
    time_zone: str | None
    theme: Theme
    shows_welcome: bool
    is_staff: bool
    workspaces: list[WorkspaceShape]

    @classmethod
    def of(cls, principal: Principal, user: User) -> Me:
        """Return what users see of themselves."""
        workspaces = readable_workspaces(principal)
        return cls.model_validate(
            {
                "id": user.pk,
                "email": user.email,
                "name": user.name,
                "language": user.language or None,
                "formats": user.formats or None,
                "time_zone": user.time_zone or None,
                "theme": user.theme,
                "shows_welcome": user.shows_welcome,
                "is_staff": user.is_staff,
                "workspaces": [WorkspaceShape.of(principal, workspace) for workspace in workspaces],
            }
        )


class MeView(APIView):
    """Who the caller is."""

    @operation("me", tag="Account", answers={200: Me})
    def get(self, request: Request) -> Me:
        """Return the user behind the session or key, and the workspaces it may read."""
        principal = principal_of(request)
        return Me.of(principal, User.objects.get(pk=principal.user_id))

    @operation("me_change", tag="Account", body=ProfileChange, answers={200: Me})
    def patch(self, request: Request, read_body: ReadBody[ProfileChange]) -> Me:
        """Change the user's name, language, formats of dates and numbers, time zone, theme, or
        whether the page Ask shows first steps."""
        principal = principal_of(request)
        principal.refuse_external_user("has no profile")
        principal.require_scope(KeyScope.ADMIN)
        user = User.objects.get(pk=principal.user_id)
        if changed := read_body().apply(user):
            record(AuditAction.USER_CHANGED, principal, target=("user", user.pk), fields=[*changed])
        return Me.of(principal, user)
