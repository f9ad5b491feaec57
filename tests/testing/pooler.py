"""A real pgbouncer in transaction mode before the test database: on loopback, from the Debian package."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.testing.live import free_port, stop, wait_until

PROGRAM = "pgbouncer"
# Debian puts it where only administrators look.
PATHS = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])
CONFIGURATION = """
[databases]
{database} = {server} pool_size={sessions}
[pgbouncer]
pool_mode = transaction
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
max_client_conn = 500
# What a client asks for at its start holds for its session, and here nobody has one.
ignore_startup_parameters = options, extra_float_digits
server_reset_query =
"""


@contextmanager
def pooler(server: str, sessions: int) -> Iterator[str]:
    """Run a pooler with so many sessions on a server until the block is left; yield how to reach it.

    `server` and what is yielded are libpq's `key=value` strings. Skip the test where the program is not
    installed.
    """
    program = shutil.which(PROGRAM, path=PATHS)
    if program is None:
        pytest.skip(f"no pooler: {PROGRAM} is not installed (Debian and Ubuntu: apt-get install {PROGRAM})")
    reached = {key: str(value) for key, value in conninfo_to_dict(server).items()}
    database, port = reached["dbname"], free_port()
    # Only the account that runs the server may enter the folder of its socket, and the program refuses root.
    host = reached.get("host", "")
    owner = Path(host).stat() if host.startswith("/") else Path.cwd().stat()
    account = owner.st_uid if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="locus-pooler-") as folder:
        file, log = Path(folder) / "pgbouncer.ini", Path(folder) / "log"
        settings = {"database": database, "sessions": sessions, "port": port}
        file.write_text(CONFIGURATION.format(server=make_conninfo(**reached), **settings))
        Path(folder).chmod(0o755)
        file.chmod(0o644)
        with log.open("wb") as out:
            process = subprocess.Popen([program, str(file)], stdout=out, stderr=out, user=account)
        address = make_conninfo(host="127.0.0.1", port=port, dbname=database, user=reached.get("user"))
        try:
            wait_until(lambda: _answers(address), f"the pooler is up; see {log}")
            yield address
        finally:
            stop(process)


def _answers(address: str) -> bool:
    try:
        with psycopg.connect(address, connect_timeout=2) as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)
    except psycopg.OperationalError:
        return False
