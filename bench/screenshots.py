"""Pictures of every page. `python -m bench.screenshots --out FOLDER [--only WORD] [--look light-1280]`

Starts the real web server and a worker on a scratch database, uploads documents of several kinds, asks, and
takes a picture of every page: light and dark, 1280 and 390 pixels wide. Writes `index.html`, which shows them
all. Prints what went wrong on the way: errors in the console, broken policies. Build the front end first.
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from time import perf_counter

from playwright.sync_api import Browser, Error, sync_playwright

from tests.testing.pages.catalogue import PAGES, PageCase
from tests.testing.pages.content import PageContent, make_content
from tests.testing.pages.visiting import LOOKS, Look, visitors
from tests.testing.scratch import scratch_database

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
# Some containers give it 64 MB: tabs hang there, without an error.
ARGUMENTS += ["--disable-dev-shm-usage"]
# With mail and open to all, so that their pages exist. Nothing is sent: nobody asks for a mail.
SERVER = {"EMAIL_HOST": "127.0.0.1", "SIGNUP_OPEN": "true", "REQUESTS_PER_MINUTE": "0"}


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="a folder for the pictures")
    parser.add_argument("--only", default="", help="only pages with this in their name")
    parser.add_argument("--look", default="", help="only one look, as light-1280")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    pages = [case for case in PAGES if options.only in case.name]
    looks = [look for look in LOOKS if options.look in look.name]
    with product_with_content() as (server, content), chromium() as browser:
        for look in looks:
            begun = perf_counter()
            for problem in shoot(browser, server, content, look, pages, options.out):
                print(f"  {problem}")
            print(f"{look.name}: {len(pages)} pages in {perf_counter() - begun:.0f} s")
    (options.out / "index.html").write_text(index(pages, looks))
    print(f"See {options.out / 'index.html'}")


@contextmanager
def product_with_content() -> Iterator[tuple[str, PageContent]]:
    """Run a web server and a worker, and yield the server's address with what there is on its pages."""
    # Playwright keeps an event loop in this thread, which Django takes for asynchronous code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    os.environ |= SERVER
    with scratch_database():
        from django.core.management import call_command

        from tests.testing.live import live_server, live_worker

        call_command("collectstatic", interactive=False, verbosity=0)
        with live_worker(), live_server() as server:
            yield server.url, make_content(server.url)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a headless Chromium."""
    with sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield browser
        browser.close()


def shoot(
    browser: Browser, server: str, content: PageContent, look: Look, pages: list[PageCase], out: Path
) -> list[str]:
    """Take a picture of each page in one look; return what went wrong."""
    problems = []
    with visitors(browser, server, content, look) as opened:
        for case in pages:
            try:
                tab = opened.open(case)
            except Error as error:
                problems.append(f"{case.name}: {str(error).splitlines()[0]}")
                tab = opened.tabs[case.visitor]
            # Behind a dialog the page is dimmed as far as the screen reaches.
            is_whole = not tab.locator("dialog[open]").count()
            tab.screenshot(path=out / f"{case.name}-{look.name}.png", full_page=is_whole)
            problems += [f"{case.name}: {problem}" for problem in opened.take_problems()]
    return problems


def index(pages: list[PageCase], looks: list[Look]) -> str:
    """Return a page that shows all pictures, a page of the product in each row."""
    rows = "".join(f"<h2>{escape(case.name)}</h2><p>{_pictures(case, looks)}</p>" for case in pages)
    style = "body{font:16px system-ui;background:#888}img{max-width:48%;vertical-align:top;margin:4px}"
    return f"<!doctype html><title>Pages</title><style>{style}</style>{rows}"


def _pictures(case: PageCase, looks: list[Look]) -> str:
    names = [f"{case.name}-{look.name}.png" for look in looks]
    return "".join(f'<a href="{name}"><img src="{name}" alt="{name}" loading="lazy"></a>' for name in names)


if __name__ == "__main__":
    main()
