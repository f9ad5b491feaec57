"""The pages as the server sends them: who gets them, and that the content security policy can hold."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from uuid import uuid4

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import Membership, User
from accounts.roles import Role
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.testing.paths import ROOT

PAGES = ["/", "/documents/", "/keys/", "/preferences"]
# Spelled out: the ids of tests have to be the same in each process that collects them.
NOWHERE = "00000000-0000-4000-8000-000000000000"
OF_ADMINS = ["/workspaces/{}/search-bench", "/workspaces/{}/settings", "/workspaces/{}/web"]
ENTRANCES = [
    *("/accounts/login/", "/accounts/signup/", "/accounts/confirm-email/"),
    *("/accounts/password/reset/", "/accounts/password/reset/done/", "/accounts/password/reset/key/done/"),
    *("/accounts/password/reset/key/1-nothing/", "/accounts/confirm-email/nothing/"),
]
ACCOUNT_PAGES = [
    *("/accounts/password/change/", "/accounts/logout/", "/accounts/profile/", "/accounts/security/"),
    *("/accounts/sessions/", "/accounts/reauthenticate/", "/accounts/data/"),
]
PASSWORD = "a long enough password"

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


class InlineCode(HTMLParser):
    """Finds what the policy `default-src 'self'` refuses to run or to apply."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        self.found += [f"{tag} {name}" for name in names if name == "style" or name.startswith("on")]
        if tag == "style" or (tag == "script" and "src" not in names):
            self.found.append(tag)


def inline_code(html: str) -> list[str]:
    parser = InlineCode()
    parser.feed(html)
    return parser.found


def test_no_form_puts_its_content_into_the_address() -> None:
    """A form sent before its script is there goes where its markup says: by default, into the address."""
    templates = sorted((ROOT / "templates").rglob("*.html"))
    forms = [form for path in templates for form in re.findall(r"<form\b[^>]*>", path.read_text())]
    assert len(forms) > 20
    assert [form for form in forms if "method=" not in form and 'role="search"' not in form] == []


@pytest.fixture
def ada(client: Client) -> User:
    """Somebody who is logged in."""
    user = User.objects.create_user("ada@example.org", PASSWORD)
    client.force_login(user)
    return user


@pytest.mark.parametrize("address", [*PAGES, f"/documents/{NOWHERE}"])
def test_strangers_are_asked_to_log_in_and_brought_back(client: Client, address: str) -> None:
    reply = client.get(address)
    assert reply.status_code == 302
    assert reply["Location"] == f"/accounts/login/?next={address}"


@pytest.mark.parametrize("address", [*PAGES, *ACCOUNT_PAGES])
def test_pages_hold_no_inline_code(client: Client, ada: User, address: str) -> None:
    reply = client.get(address)
    assert reply.status_code == 200
    assert inline_code(reply.content.decode()) == []
    assert "default-src 'self'" in reply["Content-Security-Policy"]
    assert 'href="#main"' in reply.content.decode()


@pytest.mark.parametrize("address", ENTRANCES)
def test_entrances_hold_no_inline_code(client: Client, settings: Settings, address: str) -> None:
    settings.SIGNUP_OPEN, settings.EMAIL_HOST = True, "mail.example.org"
    reply = client.get(address)
    assert reply.status_code == 200
    assert inline_code(reply.content.decode()) == []
    assert "Every answer has its" in reply.content.decode()


def test_logging_in_and_out(client: Client) -> None:
    User.objects.create_user("ada@example.org", PASSWORD)
    wrong = client.post("/accounts/login/", {"login": "ada@example.org", "password": "wrong"})
    assert 'role="alert"' in wrong.content.decode()
    right = client.post("/accounts/login/?next=/keys/", {"login": "ADA@example.org", "password": PASSWORD})
    assert right["Location"] == "/keys/"
    assert client.post("/accounts/logout/")["Location"] == "/accounts/login/"
    assert client.get("/").status_code == 302


def test_logging_in_does_not_lead_to_other_sites(client: Client) -> None:
    User.objects.create_user("ada@example.org", PASSWORD)
    reply = client.post(
        "/accounts/login/?next=https://evil.example/", {"login": "ada@example.org", "password": PASSWORD}
    )
    assert reply["Location"] == "/"


def test_a_password_can_be_changed(client: Client, ada: User) -> None:
    new = "another long password"
    form = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    assert client.post("/accounts/password/change/", form).status_code == 302
    ada.refresh_from_db()
    assert ada.check_password(new)


@pytest.mark.parametrize(("is_staff", "times"), [(True, 1), (False, 0)], ids=["staff", "others"])
def test_only_staff_are_shown_the_way_to_the_administration(
    client: Client, ada: User, is_staff: bool, times: int
) -> None:
    User.objects.filter(pk=ada.pk).update(is_staff=is_staff)
    assert client.get("/").content.decode().count('href="/admin/"') == times


def test_members_see_a_document_and_strangers_do_not_learn_of_it(client: Client, cast: Cast) -> None:
    document = indexed_document(cast.team, name="<b>solar</b>.pdf")
    for member in (cast.alice, cast.bob):
        client.force_login(member)
        page = client.get(f"/documents/{document.pk}")
        assert "&lt;b&gt;solar&lt;/b&gt;.pdf" in page.content.decode()
        assert inline_code(page.content.decode()) == []
    client.force_login(cast.charlie)
    hidden, unknown = client.get(f"/documents/{document.pk}"), client.get(f"/documents/{uuid4()}")
    assert hidden.status_code == unknown.status_code == 404
    assert hidden.content == unknown.content
    assert inline_code(hidden.content.decode()) == []


def test_a_document_of_an_external_user_is_not_on_the_pages(client: Client, cast: Cast) -> None:
    document = indexed_document(cast.team, external_user_id="customer 7")
    client.force_login(cast.alice)
    assert client.get(f"/documents/{document.pk}").status_code == 404


@pytest.mark.parametrize("address", OF_ADMINS)
@pytest.mark.parametrize(
    ("role", "status"),
    [(None, 404), (Role.VIEWER, 403), (Role.EDITOR, 403), (Role.ADMIN, 200), (Role.OWNER, 200)],
)
def test_only_admins_of_a_workspace_get_to_its_pages(
    client: Client, ada: User, cast: Cast, address: str, role: Role | None, status: int
) -> None:
    if role:
        Membership.objects.create(workspace=cast.team, user=ada, role=role)
    page = client.get(address.format(cast.team.pk))
    assert page.status_code == status
    assert inline_code(page.content.decode()) == []
    assert (str(cast.team) in page.content.decode()) is (status == 200)
    if status == 404:
        assert page.content == client.get(address.format(uuid4())).content


@pytest.mark.parametrize(
    ("start", "address"), [("/search-bench", OF_ADMINS[0]), ("/workspace-settings", OF_ADMINS[1])]
)
def test_pages_of_workspaces_start_with_the_personal_one(
    client: Client, ada: User, start: str, address: str
) -> None:
    own = address.format(ada.personal_workspace.pk)
    assert client.get(start)["Location"] == own
    client.logout()
    assert client.get(own)["Location"] == f"/accounts/login/?next={own}"


@pytest.mark.parametrize("is_offered", [True, False])
def test_the_web_can_be_chosen_where_the_operator_has_left_it_in(
    client: Client, ada: User, settings: Settings, is_offered: bool
) -> None:
    settings.WEB_TOOLS = is_offered
    page = client.get("/").content.decode()
    assert ('value="web_search"' in page) is is_offered
    assert ('value="rag_search"' in page) is is_offered, "there is nothing to choose from otherwise"


def test_every_icon_in_use_is_in_the_sprite() -> None:
    sprite = set(re.findall(r'"([a-z0-9-]+)"', (ROOT / "frontend" / "icons.js").read_text()))
    templates = "".join(path.read_text() for path in (ROOT / "templates").rglob("*.html"))
    modules = "".join(path.read_text() for path in (ROOT / "frontend" / "src").rglob("*.js"))
    used = set(re.findall(r'icon\.html" with name="([a-z0-9-]+)"', templates))
    used |= set(re.findall(r'\bicon\("([a-z0-9-]+)"\)', modules))
    used |= set(re.findall(r'\biconButton\("[a-z]+", "([a-z0-9-]+)"', modules))
    assert used == sprite


@pytest.mark.parametrize(("host", "offered"), [("", False), ("mail.example.org", True)])
def test_a_new_password_is_offered_only_where_its_mail_would_arrive(
    client: Client, settings: Settings, host: str, offered: bool
) -> None:
    settings.EMAIL_HOST = host
    assert ("/accounts/password/reset/" in client.get("/accounts/login/").content.decode()) is offered


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("/documents", "/documents/"),
        ("/documents?status=failed&q=a%20b", "/documents/?status=failed&q=a%20b"),
        ("/keys", "/keys/"),
        ("/preferences/", "/preferences"),
        ("/search-bench/?q=x", "/search-bench?q=x"),
        ("/workspace-settings/", "/workspace-settings"),
        ("/health/", "/health"),
        ("/accounts/login?next=/keys/", "/accounts/login/?next=/keys/"),
        ("/admin", "/admin/"),
        ("/admin/kb/document", "/admin/kb/document/"),
    ],
)
def test_an_address_with_or_without_its_last_slash_leads_to_the_page(
    client: Client, address: str, place: str
) -> None:
    """`/documents` and `/keys` were “Nothing here that you can see”."""
    reply = client.get(address)
    assert (reply.status_code, reply["Location"]) == (308, place)


@pytest.mark.parametrize(
    "path", ["/nothing", "/nothing/", "//evil.example", "//evil.example/", "/admin/nothing/"]
)
def test_a_slash_makes_no_page_of_what_is_none(client: Client, path: str) -> None:
    # As it is: the test client takes what follows two slashes for a host, as browsers would in a redirect.
    reply = client.get("/", PATH_INFO=path)
    assert reply.status_code == 404
    assert "Nothing here that you can see" in reply.content.decode()


def test_programs_get_json_whatever_goes_wrong(client: Client) -> None:
    for address in ("/api/v1/nothing", "/api/v1/documents/x/nothing/", "/api/nothing/"):
        reply = client.get(address)
        assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found")


def test_an_error_that_nobody_foresaw_has_a_page_that_needs_nothing(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page was bare, white in the dark, and went through the template engine that may have failed."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the thing nobody foresaw")

    client = Client(raise_request_exception=False)
    client.force_login(ada)
    monkeypatch.setattr("django.template.base.Template.render", broken)
    monkeypatch.setattr("django.template.backends.django.Template.render", broken)
    page = client.get("/documents/")
    assert page.status_code == 500
    html = page.content.decode()
    assert "Something went wrong" in html and "nobody foresaw" not in html
    assert inline_code(html) == []
    assert {"/static/app.css", "/static/before-paint.js"} <= set(re.findall(r'"(/static/[^"]+)"', html))


def test_a_form_from_another_tab_and_a_bad_request_have_pages(ada: User, settings: Settings) -> None:
    client = Client(enforce_csrf_checks=True)
    expired = client.post("/accounts/login/", {"login": "a", "password": "b"})
    assert (expired.status_code, "This form has expired" in expired.content.decode()) == (403, True)
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 2
    crowded = Client().post("/accounts/login/", {f"f{n}": "x" for n in range(5)})
    assert (crowded.status_code, "This request can" in crowded.content.decode()) == (400, True)
    assert inline_code(crowded.content.decode()) == []


def test_the_icon_is_found_where_browsers_look(client: Client) -> None:
    """Every page of the admin panel asked for an icon in vain."""
    reply = client.get("/favicon.ico")
    assert reply.status_code == 302
    assert re.fullmatch(r"/static/favicon(\.[0-9a-f]+)?\.svg", reply["Location"])
    client.force_login(User.objects.create_superuser("root@example.org"))
    assert re.search(r'<link[^>]+rel="icon"[^>]+favicon', client.get("/admin/").content.decode())
