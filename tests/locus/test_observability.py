"""What operators see: metrics of the installation, a dashboard and alerts that name only those, JSON logs."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command
from django.db import OperationalError
from prometheus_client import REGISTRY, CollectorRegistry
from prometheus_client.exposition import generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from accounts.models import Webhook
from core.encryption import decrypt, encrypt
from core.http.json_log import JsonFormatter
from core.http.request_id import begin_request
from core.row_access import as_system
from ingestion import job_metrics
from locus import installation_metrics
from locus.door.metrics import RequestMetrics
from locus.installation_metrics import InstallationFigures
from locus.management.commands.serve import forget_gauges, shared_metrics
from locus.metrics import _all
from runs.models import Execution, ExecutionStatus
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.testing.paths import ROOT

NAME = re.compile(r"\bkb_[a-z0-9_]+")
PARTS = {"counter": ("",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}
DASHBOARD = json.loads((ROOT / "deploy/grafana/locus.json").read_text())
ALERTS = yaml.safe_load((ROOT / "deploy/prometheus/locus.yml").read_text())


@pytest.fixture(autouse=True)
def _nothing_cached(db: None) -> None:
    from django.core.cache import cache

    cache.clear()


def exposed() -> str:
    registry = CollectorRegistry()
    registry.register(InstallationFigures())
    return generate_latest(registry).decode()


def value_of(line: str) -> float:
    [found] = [each for each in exposed().splitlines() if each.startswith(f"{line} ")]
    return float(found.rpartition(" ")[2])


def test_the_figures_of_an_installation(cast: Cast) -> None:
    indexed_document(cast.team)
    with as_system("a test"):
        Execution.unscoped.create(
            user=cast.alice, workspace=cast.team, tool="rag_search", inputs={}, status=ExecutionStatus.FAILED
        )
    assert value_of('kb_documents{status="ready"}') == 1
    assert value_of('kb_documents{status="failed"}') == 0
    assert value_of('kb_document_bytes{status="ready"}') > 0
    assert value_of('kb_jobs{state="failed"}') == 0
    assert value_of("kb_workers") == 0
    assert value_of("kb_runs_failed_last_day") == 1
    assert value_of('kb_runs_today{outcome="failed"}') == 1
    assert value_of("kb_database_bytes") > 0
    assert 0 < value_of("kb_disk_free_bytes") <= value_of("kb_disk_bytes")


def test_without_its_database_the_other_metrics_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OperationalError

    monkeypatch.setattr(installation_metrics, "figures", fail)
    assert exposed() == ""


def known_names(cast: Cast) -> set[str]:
    """Return all names that `/metrics` may have, as families and as their samples."""
    indexed_document(cast.team)
    with as_system("a test"):
        execution = Execution.unscoped.create(
            user=cast.alice, workspace=cast.team, tool="rag_search", inputs={}
        )
        execution.status, execution.finished_at = ExecutionStatus.COMPLETED, execution.created_at
        execution.save()
    text = generate_latest(_all()).decode()
    families = re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE)
    return {f"{name}{suffix}" for name, kind in families for suffix in PARTS.get(kind, ())}


def test_the_dashboard_and_the_alerts_name_only_metrics_that_exist(cast: Cast) -> None:
    known = known_names(cast)
    shown = {name for panel in DASHBOARD["panels"] for each in panel["targets"] for name in names(each)}
    watched = {name for group in ALERTS["groups"] for rule in group["rules"] for name in names(rule)}
    assert shown - known == set()
    assert watched - known == set()
    # Each metric of the installation is to be seen.
    ours = {name for name in known if name.startswith("kb_") and "web_search" not in name}
    assert {name for name in ours - shown if not name.endswith(("_sum", "_count"))} == {"kb_disk_bytes"}


def names(where: dict[str, Any]) -> set[str]:
    return set(NAME.findall(where["expr"]))


def test_each_panel_and_rule_is_whole() -> None:
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids) > 10
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in DASHBOARD["panels"]]
    assert len(set(places)) == len(places)
    assert all(panel["title"] and panel["targets"] for panel in DASHBOARD["panels"])
    runbooks = (ROOT / "docs/operations.md").read_text()
    for rule in ALERTS["groups"][0]["rules"]:
        assert {"alert", "expr", "for", "labels", "annotations"} == set(rule)
        assert rule["expr"].count("(") == rule["expr"].count(")")
        assert f"`{rule['alert']}`" in runbooks


# --- Processes ---------------------------------------------------------------------------------------------

COUNTING = """
import sys
from locus.door.metrics import RequestMetrics
with RequestMetrics("/api/v1/documents") as one:
    one.note_head(200, [])
with RequestMetrics("/api/v1/tools/rag_search") as one:
    one.note_head(200, [(b"Content-Type", b"text/event-stream")])
    print("streams", flush=True)
    sys.stdin.read()
"""


def test_the_processes_of_a_host_are_added_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With several web servers a scrape told of the one that happened to answer."""
    environment = os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    with ExitStack() as stack:
        servers = []
        for _ in range(3):
            command = [sys.executable, "-c", COUNTING]
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            server = subprocess.Popen(command, cwd=ROOT, env=environment, **pipes)
            servers.append(stack.enter_context(server))
        for server in servers:
            assert server.stdout and server.stdout.readline() == "streams\n"
        counted = scraped(tmp_path)
        assert counted['kb_http_requests_total{kind="api",status="2xx"}'] == 6
        assert counted['kb_http_first_byte_seconds_count{kind="api"}'] == 6
        assert counted["kb_open_streams"] == 3
        # One is killed: what it counted stays, what it had open does not.
        servers[0].kill()
        servers[0].wait()
        monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
        forget_gauges(servers[0].pid)
        counted = scraped(tmp_path)
        assert counted['kb_http_requests_total{kind="api",status="2xx"}'] == 6
        assert counted["kb_open_streams"] == 2


def scraped(folder: Path) -> dict[str, float]:
    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(folder))
    lines = [line for line in generate_latest(registry).decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_serve_gives_its_processes_a_folder_and_takes_it_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROMETHEUS_MULTIPROC_DIR", raising=False)
    with shared_metrics():
        folder = Path(os.environ["PROMETHEUS_MULTIPROC_DIR"])
        assert folder.is_dir() and folder.stat().st_mode & 0o077 == 0
    assert not folder.exists() and "PROMETHEUS_MULTIPROC_DIR" not in os.environ
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "/where/the/operator/wants")
    with shared_metrics():
        assert os.environ["PROMETHEUS_MULTIPROC_DIR"] == "/where/the/operator/wants"


def test_kinds_of_requests_are_few() -> None:
    paths = ("/api/v1/documents", "/v1/responses", "/static/a.js", "/ws/documents", "/", "/any/where/%00")
    kinds = [RequestMetrics(path)._kind for path in paths]
    assert kinds == ["api", "gateway", "static", "socket", "page", "page"]


async def test_a_job_is_counted_by_its_end() -> None:
    job = SimpleNamespace(task_name="a_task")

    async def fail() -> None:
        raise ValueError

    async def wait() -> None:
        raise asyncio.CancelledError

    async def work() -> str:
        return "made"

    def count(end: str) -> float:
        return REGISTRY.get_sample_value("kb_jobs_run_total", {"task": "a_task", "end": end}) or 0

    context: Any = SimpleNamespace(job=job)
    assert await job_metrics.measure_job(work, context, None) == "made"
    with pytest.raises(ValueError):
        await job_metrics.measure_job(fail, context, None)
    # A worker that stops puts its jobs back.
    with pytest.raises(asyncio.CancelledError):
        await job_metrics.measure_job(wait, context, None)
    assert (count("done"), count("error"), count("aborted")) == (1, 1, 1)


# --- Logs --------------------------------------------------------------------------------------------------


def record_of(message: str, *arguments: object, **fields: Any) -> logging.LogRecord:
    return logging.LogRecord("kb.jobs", logging.WARNING, "file.py", 7, message, arguments, **fields)


def test_a_line_is_one_json_object() -> None:
    begin_request("a-request")
    line = JsonFormatter().format(record_of("Lines\nof “%s”", "Ærø", exc_info=None))
    assert "\n" not in line
    told = json.loads(line)
    assert (told["level"], told["logger"], told["message"]) == ("WARNING", "kb.jobs", "Lines\nof “Ærø”")
    assert told["request_id"] == "a-request"
    assert told["time"].endswith("+00:00")


def test_a_traceback_is_a_part_of_its_line() -> None:
    try:
        raise ValueError("no")
    except ValueError:
        told = json.loads(JsonFormatter().format(record_of("It failed", exc_info=sys.exc_info())))
    assert told["traceback"].endswith("ValueError: no")


# --- Rotation ----------------------------------------------------------------------------------------------


def test_secrets_are_encrypted_with_the_new_key(cast: Cast, settings: Any) -> None:
    settings.ENCRYPTION_KEY = "an old key"
    webhook = Webhook.unscoped.create(
        workspace=cast.team, url="https://example.org", secret=encrypt("a secret"), events=[]
    )
    settings.ENCRYPTION_KEY, settings.ENCRYPTION_KEY_FALLBACKS = "a new key", ["an old key"]
    call_command("rotate_secrets")
    settings.ENCRYPTION_KEY_FALLBACKS = []
    webhook.refresh_from_db()
    assert decrypt(webhook.secret) == "a secret"
    settings.ENCRYPTION_KEY = "another key"
    with pytest.raises(CommandError, match="no key decrypts: 1"):
        call_command("rotate_secrets")
