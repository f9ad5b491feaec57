"""Opens pages in a browser, in both themes and sizes, and collects what goes wrong on them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Response

from tests.testing.pages.catalogue import PageCase
from tests.testing.pages.content import NOBODY, PageContent

PATIENCE_MS = 30_000
# A shift that follows an input at once is no surprise, as everywhere.
OBSERVE = """
(() => {
  window.pageFigures = { shift: 0, paint: 0, interactions: [], longTasks: [] };
  const observe = (type, take) => {
    const options = { type, buffered: true, durationThreshold: 16 };
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe(options);
  };
  observe("layout-shift", (one) => { if (!one.hadRecentInput) pageFigures.shift += one.value; });
  observe("largest-contentful-paint", (one) => { pageFigures.paint = one.startTime; });
  observe("event", (one) => { if (one.interactionId) pageFigures.interactions.push(one.duration); });
  observe("longtask", (one) => { pageFigures.longTasks.push(one.duration); });
  // How many requests of scripts wait for their answer.
  window.waitingRequests = 0;
  const { fetch } = window;
  window.fetch = (...request) => {
    waitingRequests += 1;
    return fetch(...request).finally(() => { waitingRequests -= 1; });
  };
})();
"""
# A page is complete when its data, fonts and pictures are there and nothing has changed for a while.
SETTLE = """() => new Promise((resolve) => {
  const end = setTimeout(done, 10000);
  let pause = setTimeout(look, 150);
  const observer = new MutationObserver(wait);
  function wait() {
    clearTimeout(pause);
    pause = setTimeout(look, 150);
  }
  function look() {
    if (window.waitingRequests) wait(); else done();
  }
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  const isSeen = (image) => image.src && image.getBoundingClientRect().top < innerHeight;
  async function done() {
    observer.disconnect();
    clearTimeout(end);
    clearTimeout(pause);
    const pictures = [...document.images].filter(isSeen).map((image) => image.decode().catch(() => {}));
    await Promise.race([Promise.all(pictures), new Promise((go) => setTimeout(go, 3000))]);
    await document.fonts.ready;
    requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
  }
})"""
FIGURES = """() => {
  const scripts = performance.getEntriesByType("resource").filter(({ name }) => /\\.js$/.test(name));
  const sum = (key) => scripts.reduce((bytes, one) => bytes + one[key], 0);
  const { shift, paint } = pageFigures;
  return { shift, paint, sent: sum("encodedBodySize"), raw: sum("decodedBodySize") };
}"""


@dataclass(frozen=True)
class PageFigures:
    """What the browser has measured of a page since it was opened."""

    shift: float
    """The sum of its layout shifts."""
    paint: float
    """Of the largest contentful paint, in milliseconds."""
    sent: int
    """Bytes of scripts, as sent; those that were in the browser's cache count as well."""
    raw: int
    """The same, uncompressed."""

    @classmethod
    def of(cls, tab: Page) -> PageFigures:
        """Read them from a page that is complete."""
        return cls(**tab.evaluate(FIGURES))


@dataclass(frozen=True)
class Look:
    """A theme, and the size of a screen."""

    theme: str
    width: int
    height: int

    @property
    def name(self) -> str:
        """For names of files."""
        return f"{self.theme}-{self.width}"


LOOKS = [Look(theme, *size) for size in ((1280, 860), (390, 844)) for theme in ("light", "dark")]
"""All four combinations."""


@dataclass
class Visitors:
    """A tab for each who opens pages, all in one look."""

    content: PageContent
    contexts: dict[str, BrowserContext]
    tabs: dict[str, Page]
    problems: list[str] = field(default_factory=list)

    def open(self, case: PageCase) -> Page:
        """Open a page and do on it what belongs to it; return its tab, complete."""
        if case.visitor == NOBODY:
            # A login that has begun, or a message, belongs to the page before.
            self.contexts[NOBODY].clear_cookies()
        tab = self.tabs[case.visitor]
        # Leaves dialogs and streams of the page before.
        tab.goto("about:blank")
        answer = tab.goto(case.path(self.content.ids))
        if answer is None or answer.status != case.status:
            self.problems.append(f"{tab.url}: the status is {answer and answer.status}, not {case.status}")
        tab.locator(case.ready).first.wait_for()
        if case.act is not None:
            tab.evaluate(SETTLE)
            case.act(tab)
        tab.evaluate(SETTLE)
        return tab

    def take_problems(self) -> list[str]:
        """Return what went wrong since the last call: errors, refused addresses, broken policies."""
        found, self.problems = self.problems, []
        return found


@contextmanager
def visitors(browser: Browser, server: str, content: PageContent, look: Look) -> Iterator[Visitors]:
    """Open a tab for each visitor until the block is left."""
    opened = Visitors(content, {}, {})
    for name in (*content.sessions, NOBODY):
        context = browser.new_context(
            base_url=server,
            viewport={"width": look.width, "height": look.height},
            color_scheme=look.theme,
            reduced_motion="reduce",
        )
        context.set_default_timeout(PATIENCE_MS)
        context.add_init_script(OBSERVE)
        if name in content.sessions:
            cookie: Any = {"name": "sessionid", "value": content.sessions[name], "url": server}
            context.add_cookies([cookie])
        opened.contexts[name] = context
        opened.tabs[name] = _watched(context.new_page(), opened)
    try:
        yield opened
    finally:
        for context in opened.contexts.values():
            context.close()


def _watched(tab: Page, opened: Visitors) -> Page:
    def report(problem: str) -> None:
        opened.problems.append(f"{tab.url}: {problem}")

    def on_console(said: ConsoleMessage) -> None:
        # A violation of the content security policy is an error, too. Of addresses `on_response` says more.
        if said.type in ("error", "warning") and not said.text.startswith("Failed to load resource"):
            report(said.text)

    def on_response(response: Response) -> None:
        if response.status >= 400 and not response.request.is_navigation_request():
            report(f"{response.status} {response.url}")

    tab.on("console", on_console)
    tab.on("pageerror", lambda error: report(str(error)))
    tab.on("response", on_response)
    return tab
