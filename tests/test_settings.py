"""Settings: documented, typed, and loud about bad values."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def load_settings(**environment: str) -> subprocess.CompletedProcess[str]:
    """Import the settings in a fresh process."""
    command = [sys.executable, "-c", "import kb.settings"]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_every_setting_is_documented() -> None:
    reader = r'(?:env\.\w+|_provider_\w+)\(\s*"([A-Z_]+)"'
    read = set(re.findall(reader, (ROOT / "kb/settings.py").read_text()))
    documented = set(re.findall(r"`([A-Z_]{3,})`", (ROOT / "docs/reference/settings.md").read_text()))
    assert len(read) > 20
    assert read - documented == set()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MAX_UPLOAD_BYTES", "much"),
        ("MAX_PAGES", "0"),
        ("WORKER_HEARTBEAT_SECS", "soon"),
        ("SSE_MAX_EVENT_BYTES", "100"),
        ("LOG_LEVEL", "LOUD"),
        ("DEBUG", "perhaps"),
        ("DATABASE_URL", "not a url"),
        ("WEB_SEARCH_RESULTS", "21"),
        ("WEB_SEARCH_TIMEOUT_SECS", "0"),
        ("SEARXNG_URL", "search.example.org"),
        ("BRAVE_SEARCH_API_KEY", "two words"),
    ],
)
def test_a_bad_value_is_one_sentence_that_names_the_variable(name: str, value: str) -> None:
    done = load_settings(**{name: value})
    assert done.returncode == 1
    assert name in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_all_bad_values_are_told_at_once() -> None:
    done = load_settings(MAX_PAGES="x", LOG_LEVEL="y")
    assert "MAX_PAGES" in done.stderr
    assert "LOG_LEVEL" in done.stderr


def test_good_values_load() -> None:
    done = load_settings(MAX_PAGES="7", DATABASE_URL="postgresql://u:p@localhost:5/db?sslmode=require")
    assert (done.returncode, done.stderr) == (0, "")
