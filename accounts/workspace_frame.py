"""The frame of a workspace's pages: its name, the user's role, and the tabs that the role may use.

A page's view calls `open_workspace`, gives the result to its template as `frame`, and the template extends
`accounts/workspace_base.html`. A new page is a line in `TABS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from accounts.access.identity import principal_of_user
from accounts.models import User, Workspace
from accounts.principal import Principal
from accounts.roles import Role
from core.errors import Forbidden, NotFound


@dataclass(frozen=True, slots=True)
class WorkspaceTab:
    """A page of every workspace. Its address takes the workspace's id as `id`."""

    title: str | Promise
    url_name: str
    role: Role = Role.ADMIN
    """The least role that may open it; others are not shown the tab."""
    is_for_personal: bool = True
    """Whether personal workspaces have it."""


TABS = [
    WorkspaceTab(gettext_lazy("General"), "workspace", Role.VIEWER),
    WorkspaceTab(gettext_lazy("Members"), "workspace_members", Role.VIEWER, is_for_personal=False),
    WorkspaceTab(gettext_lazy("Answers"), "workspace_settings"),
    WorkspaceTab(gettext_lazy("Web"), "web_use"),
    WorkspaceTab(gettext_lazy("Usage"), "workspace_usage", Role.VIEWER),
    WorkspaceTab(gettext_lazy("Activity"), "workspace_activity"),
    WorkspaceTab(gettext_lazy("External users"), "external_users"),
    WorkspaceTab("Webhooks", "workspace_webhooks"),
    WorkspaceTab(gettext_lazy("Tool servers"), "workspace_tool_servers"),
]


@dataclass(frozen=True, slots=True)
class FrameLink:
    """An entry of the frame: a tab of this workspace, or this page of another workspace."""

    title: str
    address: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class WorkspaceFrame:
    """What `accounts/workspace_base.html` shows around a page."""

    workspace: Workspace
    principal: Principal
    tab: str
    tabs: list[FrameLink]
    workspaces: list[FrameLink]
    """This page in each workspace in which the user may open it, this workspace included."""

    @property
    def role(self) -> Role:
        """The user's role."""
        return self.principal.roles[self.workspace.pk]

    @property
    def role_name(self) -> str:
        """The role in one word."""
        return self.role.short_name

    @property
    def is_personal(self) -> bool:
        """Whether it is the user's personal workspace, which nobody else can join."""
        return self.workspace.pk == self.principal.personal_workspace_id

    @property
    def is_admin(self) -> bool:
        """Whether the user manages members and settings."""
        return self.role.covers(Role.ADMIN)

    @property
    def is_owner(self) -> bool:
        """Whether the user may hand the workspace over, or delete it."""
        return self.role.covers(Role.OWNER)


def open_workspace(request: HttpRequest, id: UUID, role: Role = Role.VIEWER) -> WorkspaceFrame:
    """Return the frame of a workspace's page.

    Raises `Http404` if the user does not see the workspace, `PermissionDenied` without the role.
    """
    assert isinstance(request.user, User)
    principal = principal_of_user(request.user)
    try:
        principal.require_workspace(id, role)
    except NotFound:
        raise Http404 from None
    except Forbidden as error:
        raise PermissionDenied(error.message) from None
    mine = {each.pk: each for each in Workspace.objects.filter(pk__in=principal.workspace_ids)}
    here = request.resolver_match.url_name if request.resolver_match else None
    tab = next((each for each in TABS if each.url_name == here), TABS[0])
    return WorkspaceFrame(
        mine[id],
        principal,
        str(tab.title),
        [_link(str(each.title), each, id, each is tab) for each in TABS if _may_open(principal, each, id)],
        [
            _link(one.name, tab, one.pk, one.pk == id)
            for one in mine.values()
            if _may_open(principal, tab, one.pk)
        ],
    )


def _may_open(principal: Principal, tab: WorkspaceTab, workspace_id: UUID) -> bool:
    is_personal = workspace_id == principal.personal_workspace_id
    return principal.roles[workspace_id].covers(tab.role) and (tab.is_for_personal or not is_personal)


def _link(title: str, tab: WorkspaceTab, workspace_id: UUID, is_current: bool) -> FrameLink:
    return FrameLink(title, reverse(tab.url_name, kwargs={"id": workspace_id}), is_current)
