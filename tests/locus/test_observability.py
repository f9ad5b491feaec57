"""What operators see: metrics of the installation, a dashboard and alerts that name only those, JSON logs."""

from __future__ import annotations

import json
import logging
import re
import sys
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command
from django.db import OperationalError
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest

from accounts.models import Webhook
from core.encryption import decrypt, encrypt
from core.http.json_log import JsonFormatter
from core.http.request_id import begin_request
from core.row_access import as_system
from locus import installation_metrics
from locus.installation_metrics import InstallationFigures
from locus.metrics import _all
from runs.models import Execution, ExecutionStatus
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.testing.paths import ROOT

NAME = re.compile(r"\bkb_[a-z0-9_]+")
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
    parts = {"counter": ("",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}
    return {f"{name}{suffix}" for name, kind in families for suffix in parts.get(kind, ())}


def test_the_dashboard_and_the_alerts_name_only_metrics_that_exist(cast: Cast) -> None:
    known = known_names(cast)
    shown = {name for panel in DASHBOARD["panels"] for each in panel["targets"] for name in names(each)}
    watched = {name for group in ALERTS["groups"] for rule in group["rules"] for name in names(rule)}
    assert shown - known == set()
    assert watched - known == set()
    # Each metric of the installation is to be seen.
    assert {name for name in known if name.startswith("kb_") and "web_search" not in name} - shown == {
        "kb_disk_bytes"
    }


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
