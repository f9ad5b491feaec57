"""`/api/v1/assistants`: assistants, their versions and what counts for a request."""

from __future__ import annotations

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from assistants.configuration.assistants import (
    change_assistant,
    changeable_assistant,
    create_assistant,
    delete_assistant,
    listed_assistants,
)
from assistants.configuration.bindings import binding_of
from assistants.configuration.resolving import as_configured, version_of, visible_assistant
from assistants.configuration.schemas import (
    AssistantDetails,
    AssistantList,
    AssistantPatch,
    AssistantsQuery,
    AssistantVersionDetails,
    AssistantVersionList,
    NewAssistant,
    ResolvedQuery,
    ResolvedSettings,
)
from assistants.models import Assistant, AssistantVersion
from core.api.lists import ListQuery, page_of
from core.api.operations import ReadBody, operation, respond
from core.errors import NotFound

BY_NAME = ("name", "id")
NEWEST_FIRST = ("-number", "id")


class AssistantsView(APIView):
    """The assistants that the caller may ask."""

    @operation(
        "assistants_list",
        tag="Assistants",
        query=AssistantsQuery,
        answers={200: AssistantList},
        fails=(404,),
    )
    def get(self, request: Request, query: AssistantsQuery) -> AssistantList:
        """List the caller's own assistants and those of its workspaces, by name."""
        principal = principal_of(request)
        rows = listed_assistants(principal)
        if query.workspace_id is not None:
            if query.workspace_id not in principal.roles:
                raise NotFound(
                    f"There is no workspace {query.workspace_id} that you can see.", param="workspace_id"
                )
            rows = rows.filter(workspace=query.workspace_id)

        def shown(row: Assistant) -> AssistantDetails:
            return AssistantDetails.of(principal, row, version_of(row, row.version))

        return page_of(AssistantList, rows, shown, request, query, BY_NAME)

    @operation(
        "assistants_create",
        tag="Assistants",
        body=NewAssistant,
        answers={201: AssistantDetails},
        fails=(404,),
    )
    def post(self, request: Request, read_body: ReadBody[NewAssistant]) -> Response:
        """Make an assistant. One of a workspace needs the role admin there."""
        principal = principal_of(request)
        body = read_body()
        workspace_id = body.workspace_id or principal.default_workspace_id()
        made = create_assistant(principal, workspace_id, body.columns(), body.settings)
        address = request.build_absolute_uri(f"/api/v1/assistants/{made.pk}")
        details = AssistantDetails.of(principal, made, version_of(made, made.version))
        return respond(details, 201, {"Location": address})


class AssistantView(APIView):
    """One assistant."""

    @operation("assistants_read", tag="Assistants", answers={200: AssistantDetails}, fails=(404,))
    def get(self, request: Request, id: UUID) -> AssistantDetails:
        """Return an assistant with the settings of its newest version."""
        principal = principal_of(request)
        row = visible_assistant(principal, id)
        return AssistantDetails.of(principal, row, version_of(row, row.version))

    @operation(
        "assistants_update",
        tag="Assistants",
        body=AssistantPatch,
        answers={200: AssistantDetails},
        fails=(404,),
    )
    def patch(self, request: Request, id: UUID, read_body: ReadBody[AssistantPatch]) -> AssistantDetails:
        """Change an assistant; other settings make a new version."""
        principal = principal_of(request)
        row = changeable_assistant(principal, id)
        body = read_body()
        settings = body.settings if "settings" in body.model_fields_set else None
        row = change_assistant(principal, row, body.columns(), settings)
        return AssistantDetails.of(principal, row, version_of(row, row.version))

    @operation("assistants_delete", tag="Assistants", answers={204: None}, fails=(404,))
    def delete(self, request: Request, id: UUID) -> Response:
        """Delete an assistant. Conversations with it stay, and go on without it."""
        principal = principal_of(request)
        delete_assistant(principal, changeable_assistant(principal, id))
        return Response(status=204)


class AssistantVersionsView(APIView):
    """What an assistant was set to."""

    @operation(
        "assistants_versions",
        tag="Assistants",
        query=ListQuery,
        answers={200: AssistantVersionList},
        fails=(404,),
    )
    def get(self, request: Request, id: UUID, query: ListQuery) -> AssistantVersionList:
        """List the versions of an assistant, newest first, to its members."""
        principal = principal_of(request)
        row = visible_assistant(principal, id)
        principal.refuse_external_user("does not see how an assistant is set up")
        rows = AssistantVersion.objects.filter(assistant=row)
        shown = AssistantVersionDetails.of
        return page_of(AssistantVersionList, rows, shown, request, query, NEWEST_FIRST)


class AssistantResolvedView(APIView):
    """What counts for a request."""

    @operation(
        "assistants_resolved",
        tag="Assistants",
        query=ResolvedQuery,
        answers={200: ResolvedSettings},
        fails=(404,),
    )
    def get(self, request: Request, id: UUID, query: ResolvedQuery) -> ResolvedSettings:
        """Return the settings that count by a binding: its own, and for the others the assistant's."""
        principal = principal_of(request)
        row = visible_assistant(principal, id)
        principal.refuse_external_user("does not see how an assistant is set up")
        binding = binding_of(row, query.binding_id) if query.binding_id else None
        return ResolvedSettings.of(as_configured(row, version_of(row, row.version), binding), binding)
