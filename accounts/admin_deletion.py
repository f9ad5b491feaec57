"""Deletion in the admin panel: what will be deleted is counted, a name is typed, a receipt lists what was
deleted."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.http import HttpRequest, HttpResponse, QueryDict

from accounts.people.deletion import count_of, delete_users, delete_workspaces, in_words, is_large
from accounts.people.deletion_jobs import delete_later


class DeletionByName:
    """Part of the admin classes of workspaces and users: deletion with all that belongs to them."""

    delete_confirmation_template = "admin/delete_by_name.html"

    def what_goes(self, obj: Any) -> tuple[list[UUID], list[int]]:
        """Return the ids of the workspaces and users that are deleted with `obj`."""
        raise NotImplementedError

    def reasons_against(self, request: HttpRequest, obj: Any) -> list[str]:
        """Return why `obj` can't be deleted now, in whole sentences."""
        raise NotImplementedError

    def name_of(self, obj: Any) -> str:
        """Return the name to type before `obj` is deleted."""
        raise NotImplementedError

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Remove the bulk action: objects are deleted one at a time, each by its name."""
        actions: dict[str, Any] = super().get_actions(request)  # type: ignore[misc]
        actions.pop("delete_selected", None)
        return actions

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Return counts only: a list would name each of a hundred thousand chunks."""
        [obj] = objs
        return [], {}, set(), self.reasons_against(request, obj)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Ask for the name, and delete once it is right."""
        obj = self.get_object(request, unquote(object_id))  # type: ignore[attr-defined]
        context: dict[str, Any] = dict(extra_context or {})
        if obj is not None:
            context |= {"counts": in_words(count_of(*self.what_goes(obj))), "name": self.name_of(obj)}
            typed = request.POST.get("name", "").strip()
            if request.method == "POST" and typed != self.name_of(obj).strip():
                context["is_misspelt"] = True
                # Django's view takes any sent form as a confirmation.
                request.POST = QueryDict()
        response: HttpResponse = super().delete_view(request, object_id, context)  # type: ignore[misc]
        return response

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """Delete with everything that belongs to it, or let the worker do so if that is much."""
        workspaces, users = self.what_goes(obj)
        counts = count_of(workspaces, users)
        if is_large(counts):
            delete_later(workspaces, users)
            messages.info(request, f"It is hidden now. {in_words(counts)} are being deleted.")
            return
        gone = delete_users(users) if users else delete_workspaces(workspaces)
        messages.info(request, f"Deleted with it: {in_words({**gone, 'workspaces': 0})}.")
