"""`manage.py serve`: runs the whole product under one supervisor."""

import os
import socket
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from prometheus_client.multiprocess import mark_process_dead
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from locus.serve.installation import Login, install
from locus.serve.supervisor import GaveUpError, Supervisor

ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104
# Streams stay open while a client reads them, so a stop does not wait for them. Messages are short;
# compressing them took 2 % of the server's time under hundreds of streams. `locus.door` handles proxies. A
# message may be as long as a request's body.
UVICORN = [
    "--http=locus.door.connections:HttpProtocol",
    "--no-proxy-headers",
    f"--ws-max-size={settings.DATA_UPLOAD_MAX_MEMORY_SIZE}",
    "--no-server-header",
    "--lifespan=on",
    "--log-level=warning",
    "--timeout-graceful-shutdown=5",
    "--ws-per-message-deflate=false",
]
BACKLOG = 2048
MOST_PROCESSES = 64
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
IN_MEMORY = "/dev/shm"  # noqa: S108
COLOURS = {"web": "cyan", "worker": "magenta"}


class Command(BaseCommand):
    """Sets up what is missing, then runs web server and worker until a signal stops it."""

    help = "Run Locus: set up what is missing, then keep web server and worker running."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--host", default=settings.HOST, help="default: HOST")
        parser.add_argument("--port", default=str(settings.PORT), help="default: PORT")
        parser.add_argument("--web", default="1", metavar="N", help="web server processes (default: 1)")
        parser.add_argument("--workers", default="1", metavar="M", help="workers, or 0 (default: 1)")
        parser.add_argument("--no-web-tools", action="store_true", help="as WEB_TOOLS=off")
        parser.add_argument("--max-cost", metavar="DOLLARS", help="as MAX_COST")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check, set up, and supervise."""
        host, port = options["host"], read_port(options["port"])
        webs, workers = read_count(options["web"], 1, "--web"), read_count(options["workers"], 0, "--workers")
        check_free(host, port)
        # Child processes read their settings from the environment.
        if options["no_web_tools"]:
            os.environ["WEB_TOOLS"] = "off"
        if options["max_cost"] is not None:
            os.environ["MAX_COST"] = str(read_dollars(options["max_cost"], "--max-cost"))
        console = Console(soft_wrap=True)
        login = install(console)
        try:
            with shared_metrics(), listening_socket(host, port, webs) as shared:
                supervise(console, host, port, login, (webs, workers), shared)
        except GaveUpError as error:
            raise CommandError(str(error)) from error


def supervise(
    console: Console,
    host: str,
    port: int,
    login: Login | None,
    counts: tuple[int, int],
    shared: socket.socket | None,
) -> None:
    """Run so many web servers and workers until a signal comes, and report when they are ready."""

    def say(name: str, line: str) -> None:
        console.print(Text.assemble((f"{name:<8} │ ", COLOURS[name.split()[0]]), line))

    children = commands(host, port, counts, shared)
    inherited = {name: [shared.fileno()] for name in children if shared and name.startswith("web")}

    def require_port(name: str) -> None:
        # A web server without a shared socket opens its own, long after its start.
        if shared is None and name.startswith("web"):
            check_free(host, port)

    supervisor = Supervisor(
        children, say, inherited, settings.DRAIN_SECS, forget=forget_gauges, before_start=require_port
    )
    supervisor.run(
        is_ready=lambda: is_answering(f"http://{url_host(host)}:{port}/health"),
        announce=lambda: console.print(welcome_panel(f"http://{url_host(host)}:{port}/", login)),
    )
    console.print("Locus has stopped.")


def commands(
    host: str, port: int, counts: tuple[int, int] = (1, 1), shared: socket.socket | None = None
) -> dict[str, list[str]]:
    """Return the command lines of the children by their names; `counts` are of web servers and workers."""
    webs, workers = counts
    if shared is None:
        web = ["uvicorn", "locus.asgi:application", "--host", host, "--port", str(port), *UVICORN]
    else:
        web = ["locus.serve.web", str(shared.fileno())]
    worker = [str(Path(settings.BASE_DIR) / "manage.py"), "worker"]
    # Unbuffered, so that a line appears when it is written.
    python = [sys.executable, "-u"]
    lines = {_numbered("web", index): [*python, "-m", *web] for index in range(webs)}
    return lines | {_numbered("worker", index): [*python, *worker] for index in range(workers)}


def _numbered(name: str, index: int) -> str:
    return f"{name} {index + 1}" if index else name


@contextmanager
def shared_metrics() -> Iterator[None]:
    """Let all child processes keep their metrics in one folder, so that any of them reports the sums.

    The folder is in memory where there is one: a process that can't write to a mapped file is killed, and a
    full disk must not do that.
    """
    if os.environ.get(METRICS_FOLDER):
        yield
        return
    place = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="locus-metrics-", dir=place) as folder:
        os.environ[METRICS_FOLDER] = folder
        try:
            yield
        finally:
            del os.environ[METRICS_FOLDER]


def forget_gauges(pid: int) -> None:
    """Drop what a process that has ended said of its present; its counters stay in the sums."""
    mark_process_dead(pid, os.environ[METRICS_FOLDER])  # type: ignore[no-untyped-call]


@contextmanager
def listening_socket(host: str, port: int, webs: int) -> Iterator[socket.socket | None]:
    """Yield the socket that several web servers share; None for a single one, which opens its own.

    Whoever is idle takes the next connection. While one of them starts again, the others take all.
    """
    if webs == 1:
        yield None
        return
    with closing(_bound_socket(host, port, BACKLOG)) as shared:
        yield shared


def welcome_panel(url: str, login: Login | None) -> Panel:
    """Return a panel with the address and, the first time, the login."""
    lines = [f"Locus is ready: {url}"]
    if login:
        lines += [
            "",
            f"Log in as  {login.email}",
            f"Password   {login.password}",
            "",
            "Shown only this once.",
        ]
    return Panel.fit("\n".join(lines), padding=(1, 3), border_style="green")


def is_answering(url: str) -> bool:
    """Return whether a GET of this URL succeeds."""
    try:
        with urllib.request.urlopen(url, timeout=2) as reply:  # noqa: S310
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def url_host(host: str) -> str:
    """Return the host name that a browser on this machine uses for the address."""
    reachable = ANY_ADDRESS.get(host, host)
    return f"[{reachable}]" if ":" in reachable else reachable


def read_port(text: str) -> int:
    """Return a port number; raise `CommandError` for anything else."""
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
        raise CommandError(f"PORT must be a number from 1 to 65535, not “{text}”.")
    return int(text)


def read_count(text: str, least: int, option: str) -> int:
    """Return a number of processes; raise `CommandError` for anything else."""
    if not (text.isascii() and text.isdigit() and least <= int(text) <= MOST_PROCESSES):
        raise CommandError(f"{option} must be a number from {least} to {MOST_PROCESSES}, not “{text}”.")
    return int(text)


def read_dollars(text: str, option: str) -> Decimal:
    """Return an amount of money; raise `CommandError` for anything else."""
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("nan")
    if not (amount.is_finite() and amount >= 0):
        raise CommandError(f"{option} must be an amount of US dollars, not “{text}”.")
    return amount


def check_free(host: str, port: int) -> None:
    """Raise `CommandError` for an address that this machine does not have, or a port in use."""
    _bound_socket(host, port).close()


def _bound_socket(host: str, port: int, backlog: int | None = None) -> socket.socket:
    """Return a socket that has the port, and with a `backlog` listens; raise `CommandError`."""
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        with ExitStack() as stack:
            bound = stack.enter_context(socket.socket(family, kind, protocol))
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            if backlog is not None:
                bound.listen(backlog)
            stack.pop_all()
        return bound
    except socket.gaierror as error:
        raise CommandError(f"HOST is not an address of this machine: {host}") from error
    except OSError as error:
        raise CommandError(
            f"Port {port} of {host} can't be used ({error.strerror}): stop what uses it, or choose another "
            f"with PORT={port + 1} or --port {port + 1}."
        ) from error
