"""A database for a benchmark alone, and documents in it."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote
from uuid import UUID, uuid4

import django
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.testing.paths import SAMPLES

if TYPE_CHECKING:
    from kb.models import Document

SAMPLE = SAMPLES / "report.pdf"


@contextmanager
def scratch_database() -> Iterator[None]:
    """Make a database and a folder for files that are gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="locus-bench-"))
    # At exit and not here: an embedded server stops only then, and holds its files until it has.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["DATA_DIR"] = str(folder)
    # Where root measures, all processes are root: one that became another could not read the others' files.
    os.environ.setdefault("ALLOW_ROOT", "true")
    if "DATABASE_URL" not in os.environ:
        from locus.serve.postgres import allow_databases, start_embedded

        os.environ["DATABASE_URL"] = start_embedded(folder)
        allow_databases(os.environ["DATABASE_URL"])
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "locus.settings")
    django.setup()
    from django.db import connection

    from core.row_access import act_as_system_in_this_process

    act_as_system_in_this_process()
    from django.test.utils import setup_databases, teardown_databases

    connection.settings_dict["TEST"]["NAME"] = f"bench_{os.getpid()}"
    databases = setup_databases(verbosity=0, interactive=False)
    try:
        yield
    finally:
        teardown_databases(databases, verbosity=0)


def kept_database(folder: Path) -> None:
    """Make the database and the files of a folder, or open those that an earlier run has left there."""
    os.environ["DATA_DIR"] = str(folder)
    os.environ.setdefault("ALLOW_ROOT", "true")
    from locus.serve.postgres import start_embedded

    os.environ["DATABASE_URL"] = start_embedded(folder)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "locus.settings")
    django.setup()
    from django.core.management import call_command

    from core.row_access import act_as_system_in_this_process

    act_as_system_in_this_process()
    call_command("migrate", verbosity=0)


def environment() -> dict[str, str]:
    """Return the variables with which another process works on this database."""
    from django.db import connection

    address = make_conninfo(os.environ["DATABASE_URL"], dbname=connection.settings_dict["NAME"])
    return os.environ | {"DATABASE_URL": url_of(address)}


def url_of(conninfo: str) -> str:
    """Return connection parameters as a URL."""
    known = conninfo_to_dict(conninfo)
    host = quote(str(known.get("host", "")), safe="")
    rest = f"&port={known['port']}" if "port" in known else ""
    login = f"{known['user']}:{quote(str(known['password']))}" if "password" in known else known["user"]
    return f"postgresql://{login}@/{known['dbname']}?host={host}{rest}"


def stored(file: Path) -> Document:
    """Store a file as an upload would, but queue nothing; it is never a duplicate."""
    from django.core.files import File

    from accounts.models import User
    from kb.models import Document

    user = User.objects.filter(email="bench@example.org").first()
    user = user or User.objects.create_user("bench@example.org", "a long password")
    document = Document(
        workspace=user.personal_workspace,
        name=file.name,
        size=file.stat().st_size,
        sha256=sha256(file.read_bytes()).hexdigest(),
        identity=uuid4().hex,
    )
    with file.open("rb") as content:
        document.file.save("original", File(content), save=False)
    document.save(force_insert=True)
    return document


def both_steps() -> list[Callable[[UUID], None]]:
    """Return the two jobs of a document: making it findable by words, giving it vectors."""
    from ingestion import pipeline

    return [partial(step, interrupted=lambda: False) for step in (pipeline.read, pipeline.embed)]
