"""The search field of the admin panel: names and ids, and only of what may be viewed."""

from __future__ import annotations

import pytest
from django.db import OperationalError

from accounts.access.keys import create_key
from accounts.models import User
from kb.models import Document
from locus import admin_search
from locus.admin_search import MOST_OF_A_KIND, find_everywhere
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.locus.test_dashboard import executed, staff_with
from tests.locus.test_dashboard import root as root

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_static_files")]


def found(term: str, user: User) -> dict[str, list[str]]:
    return {group.kind: [hit.name for hit in group.hits or []] for group in find_everywhere(term, user)}


@pytest.fixture
def superuser(cast: Cast) -> User:
    return User.objects.create_superuser("root@example.org")


def test_each_kind_is_found_by_name_and_id(superuser: User, cast: Cast) -> None:
    from django.utils import timezone

    document = indexed_document(cast.team)
    Document.unscoped.filter(pk=document.pk).update(name="Lighthouse survey.pdf")
    execution = executed(cast.alice, timezone.now(), 1)
    key, _ = create_key(cast.alice, "Night import")
    assert found("alice@", superuser)["Users"] == ["alice@example.org"]
    assert found("TEAM", superuser)["Workspaces"] == ["Team"]
    assert found(str(cast.team.pk), superuser) == {"Workspaces": ["Team"]}
    assert found("lighthouse SURVEY", superuser) == {"Documents": ["Lighthouse survey.pdf"]}
    assert found(str(document.pk), superuser) == {"Documents": ["Lighthouse survey.pdf"]}
    assert found(execution.pk, superuser) == {"Executions": [execution.pk]}
    assert found("night", superuser) == {"API keys": [str(key)]}
    assert found(f"locus_{key.prefix}", superuser) == {"API keys": [str(key)]}
    for nothing in ("", " ", "a", "x" * 500, "%%%", "\\"):
        assert found(nothing, superuser) == {}


def test_content_is_not_searched(superuser: User, cast: Cast) -> None:
    indexed_document(cast.team)
    assert found("solar farm", superuser) == {}


def test_no_more_than_some_of_a_kind(superuser: User) -> None:
    for number in range(MOST_OF_A_KIND + 3):
        User.objects.create_user(f"person{number}@example.org")
    [group] = [group for group in find_everywhere("person", superuser) if group.kind == "Users"]
    assert (len(group.hits or []), group.has_more) == (MOST_OF_A_KIND, True)


def test_a_slow_search_is_said_to_be_one(superuser: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(term: str) -> None:
        raise OperationalError("canceling statement due to statement timeout")

    kind = admin_search._Kind("Users", "accounts.view_user", "admin:accounts_user_change", slow)
    monkeypatch.setattr(admin_search, "KINDS", [kind])
    [group] = find_everywhere("anything", superuser)
    assert group.hits is None


def test_staff_find_what_they_may_view(cast: Cast) -> None:
    client = staff_with("accounts.view_workspace")
    page = client.get("/admin/search/?s=team").content.decode()
    assert "Team" in page
    assert (
        "alice@example.org" not in client.get("/admin/search/?s=alice%40").content.decode().split("main")[0]
    )
    hidden = client.get("/admin/search/?s=bob%40").content.decode()
    assert "/accounts/user/" not in hidden


@pytest.mark.parametrize("name", ["alice", "bob"])
def test_others_are_refused(cast: Cast, name: str) -> None:
    from django.test import Client

    client = Client()
    client.force_login(getattr(cast, name))
    for address in ("/admin/", "/admin/search/?s=team", "/admin/components/", "/admin/health/"):
        assert client.get(address).status_code == 403
