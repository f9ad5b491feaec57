"""What other accounts of the machine, and the makers of libraries, may learn: nothing."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage

from core.process.file_modes import close_data_dir, too_open_paths
from extract.sandbox.processes import ENVIRONMENT, PROGRAM
from kb.doctor import examine
from kb.doctor.files import OPEN_FILES
from tests.testing.paths import ROOT, SAMPLES

LIMITS = [
    *("--memory-bytes", str(2 << 30), "--cpu-secs", "300", "--max-pages", "100"),
    *("--speech-model", "auto", "--deep"),
]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def old_data_dir(folder: Path) -> Path:
    """Make a folder as earlier versions left it: whoever has an account reads all of it."""
    previous = os.umask(0o022)
    try:
        for name in ("files/documents/1/original", "cache/pages/1/1-300.png", "uploads/half", "worker.log"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("secret")
        (folder / "postgres" / "cluster").mkdir(parents=True)
    finally:
        os.umask(previous)
    folder.chmod(0o755)
    return folder


def test_what_an_earlier_version_left_open_is_closed_at_the_start(tmp_path: Path) -> None:
    """Files of all tenants were readable by every account of the machine."""
    data_dir = old_data_dir(tmp_path / "data")
    close_data_dir(data_dir)
    passed = {data_dir} if os.geteuid() == 0 else set()
    for path in {data_dir, *data_dir.rglob("*")} - passed:
        if "postgres" not in path.parts:
            assert mode(path) & 0o077 == 0, path
    assert mode(data_dir) & 0o066 == 0
    assert mode(data_dir / "postgres") == 0o755, "PostgreSQL's folder is not ours to change"
    assert list(too_open_paths(data_dir)) == []


def test_doctor_finds_and_closes_what_lies_open_in_a_closed_folder(tmp_path: Path, settings: Any) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "cache").mkdir(mode=0o700)
    (tmp_path / "cache" / "open").write_text("secret")
    (tmp_path / "cache" / "open").chmod(0o644)
    result = examine(OPEN_FILES)
    assert [finding.subject for finding in result.examples] == [str(tmp_path / "cache" / "open")]
    OPEN_FILES.repair(result.examples[0])
    assert examine(OPEN_FILES).count == 0
    assert mode(tmp_path / "cache" / "open") == 0o600


def test_stored_files_are_private_whatever_the_umask(tmp_path: Path) -> None:
    previous = os.umask(0)
    try:
        storage = FileSystemStorage(tmp_path / "files")
        stored = tmp_path / "files" / storage.save("documents/1/original", ContentFile(b"secret"))
    finally:
        os.umask(previous)
    assert mode(stored) == 0o600
    assert mode(stored.parent) == mode(stored.parent.parent) == 0o700


@pytest.mark.parametrize(
    ("command", "probe"),
    [
        (["manage.py", "shell", "--no-imports", "--command"], ""),
        (["-c"], "import django; import locus.asgi\n"),
    ],
    ids=["manage.py", "web"],
)
def test_processes_make_private_files_and_show_their_environment_to_nobody(
    command: list[str], probe: str
) -> None:
    """A process that a file has taken over read keys from /proc/<pid>/environ of the worker."""
    show = (
        "import ctypes, os\n"
        "print(os.umask(0), ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), os.environ['ORT_DISABLE_TELEMETRY'])"
    )
    done = subprocess.run(
        [sys.executable, *command, probe + show], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.splitlines()[-1:] == [f"{0o077} 0 1"], done.stderr


@pytest.mark.parametrize("name", ["speech.opus", "scan.png", "report.pdf"])
def test_reading_leaves_no_telemetry_behind(name: str, tmp_path: Path) -> None:
    """A library that finds speech put a device id and a queue of reports into the home folder."""
    done = subprocess.run(
        [*PROGRAM, str(SAMPLES / name), *LIMITS],
        cwd=ROOT,
        env=ENVIRONMENT | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert '"type":"End"' in done.stdout, done.stderr
    assert list(tmp_path.rglob("*")) == []


class TestEnvFile:
    @pytest.fixture
    def env_file(self, tmp_path: Path) -> Path:
        file = tmp_path / ".env"
        file.write_text("# ours\nMAX_PAGES=7\nexport WORKER_CONCURRENCY='3'\nADMIN_PASSWORD=\"a b#c\"\n")
        return file

    def ask(self, env_file: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        show = (
            "from django.conf import settings as its\n"
            "print(its.MAX_PAGES, its.WORKER_CONCURRENCY, its.ADMIN_PASSWORD)"
        )
        command = [sys.executable, "manage.py", "shell", "--no-imports", "--command", show]
        return subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | {"ENV_FILE": str(env_file)} | environment,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def test_its_settings_are_read_and_never_override_the_environment(self, env_file: Path) -> None:
        done = self.ask(env_file, MAX_PAGES="9")
        assert done.stdout == "9 3 a b#c\n", done.stderr

    def test_a_bad_value_in_it_stops_the_start_with_its_name(self, env_file: Path) -> None:
        env_file.write_text("MAX_PAGES=many\n")
        done = self.ask(env_file)
        assert done.returncode == 1
        assert "MAX_PAGES" in done.stderr

    def test_the_file_beside_manage_py_is_the_default(self) -> None:
        import manage

        assert manage.ENV_FILE == ROOT / ".env"

    def test_tests_read_none(self) -> None:
        assert os.environ["ENV_FILE"] == ""
        assert settings.MAX_PAGES == 5000
