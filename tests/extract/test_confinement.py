"""A parser that a file has taken over: what code of a stranger's can do inside the reading process."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from core.confinement import available_confinement, landlock
from extract.sandbox import processes
from extract.sandbox.child import SandboxLimits
from extract.sandbox.parent import extract
from tests.testing.paths import SAMPLES

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="confinement needs Linux")

# Each a statement that must fail; `given` holds what the test prepared.
ATTEMPTS = {
    "read the secret key": "open(given['secret']).read()",
    "read another document": "open(given['other']).read()",
    "list the documents": "os.listdir(os.path.dirname(given['other']))",
    "read the worker's environment": "open(f'/proc/{os.getppid()}/environ').read()",
    "read the worker's memory": "open(f'/proc/{os.getppid()}/mem', 'rb').read(1)",
    "read the accounts of the machine": "open('/etc/passwd').read()",
    "read a setting beside the code": "open(given['root'] + '/pyproject.toml').read()",
    "write beside the file": "open(given['file'] + '.new', 'w')",
    "change the file": "open(given['file'], 'r+b')",
    "make the file readable for all": "os.chmod(given['file'], 0o777)",
    "delete the file": "os.unlink(given['file'])",
    "write into our code": "open(given['root'] + '/kb/changes.py', 'a')",
    "write into a library": "open(os.__file__, 'a')",
    "write to the temporary folder": "open(given['temporary'], 'w')",
    "write to shared memory": "open('/dev/shm/locus-was-here', 'w')",
    "link to another document": "os.link(given['other'], given['folder'] + '/mine')",
    "connect to the web server": "socket.create_connection(('127.0.0.1', given['port']), 2)",
    "connect to PostgreSQL": "socket.socket(socket.AF_UNIX).connect(given['postgres'])",
    "connect to an abstract socket": "socket.socket(socket.AF_UNIX).connect(chr(0) + given['abstract'])",
    "send a datagram": "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].send(b'x')",
    "ask for a name": "socket.getaddrinfo('example.org', 80)",
    "run a program": "subprocess.run(['/bin/true'])",
    "become a program": "os.execv('/bin/true', ['true'])",
    "fork": "os.fork()",
    "signal the worker": "os.kill(given['worker'], 0)",
    "signal the process that started it": "os.kill(os.getppid(), 0)",
    "signal everybody": "os.kill(-1, 0)",
    "signal by a file": "fcntl.fcntl(0, fcntl.F_SETOWN, given['worker'])",
    "limit the worker": "resource.prlimit(given['worker'], resource.RLIMIT_CPU)",
    "lift its own limit": "resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)",
    "slow the worker down": "os.setpriority(os.PRIO_PROCESS, given['worker'], 19)",
    "debug the worker": "call(101, 16, given['worker'], 0, 0)",
    "read from the worker's memory": "call(310, given['worker'], 0, 0, 0, 0, 0)",
    "hold the worker": "os.pidfd_open(given['worker'])",
    "mount": "call(165, b'none', b'/mnt', b'tmpfs', 0, 0)",
    "leave for another namespace": "call(272, 0x10000000)",
    "use the kernel's other entrance": "call(425, 1, bytes(256))",
    "share memory by number": "call(29, 1, 4096, 0o1666)",
    "call what is newer than the list": "call(470, 0, 0, 0, 0)",
    "find a secret in its environment": "next(name for name in os.environ if 'KEY' in name or 'URL' in name)",
}
TAKEN_OVER = """
import ctypes, fcntl, json, os, resource, socket, subprocess, sys
from pathlib import Path

def call(*arguments):
    if libc.syscall(*arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")

def play(given):
    done = []
    for name, attempt in given["attempts"].items():
        try:
            eval(attempt)
            done.append(name)
        except (OSError, RuntimeError, ValueError, StopIteration):
            pass
    return done

libc = ctypes.CDLL(None, use_errno=True)
"""


@pytest.fixture
def given(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """A document to read, and all that is not to be reached from it."""
    folder, other = tmp_path / "attachments", tmp_path / "files" / "other" / "original"
    folder.mkdir()
    other.parent.mkdir(parents=True)
    other.write_text("another tenant's")
    (tmp_path / "secret_key").write_text("secret")
    (tmp_path / "original").write_bytes((SAMPLES / "report.pdf").read_bytes())
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0locus-test-{os.getpid()}")
        abstract.listen()
        yield {
            "file": str(tmp_path / "original"),
            "folder": str(folder),
            "other": str(other),
            "secret": str(tmp_path / "secret_key"),
            "root": str(landlock.ROOT),
            "port": server.getsockname()[1],
            "abstract": f"locus-test-{os.getpid()}",
            "postgres": f"{connection.settings_dict['HOST']}/.s.PGSQL.5432",
            "worker": os.getpid(),
            "temporary": f"/tmp/locus-test-{os.getpid()}",
            "attempts": {name: code for name, code in ATTEMPTS.items() if is_for_this_machine(code)},
        }


def is_for_this_machine(attempt: str) -> bool:
    return os.uname().machine == "x86_64" or "call(" not in attempt


def run_taken_over(given: dict[str, Any], prepare: str) -> list[str]:
    """Run the attempts in a process of its own after `prepare`; return those that succeeded."""
    program = TAKEN_OVER + f"given = json.loads(sys.stdin.read())\n{prepare}\nprint(json.dumps(play(given)))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=landlock.ROOT,
        env=processes.ENVIRONMENT,
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    succeeded: list[str] = json.loads(done.stdout.splitlines()[-1])
    return succeeded


WALLED_IN = textwrap.dedent("""
    from core.confinement.limits import limit_this_process
    limit_this_process(1 << 30, 30, Path(given["file"]), [Path(given["folder"])])
""")


@pytest.mark.skipif(bool(available_confinement().missing), reason="this kernel lacks confinement")
def test_nothing_is_in_reach_of_a_parser_that_was_taken_over(given: dict[str, Any]) -> None:
    """It read keys and every tenant's files, connected to the database and ended the worker."""
    assert run_taken_over(given, WALLED_IN) == []
    assert not Path(given["temporary"]).exists()


def test_the_attempts_are_real(given: dict[str, Any]) -> None:
    """Without confinement most of them succeed: else their failing would prove nothing."""
    harmful = {
        "become a program",
        "debug the worker",
        "delete the file",
        "fork",
        "signal everybody",
        "write to shared memory",
    }
    given["attempts"] = {name: code for name, code in given["attempts"].items() if name not in harmful}
    succeeded = set(run_taken_over(given, ""))
    Path(given["temporary"]).unlink()
    assert {
        "read the secret key",
        "read another document",
        "connect to the web server",
        "connect to PostgreSQL",
        "connect to an abstract socket",
        "run a program",
        "signal the worker",
        "write beside the file",
        "write into our code",
        "limit the worker",
        "share memory by number",
    } <= succeeded


def test_what_reading_takes_is_in_reach(given: dict[str, Any]) -> None:
    given["attempts"] = {
        "read": "open(given['file'], 'rb').read()",
        "write an attachment": "os.chdir(given['folder']) or open('a1', 'w').write('x') and os.unlink('a1')",
        "have threads": "__import__('threading').Thread(target=print).start()",
        "import": "__import__('pymupdf')",
        "end itself": "os.kill(os.getpid(), 0)",
    }
    assert run_taken_over(given, WALLED_IN) == list(given["attempts"])


def test_a_child_that_was_forked_for_a_file_is_walled_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The process that really reads is confined: its status says so."""
    if not processes.CAN_FORK:
        pytest.skip("children are forked on Linux only")
    os.mkfifo(tmp_path / "endless")
    ended = threading.Event()

    class Enough(Exception):
        pass

    seen: list[dict[str, str]] = []

    def look() -> None:
        for status in statuses():
            if status.get("Seccomp") == "2":
                seen.append(status)
        if seen or ended.is_set():
            raise Enough

    timer = threading.Timer(30, ended.set)
    timer.start()
    try:
        with pytest.raises(Enough):
            list(extract(tmp_path / "endless", SandboxLimits(60, 1 << 30, 10), while_waiting=look))
    finally:
        timer.cancel()
    assert seen, "no child with a filter of system calls"
    assert seen[0]["NoNewPrivs"] == "1"
    assert int(seen[0]["CapEff"], 16) == 0
    # A session of its own: it is not in ours.
    assert seen[0]["NSsid"] == seen[0]["Pid"]


def statuses() -> list[dict[str, str]]:
    """Return what the kernel says of all processes that run our readers."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if b"extract.sandbox" in (folder / "cmdline").read_bytes():
                lines = (folder / "status").read_text().splitlines()
                found.append(
                    {
                        name: value.split()[0] if value.split() else ""
                        for name, _, value in (line.partition(":\t") for line in lines)
                    }
                )
        except OSError:
            continue
    return found


def test_it_works_without_the_kernels_help(monkeypatch: pytest.MonkeyPatch, given: dict[str, Any]) -> None:
    """Files are read even if the kernel lacks confinement."""
    without = (
        "from core.confinement import landlock, seccomp\n"
        "landlock.version = lambda: 0\nseccomp.is_offered = lambda: False\n"
    )
    given["attempts"] = {"read": "open(given['file'], 'rb').read()", "see": "open('/etc/passwd').read()"}
    assert run_taken_over(given, without + WALLED_IN) == ["read", "see"]


@pytest.mark.parametrize("known", range(1, 7))
def test_older_versions_of_landlock_are_used_as_far_as_they_go(known: int, given: dict[str, Any]) -> None:
    if landlock.version() < known:
        pytest.skip("this kernel is older")
    older = f"from core.confinement import landlock\nlandlock.version = lambda: {known}\n"
    given["attempts"] = {"read": "open(given['file'], 'rb').read()", "see": "open(given['secret']).read()"}
    assert run_taken_over(given, older + WALLED_IN) == ["read"]
