"""The environment tests run in, set before Django reads its settings: pytest loads this with `-p`.

Each process that runs tests has a temporary data folder of its own. They share an embedded PostgreSQL, unless
`DATABASE_URL` names another server; pytest-django gives each process a database of its own there.
"""

from __future__ import annotations

import atexit
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

from core.confinement.limits import lower_priority
from tests.testing.models import keep_models

WORKER = os.environ.get("PYTEST_XDIST_WORKER")
MEMORY = Path("/dev/shm")
ENOUGH_MEMORY = 2 << 30
# Nobody needs the data after a crash. The fewer pages are kept, the faster are tables emptied between tests.
WITHOUT_DURABILITY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
CACHES = {"shared_buffers": "64MB", "effective_cache_size": "1GB"}


def new_data_dir() -> Path:
    """Make a data folder: of a worker of pytest-xdist within the folder of the process that started it."""
    if WORKER:
        folder = Path(os.environ["DATA_DIR"]) / WORKER
        folder.mkdir()
    else:
        folder = Path(tempfile.mkdtemp(prefix="locus-tests-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "static").mkdir()
    keep_models(folder)
    return folder


def start_postgres() -> str:
    """Start a server for this run and return the URL of its database."""
    from locus.serve import postgres

    remove_abandoned_clusters()
    folder = Path(tempfile.mkdtemp(prefix="locus-tests-", dir=MEMORY if has_memory() else None))
    # Before the server starts, so that it runs after the server has stopped.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    # The server's own account has to pass through.
    folder.chmod(0o711)
    settings = patch.dict(postgres.SETTINGS, WITHOUT_DURABILITY)
    with settings, patch.object(postgres, "caches", lambda memory: CACHES):
        url = postgres.start_embedded(folder)
    postgres.allow_databases(url)
    return url


def start_engines(names: str) -> dict[str, str]:
    """Start a bucket, a Redis or a Milvus for this run, and return the variables that name them.

    They are the children of a process of their own, which may import what reads Django's settings.
    """
    engines = subprocess.Popen(
        [sys.executable, "-m", "tests.testing.engines", names],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "locus.settings"},
    )
    assert engines.stdin and engines.stdout
    # At the end of this process it is closed, and they end too.
    atexit.register(engines.stdin.close)
    line = engines.stdout.readline()
    if not line:
        sys.exit(f"The engines {names} did not start.")
    return dict(json.loads(line))


def has_memory() -> bool:
    """Tell whether the file system in memory has room for the cluster: some containers give it 64 MB."""
    return os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ENOUGH_MEMORY


def remove_abandoned_clusters() -> None:
    """Remove from memory what killed runs have left there: nobody holds the locks of their servers."""
    for users in MEMORY.glob("locus-tests-*/postgres/users.lock"):
        with users.open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            shutil.rmtree(users.parents[1], ignore_errors=True)


if WORKER:
    # It begins with Ctrl-C ignored, and what tests start would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.umask(0o077)
# The product's workers give way to its web server. Beside tests of usual priority they would starve.
lower_priority()
# What root's tests write, the processes that they start have to read.
os.environ["ALLOW_ROOT"] = "true"
# What a developer keeps in `.env` must not decide how a test ends.
os.environ["ENV_FILE"] = ""
os.environ.setdefault("SECRET_KEY", "a key that only tests use")
# One person of the tests asks more in a minute than people do.
os.environ["REQUESTS_PER_MINUTE"] = os.environ["RUNS_PER_MINUTE"] = "100000"
# Tests of documents count their own; those of the guide switch it on.
os.environ["WELCOME_GUIDE"] = "false"
# An answer to "did this reach a model hub?": never.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
# Who waits longer for a row waits for somebody that has forgotten its transaction: that is an error to see.
os.environ["PGOPTIONS"] = "-c lock_timeout=100s"
os.environ["DATA_DIR"] = str(new_data_dir())
if "DATABASE_URL" not in os.environ:
    os.environ["DATABASE_URL"] = start_postgres()
if os.environ.get("TEST_ENGINES"):
    if not WORKER:
        os.environ |= start_engines(os.environ["TEST_ENGINES"])
    # Each process has a part of them for itself.
    os.environ["S3_PREFIX"] = os.environ["REDIS_PREFIX"] = WORKER or "alone"
    os.environ["MILVUS_COLLECTION"] = f"locus_{WORKER or 'alone'}"
# pytest-xdist hands on the option `-p` too late: its workers have read Django's settings by then.
os.environ["PYTEST_PLUGINS"] = "tests.environment"
