"""Installed as an app, Locus takes what other apps share: files, text and addresses of pages."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User, Workspace
from kb.models import Document
from tests.testing.paths import SAMPLES

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SHARE = """(given) => {
    const form = Object.assign(document.createElement("form"), {
        action: "/share", method: "post", enctype: "multipart/form-data",
    });
    for (const [name, value] of Object.entries(given)) {
        const isFiles = name === "files";
        const type = isFiles ? "file" : "text";
        const field = Object.assign(document.createElement("input"), { name, type, multiple: isFiles });
        if (isFiles) {
            const transfer = new DataTransfer();
            for (const [file, text] of value) transfer.items.add(new File([text], file));
            field.files = transfer.files;
        } else field.value = value;
        form.append(field);
    }
    document.body.append(form);
    form.submit();
}"""
"""What a phone does with a share: it sends a form to the address that the manifest names."""


INSTALLED = """() => new Promise((resolve) => {
    navigator.serviceWorker.addEventListener("controllerchange", resolve);
    window.dispatchEvent(new Event("appinstalled"));
})"""
FORGOTTEN = """async () => {
    while ((await caches.keys()).length) await new Promise((resolve) => setTimeout(resolve, 50));
}"""


def share(page: Page, **given: object) -> None:
    page.evaluate(SHARE, given)
    page.wait_for_url("**/documents/")


@pytest.fixture
def app(logged_in: Page) -> Page:
    """Locus as its browser has just installed it."""
    page = logged_in
    page.goto("/help")
    page.evaluate(INSTALLED)
    return page


def test_files_are_added_where_the_reader_says(app: Page, reader: User) -> None:
    page = app
    harbour = Workspace.create_for(reader, name="Harbour")
    share(page, files=[["quay.txt", "The quay is long."], ["crane.txt", "The crane is tall."]])
    dialog = page.get_by_role("dialog", name="Add what was shared")
    expect(dialog.get_by_role("listitem")).to_have_text(["quay.txt17 bytes", "crane.txt18 bytes"])
    # Any site can send such a form: before the reader says so, nothing has happened.
    assert not Document.unscoped.exists()
    dialog.get_by_label("To the workspace").select_option("Harbour")
    dialog.get_by_role("button", name="Add").click()
    for name in ("quay.txt", "crane.txt"):
        expect(page.get_by_role("row", name=name)).to_be_visible()
    assert set(Document.unscoped.values_list("workspace_id", flat=True)) == {harbour.pk}
    # It is gone from the browser: nobody is asked twice.
    page.evaluate(FORGOTTEN)


def test_text_becomes_a_file_with_its_title(app: Page) -> None:
    share(app, title="Tide table", text="High water at noon.")
    app.get_by_role("dialog").get_by_role("button", name="Add").click()
    expect(app.get_by_role("row", name="Tide table.txt")).to_be_visible()


def test_what_is_not_wanted_is_forgotten(app: Page) -> None:
    share(app, title="A page", text="Look at this https://a.example/one")
    dialog = app.get_by_role("dialog")
    expect(dialog.get_by_role("listitem")).to_have_text(["https://a.example/one"])
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    assert not Document.unscoped.exists()
    app.evaluate(FORGOTTEN)
    share(app)
    expect(app.get_by_text("Nothing has arrived.")).to_be_visible()


def test_a_tab_has_no_worker_and_the_server_adds_nothing(logged_in: Page) -> None:
    page = logged_in
    page.goto("/help")
    share(page, files=[["report.pdf", str(SAMPLES)]])
    expect(page.get_by_text("Open Locus as an app once, then share it again.")).to_be_visible()
    assert page.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)") == 0
    assert not Document.unscoped.exists()
