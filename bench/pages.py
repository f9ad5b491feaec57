"""How quick is each page? `python -m bench.pages [--only WORD] [--look light-1280]`

Starts the real web server and a worker on a scratch database with documents, and opens every page as a new
visitor does: nothing is in the cache. Prints for each page, in milliseconds, its largest contentful paint and
the longest time from an input to the next picture (as INP counts it): of what belongs to it (a question, a
citation, a search), of the theme's switch and of the palette. Then the layout shift, and the kilobytes of
script, compressed and not. Build the front end first.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from playwright.sync_api import Browser, Error, Page

from bench.screenshots import chromium, product_with_content
from tests.testing.pages.catalogue import PAGES, PageCase
from tests.testing.pages.content import PageContent
from tests.testing.pages.visiting import LOOKS, Look, PageFigures, visitors

TAKE_LONGEST = "() => Math.max(0, ...pageFigures.interactions.splice(0))"
SLOW_PAINT_MS, SLOW_INPUT_MS, MUCH_SHIFT = 2500, 200, 0.1
"""The limits of “good” in Core Web Vitals."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only pages with this in their name")
    parser.add_argument("--look", default="light", help="only one look, as light-1280")
    options = parser.parse_args()
    with product_with_content() as (server, content), chromium() as browser:
        for look in LOOKS:
            if options.look in look.name:
                print_look(browser, server, content, look, options.only)


def print_look(browser: Browser, server: str, content: PageContent, look: Look, only: str) -> None:
    """Print a line for each page in one look."""
    print(f"\n{look.name:<32} paint  input  theme  palette  shift  script kB (raw)")
    for case in PAGES:
        if only not in case.name:
            continue
        # A context of its own has an empty cache.
        with visitors(browser, server, content, look) as opened:
            try:
                tab = opened.open(case)
            except Error as error:
                print(f"{case.name:<30} {str(error).splitlines()[0]}")
                continue
            print(line(case, tab, PageFigures.of(tab)))


def line(case: PageCase, tab: Page, figures: PageFigures) -> str:
    """Return the figures of a page, those beyond the limits with a mark."""
    own = longest(tab, lambda: None) if case.act else None
    theme, palette = longest(tab, lambda: switch_theme(tab)), longest(tab, lambda: open_palette(tab))
    inputs = "".join(f"{_text(ms):>7}" for ms in (own, theme, palette))
    is_good = figures.paint <= SLOW_PAINT_MS and figures.shift < MUCH_SHIFT
    is_good = is_good and max(own or 0, theme or 0, palette or 0) <= SLOW_INPUT_MS
    sizes = f"{figures.sent / 1000:.0f} ({figures.raw / 1000:.0f})"
    mark = "" if is_good else "  <-- not good"
    return f"{case.name:<30} {figures.paint:>7.0f}{inputs}  {figures.shift:>6.3f}  {sizes}{mark}"


def _text(ms: float | None) -> str:
    return "-" if ms is None else f"{ms:.0f}"


def longest(tab: Page, act: Callable[[], None]) -> float | None:
    """Do something; return the longest wait for a picture after an input, None if there was no such input."""
    try:
        act()
    except Error:
        # Not every page has it.
        return None
    tab.wait_for_timeout(250)
    return float(tab.evaluate(TAKE_LONGEST))


def switch_theme(tab: Page) -> None:
    """Switch the theme, and back."""
    for _ in range(2):
        tab.locator("[data-theme-toggle]").first.click(timeout=1000)


def open_palette(tab: Page) -> None:
    """Open the palette, look for something, and close it."""
    if not tab.locator("[data-open-palette]").count():
        raise Error("no palette")
    tab.keyboard.press("Control+k")
    tab.locator("dialog[open] input").first.wait_for(timeout=2000)
    tab.keyboard.type("docu")
    tab.wait_for_timeout(300)
    tab.keyboard.press("Escape")


if __name__ == "__main__":
    main()
