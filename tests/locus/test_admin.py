"""The admin panel: every page opens for staff, and for nobody else."""

from __future__ import annotations

import re

import pytest
from django.contrib import admin
from django.contrib.admin.utils import quote
from django.test import Client
from django.urls import reverse

from accounts.access.identity import principal_of_user
from accounts.models import Preferences, User
from kb.models import Document
from runs.lifecycle import begin
from runs.registry import tool_named
from tests.conftest import Cast
from tests.factories import indexed_document

MODELS = list(admin.site._registry)


@pytest.fixture
def staff(cast: Cast, static_files: None) -> Client:
    """A client of staff, with one row in each table that tests can make cheaply."""
    indexed_document(cast.team)
    Preferences.objects.create(user=cast.alice, values={"rag": {"contexts": 8}})
    principal = principal_of_user(cast.alice)
    tool = tool_named("rag_search")
    begin(principal, tool, tool.parse(principal, {"query": "anything"}), None)
    client = Client()
    client.force_login(User.objects.create_superuser("root@example.org"))
    return client


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_lists_and_forms_open(staff: Client, model: type) -> None:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"  # type: ignore[attr-defined]
    assert staff.get(reverse(f"{name}_changelist")).status_code == 200
    manager = getattr(model, "unscoped", None) or model._default_manager  # type: ignore[attr-defined]
    row = manager.first()
    if row is not None:
        assert staff.get(reverse(f"{name}_change", args=[quote(row.pk)])).status_code == 200


def test_what_the_issue_names_is_there() -> None:
    names = {model.__name__ for model in MODELS}
    assert {"User", "Workspace", "Document", "ApiKey", "QueuedJob"} <= names


def test_settings_and_preferences_can_be_looked_at_but_not_changed(staff: Client, cast: Cast) -> None:
    cast.team.settings = {"rag": {"contexts": 12}}
    cast.team.save()
    workspace = reverse("admin:accounts_workspace_change", args=[cast.team.pk])
    preferences = reverse("admin:accounts_preferences_change", args=[cast.alice.pk])
    words = "Contexts of an answer, at most"
    assert re.search(f"{words}.{{1,200}}12", staff.get(workspace).content.decode(), re.DOTALL)
    assert f"{words}: 8" in staff.get(preferences).content.decode()
    assert staff.post(preferences, {"values": "{}"}).status_code == 403


def test_a_user_can_be_added(staff: Client) -> None:
    form = {
        "email": "dora@example.org",
        "usable_password": "true",
        "password1": "a fine pass phrase",
        "password2": "a fine pass phrase",
    }
    response = staff.post(reverse("admin:accounts_user_add"), form)
    assert response.status_code == 302, response.context["errors"]
    assert User.objects.get(email="dora@example.org").personal_workspace.name == "Personal"


def test_deleting_a_document_removes_its_file(
    staff: Client, django_capture_on_commit_callbacks: object
) -> None:
    document = Document.unscoped.get()
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        staff.post(reverse("admin:kb_document_delete", args=[document.pk]), {"post": "yes"})
    assert not Document.unscoped.exists()
    assert not document.file.storage.exists(document.file.name or "")


@pytest.mark.parametrize("name", ["alice", "bob", "charlie"])
def test_everyone_else_is_sent_away(cast: Cast, name: str, static_files: None) -> None:
    client = Client()
    client.force_login(getattr(cast, name))
    assert client.get("/admin/kb/document/").status_code == 403
