"""What a browser's page does while somebody uses it: long tasks and layout shift."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from playwright.sync_api import BrowserContext, Page

TASKS = {"RunTask", "ThreadControllerImpl::RunTask"}
WATCH = """
    window.seen = {long: [], shift: 0};
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) window.seen.long.push(entry.duration);
    }).observe({type: "longtask", buffered: true});
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.seen.shift += entry.value;
    }).observe({type: "layout-shift", buffered: true});
"""


def watched_page(context: BrowserContext) -> Page:
    """Return a new page that notes what `report` prints."""
    page = context.new_page()
    page.add_init_script(WATCH)
    return page


@contextmanager
def report(page: Page, doing: str) -> Iterator[None]:
    """Print what the page's thread did while a block ran: tasks over 50 and 100 ms, and the layout shift.

    A task counts by the processor time that it took, too: on a busy machine the clock says more about others.
    """
    browser, begun = page.context.browser, perf_counter()
    assert browser is not None
    browser.start_tracing(page=page, categories=["toplevel", "__metadata"])
    yield
    used = task_times(json.loads(browser.stop_tracing()))
    seen = page.evaluate(
        "() => { const seen = window.seen; window.seen = {long: [], shift: 0}; return seen; }"
    )
    print(
        f"{doing} ({perf_counter() - begun:.0f} s): "
        f"{_counted(used)} of processor time; {_counted(seen['long'])} by the clock; "
        f"layout shift {seen['shift']:.3f}",
        flush=True,
    )


def _counted(durations: Sequence[float]) -> str:
    long, longest = [each for each in durations if each > 50], max(durations, default=0)
    over = sum(each > 100 for each in long)
    return f"{len(long)} tasks over 50 ms, {over} over 100 ms, the longest {longest:.0f} ms"


def task_times(trace: dict[str, Any]) -> list[float]:
    """Return the processor time of each task of the page's thread, in milliseconds."""
    events = trace["traceEvents"]
    threads = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    return [
        event["tdur"] / 1000
        for event in events
        if event["name"] in TASKS and "tdur" in event and (event["pid"], event["tid"]) in threads
    ]
