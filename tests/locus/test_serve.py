"""`manage.py serve` for real: a first start, faults of its children, and every way to end it."""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.core.management import CommandError, call_command

import manage
from locus.management.commands import serve
from locus.serve import account as account_of_root
from locus.serve import supervisor
from locus.serve.supervisor import GaveUpError, Supervisor
from locus.serve.web import config_of_command_line
from tests.testing.models import keep_models
from tests.testing.paths import ROOT

START_SECONDS = 120


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(what: Callable[[], Any], seconds: float = START_SECONDS) -> Any:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := what():
            return found
        time.sleep(0.1)
    raise AssertionError(f"nothing within {seconds} s")


class Installation:
    """A folder of data, and the processes that run on it."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.port = free_port()
        self.output = ""
        self.arguments: list[str] = []
        self.process: subprocess.Popen[str] | None = None

    def command(self, **variables: str) -> dict[str, Any]:
        """Return what `subprocess` needs to run `manage.py serve` here."""
        kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "COLUMNS")}
        environment = kept | {"DATA_DIR": str(self.data_dir), "PORT": str(self.port)} | variables
        command = [sys.executable, "manage.py", "serve", *self.arguments]
        return {"args": command, "cwd": ROOT, "env": environment, "text": True}

    def start(self, **variables: str) -> None:
        self.output = ""
        command = self.command(**variables)
        self.process = subprocess.Popen(
            **command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self.reading = threading.Thread(target=self.read, args=(self.process,))
        self.reading.start()
        wait_for(lambda: "Locus is ready" in self.output or not self.is_running)
        assert "Locus is ready" in self.output, self.output

    def read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout
        with process.stdout:
            for line in process.stdout:
                self.output += line

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def health(self) -> dict[str, str]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=10) as reply:
            return dict(json.loads(reply.read()))

    def processes(self) -> list[psutil.Process]:
        """Return every process that works on this folder: they carry it in their environment."""
        return [process for process in psutil.process_iter() if self.owns(process)]

    def owns(self, process: psutil.Process) -> bool:
        try:
            folder = process.environ().get("DATA_DIR")
            return folder == str(self.data_dir) and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False

    def child(self, word: str) -> psutil.Process | None:
        """Return the child whose command line contains a word."""
        return next(iter(self.children(word)), None)

    def children(self, words: str) -> list[psutil.Process]:
        """Return the children whose command lines contain some words."""
        assert self.process
        children = psutil.Process(self.process.pid).children()
        lines = ((child, child.as_dict(["cmdline"], ad_value=[])["cmdline"]) for child in children)
        return [child for child, line in lines if words in " ".join(line)]

    def wait_for_restart(self, times: int) -> None:
        wait_for(lambda: self.output.count("ended with status -9; starting it again") == times, 20)

    def end(self, number: signal.Signals) -> int:
        assert self.process
        self.process.send_signal(number)
        status = self.process.wait(timeout=60)
        self.reading.join(timeout=60)
        return status


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="locus-"))
    keep_models(folder)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def installation(data_dir: Path) -> Iterator[Installation]:
    installation = Installation(data_dir)
    yield installation
    if installation.is_running:
        installation.end(signal.SIGTERM)
    wait_for(lambda: not installation.processes(), 60)


@pytest.mark.parametrize(("arguments", "tools"), [(["--no-web-tools"], "off"), ([], "on")])
def test_the_web_tools_can_be_left_out(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], tools: str
) -> None:
    """What the children are started with decides."""
    started_with: list[str] = []
    monkeypatch.setenv("WEB_TOOLS", "on")
    for step in ("check_free", "install"):
        monkeypatch.setattr(serve, step, lambda *_: None)
    monkeypatch.setattr(serve, "supervise", lambda *_: started_with.append(os.environ["WEB_TOOLS"]))
    call_command("serve", *arguments)
    assert started_with == [tools]


def test_the_cost_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    started_with: list[str] = []
    monkeypatch.setenv("MAX_COST", "100")
    for step in ("check_free", "install"):
        monkeypatch.setattr(serve, step, lambda *_: None)
    monkeypatch.setattr(serve, "supervise", lambda *_: started_with.append(os.environ["MAX_COST"]))
    call_command("serve", "--max-cost", "2.50")
    assert started_with == ["2.50"]
    for wrong in ("-1", "NaN", "much"):
        with pytest.raises(CommandError, match="US dollars"):
            call_command("serve", f"--max-cost={wrong}")


def test_the_first_start_and_a_clean_end(installation: Installation) -> None:
    installation.start(ADMIN_EMAIL="boss@example.org")
    box = installation.output[installation.output.index("Locus is ready") :]
    assert f"http://127.0.0.1:{installation.port}/" in box
    assert re.search(r"Log in as  boss@example\.org", box)
    assert re.search(r"Password   \S{12,}", box)
    assert installation.health["status"] == "ok"
    wait_for(lambda: installation.health["worker"] == "ok")

    assert installation.end(signal.SIGTERM) == 0
    assert installation.output.rstrip().endswith("Locus has stopped.")
    wait_for(lambda: not installation.processes())
    assert not (installation.data_dir / "postgres" / "cluster" / "postmaster.pid").exists()


def test_several_web_servers_share_a_port(installation: Installation) -> None:
    """Each answers, any of them may die, and all of them end together."""
    installation.arguments = ["--web", "2", "--workers", "2"]
    installation.start()
    wait_for(lambda: installation.health["worker"] == "ok")
    webs = installation.children("locus.serve.web")
    assert len(webs) == 2
    assert len(installation.children("manage.py worker")) == 2
    wait_for(lambda: all(listens(web, installation.port) for web in webs))
    webs[0].kill()
    installation.wait_for_restart(1)
    # The other one takes all connections meanwhile.
    assert {installation.health["status"] for _ in range(20)} == {"ok"}
    assert installation.end(signal.SIGTERM) == 0
    wait_for(lambda: not installation.processes())
    assert "Traceback" not in installation.output


def listens(process: psutil.Process, port: int) -> bool:
    sockets = process.net_connections("tcp")
    return any(each.status == psutil.CONN_LISTEN and each.laddr.port == port for each in sockets)


@pytest.mark.parametrize(
    "arguments", [["--web", "0"], ["--web", "many"], ["--workers", "-1"], ["--web", "65"]]
)
def test_a_bad_number_of_processes_is_one_sentence(arguments: list[str]) -> None:
    with pytest.raises(CommandError, match="must be a number from"):
        call_command("serve", *arguments)


def test_several_web_servers_are_as_a_single_one() -> None:
    """They get their options from the same list."""
    config = config_of_command_line()
    assert config.http == "locus.door.connections:HttpProtocol"
    assert (config.server_header, config.proxy_headers, config.ws_per_message_deflate) == (False,) * 3
    assert (config.lifespan, config.log_level, config.timeout_graceful_shutdown) == ("on", "warning", 5)


@pytest.mark.slow("starts")
def test_a_second_start_is_quick_and_tells_no_password(installation: Installation) -> None:
    installation.start()
    installation.end(signal.SIGTERM)
    installation.start()
    assert "Password" not in installation.output
    assert "Collecting static files" not in installation.output


def said(refused: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the lines of an error, without what root is told about a new folder."""
    return [line for line in refused.stderr.splitlines() if not line.startswith("Locus runs as root")]


def test_a_taken_port_is_one_sentence(installation: Installation) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", installation.port))
        other.listen()
        refused = subprocess.run(**installation.command(), capture_output=True, timeout=60)
    assert refused.returncode == 1
    assert len(said(refused)) == 1
    assert f"Port {installation.port} of 127.0.0.1 can't be used" in refused.stderr
    assert f"PORT={installation.port + 1} or --port {installation.port + 1}" in refused.stderr


@pytest.mark.parametrize("webs", ["1", "2"])
def test_a_port_that_another_start_takes_meanwhile_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, heard: list[tuple[str, str]], webs: str
) -> None:
    """Web servers that took long to start were started again for ever, because none could have the port."""
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        monkeypatch.setattr(serve, "install", lambda console: other.listen())
        with pytest.raises(CommandError, match=f"Port {port} of 127.0.0.1 can't be used"):
            call_command("serve", "--host", "127.0.0.1", "--port", str(port), "--web", webs, "--workers", "0")


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"PORT": "http"}, "wrong values: PORT: Not a valid integer."),
        ({"PORT": "70000"}, "wrong values: PORT: Must be"),
        ({"ADMIN_EMAIL": "boss"}, "wrong values: ADMIN_EMAIL: Not a valid email address."),
        ({"HOST": "192.0.2.1"}, "can't be used (Cannot assign requested address)"),
    ],
)
def test_a_bad_address_is_one_sentence(
    installation: Installation, variables: dict[str, str], sentence: str
) -> None:
    refused = subprocess.run(**installation.command(**variables), capture_output=True, timeout=60)
    assert refused.returncode == 1
    assert sentence in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_database_that_cannot_be_reached_is_one_sentence(installation: Installation) -> None:
    command = installation.command(DATABASE_URL="postgresql://locus:secret@127.0.0.1:1/locus")
    refused = subprocess.run(**command, capture_output=True, timeout=60)
    assert refused.returncode == 1
    assert len(said(refused)) == 1
    assert "The PostgreSQL server of DATABASE_URL can't be used: connection" in refused.stderr
    assert "secret" not in refused.stderr


@pytest.mark.slow("starts")
def test_a_killed_child_is_started_again(installation: Installation) -> None:
    installation.start()
    for times, word in enumerate(("uvicorn", "worker"), start=1):
        child = installation.child(word)
        assert child
        child.kill()
        installation.wait_for_restart(times)

    def healthy_again() -> bool:
        try:
            return installation.health["status"] == "ok"
        except OSError:
            return False

    wait_for(healthy_again)


@pytest.mark.slow("starts")
def test_ctrl_c_ends_it_cleanly(installation: Installation) -> None:
    installation.start()
    assert installation.end(signal.SIGINT) == 0
    wait_for(lambda: not installation.processes())
    assert "Traceback" not in installation.output


@pytest.mark.slow("starts")
def test_nothing_survives_a_killed_parent(installation: Installation) -> None:
    installation.start()
    assert len(installation.processes()) > 3
    installation.end(signal.SIGKILL)
    wait_for(lambda: not installation.processes(), 30)


# --- Started by root -------------------------------------------------------------------------------------


@pytest.fixture
def roots_installation() -> Iterator[Installation]:
    """An installation that root ran as root, as earlier versions did."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another account")
    installation = Installation(Path(tempfile.mkdtemp(prefix="locus-")))
    command = installation.command(ALLOW_ROOT="true")
    setup = [*command["args"][:2], "setup"]
    subprocess.run(**command | {"args": setup}, check=True, capture_output=True, timeout=START_SECONDS)
    yield installation
    if installation.is_running:
        installation.end(signal.SIGTERM)
    wait_for(lambda: not installation.processes(), 60)
    shutil.rmtree(installation.data_dir, ignore_errors=True)


@pytest.mark.slow("starts")
def test_what_root_starts_runs_as_an_account_of_its_own(
    roots_installation: Installation, tmp_path: Path
) -> None:
    """Web server and worker had root's powers over the machine; now none of the processes has."""
    data_dir = roots_installation.data_dir
    assert (data_dir / "uploads").stat().st_uid == 0
    roots_installation.start(ALLOW_ROOT="")
    account = pwd.getpwnam(account_of_root.NAME)
    wait_for(lambda: roots_installation.health["worker"] == "ok")
    processes = roots_installation.processes()
    assert len(processes) > 3
    assert {uid for process in processes for uid in process.uids()} == {account.pw_uid}

    # A command that root gives reads what root may read; what it stores belongs to the account.
    private = tmp_path / "private.txt"
    private.write_text("The beacon of Ushant is lit at dusk.")
    private.chmod(0o600)
    command = roots_installation.command(ALLOW_ROOT="")
    ingest = ["ingest", str(private), "--workspace", "Personal", "--user", "admin@locus.local"]
    done = subprocess.run(
        **command | {"args": [*command["args"][:2], *ingest]}, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    strangers = [path for path in data_dir.rglob("*") if path.lstat().st_uid != account.pw_uid]
    assert strangers == []
    assert {process.uids().effective for process in roots_installation.processes()} == {account.pw_uid}


def test_what_serves_refuses_root_where_it_cant_become_another(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise account_of_root.RootError("the account can't be made")

    monkeypatch.setattr(account_of_root, "leave_root", refuse)
    for command in ("serve", "worker"):
        with pytest.raises(
            SystemExit, match=r"does not serve as root, .* the account can't be made\. .*ALLOW_ROOT"
        ):
            manage.leave_root(command)
    manage.leave_root("doctor")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can allow root")
@pytest.mark.parametrize("place", ["", "uploads"])
def test_root_does_not_go_on_with_what_is_another_accounts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Readers of documents give root's powers up: all they were given failed with “Permission denied”."""
    for name in ("uploads", "postgres"):
        (tmp_path / name).mkdir(mode=0o700)
    (tmp_path / "models").symlink_to("/etc")
    account = account_of_root.find_or_make()
    os.chown(tmp_path / "postgres", account.pw_uid, account.pw_gid)
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    manage.stay_root()
    os.chown(tmp_path / place, account.pw_uid, account.pw_gid)
    with pytest.raises(SystemExit, match=r"ALLOW_ROOT is on, but .* belongs to another account"):
        manage.stay_root()
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "not yet there"))
    manage.stay_root()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root lets others pass")
def test_only_the_account_may_pass_a_closed_folder(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    (closed / "checkout").mkdir(parents=True)
    (closed / "checkout").chmod(0o755)
    closed.chmod(0o700)
    account = account_of_root.find_or_make()
    for mode in (0o700, 0o700, 0o701, 0o700):
        # A folder's new mode takes the right from the account again, even one that lets all others pass.
        closed.chmod(mode)
        account_of_root.allow_passage([closed / "checkout"], account)

    def enters(uid: int, folder: Path) -> bool:
        return not subprocess.run(
            ["ls", str(folder)], user=uid, extra_groups=[], capture_output=True
        ).returncode

    assert enters(account.pw_uid, closed / "checkout")
    assert not enters(account.pw_uid, closed)
    assert not enters(65534, closed / "checkout")


# --- The supervisor alone --------------------------------------------------------------------------------


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, str]]]:
    """What the children said, with a supervisor in a hurry and our own signal handlers put back."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = {number: signal.getsignal(number) for number in numbers}
    monkeypatch.setattr(supervisor, "GRACE_SECONDS", 1.0)
    monkeypatch.setattr(supervisor, "LONGEST_PAUSE", 0.1)
    yield []
    for number, handler in handlers.items():
        signal.signal(number, handler)


def supervise(heard: list[tuple[str, str]], script: str, until: str) -> None:
    """Run one child until it has said something, then stop as if Ctrl-C had been pressed."""
    children = {"child": [sys.executable, "-u", "-c", script]}
    running = Supervisor(children, lambda name, line: heard.append((name, line)))
    stop = lambda: os.kill(os.getpid(), signal.SIGINT)  # noqa: E731
    running.run(is_ready=lambda: any(until in line for _, line in heard), announce=stop)


def test_a_child_that_keeps_failing_is_given_up(heard: list[tuple[str, str]]) -> None:
    with pytest.raises(
        GaveUpError, match=r"The child ended 5 times soon after its start; see its output above\."
    ):
        supervise(heard, "print('no'); raise SystemExit(3)", until="never")
    assert [line for _, line in heard].count("no") == 5


def test_a_child_that_ignores_the_request_to_stop_is_killed(heard: list[tuple[str, str]]) -> None:
    stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); print('here'); time.sleep(60)"
    started = time.monotonic()
    supervise(heard, stubborn, until="here")
    assert time.monotonic() - started < 10
    assert ("child", "did not stop in time and was killed") in heard


MANY_STOPS = """
import os, random, signal, time
from unittest.mock import Mock
from locus.serve import supervisor

supervisor.TICK_SECONDS = 1e-6
# It starts a process, and here there is nothing to guard.
supervisor.OrphanGuard = Mock()

def stop_soon():
    # From another process: a thread of this one would only run where this thread waits.
    if not os.fork():
        time.sleep(random.random() / 500)
        os.kill(os.getppid(), signal.SIGTERM)
        os._exit(0)

for _ in range(1000):
    supervisor.Supervisor({}, lambda name, line: None).run(is_ready=lambda: True, announce=stop_soon)
    os.wait()
"""


def test_a_signal_stops_it_whenever_it_comes() -> None:
    """One that came while the supervisor looked for it made it wait for itself, for ever."""
    subprocess.run([sys.executable, "-c", MANY_STOPS], cwd=ROOT, check=True, timeout=120)


def test_what_a_child_started_ends_with_it(heard: list[tuple[str, str]]) -> None:
    family = "import subprocess as s, time; print('pid', s.Popen(['sleep', '60']).pid); time.sleep(60)"
    supervise(heard, family, until="pid")
    grandchild = int(heard[0][1].split()[1])
    wait_for(lambda: not psutil.pid_exists(grandchild) or psutil.Process(grandchild).status() == "zombie", 5)


@pytest.mark.parametrize(
    ("host", "named"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("::1", "[::1]"), ("kb.local", "kb.local")]
)
def test_the_url_that_is_printed_can_be_opened(host: str, named: str) -> None:
    assert serve.url_host(host) == named
