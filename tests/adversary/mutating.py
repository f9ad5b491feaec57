"""A pytest plugin that takes out one check at a time: `-p tests.adversary.mutating`.

First every test runs once and must be green; it is noted which test reaches which check. Then, for each
check, the tests that reached it run without it until one turns red. In the end, all that turned red must be
green with every check, so that nothing turned red by what the absence of another check had left behind.

`LOCUS_MUTATE` chooses the checks:

    scopes     each check of a scope (`mutants.sites`). PostgreSQL's row-level security is off: it would make
               up for the check.
    policies   each policy of each table, and each condition of a policy. The tests query without a scope.

`--only PATTERN` takes the checks whose name has this pattern.
"""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from pytest_django.plugin import blocking_manager_key

from tests.adversary import mutants

KIND = os.environ.get("LOCUS_MUTATE", "")
LONGEST_SECS = 120
"""A test that hangs without a check has noticed."""
SLOW_SECS = 5.0
"""What takes longer is said: it is worth little here."""

if KIND == "scopes":
    mutants.install()


@dataclass
class Mutant:
    """A check that can be taken out, and the tests that may notice."""

    name: str
    take_out: Callable[[], None]
    put_back: Callable[[], None]
    tests: list[pytest.Item] = field(default_factory=list)


@dataclass
class Record:
    """How often a test noticed, how long it took, and how many checks it reaches."""

    secs: float
    reached: int
    runs: int = 1
    noticed: int = 0

    def promise(self) -> float:
        """Return how many checks a second the test may be hoped to notice.

        One that reaches few checks is about these.
        """
        return (self.noticed + 1) / (self.runs + 3) / (self.secs / self.runs + 0.05) / (self.reached + 1)


class TookTooLong(BaseException):
    """A test hangs."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--only", default="", help="take out the checks whose name has this pattern")
    parser.addoption("--report", type=Path, help="write the outcome to this file, as JSON")


class Mutating:
    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.records: dict[pytest.Item, Record] = {}
        self.nothing: Any = None
        self._reports: list[pytest.TestReport] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        self._reports = runtestprotocol(item, log=False, nextitem=nextitem)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        # A test of nowhere to follow others: what is set up for a file is torn down, what is for all stays.
        self.nothing = SimpleNamespace(listchain=lambda: [session], path=None)
        began = time.monotonic()
        chosen = [each for each in found(KIND) if re.search(self.config.option.only, each.name)]
        red = self._run_all(session.items, {mutant.name: mutant for mutant in chosen})
        self._say(f"{len(session.items)} tests ran in {time.monotonic() - began:.0f} s, {len(red)} red")
        outcome = {mutant.name: self._try(mutant) for mutant in chosen}
        red |= self._stay_red()
        session._setupstate.teardown_exact(None)
        survivors = [name for name, test in outcome.items() if test is None]
        killed = len(outcome) - len(survivors)
        secs = time.monotonic() - began
        self._say(f"{len(outcome)} checks, {killed} missed by a test, {len(survivors)} by none, {secs:.0f} s")
        if path := self.config.option.report:
            path.write_text(json.dumps({"red": red, "outcome": outcome, "secs": round(secs)}))
        session.testsfailed = len(red) + len(survivors)
        return True

    def _run_all(self, items: list[pytest.Item], by_name: dict[str, Mutant]) -> dict[str, str]:
        """Run every test with all checks; note what it reaches, and return those that are red, and why."""
        red = {}
        for item, following in zip(items, [*items[1:], self.nothing], strict=True):
            mutants.SWITCH.reached.clear()
            began = time.monotonic()
            why, is_skipped = self._run(item, following)
            self.records[item] = Record(time.monotonic() - began, len(mutants.SWITCH.reached))
            if self.records[item].secs > SLOW_SECS:
                self._say(f"{self.records[item].secs:6.1f} s  {item.nodeid}")
            if why:
                red[item.nodeid] = why
                self._say(f"red: {item.nodeid}: {why}")
            elif not is_skipped:
                for name in by_name:
                    if name in mutants.SWITCH.reached or (KIND == "policies" and _concerns(item, name)):
                        by_name[name].tests.append(item)
        return red

    def _try(self, mutant: Mutant) -> str | None:
        """Return the test that turns red without a check."""
        began = time.monotonic()
        waiting = set(mutant.tests)
        why, item = "", None
        while waiting and not why:
            item = max(waiting, key=lambda each: self.records[each].promise())
            waiting.discard(item)
            why = self._run_without(mutant, item)
        noticed = f"{item.nodeid}: {why}" if item and why else f"NOT ONE of {len(mutant.tests)} TESTS"
        self._say(f"{time.monotonic() - began:6.1f} s  {mutant.name}\n          {noticed}")
        return item.nodeid if item and why else None

    def _run_without(self, mutant: Mutant, item: pytest.Item) -> str:
        """Run a test without a check; return why it turns red."""
        record, began = self.records[item], time.monotonic()
        with self._database():
            mutant.take_out()
        try:
            why, _ = self._run(item, self.nothing)
        finally:
            with self._database():
                mutant.put_back()
        record.runs += 1
        record.secs += time.monotonic() - began
        record.noticed += bool(why)
        return why

    def _stay_red(self) -> dict[str, str]:
        """Return the tests that are red though all checks are back."""
        noticed = [item for item, record in self.records.items() if record.noticed]
        outcomes = {item.nodeid: self._run(item, self.nothing)[0] for item in noticed}
        return {name: why for name, why in outcomes.items() if why}

    def _run(self, item: pytest.Item, following: pytest.Item) -> tuple[str, bool]:
        """Run a test; return why it is red, and whether it was skipped."""
        self._reports = []
        try:
            with time_limit():
                item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        except TookTooLong:
            return f"took more than {LONGEST_SECS} s", False
        why = next((report for report in self._reports if report.failed), None)
        text = str(getattr(why.longrepr, "reprcrash", why.longrepr)) if why else ""
        return " ".join(text.split())[:150], any(report.skipped for report in self._reports)

    def _database(self) -> AbstractContextManager[None]:
        """Allow this plugin to query."""
        return self.config.stash[blocking_manager_key].unblock()

    def _say(self, text: str) -> None:
        self.config.pluginmanager.getplugin("terminalreporter").write_line(text)


@contextmanager
def time_limit() -> Iterator[None]:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST_SECS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def found(kind: str) -> list[Mutant]:
    """Return what can be taken out."""
    if kind == "scopes":
        return [
            Mutant(site, partial(_remove, site), partial(_remove, None)) for site in sorted(mutants.sites())
        ]
    from tests.adversary.open_policies import mutations

    return [Mutant(name, take_out, put_back) for name, take_out, put_back in mutations()]


def _concerns(item: pytest.Item, mutant: str) -> bool:
    """Tell whether a test may notice an open policy: one of another table alone can not."""
    callspec = getattr(item, "callspec", None)
    return callspec is None or str(callspec.params.get("table", "")) in mutant


def _remove(site: str | None) -> None:
    mutants.SWITCH.removed = site


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Mutating(config))
    # The first failure ends a test.
    pytest.Subtests.test = lambda self, msg=None, **kwargs: nullcontext()  # type: ignore[assignment,method-assign]


def pytest_collection_finish(session: pytest.Session) -> None:
    if KIND == "scopes" and (early := mutants.not_switched()):
        raise pytest.UsageError(f"imported before the switches: {', '.join(sorted(early))}")
