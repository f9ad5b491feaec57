"""Prepares an installation: tables, static files, an administrator, the guide."""

import hashlib
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import CommandError, call_command
from django.db import transaction
from rich.console import Console

from accounts.models import User
from accounts.people.reader_language import user_language
from accounts.webhooks.managing import renew_secrets
from assistants.tool_servers.managing import renew_tool_secrets
from locus.demo import add_guide
from search.generation.connection import renew_encryption

# Files that `collectstatic` itself leaves out.
NOT_STATIC = ["CVS", ".*", "*~"]


@dataclass(frozen=True, slots=True)
class Login:
    """The login of the new administrator."""

    email: str
    password: str


def install(console: Console) -> Login | None:
    """Bring the installation up to date; return the administrator's login if it was created now."""
    with step(console, "Preparing the database"):
        check_database(settings.DATABASE_URL)
        with nobody_else_installs():
            call_command("migrate", interactive=False, verbosity=0)
        renew_encryption()
        renew_secrets()
        renew_tool_secrets()
    if not static_files_are_current():
        with step(console, "Collecting static files"):
            collect_static_files()
    with nobody_else_installs():
        if User.objects.filter(is_superuser=True).exists():
            return None
        with step(console, "Creating the administrator"):
            login = create_admin()
    # Printed here and not at the end: a later step may fail, and no later start can show the password.
    console.print(f"Administrator {login.email}, password {login.password} (shown only now)", highlight=False)
    return login


@contextmanager
def step(console: Console, what: str) -> Iterator[None]:
    """Show that a step runs and, in the end, how long it took."""
    started = time.monotonic()
    with console.status(what):
        yield
    console.print(f"{what} ... {time.monotonic() - started:.1f} s", highlight=False)


def check_database(url: str) -> None:
    """Raise `CommandError` if the server can't be reached or lacks pgvector, before Django's pool waits for
    it."""
    try:
        with psycopg.connect(url, connect_timeout=10) as connection:
            extension = connection.execute("SELECT FROM pg_available_extensions WHERE name = 'vector'")
    except psycopg.OperationalError as error:
        reason = " ".join(str(error).split())
        raise CommandError(f"The PostgreSQL server of DATABASE_URL can't be used: {reason}") from error
    if extension.rowcount == 0:
        raise CommandError(
            "The PostgreSQL server of DATABASE_URL lacks the extension pgvector: install it there."
        )


@contextmanager
def nobody_else_installs() -> Iterator[None]:
    """Wait while another host prepares the same database: of several that start at once, one does.

    The lock belongs to a session: a pooler of transactions would keep it after this has ended.
    """
    url = settings.DATABASE_DIRECT_URL or settings.DATABASE_URL
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(hashtext('locus setup'))")
        yield


@transaction.atomic
def create_admin() -> Login:
    """Create the administrator, with the guide."""
    email, given = settings.ADMIN_EMAIL, settings.ADMIN_PASSWORD
    password = given or secrets.token_urlsafe(12)
    user = User.objects.create_superuser(email, password)
    add_guide(user, user_language(user))
    return Login(email, "as in ADMIN_PASSWORD" if given else password)


def static_files_are_current() -> bool:
    """Return whether the collected static files are up to date."""
    stamp = static_stamp()
    return stamp.exists() and stamp.read_text() == static_state()


def collect_static_files() -> None:
    """Collect, compress and fingerprint the static files."""
    call_command("collectstatic", interactive=False, verbosity=0)
    static_stamp().write_text(static_state())


def static_stamp() -> Path:
    """Return the file that records which static files were collected."""
    return Path(settings.STATIC_ROOT) / ".locus-stamp"


def static_state() -> str:
    """Return a hash of the names, sizes and times of all static files."""
    files = (storage.path(name) for finder in get_finders() for name, storage in finder.list(NOT_STATIC))
    stats = ((path, Path(path).stat()) for path in files)
    facts = sorted(f"{path} {stat.st_size} {stat.st_mtime_ns}" for path, stat in stats)
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()
