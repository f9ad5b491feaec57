"""Does the documents page stay smooth? `python -m bench.documents_page [--documents 10000]`

Starts the real web server on a scratch database with so many generated documents, opens the page in a
headless Chromium, and scrolls through all of them with the wheel: first while the list is loading, then back
to the top and down again. Prints the long tasks of the page's thread, the layout shift (`bench.smoothness`),
and how many rows the page holds at once. `--screenshots FOLDER` takes pictures of it.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from playwright.sync_api import Page, Playwright, sync_playwright

from bench.smoothness import report, watched_page
from bench.upload import server
from tests.testing.scratch import scratch_database

if TYPE_CHECKING:
    from accounts.models import User

STEP_PX, STEP_MS = 2400, 30
KINDS = ["pdf", "docx", "xlsx", "html", "md", "eml", "mp3"]
SPREAD_OVER_TIME = """
    UPDATE kb_document SET created_at = now() - at.number * interval '7 minutes'
    FROM (SELECT id, row_number() OVER (ORDER BY name) AS number FROM kb_document) AS at
    WHERE at.id = kb_document.id
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--screenshots", type=Path, help="a folder for pictures of the page")
    arguments = parser.parse_args()
    os.environ.setdefault("REQUESTS_PER_MINUTE", "100000")
    with scratch_database(), _static_files(), server() as (port, _):
        from accounts.models import User

        # Before Playwright: within its loop this would be another connection, which nobody closes.
        user = User.objects.create_user("bench@example.org")
        fill(user, arguments.documents)
        cookie = session_cookie(user, port)
        with sync_playwright() as playwright:
            measure(playwright, port, cookie, arguments)


def measure(playwright: Playwright, port: int, cookie: Any, arguments: argparse.Namespace) -> None:
    """Open the page in a browser and scroll through it."""
    browser = playwright.chromium.launch(
        executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
    )
    context = browser.new_context(
        base_url=f"http://127.0.0.1:{port}", viewport={"width": 1280, "height": 860}
    )
    context.add_cookies([cookie])
    page = watched_page(context)
    with report(page, "opening the page"):
        page.goto("/documents/")
        page.locator("[data-document]").first.wait_for()
        page.wait_for_load_state("networkidle")
    if arguments.screenshots:
        shoot(page, arguments.screenshots)
    for times in ("first", "second"):
        with report(page, f"scrolling down, the {times} time"):
            scroll(page, arguments.documents)
        print(f"  {page.locator('[data-document]').count()} rows in the page")
        with report(page, "jumping to the top"):
            page.evaluate("scrollTo(0, 0)")
            page.wait_for_timeout(500)
    browser.close()


@contextmanager
def _static_files() -> Iterator[None]:
    """Collect the front end's files where the server looks for them."""
    from django.core.management import call_command

    call_command("collectstatic", interactive=False, verbosity=0)
    yield


def fill(user: User, count: int) -> None:
    """Give a user so many documents, without files: the list needs their rows alone."""
    from django.db import connection

    from kb.models import Document

    draw = random.Random(0)  # noqa: S311
    rows = [_document(user, number, draw) for number in range(count)]
    Document.unscoped.bulk_create(rows, batch_size=1000)
    # Django sets this time itself, and its bulk_update takes minutes for so many rows.
    with connection.cursor() as cursor:
        cursor.execute(SPREAD_OVER_TIME)


def _document(user: User, number: int, draw: random.Random) -> Any:
    from kb.models import Document

    failed = draw.random() < 0.05
    kind = draw.choice(KINDS)
    return Document(
        workspace=user.personal_workspace,
        uploaded_by=user,
        name=f"{draw.choice(['Report', 'Invoice', 'Minutes', 'Contract'])} {number:05}.{kind}",
        size=draw.randint(1_000, 50_000_000),
        identity=uuid4().hex,
        file_type=kind,
        status="failed" if failed else "partial" if draw.random() < 0.1 else "ready",
        stage="done",
        progress=1.0,
        searchable="none" if failed else "full",
        error_code="encrypted" if failed else "",
        error_message="The file is protected by a password. Enter it, or remove it and upload the file again."
        if failed
        else "",
        warnings=[],
        page_count=draw.randint(1, 400) if kind in ("pdf", "docx") else None,
        duration=draw.random() * 4000 if kind == "mp3" else None,
        chunk_count=draw.randint(1, 900),
        language=draw.choice(["en", "de", "fr"]),
        tags=draw.sample(["finance", "2025", "2026", "legal", "archive"], draw.randint(0, 3)),
    )


def session_cookie(user: User, port: int) -> Any:
    """Return the cookie of a session in which the user is logged in."""
    from django.test import Client

    client = Client()
    client.force_login(user)
    return {
        "name": "sessionid",
        "value": client.cookies["sessionid"].value,
        "url": f"http://127.0.0.1:{port}",
    }


def scroll(page: Page, count: int) -> None:
    """Turn the wheel until the last document is in the list and the page's end is reached."""
    page.mouse.move(640, 500)
    for _ in range(count):
        page.mouse.wheel(0, STEP_PX)
        page.wait_for_timeout(STEP_MS)
        at_end, more = page.evaluate(
            "[innerHeight + scrollY + 4 >= document.documentElement.scrollHeight,"
            " !document.querySelector('[data-part=more]').hidden]"
        )
        if at_end and not more:
            return


def shoot(page: Page, folder: Path) -> None:
    """Take pictures of the page: as a table and as cards, with documents chosen, on a desk and on a phone."""
    folder.mkdir(parents=True, exist_ok=True)
    for width, height in ((1280, 860), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        for theme in ("light", "dark"):
            page.evaluate("(theme) => (document.documentElement.dataset.theme = theme)", theme)
            page.wait_for_timeout(300)
            page.screenshot(path=folder / f"table-{width}-{theme}.png")
            page.get_by_role("button", name="As pictures").click()
            page.wait_for_timeout(300)
            page.screenshot(path=folder / f"cards-{width}-{theme}.png")
            page.get_by_role("button", name="As a table").click()
            for box in page.get_by_role("checkbox", name="Choose ").all()[1:4]:
                box.check()
            page.screenshot(path=folder / f"chosen-{width}-{theme}.png")
            page.get_by_role("button", name="Choose nothing").click()
    page.set_viewport_size({"width": 1280, "height": 860})
    page.reload()
    page.locator("[data-document]").first.wait_for()


if __name__ == "__main__":
    main()
