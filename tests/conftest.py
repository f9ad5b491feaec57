"""What every test stands on: a real PostgreSQL, no network beyond loopback, and the cast.

alice owns a workspace, bob is a viewer in it, charlie is a stranger.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import AsyncClient, Client, TransactionTestCase
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis
from pytest_django import Settings
from pytest_django.plugin import blocking_manager_key
from pytest_socket import socket_allow_hosts

from accounts.access.hashers import PatientPBKDF2PasswordHasher
from accounts.access.keys import create_key
from accounts.models import Membership, User, Workspace
from accounts.roles import KeyScope, Role
from core.database.base import DatabaseWrapper
from core.row_access import (
    NOTHING,
    act_as_system_in_this_process,
    current_access,
    set_access,
    with_access,
)
from search.rerank import registry as reranking
from tests.slow import PATHS
from tests.testing.database import empty_database, renew_tables
from tests.testing.milvus import drop_collections, keep_milvus_written
from tests.testing.paths import SHARED_DATA
from tests.testing.static_files import remember_static_files
from tests.testing.stored import store_in_folder
from tests.testing.web import Web, serving

# No property is about time. Who runs the tests by hand looks at other examples each time; in CI a change must
# not fail for an example that an earlier one was not asked.
hypothesis.register_profile(
    "locus",
    deadline=None,
    database=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
hypothesis.load_profile("locus")

# Tests look at everybody's rows; what they request from the product sees those of its principal, as in the
# web server's process (ADR 39).
act_as_system_in_this_process()
if os.environ.get("LOCUS_MUTATE") == "scopes":
    # A scope that is taken out has to be missed, and not made up for by PostgreSQL.
    DatabaseWrapper._may_restrict = lambda self, connection: False  # type: ignore[method-assign]
# A million rounds for each password would cost most of a second.
PatientPBKDF2PasswordHasher.iterations = 100
_request, _request_async = Client.request, AsyncClient.request


def _request_for_nobody(self: Client, **request: Any) -> Any:
    def send() -> Any:
        set_access(NOTHING)
        return _request(self, **request)

    return contextvars.copy_context().run(send)


async def _request_async_for_nobody(self: AsyncClient, **request: Any) -> Any:
    async def send() -> Any:
        set_access(NOTHING)
        return await _request_async(self, **request)

    return await asyncio.create_task(send())


Client.request = _request_for_nobody  # type: ignore[method-assign]
AsyncClient.request = _request_async_for_nobody  # type: ignore[method-assign]
remember_static_files()
TransactionTestCase._fixture_teardown = lambda self: empty_database()  # type: ignore[attr-defined]


# Groups that take long, in this order: the last to begin decides when all are done.
FIRST = ["browser", "faults", "locus", "extract"]
# Seconds after which a slow test is taken to hang; for others see `timeout` in pyproject.toml.
SLOW_TIMEOUT = 3 * 3600
# Folders whose tests share a server, and therefore a process.
ONE_GROUP = ("browser/", "locus/door/")
BESIDE_MILVUS = "milvus" in os.environ.get("TEST_ENGINES", "").split(",")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`bin/test` says which groups of slow tests are due; by hand all run."""
    parser.addoption(
        "--slow", default=",".join(PATHS), help="groups of slow tests to run, with commas between"
    )


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out slow tests that are not due, and let the tests of a file share a process and its fixtures."""
    due = set(config.getoption("--slow").split(","))
    left_out = [item for item in items if not slow_groups(item) <= due]
    items[:] = [item for item in items if slow_groups(item) <= due]
    config.hook.pytest_deselected(items=left_out)
    for item in items:
        if slow_groups(item):
            item.add_marker(pytest.mark.timeout(SLOW_TIMEOUT))
        if not item.get_closest_marker("xdist_group"):
            file = item.nodeid.partition("::")[0].removeprefix("tests/").removesuffix(".py")
            group = next((folder for folder in ONE_GROUP if file.startswith(folder)), file)
            item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=place_in_line)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Fail where pytest-xdist does not see the groups: it says nothing, and files are shared by processes."""
    if session.config.getoption("loadgroup", False) and not all("@" in item.nodeid for item in session.items):
        raise pytest.UsageError("This pytest-xdist can't group the tests of this pytest.")


def slow_groups(item: pytest.Item) -> set[str]:
    """Return the groups of a slow test; none for other tests."""
    groups = {group for mark in item.iter_markers("slow") for group in mark.args}
    if unknown := groups - set(PATHS):
        raise pytest.UsageError(f"{item.nodeid}: tests/slow.py knows no group {', '.join(unknown)}")
    return groups


def place_in_line(item: pytest.Item) -> int:
    room = item.nodeid.split("/")[1]
    return FIRST.index(room) if room in FIRST else len(FIRST)


@pytest.fixture(autouse=True)
def _no_network() -> None:
    socket_allow_hosts(["127.0.0.1", "::1", "localhost"], allow_unix_socket=True)


@pytest.fixture(autouse=True)
def _own_access() -> Iterator[None]:
    """A test that goes on for a principal in this thread leaves that to no other."""
    with with_access(current_access()):
        yield


@pytest.fixture(autouse=True)
def _patience(settings: Settings) -> None:
    """Let rerankers finish: how far one comes in its usual time depends on what else the machine does."""
    settings.RERANKER_BUDGET_MS = 60_000


@pytest.fixture(autouse=True)
def _no_reranker_of_an_earlier_test() -> None:
    """The default reranker keeps the embedding model of the settings it was loaded with."""
    reranking.resident.cache_clear()


@pytest.fixture(autouse=True)
def _index_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside Milvus, which takes over changes later, tests find at once what they have stored."""
    if BESIDE_MILVUS:
        keep_milvus_written(monkeypatch)


@pytest.fixture
def in_segments(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search in segments also beside Milvus, and in processes that the test starts: for tests of segments."""
    settings.SEARCH_ENGINE = "segments"
    monkeypatch.setenv("SEARCH_ENGINE", "segments")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Empty the database when a module's servers have ended: they write until then, after its last test."""
    yield
    if nextitem is None or nextitem.path == item.path:
        return
    if BESIDE_MILVUS:
        drop_collections()
    if commits(item):
        with item.config.stash[blocking_manager_key].unblock():
            renew_tables()


def commits(item: pytest.Item) -> bool:
    marker = item.get_closest_marker("django_db")
    return bool(marker and marker.kwargs.get("transaction")) or "transactional_db" in getattr(
        item, "fixturenames", ()
    )


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Before the test database is dropped, end the sessions that threads of asynchronous tests still hold."""
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND backend_type = 'client backend'"
        )


@pytest.fixture
def shared_data() -> Path:
    """The folder of real documents beside the project; tests that want it skip where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real documents in ../shared/data are not here")
    return SHARED_DATA


@dataclass(frozen=True)
class Cast:
    """The people of the tests, alice's team workspace, and a key for each."""

    alice: User
    bob: User
    charlie: User
    team: Workspace
    keys: dict[str, str]

    def headers(self, name: str, **extra: str) -> dict[str, str]:
        """Return request headers that speak for `name`."""
        return {"Authorization": f"Bearer {self.keys[name]}", **extra}


def make_cast() -> Cast:
    """Create the cast in the current database."""
    people = {name: User.objects.create_user(f"{name}@example.org") for name in ("alice", "bob", "charlie")}
    team = Workspace.create_for(people["alice"], name="Team")
    Membership.objects.create(workspace=team, user=people["bob"], role=Role.VIEWER)
    keys = {
        name: create_key(user, f"{name}'s key", scopes=KeyScope.values)[1] for name, user in people.items()
    }
    return Cast(**people, team=team, keys=keys)


@pytest.fixture
def cast(db: None) -> Cast:
    """alice (owner of team), bob (viewer of team) and charlie (stranger)."""
    return make_cast()


@pytest.fixture
def web() -> Iterator[Web]:
    """A web server on loopback."""
    with serving() as web:
        yield web


@pytest.fixture
def files_in_folder(settings: Settings) -> None:
    """Keep files in a folder also beside a bucket: for what only a folder has, as paths and volumes."""
    store_in_folder(settings)


@pytest.fixture(scope="session")
def static_files() -> None:
    """Collect the static files once, as the server does at its start: pages name them by their hashes."""
    call_command("collectstatic", interactive=False, verbosity=0)


@pytest.fixture
def plain_static_files(settings: Settings) -> None:
    """Name static files without collecting and compressing them first, which takes longer than most tests."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}
    # Otherwise each client would look at every file of the folder: nobody asks for one.
    settings.SERVESTATIC_USE_STATIC_ROOT = False
