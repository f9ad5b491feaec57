"""`/api/v1/workspaces/{id}/tool-servers` and `tool-servers/{id}`: for admins of workspaces."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from django.conf import settings
from pydantic import Field, JsonValue, StringConstraints
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from assistants.models import ToolServer
from assistants.models.tool_servers import MAX_NAME, MAX_TOOL_NAME
from assistants.tool_servers.managing import (
    MAX_SECRET,
    change_tool_server,
    create_tool_server,
    delete_tool_server,
    look_at_tools,
    tool_servers_of,
    visible_tool_server,
)
from assistants.tool_servers.offers import MOST_TOOLS
from core.api.lists import ListPage, ListQuery, page_of
from core.api.operations import ReadBody, operation, respond
from core.api.validation import ApiModel
from core.errors import NotFound

ServerName = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)]
ServerUrl = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2048)]
ServerSecret = Annotated[str, StringConstraints(max_length=MAX_SECRET)]
ToolNames = Annotated[
    list[Annotated[str, StringConstraints(max_length=MAX_TOOL_NAME)]], Field(max_length=MOST_TOOLS)
]


class OfferedToolShape(ApiModel):
    """A tool as its server describes it: foreign text, cut to a bounded length."""

    name: str
    description: str
    input_schema: dict[str, JsonValue] = Field(description="JSON schema of its arguments.")


class ToolServerShape(ApiModel):
    """A tool server without its secret."""

    id: UUID
    workspace_id: UUID
    name: str
    url: str
    has_secret: bool
    offered: list[OfferedToolShape] = Field(description="What it said of its tools when last looked at.")
    tools: list[str] = Field(description="The tools that assistants may use.")
    assistant_ids: list[UUID] = Field(description="The assistants that may use them.")
    is_enabled: bool
    made_by: str | None = Field(description="Null once deleted.")
    looked_at: datetime | None
    created_at: datetime

    @classmethod
    def of(cls, row: ToolServer) -> Self:
        """Return what admins see of a server."""
        return cls(
            id=row.pk,
            workspace_id=row.workspace_id,
            name=row.name,
            url=row.url,
            has_secret=bool(row.secret),
            offered=[OfferedToolShape(**each) for each in row.offered],
            tools=row.tools,
            assistant_ids=row.assistant_ids,
            is_enabled=row.is_enabled,
            made_by=row.made_by.email if row.made_by else None,
            looked_at=row.looked_at,
            created_at=row.created_at,
        )


class ToolServerList(ListPage[ToolServerShape]):
    """A page of tool servers."""


class NewToolServer(ApiModel):
    """The body of `POST workspaces/{id}/tool-servers`."""

    name: ServerName = Field(description="Small letters and digits; its tools are named `name__tool`.")
    url: ServerUrl = Field(description="Where it speaks MCP over streamable HTTP. Begins with https://.")
    secret: ServerSecret = Field("", description="Sent as `Authorization: Bearer`; can't be had again.")


class ToolServerPatch(ApiModel):
    """The body of `PATCH tool-servers/{id}`; null keeps."""

    name: ServerName | None = None
    url: ServerUrl | None = Field(
        None, description="Another address forgets the tools and the secret of the one before."
    )
    secret: ServerSecret | None = Field(None, description="Blank removes it.")
    tools: ToolNames | None = Field(None, description="Those of `offered` that assistants may use.")
    assistant_ids: list[UUID] | None = Field(
        None, max_length=100, description="Assistants of the workspace that all its members see."
    )
    is_enabled: bool | None = Field(None, strict=True)


def _require_offered() -> None:
    if not settings.TOOL_SERVERS:
        raise NotFound


class ToolServersView(APIView):
    """The tool servers of a workspace."""

    @operation(
        "tool_servers_list", tag="Tool servers", query=ListQuery, answers={200: ToolServerList}, fails=(404,)
    )
    def get(self, request: Request, id: UUID, query: ListQuery) -> ToolServerList:
        """List the servers whose tools assistants may use, as an admin."""
        _require_offered()
        rows = tool_servers_of(principal_of(request), id)
        return page_of(ToolServerList, rows, ToolServerShape.of, request, query)

    @operation(
        "tool_servers_create",
        tag="Tool servers",
        body=NewToolServer,
        answers={201: ToolServerShape},
        fails=(404,),
    )
    def post(self, request: Request, id: UUID, read_body: ReadBody[NewToolServer]) -> Response:
        """Add a server of the Model Context Protocol, as an admin.

        Nothing is called yet: look at its tools, choose some, and name the assistants that may use them.
        """
        _require_offered()
        principal = principal_of(request)
        tool_servers_of(principal, id)
        body = read_body()
        server = create_tool_server(principal, id, body.name, body.url, body.secret)
        location = request.build_absolute_uri(f"/api/v1/tool-servers/{server.pk}")
        return respond(ToolServerShape.of(server), 201, {"Location": location})


class ToolServerView(APIView):
    """One tool server."""

    @operation("tool_servers_read", tag="Tool servers", answers={200: ToolServerShape}, fails=(404,))
    def get(self, request: Request, id: UUID) -> ToolServerShape:
        """Return a tool server."""
        _require_offered()
        return ToolServerShape.of(visible_tool_server(principal_of(request), id))

    @operation(
        "tool_servers_change",
        tag="Tool servers",
        body=ToolServerPatch,
        answers={200: ToolServerShape},
        fails=(404,),
    )
    def patch(self, request: Request, id: UUID, read_body: ReadBody[ToolServerPatch]) -> ToolServerShape:
        """Change a tool server, choose its tools, and who may use them."""
        _require_offered()
        principal = principal_of(request)
        server = visible_tool_server(principal, id)
        change_tool_server(principal, server, **read_body().model_dump())
        return ToolServerShape.of(server)

    @operation("tool_servers_delete", tag="Tool servers", answers={204: None}, fails=(404,))
    def delete(self, request: Request, id: UUID) -> Response:
        """Remove a tool server: assistants use its tools no more."""
        _require_offered()
        principal = principal_of(request)
        delete_tool_server(principal, visible_tool_server(principal, id))
        return Response(status=204)


class ToolServerLookView(APIView):
    """A look at what a server offers."""

    @operation("tool_servers_look", tag="Tool servers", answers={200: ToolServerShape}, fails=(404, 502, 504))
    def post(self, request: Request, id: UUID) -> ToolServerShape:
        """Ask a server for its tools. One that it describes in another way now has to be chosen again."""
        _require_offered()
        server = visible_tool_server(principal_of(request), id)
        look_at_tools(server)
        return ToolServerShape.of(server)
