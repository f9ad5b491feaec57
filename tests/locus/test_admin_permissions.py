"""Every route of the admin panel, with everybody: each needs its permission, and that one alone opens it.

A route without a case fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.utils import quote
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction
from django.test import Client
from django.urls import URLPattern, URLResolver
from django.utils import timezone
from pytest import Subtests

from accounts.access.identity import principal_of_user
from accounts.audit.recording import record
from accounts.models import ApiKey, AuditAction, AuditEntry, Preferences, User
from accounts.models.ledger import Charge
from assistants.models import Assistant, Visibility
from kb.jobs import INGEST_TASK, defer_for_document
from kb.models import Document, EmbeddingSpace, Status
from locus.models import QueuedJob
from runs.lifecycle import begin
from runs.models import Execution
from runs.registry import tool_named
from search.models import Breaker
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.locus.staff import client_of

STAFF, NOBODY = "staff", "nobody"


@dataclass(frozen=True)
class Case:
    """How a route is called, and which permission it needs: `STAFF` is none, `NOBODY` is refused to all."""

    permission: str
    method: str = "get"
    query: str = ""


OWN: dict[str, Case] = {
    "index": Case(STAFF),
    "login": Case(STAFF),
    "logout": Case(STAFF),
    "password_change": Case(STAFF),
    "password_change_done": Case(STAFF),
    "jsi18n": Case(STAFF),
    "search": Case(STAFF, query="?s=alice"),
    "view_on_site": Case(STAFF),
    "app_list": Case(STAFF),
    "autocomplete": Case(
        "accounts.view_user", query="?app_label=accounts&model_name=membership&field_name=user&term=a"
    ),
    "components": Case("locus.view_components"),
    "component_test": Case("locus.test_components", "post"),
    "health": Case("locus.view_health"),
    "health_examine": Case("locus.view_health", "post"),
    "health_repair": Case("locus.repair"),
    "accounts_auditentry_export": Case("accounts.view_auditentry"),
    "accounts_user_activity": Case("accounts.change_user", "post"),
    "accounts_user_end_sessions": Case("accounts.change_user", "post"),
    "accounts_user_reset_second_factor": Case("accounts.change_user", "post"),
    "accounts_user_invite": Case("accounts.change_user", "post"),
    "auth_user_password_change": Case("accounts.change_user"),
    "accounts_workspace_restore": Case("accounts.delete_workspace", "post"),
    "kb_document_reprocess": Case("kb.change_document", "post"),
    "kb_document_cancel": Case("kb.change_document", "post"),
    "search_execution_cancel": Case("search.change_execution", "post"),
    "search_execution_content": Case("search.view_execution", "post"),
    "failed_document_retry": Case("kb.change_document", "post"),
    "failed_document_dismiss": Case("kb.change_document", "post"),
    "locus_queuedjob_retry": Case("locus.change_queuedjob", "post"),
    "locus_queuedjob_dismiss": Case("locus.delete_queuedjob", "post"),
}
"""Routes apart from those that every model has."""
REFUSED = {
    "assistants_assistant_add",
    "assistants_assistant_delete",
    "accounts_apikey_add",
    "accounts_auditentry_add",
    "accounts_auditentry_delete",
    "accounts_preferences_add",
    "kb_charge_add",
    "kb_charge_delete",
    "kb_document_add",
    "kb_embeddingspace_add",
    "locus_queuedjob_add",
    "locus_queuedjob_delete",
    "search_breaker_add",
    "search_execution_add",
    "search_execution_delete",
}
"""What no permission opens, although Django has a route for it."""
ALSO = {"accounts.add_user": "accounts.change_user"}
"""Django lets nobody add users who may not change them."""
LOOKING = re.compile(r"(?<=\.)(change|delete|test)_")
VERBS = {"changelist": "view", "change": "view", "history": "view", "add": "add", "delete": "delete"}


@dataclass(frozen=True)
class Route:
    """A route of the panel with its parameters filled in."""

    name: str
    address: str
    case: Case | None


@pytest.fixture
def rows(cast: Cast, static_files: None) -> dict[str, Any]:
    """A row of each table that the panel shows, by app and model."""
    document = indexed_document(cast.team)
    defer_for_document(INGEST_TASK, document.pk)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_jobs SET status = 'doing'")
        cursor.execute("UPDATE procrastinate_jobs SET status = 'failed'")
    Document.unscoped.update(status=Status.FAILED)
    principal, tool = principal_of_user(cast.alice), tool_named("rag_search")
    begin(principal, tool, tool.parse(principal, {"query": "anything"}), None)
    record(AuditAction.WORKSPACE_CHANGED, cast.alice, workspace_id=cast.team.pk)
    Charge.unscoped.create(
        workspace=cast.team,
        purpose="search",
        provider="brave",
        amount=Decimal("0.01"),
        lease_until=timezone.now(),
    )
    found = {
        "accounts_apikey": ApiKey.objects.get(user=cast.alice),
        "accounts_auditentry": AuditEntry.unscoped.first(),
        "accounts_preferences": Preferences.objects.create(user=cast.alice, values={}),
        "accounts_user": cast.charlie,
        "accounts_workspace": cast.team,
        "assistants_assistant": Assistant.unscoped.create(
            user=cast.alice, workspace=cast.team, name="Guide", visibility=Visibility.WORKSPACE
        ),
        "kb_charge": Charge.unscoped.first(),
        "kb_document": document,
        "kb_embeddingspace": EmbeddingSpace.objects.first(),
        "locus_queuedjob": QueuedJob.objects.first(),
        "search_breaker": Breaker.objects.create(name="web_search:brave"),
        "search_execution": Execution.unscoped.first(),
    }
    known = {f"{model._meta.app_label}_{model._meta.model_name}" for model in admin.site._registry}
    assert set(found) == known, "a table of the panel has no row here"
    return found


def routes(rows: dict[str, Any]) -> Iterator[Route]:
    for pattern, name in _patterns(admin.site.urls[0]):
        yield Route(name or pattern, "/admin/" + _filled(pattern, rows), _case_of(name))


def _patterns(patterns: Any, prefix: str = "") -> Iterator[tuple[str, str | None]]:
    for each in patterns:
        if isinstance(each, URLResolver):
            yield from _patterns(each.url_patterns, prefix + str(each.pattern))
        else:
            assert isinstance(each, URLPattern)
            yield prefix + str(each.pattern), each.name


def _filled(pattern: str, rows: dict[str, Any]) -> str:
    if pattern.startswith("^"):
        return "accounts/"
    key = "_".join(pattern.split("/")[:2])
    row = rows["kb_document"] if "/document/<uuid:id>" in pattern else rows.get(key)
    values = {
        "<slug:code>": "unknown",
        "<path:content_type_id>": str(ContentType.objects.get_for_model(User).pk),
    }
    if row is None:
        values["<path:object_id>"] = str(rows["accounts_user"].pk)
    else:
        values |= dict.fromkeys(("<path:object_id>", "<uuid:id>", "<id>"), str(quote(row.pk)))
    for parameter, value in values.items():
        pattern = pattern.replace(parameter, value)
    assert "<" not in pattern, pattern
    return pattern


def _case_of(name: str | None) -> Case | None:
    if name is None:
        # The address of a row without a verb redirects to its page.
        return Case(STAFF)
    if name in OWN:
        return OWN[name]
    if name in REFUSED:
        return Case(NOBODY)
    model, _, verb = name.rpartition("_")
    app, _, table = model.partition("_")
    return Case(f"{app}.{VERBS[verb]}_{table}") if verb in VERBS else None


@dataclass
class Staff:
    """A client of staff whose permissions change from request to request."""

    client: Client
    granted: set[str]


@pytest.fixture
def staff(db: None, monkeypatch: pytest.MonkeyPatch) -> Staff:
    user = User.objects.create_user("staff@example.org")
    user.is_staff = True
    user.save()
    found = Staff(client_of(user), set())
    monkeypatch.setattr(ModelBackend, "get_all_permissions", lambda *_, **__: found.granted)
    return found


def all_permissions() -> set[str]:
    names = Permission.objects.values_list("content_type__app_label", "codename")
    return {f"{app}.{codename}" for app, codename in names}


def is_to_look(permission: str) -> bool:
    return ".view_" in permission


def status_of(client: Client, route: Route) -> int:
    """Return what a route answers; whatever it did is undone."""
    assert route.case is not None
    with transaction.atomic():
        call = getattr(client, route.case.method)
        status: int = call(
            route.address + route.case.query, {} if route.case.method == "post" else None
        ).status_code
        transaction.set_rollback(True)
    return status


def test_every_route_has_a_case(rows: dict[str, Any]) -> None:
    assert [route.name for route in routes(rows) if route.case is None] == []


def test_nobody_but_staff_gets_in(rows: dict[str, Any], cast: Cast, subtests: Subtests) -> None:
    plain = client_of(cast.bob)
    for route in routes(rows):
        with subtests.test(route.name):
            anonymous = Client()
            assert status_of(anonymous, route) in (302, 404)
            assert status_of(plain, route) == 403


def test_staff_without_permissions_see_the_frame_alone(
    rows: dict[str, Any], staff: Staff, subtests: Subtests
) -> None:
    client = staff.client
    text = client.get("/admin/").content.decode()
    for route in routes(rows):
        assert route.case is not None
        with subtests.test(route.name):
            status = status_of(client, route)
            if route.case.permission == STAFF:
                assert status in (200, 302, 404, 405)
            else:
                assert status in (403, 404)
                assert f'href="{route.address}' not in text


def test_a_route_opens_with_its_permission_and_not_with_all_others(
    rows: dict[str, Any], staff: Staff, subtests: Subtests
) -> None:
    everything = all_permissions()
    for route in routes(rows):
        assert route.case is not None
        permission = route.case.permission
        if permission in (STAFF, NOBODY):
            continue
        assert permission in everything
        # Who may change may look, and a button's reply is the page that it stands on.
        also = {permission.replace("view_", "change_")} if is_to_look(permission) else set()
        with subtests.test(f"{route.name} with {permission}"):
            staff.granted = {permission, LOOKING.sub("view_", permission), ALSO.get(permission, permission)}
            assert status_of(staff.client, route) in (200, 302, 404)
        with subtests.test(f"{route.name} without {permission}"):
            staff.granted = everything - {permission} - also
            assert status_of(staff.client, route) == 403


def test_superusers_meet_no_error_and_what_is_refused_is_refused_to_them(
    rows: dict[str, Any], subtests: Subtests
) -> None:
    client = client_of(User.objects.create_superuser("root@example.org"))
    for route in routes(rows):
        assert route.case is not None
        with subtests.test(route.name):
            status = status_of(client, route)
            if route.case.permission == NOBODY:
                assert status in (403, 404)
            else:
                assert status in (200, 302, 404, 405)


def test_those_who_may_only_look_are_offered_no_change(
    rows: dict[str, Any], staff: Staff, subtests: Subtests
) -> None:
    staff.granted = {name for name in all_permissions() if is_to_look(name)}
    client = staff.client
    changing = {
        route.address
        for route in routes(rows)
        if route.case
        and (route.case.method == "post" or not route.case.permission.partition(".")[2].startswith("view_"))
        and route.case.permission not in (STAFF, NOBODY, "search.view_execution", "locus.view_health")
    }
    for route in routes(rows):
        assert route.case is not None
        if route.case.method != "get" or not is_to_look(route.case.permission):
            continue
        with subtests.test(route.name):
            page = client.get(route.address + route.case.query)
            assert page.status_code in (200, 302)
            if page.streaming or "html" not in page["Content-Type"]:
                continue
            text = page.content.decode()
            offered = [each for each in changing if f'"{each}"' in text]
            assert offered == []
            assert 'name="_save"' not in text
            assert 'value="delete_selected"' not in text
