"""Make the pictures of the README from the product itself: `python docs/images/make.py`.

A fresh installation, whose only document is the guide, is served on loopback. A headless Chromium asks it,
and what the window shows is written: one PNG, and an animated WebP. It needs the development packages, a
Chromium and a built front end (`bin/test` sees to the first and the last).
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import httpx2
from PIL import Image, ImageChops, ImageDraw
from playwright.sync_api import Locator, Page, ViewportSize, expect, sync_playwright

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WINDOW: ViewportSize = {"width": 1280, "height": 800}
SHOWN = "Who sees documents in my personal workspace?"
ASKED = "What is removed when a document is deleted?"
START_SECS = 180
# An arrow's corners, from its tip.
POINTER = [(0, 0), (0, 22), (5, 17), (9, 26), (13, 24), (9, 16), (16, 16)]


def main() -> None:
    """Write both pictures."""
    with installation() as (address, email, password), sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_context(base_url=address, viewport=WINDOW, color_scheme="light").new_page()
        log_in(page, email, password)
        draw_screenshot(page)
        Film(page).write(HERE / "ask.webp")
        browser.close()


@contextmanager
def installation() -> Iterator[tuple[str, str, str]]:
    """Serve a new installation; its address, and the login of its administrator."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    email, password = "you@example.org", secrets.token_urlsafe(12)
    with tempfile.TemporaryDirectory() as folder:
        settings = {"DATA_DIR": folder, "PORT": str(port), "ADMIN_EMAIL": email, "ADMIN_PASSWORD": password}
        # Where root runs this: the product would become another user, who can't read root's files.
        environment = {"ALLOW_ROOT": "true"} | os.environ | settings
        environment.pop("DATABASE_URL", None)
        command = [sys.executable, "manage.py", "serve"]
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL) as server:  # noqa: S603
            address = f"http://127.0.0.1:{port}"
            try:
                _wait_for(f"{address}/health", server)
                yield address, email, password
            finally:
                server.terminate()


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            if httpx2.get(url).is_success:
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.2)
    raise SystemExit(f"The server does not answer at {url}.")


def log_in(page: Page, email: str, password: str) -> None:
    """Log in, and wait until the guide is ready."""
    page.goto("/")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in", exact=True).click()
    page.goto("/documents/")
    expect(page.locator(".status").first).to_have_text("Ready", timeout=START_SECS * 1000)


def draw_screenshot(page: Page) -> None:
    """Write an answer beside the page that it cites."""
    page.goto("/")
    page.get_by_label("Your question").fill(SHOWN)
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_attribute("data-status", "completed", timeout=60_000)
    page.locator(".cite").first.click()
    expect(page.locator(".viewer [data-drawn]").first).to_be_visible(timeout=60_000)
    page.wait_for_timeout(1_000)
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(256).save(HERE / "ask.png", optimize=True)


class Film:
    """What a window shows over time, with a pointer, which a headless browser has not."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._pointer = (640.0, 560.0)
        self._frames: list[Image.Image] = []
        self._durations: list[int] = []

    def write(self, path: Path) -> None:
        """Play the scene and write it."""
        self._play()
        first, *others = self._frames
        first.save(
            path, save_all=True, append_images=others, duration=self._durations, loop=0, quality=75, method=6
        )

    def _play(self) -> None:
        page = self._page
        page.goto("/")
        expect(page.locator(".history-list li")).to_have_count(1)
        self._show(1_000)
        question = page.get_by_label("Your question")
        for letter in ASKED:
            question.press_sequentially(letter)
            self._show(45)
        self._show(500)
        page.keyboard.press("Enter")
        self._watch(page.locator(".turn[data-status=completed]"))
        self._show(1_800)
        citation = page.locator(".cite").first
        self._point_at(citation)
        self._show(400)
        citation.click()
        self._watch(page.locator(".viewer [data-drawn]"))
        self._point_at(page.locator(".conversation"))
        self._show(4_500)

    def _watch(self, end: Locator) -> None:
        """Show what happens until something is there, and for a second more, as fast as it happens."""
        until = None
        while until is None or time.monotonic() < until:
            start = time.monotonic()
            if until is None and end.count():
                until = start + 1
            frame = self._picture()
            self._add(frame, round(1_000 * (time.monotonic() - start)))

    def _point_at(self, target: Locator) -> None:
        box = target.bounding_box()
        assert box
        (x, y), steps = self._pointer, 12
        to = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        for step in range(1, steps + 1):
            share = step / steps
            self._pointer = (x + (to[0] - x) * share, y + (to[1] - y) * share)
            self._show(50)
        self._page.mouse.move(*to)

    def _show(self, milliseconds: int) -> None:
        self._add(self._picture(), milliseconds)

    def _add(self, frame: Image.Image, milliseconds: int) -> None:
        if self._frames and not ImageChops.difference(frame, self._frames[-1]).getbbox():
            self._durations[-1] += milliseconds
        else:
            self._frames.append(frame)
            self._durations.append(milliseconds)

    def _picture(self) -> Image.Image:
        frame = Image.open(BytesIO(self._page.screenshot())).convert("RGB")
        x, y = self._pointer
        arrow = [(x + dx, y + dy) for dx, dy in POINTER]
        ImageDraw.Draw(frame).polygon(arrow, fill="black", outline="white", width=2)
        return frame


if __name__ == "__main__":
    main()
