"""A database for a benchmark alone."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django


@contextmanager
def scratch_database() -> Iterator[None]:
    """Make a database and a folder for files that are gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="locus-bench-"))
    # At exit and not here: an embedded server stops only then, and holds its files until it has.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["DATA_DIR"] = str(folder)
    if "DATABASE_URL" not in os.environ:
        from kb.postgres import start_embedded

        os.environ["DATABASE_URL"] = start_embedded(folder)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kb.settings")
    django.setup()
    from django.db import connection
    from django.test.utils import setup_databases, teardown_databases

    connection.settings_dict["TEST"]["NAME"] = f"bench_{os.getpid()}"
    databases = setup_databases(verbosity=0, interactive=False)
    try:
        yield
    finally:
        teardown_databases(databases, verbosity=0)
