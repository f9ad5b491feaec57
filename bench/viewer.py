"""Does a PDF of 2,000 pages stay smooth, and how much of it is loaded? `python -m bench.viewer [--pages N]`

Starts the real web server on a scratch database and opens a generated PDF at three quarters of it, in a
headless Chromium. Prints the seconds until that page is drawn, the bytes of script and file that were loaded,
and the long tasks and layout shift (`bench.smoothness`) while opening, while scrolling through 50 pages and
back, and while jumping to another page. Build the front end first.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from time import perf_counter

import pymupdf
from playwright.sync_api import Browser, Page, sync_playwright

from bench.smoothness import report, watched_page
from bench.upload import server
from tests.testing.scratch import scratch_database, stored

LINES = 40
NOTCHES = 150
ARGUMENTS = ["--no-sandbox", "--disable-gpu"]
PATIENCE_MS = 180_000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=2000)
    pages = parser.parse_args().pages
    with scratch_database(), tempfile.TemporaryDirectory() as folder:
        from django.core.management import call_command

        call_command("collectstatic", interactive=False, verbosity=0)
        document_id, cookie = prepare(write(Path(folder) / "long.pdf", pages), pages)
        with server() as (port, _), sync_playwright() as playwright:
            found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
            browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
            measure(browser, f"http://127.0.0.1:{port}", cookie, f"/documents/{document_id}", 3 * pages // 4)
            browser.close()


def write(path: Path, pages: int) -> Path:
    """Write a PDF of so many pages of text, with an outline."""
    with pymupdf.open() as pdf:
        for number in range(1, pages + 1):
            page = pdf.new_page(width=595, height=842)
            page.insert_text((60, 70), f"Chapter {number}", fontsize=18)
            for line in range(LINES):
                words = (
                    f"Page {number}, line {line + 1}: the harbour master counted {number * 37 + line} ships."
                )
                page.insert_text((60, 110 + 17 * line), words, fontsize=10)
        pdf.set_toc([[1, f"Chapter {number}", number] for number in range(1, pages + 1, 50)])
        # The list of pages is then in a few places of the file, as most programs write it.
        pdf.save(path, deflate=True, use_objstms=1)
    return path


def prepare(file: Path, pages: int) -> tuple[str, str]:
    """Store the file; return its document's id, and the session cookie of its owner."""
    from django.test import Client

    from accounts.models import User
    from kb.models import Document, Stage, Status

    document = stored(file)
    ready = {"status": Status.READY, "stage": Stage.DONE, "mime_type": "application/pdf", "file_type": "pdf"}
    Document.unscoped.filter(pk=document.pk).update(page_count=pages, progress=1, **ready)
    client = Client()
    client.force_login(User.objects.get(email="bench@example.org"))
    print(f"{pages} pages, {document.size / 1e6:.1f} MB")
    return str(document.pk), client.cookies["sessionid"].value


def measure(browser: Browser, address: str, cookie: str, path: str, number: int) -> None:
    """Open page `number` of a document, scroll, and print."""
    context = browser.new_context(base_url=address, viewport={"width": 1280, "height": 860})
    context.set_default_timeout(PATIENCE_MS)
    context.add_cookies([{"name": "sessionid", "value": cookie, "url": address}])
    page = watched_page(context)
    loaded = count_bytes(page)
    with report(page, f"opening page {number}"):
        begun = perf_counter()
        page.goto(f"{path}?page={number}")
        page.locator(f"[data-drawn='{number}']").wait_for()
        drawn_after = perf_counter() - begun
        page.wait_for_timeout(2000)
    print(f"  it is drawn after {drawn_after:.1f} s, of which nothing was in the cache")
    for kind, size in sorted(loaded.items()):
        print(f"  {kind}: {size / 1e3:,.0f} kB over the wire")
    stage = page.locator("[data-part=stage]").bounding_box()
    assert stage
    page.mouse.move(stage["x"] + 200, stage["y"] + 200)
    with report(page, "scrolling through 50 pages and back"):
        for by in (700, -700):
            for _ in range(NOTCHES // 2):
                page.mouse.wheel(0, by)
                page.wait_for_timeout(40)
        page.wait_for_timeout(2000)
    with report(page, "jumping to page 10"):
        page.locator("[data-part=number]").fill("10")
        page.locator("[data-part=number]").press("Enter")
        page.locator("[data-drawn='10']").wait_for()
        page.wait_for_timeout(1000)


def count_bytes(page: Page) -> Counter[str]:
    """Count what is loaded over the wire, by kind, from now on."""
    kinds: dict[str, str] = {}
    loaded: Counter[str] = Counter()
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")

    def begun(event: dict[str, dict[str, str]]) -> None:
        url = event["request"]["url"]
        kind = "the file" if url.endswith("/file") else "script" if ".js" in url else "other"
        kinds[str(event["requestId"])] = kind

    def received(event: dict[str, int]) -> None:
        loaded[kinds.get(str(event["requestId"]), "other")] += event["encodedDataLength"]

    session.on("Network.requestWillBeSent", begun)
    session.on("Network.dataReceived", received)
    return loaded


if __name__ == "__main__":
    main()
