"""`/api/v1/assistants/{id}/bindings`: the ways in which an assistant is reached."""

from __future__ import annotations

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from assistants.configuration.assistants import changeable_assistant
from assistants.configuration.bindings import binding_of, change_binding, create_binding, delete_binding
from assistants.configuration.schemas import BindingDetails, BindingList, BindingPatch, NewBinding
from assistants.models import Binding
from core.api.lists import ListQuery, page_of
from core.api.operations import ReadBody, operation, respond

OLDEST_FIRST = ("created_at", "id")


class BindingsView(APIView):
    """The bindings of an assistant, for those who may change it."""

    @operation("bindings_list", tag="Assistants", query=ListQuery, answers={200: BindingList}, fails=(404,))
    def get(self, request: Request, id: UUID, query: ListQuery) -> BindingList:
        """List the bindings, oldest first."""
        assistant = changeable_assistant(principal_of(request), id)
        rows = Binding.objects.filter(assistant=assistant)
        return page_of(BindingList, rows, BindingDetails.of, request, query, OLDEST_FIRST)

    @operation(
        "bindings_create", tag="Assistants", body=NewBinding, answers={201: BindingDetails}, fails=(404,)
    )
    def post(self, request: Request, id: UUID, read_body: ReadBody[NewBinding]) -> Response:
        """Make a binding. Settings that are null are the assistant's, others replace them."""
        principal = principal_of(request)
        assistant = changeable_assistant(principal, id)
        body = read_body()
        made = create_binding(principal, assistant, body.columns(), body.overrides)
        address = request.build_absolute_uri(f"/api/v1/assistants/{id}/bindings/{made.pk}")
        return respond(BindingDetails.of(made), 201, {"Location": address})


class BindingView(APIView):
    """One binding."""

    @operation(
        "bindings_update", tag="Assistants", body=BindingPatch, answers={200: BindingDetails}, fails=(404,)
    )
    def patch(
        self, request: Request, id: UUID, binding_id: UUID, read_body: ReadBody[BindingPatch]
    ) -> BindingDetails:
        """Change the sites of a widget, or what the binding sets by itself."""
        principal = principal_of(request)
        binding = binding_of(changeable_assistant(principal, id), binding_id)
        body = read_body()
        overrides = body.overrides if "overrides" in body.model_fields_set else None
        return BindingDetails.of(change_binding(principal, binding, body.columns(), overrides))

    @operation("bindings_delete", tag="Assistants", answers={204: None}, fails=(404,))
    def delete(self, request: Request, id: UUID, binding_id: UUID) -> Response:
        """Delete a binding."""
        principal = principal_of(request)
        delete_binding(principal, binding_of(changeable_assistant(principal, id), binding_id))
        return Response(status=204)
