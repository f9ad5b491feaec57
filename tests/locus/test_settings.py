"""Settings: documented, typed, and loud about bad values."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.testing.paths import ROOT


def load_settings(**environment: str) -> subprocess.CompletedProcess[str]:
    """Import the settings in a fresh process."""
    command = [sys.executable, "-c", "import locus.settings"]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def names_of_settings() -> set[str]:
    reader = re.compile(r'(?:env\.\w+|secret|provider_\w+)\(\s*"([A-Z0-9_]+)"')
    files = (ROOT / "locus/settings").glob("*.py")
    return {name for file in files for name in reader.findall(file.read_text())}


def test_every_setting_is_documented() -> None:
    read = names_of_settings()
    documented = set(re.findall(r"`([A-Z0-9_]{3,})`", (ROOT / "docs/reference/settings.md").read_text()))
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
        ("FILE_STORAGE", "somewhere"),
        ("FILE_STORAGE", "no.such.package.Storage"),
        ("FILE_STORAGE_OPTIONS", "[]"),
        ("SPEECH_MODEL", "whisper-enormous"),
        ("SPEECH_MODEL", "/no/such/folder"),
        ("FILE_STORAGE_OPTIONS", "{location}"),
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


def test_an_empty_variable_is_one_that_is_not_set() -> None:
    """Compose files make empty variables of settings that nobody has given: each keeps its default."""
    names = names_of_settings() - {"DATA_DIR", "SECRET_KEY", "KEY_PEPPER", "ENCRYPTION_KEY"}
    tell = f"import locus.settings as s; print([(n, getattr(s, n, None)) for n in {sorted(names)}])"
    unset = {name: value for name, value in os.environ.items() if name not in names}
    told = [
        subprocess.run(
            [sys.executable, "-c", tell], cwd=ROOT, env=each, capture_output=True, text=True, check=False
        )
        for each in (unset, unset | dict.fromkeys(names, ""), unset | dict.fromkeys(names, "  "))
    ]
    assert [(each.returncode, each.stderr) for each in told] == [(0, "")] * 3
    assert told[0].stdout == told[1].stdout == told[2].stdout
    assert "('BRAVE_BASE_URL', 'https://api.search.brave.com')" in told[1].stdout


def test_an_empty_address_leaves_the_one_that_is_given() -> None:
    tell = "import locus.settings as s; print(s.SEARXNG_BASE_URL)"
    environment = os.environ | {"SEARXNG_URL": "https://search.example.org", "SEARXNG_BASE_URL": ""}
    done = subprocess.run(
        [sys.executable, "-c", tell], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "https://search.example.org"
