"""Users and workspaces in the admin panel: what can be seen, what is refused, what a deletion leaves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from procrastinate.contrib.django.models import ProcrastinateJob
from unfold.widgets import UnfoldAdminPasswordWidget

from accounts.models import AuditAction, AuditEntry, Membership, User, Workspace
from accounts.people import deletion, deletion_jobs
from accounts.people.deletion import in_words
from accounts.roles import Role
from accounts.user_admin import NewUserForm
from core.errors import Conflict
from kb.documents import page_cache
from kb.models import Chunk, Document
from tests.conftest import Cast
from tests.factories import add_chunk, indexed_document, located_words, pdf_of
from tests.testing.stored import all_stored, is_stored

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_static_files")]


@pytest.fixture
def staff(cast: Cast) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root@example.org"))
    return client


def at(page: str, *args: Any) -> str:
    return reverse(f"admin:accounts_{page}", args=args)


def inline(
    *rows: tuple[Membership | None, User, Role], existing: int, delete: int | None = None
) -> dict[str, Any]:
    """Return the form data of the members of a workspace."""
    form: dict[str, Any] = {"memberships-TOTAL_FORMS": len(rows), "memberships-INITIAL_FORMS": existing}
    form |= {"quota-TOTAL_FORMS": 0, "quota-INITIAL_FORMS": 0}
    for index, (membership, user, role) in enumerate(rows):
        form |= {
            f"memberships-{index}-id": membership.pk if membership else "",
            f"memberships-{index}-user": user.pk,
            f"memberships-{index}-role": role.value,
        }
        if index == delete:
            form[f"memberships-{index}-DELETE"] = "on"
    return form


# --- Users -----------------------------------------------------------------------------------------------


def test_the_passwords_of_a_new_user_are_typed_into_fields_one_can_see(staff: Client) -> None:
    """Both fields were without border and background: nothing to type into."""
    fields = NewUserForm().fields
    assert all(
        isinstance(fields[name].widget, UnfoldAdminPasswordWidget) for name in ("password1", "password2")
    )
    page = staff.get(at("user_add")).content.decode()
    for name in ("password1", "password2"):
        [field] = re.findall(rf'<input[^>]+name="{name}"[^>]*>', page)
        assert re.search(r'class="[^"]*\bborder\b', field)


def test_an_address_that_an_administrator_enters_is_verified_and_small(staff: Client) -> None:
    form = {"usable_password": "false", "password1": "", "password2": ""}
    assert staff.post(at("user_add"), form | {"email": "Dora@Example.org"}).status_code == 302
    dora = User.objects.get(email="dora@example.org")
    assert EmailAddress.objects.get(user=dora, verified=True).email == dora.email
    taken = staff.post(at("user_add"), form | {"email": "DORA@example.org"})
    assert (taken.status_code, "already exists" in taken.content.decode()) == (200, True)


# --- Owners ----------------------------------------------------------------------------------------------


def test_a_workspace_is_not_made_without_an_owner(staff: Client, cast: Cast) -> None:
    """A workspace with one viewer was saved; nobody could change its settings."""
    for rows in ([], [(None, cast.bob, Role.VIEWER)]):
        reply = staff.post(at("workspace_add"), {"name": "New"} | inline(*rows, existing=0))
        assert (reply.status_code, "A workspace needs an owner" in reply.content.decode()) == (200, True)
    assert not Workspace.objects.filter(name="New").exists()
    form = {"name": "New"} | inline((None, cast.bob, Role.OWNER), existing=0)
    assert staff.post(at("workspace_add"), form).status_code == 302


def test_the_last_owner_of_a_workspace_stays_one(staff: Client, cast: Cast) -> None:
    address = at("workspace_change", cast.team.pk)
    owner, viewer = (Membership.objects.get(workspace=cast.team, user=u) for u in (cast.alice, cast.bob))
    resigned = inline((owner, cast.alice, Role.ADMIN), (viewer, cast.bob, Role.VIEWER), existing=2)
    removed = inline((owner, cast.alice, Role.OWNER), (viewer, cast.bob, Role.VIEWER), existing=2, delete=0)
    for form in (resigned, removed):
        reply = staff.post(address, {"name": "Team"} | form)
        assert (reply.status_code, "A workspace needs an owner" in reply.content.decode()) == (200, True)
    from_the_user = {"email": cast.alice.email, "is_active": "on"}
    from_the_user |= inline((owner, cast.alice, Role.VIEWER), existing=1)
    from_the_user["memberships-0-workspace"] = str(cast.team.pk)
    from_the_user["memberships-0-user"] = str(cast.alice.pk)
    reply = staff.post(at("user_change", cast.alice.pk), from_the_user)
    assert (reply.status_code, "A workspace needs an owner: Team" in reply.content.decode()) == (200, True)
    handed_over = inline((owner, cast.alice, Role.VIEWER), (viewer, cast.bob, Role.OWNER), existing=2)
    assert staff.post(address, {"name": "Team"} | handed_over).status_code == 302
    roles = dict(cast.team.memberships.values_list("user__email", "role"))
    assert roles == {cast.alice.email: "viewer", cast.bob.email: "owner"}


def test_code_does_not_take_the_last_owner_either(cast: Cast) -> None:
    owner = Membership.objects.get(workspace=cast.team, user=cast.alice)
    owner.role = Role.EDITOR
    for change in (owner.save, owner.delete):
        with pytest.raises(Conflict, match="needs an owner"):
            change()
    Membership.objects.create(workspace=cast.team, user=cast.charlie, role=Role.OWNER)
    owner.save()
    assert cast.team.memberships.get(user=cast.alice).role == Role.EDITOR


# --- Deletion --------------------------------------------------------------------------------------------


def files_left() -> set[str]:
    """Return the names of the files of documents, and the paths of page images."""
    images = Path(settings.DATA_DIR) / "cache" / "pages"
    return all_stored() | {str(path) for path in images.rglob("*") if path.is_file()}


def with_page_image(document: Document) -> Document:
    page_cache(document).mkdir(parents=True)
    (page_cache(document) / "1-100.png").write_bytes(b"png")
    return document


@pytest.mark.parametrize("kind", ["workspace", "user"])
def test_deleting_leaves_no_file_and_says_what_went(
    staff: Client, cast: Cast, kind: str, django_capture_on_commit_callbacks: Any
) -> None:
    """The rows went, the original files stayed on the disk."""
    before = files_left()
    if kind == "workspace":
        workspace, name, address = cast.team, "Team", at("workspace_delete", cast.team.pk)
    else:
        workspace, name = cast.charlie.personal_workspace, cast.charlie.email
        address = at("user_delete", cast.charlie.pk)
    document = with_page_image(indexed_document(workspace))
    assert len(files_left() - before) == 2
    page = staff.get(address).content.decode()
    assert "1 document, 1 chunk," in page and f"Type “{name}” to confirm" in page
    for wrong in ({"post": "yes"}, {"name": "another"}, {"name": name.upper()}):
        refused = staff.post(address, wrong)
        assert (refused.status_code, "Nothing was deleted" in refused.content.decode()) == (200, True)
    assert Document.unscoped.filter(pk=document.pk).exists()
    with django_capture_on_commit_callbacks(execute=True):
        reply = staff.post(address, {"name": f" {name} "}, follow=True)
    assert "Deleted with it: 1 document, 1 chunk, 1 vector, 1 file," in reply.content.decode()
    assert files_left() <= before
    recorded = AuditEntry.unscoped.filter(action=AuditAction.WORKSPACE_DELETED).values("target_id", "details")
    counts = {"documents": 1, "chunks": 1, "bytes": document.size, "name": name}
    expected = [{"target_id": str(workspace.pk), "details": counts}] if kind == "workspace" else []
    assert list(recorded) == expected
    assert not Document.unscoped.exists() and not Chunk.unscoped.exists()
    assert not Workspace.objects.filter(pk=workspace.pk).exists()
    assert User.objects.filter(pk=cast.charlie.pk).exists() is (kind == "workspace")


def test_a_deletion_is_asked_for_in_a_few_lines_whatever_goes(staff: Client, cast: Cast) -> None:
    """The confirmation listed every chunk and every vector by its id."""
    document = indexed_document(cast.team)
    words = located_words(pdf_of("Many words stand here."))
    for ordinal in range(1, 30):
        add_chunk(document, words, ordinal)
    Document.unscoped.filter(pk=document.pk).update(chunk_count=30)
    document_page = reverse("admin:kb_document_delete", args=[document.pk])
    for address in (at("workspace_delete", cast.team.pk), at("user_delete", cast.alice.pk), document_page):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            page = staff.get(address).content.decode()
        chunks = map(str, Chunk.unscoped.values_list("pk", flat=True))
        assert not any(chunk in page for chunk in chunks)
        assert len(queries) < 30


def test_some_are_not_deleted_and_the_page_says_why(staff: Client, cast: Cast) -> None:
    root = User.objects.get(email="root@example.org")
    for address, reason in [
        (
            at("workspace_delete", cast.bob.personal_workspace.pk),
            "This is the personal workspace of bob@example.org",
        ),
        (at("user_delete", cast.alice.pk), "Team has no other owner."),
        (at("user_delete", root.pk), "You cannot delete yourself."),
    ]:
        for reply in (
            staff.get(address),
            staff.post(address, {"name": "Team"}),
            staff.post(address, {"name": root.email}),
        ):
            assert reason in reply.content.decode()
    assert User.objects.count() == 4 and Workspace.objects.count() == 5


def test_workspaces_and_users_are_deleted_one_by_one(staff: Client, cast: Cast) -> None:
    for kind in ("workspace", "user"):
        assert 'value="delete_selected"' not in staff.get(at(f"{kind}_changelist")).content.decode()


@pytest.mark.parametrize("kind", ["workspace", "user"])
def test_much_is_deleted_by_the_worker_and_seen_by_nobody_meanwhile(
    staff: Client,
    cast: Cast,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    monkeypatch.setattr(deletion, "MAX_DOCUMENTS", 1)
    workspace = cast.team if kind == "workspace" else cast.charlie.personal_workspace
    document = indexed_document(workspace)
    indexed_document(workspace)
    address, name, who = (
        (at("workspace_delete", cast.team.pk), "Team", "alice")
        if kind == "workspace"
        else (at("user_delete", cast.charlie.pk), cast.charlie.email, "charlie")
    )
    reply = staff.post(address, {"name": name}, follow=True)
    assert "2 documents, 2 chunks" in reply.content.decode()
    seen = Client().get(f"/api/v1/documents/{document.pk}", headers=cast.headers(who))
    assert seen.status_code == (404 if kind == "workspace" else 401)
    [job] = ProcrastinateJob.objects.filter(task_name=deletion_jobs.DELETE)
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            deletion_jobs.delete_workspaces_and_people(**job.args)
    assert not Document.unscoped.exists()
    assert not is_stored(document)
    assert not Workspace.objects.filter(pk=workspace.pk).exists()


def test_counts_are_told_in_words() -> None:
    counts = {"documents": 1, "chunks": 1273, "vectors": 0, "files": 2, "bytes": 474_000}
    assert in_words(counts) == "1 document, 1,273 chunks, 2 files, 474 kB"
    assert in_words({}) == "nothing else"
