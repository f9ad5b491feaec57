"""Two PostgreSQL servers on unix sockets, the second of which follows the first."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg

from locus.serve.account import allow_passage, find_or_make
from locus.serve.postgres import EXTENSIONS, ROLE, SUPERUSER, TENANT_ROLE, programs

DATABASE = "locus"
LIMIT_SECS = 300


class DatabaseServer:
    """One server, in a folder of its own that also holds its socket."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._account: pwd.struct_passwd | None = find_or_make() if os.geteuid() == 0 else None
        folder.mkdir(mode=0o700)
        if self._account:
            os.chown(folder, self._account.pw_uid, self._account.pw_gid)
            allow_passage([folder, programs()], self._account)

    @property
    def data(self) -> Path:
        """Its data folder."""
        return self.folder / "data"

    @property
    def url(self) -> str:
        """The address of Locus' database."""
        return f"postgresql://{ROLE}@/{DATABASE}?host={quote(str(self.folder), safe='')}"

    def make(self) -> None:
        """Make an empty cluster."""
        locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=UTF8"]
        trust = [f"--username={SUPERUSER}", "--auth=trust", "--no-sync"]
        self._run("initdb", f"--pgdata={self.data}", *locale, *trust)

    def prepare(self) -> None:
        """Make the roles and the database."""
        self.execute(f"CREATE ROLE {ROLE} LOGIN")
        self.execute(f"CREATE ROLE {TENANT_ROLE} NOLOGIN")
        self.execute(f"GRANT {TENANT_ROLE} TO {ROLE}")
        self.execute(f"CREATE DATABASE {DATABASE} OWNER {ROLE}")
        for name in EXTENSIONS:
            self.execute(f"CREATE EXTENSION {name}", DATABASE)

    def follow(self, primary: DatabaseServer) -> None:
        """Become a copy of another server that follows it."""
        address = f"host={primary.folder} user={SUPERUSER} application_name=standby"
        options = ["--write-recovery-conf", "--checkpoint=fast", "--no-sync"]
        self._run("pg_basebackup", f"--dbname={address}", f"--pgdata={self.data}", *options)

    def start(self) -> None:
        """Start it and wait until it answers."""
        options = f"-c unix_socket_directories={self.folder} -c listen_addresses= -c shared_buffers=64MB"
        log = self.folder / "log"
        self._run(
            "pg_ctl", "start", "--wait", f"--pgdata={self.data}", f"--log={log}", f"--options={options}"
        )

    def stop(self) -> None:
        """Stop it, if it runs."""
        note = self.data / "postmaster.pid"
        # A killed server leaves its note.
        if note.exists() and _runs(int(note.read_text().splitlines()[0])):
            self._run("pg_ctl", "stop", "--mode=immediate", f"--pgdata={self.data}")

    def kill(self) -> None:
        """Kill all of its processes that matter at once, as the loss of a machine does."""
        pid = int((self.data / "postmaster.pid").read_text().splitlines()[0])
        os.kill(pid, signal.SIGKILL)

    def execute(self, statement: str, database: str = "postgres") -> None:
        """Run a statement as the superuser."""
        with psycopg.connect(host=str(self.folder), dbname=database, user=SUPERUSER, autocommit=True) as own:
            own.execute(statement.encode())

    def _run(self, program: str, *arguments: str) -> None:
        own = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        # A file: the server inherits it, and a pipe would stay open as long as it runs.
        with tempfile.TemporaryFile("w+") as printed:
            done = subprocess.run(
                [str(programs() / program), *arguments],
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env=own | {"LC_ALL": "C"},
                timeout=LIMIT_SECS,
                user=self._account.pw_uid if self._account else None,
                group=self._account.pw_gid if self._account else None,
                extra_groups=[] if self._account else None,
            )
            printed.seek(0)
            assert done.returncode == 0, f"{program}: {printed.read()}"


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@contextmanager
def two_servers() -> Iterator[tuple[DatabaseServer, DatabaseServer]]:
    """Run a primary server, and a replica for whose disk each of its commits waits."""
    folder = Path(tempfile.mkdtemp(prefix="locus-two-"))
    folder.chmod(0o711)
    primary, replica = DatabaseServer(folder / "one"), DatabaseServer(folder / "two")
    try:
        primary.make()
        primary.start()
        primary.prepare()
        replica.follow(primary)
        replica.start()
        primary.execute("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
        primary.execute("SELECT pg_reload_conf()")
        yield primary, replica
    finally:
        for server in (replica, primary):
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)
