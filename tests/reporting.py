"""What a failed test leaves to look at: its name at once, the ends of its servers' logs, who blocks whom."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import psycopg
import pytest
from django.conf import settings

LOGS = ("worker.log", "web.log")
LAST_BYTES = 4000
WAITED = ("Timeout", "LockNotAvailable", "OperationalError")
TRANSACTIONS = """
    SELECT pid, application_name, state, now() - xact_start AS age, wait_event, pg_blocking_pids(pid), query
    FROM pg_stat_activity WHERE xact_start IS NOT NULL AND pid <> pg_backend_pid() ORDER BY xact_start
"""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the ends of the logs: the folder is gone when somebody reads the report."""
    report = yield
    if report.failed and {"live", "worker"} & set(getattr(item, "fixturenames", ())):
        for log in (Path(settings.DATA_DIR) / name for name in LOGS):
            if log.exists():
                report.sections.append((f"End of {log.name}", last_words(log)))
    if report.failed and any(name in report.longreprtext for name in WAITED):
        report.sections.append(("Transactions in PostgreSQL", transactions()))
    return report


def last_words(log: Path) -> str:
    """Return the end of a log."""
    with log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - LAST_BYTES))
        return file.read().decode(errors="replace")


def transactions() -> str:
    """Return the open transactions of the test database's server, the oldest first, and who blocks whom."""
    # Not before Django is set up: pytest loads this module first.
    from tests.testing.live import database_address

    try:
        with psycopg.connect(database_address(), connect_timeout=5) as own:
            return "\n".join(" | ".join(map(str, row))[:200] for row in own.execute(TRANSACTIONS))
    except psycopg.Error as error:
        return f"not known: {error}"


class FailuresAtOnce:
    """Names what fails as it fails: a run that is ended from outside prints no summary."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self._terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write one line: the test, the phase, and the first line of what went wrong."""
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            reason = str(crash.message if crash else report.longrepr).partition("\n")[0][:200]
            self._terminal.write_line(f"\n{report.when} of {report.nodeid} failed: {reason}", red=True)


@pytest.hookimpl(trylast=True)  # after the terminal reporter is there
def pytest_configure(config: pytest.Config) -> None:
    """Use it where tests are reported: in the one process that others report to."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(FailuresAtOnce(terminal), "failures-at-once")
