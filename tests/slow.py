"""Groups of slow tests, and what has to change for each to run by itself.

A test marked `@pytest.mark.slow("kills")` belongs to the group “kills”. `bin/test` runs it if a file on one
of the group's paths has changed, or with `--all`. For each group, a quicker test of the same things runs
always. Standard library only: `bin/test` reads this with any Python.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What decides over all: what is installed, and how tests are run.
ALL = ("requirements.lock", "pyproject.toml", "tests/slow.py", "tests/conftest.py", "tests/environment.py")
STARTS = ("locus/serve/", "locus/management/", "locus/settings/", "core/process/", "manage.py")
INGESTION = ("extract/", "ingestion/", "core/text/", "core/locations.py")
PATHS: dict[str, tuple[str, ...]] = {
    # More of the people who try to reach what is not theirs.
    "adversary": ("accounts/", "assistants/", "kb/", "locus/", "runs/", "search/", "tests/adversary/"),
    # Real documents and recordings, and every kind and language of recognition.
    "corpora": (*INGESTION, "search/evaluation/", "tests/extract/", "tests/samples/"),
    # Ten kills at random moments.
    "kills": (*INGESTION, *STARTS, "core/confinement/", "kb/", "tests/faults/", "tests/ingestion/"),
    # Each way to start and end an installation, as root and as another, and its database.
    "starts": (*STARTS, "tests/locus/", "accounts/people/"),
    # Virtual environments made from nothing.
    "bootstrap": ("bin/", "frontend/package", "tests/locus/test_bootstrap.py"),
    # Answers of a real language model, and each part of a page that is as long as a book.
    "model": ("core/", "search/", "kb/embedding/", "tests/search/", "tests/samples/"),
    # Follow-ups asked of the real index, with and without what was said before.
    "followups": (
        "assistants/followups/",
        "core/text/",
        "kb/index/",
        "search/",
        "tests/assistants/followups/",
    ),
    # The services of the compose file as processes.
    "compose": (*STARTS, "Dockerfile", "docker-compose.yml", "tests/locus/test_compose.py"),
    # A workspace of ten thousand documents.
    "deletions": (
        "accounts/people/",
        "kb/deletion.py",
        "kb/index/",
        "runs/scrubbing.py",
        "tests/accounts/test_large_deletion.py",
    ),
    # Each check of a scope and each policy taken out in turn: minutes, in two processes.
    "mutations": (
        "accounts/principal.py",
        "accounts/row_policies.py",
        "accounts/row_security.py",
        "accounts/scope.py",
        "tests/accounts/test_row_security.py",
        "tests/adversary/",
    ),
    # The same pages in the other theme and size.
    "pages": ("frontend/", "templates/", "tests/browser/"),
    # Any request that the API's schema allows, and many that it does not.
    "requests": (
        "accounts/",
        "assistants/",
        "core/api/",
        "kb/",
        "runs/",
        "search/",
        "tests/conformance/test_any_request.py",
    ),
    # Crowds that ask at once.
    "storms": (
        "accounts/ledger/",
        "assistants/agent/",
        "core/",
        "runs/",
        "search/web/",
        "tests/assistants/agent/",
        "tests/faults/",
        "tests/testing/",
    ),
}


def changed_groups(since: str | None) -> set[str]:
    """Return the groups of which a path differs from the commit `since`; all where git does not know.

    Without `since`: from where this branch left main or, on main, from the commit before.
    """
    try:
        paths = changed_paths(since or branching_point())
    except (OSError, subprocess.CalledProcessError):
        return set(PATHS)
    return {group for group, prefixes in PATHS.items() if is_touched(paths, (*ALL, *prefixes))}


def is_touched(paths: Iterable[str], prefixes: tuple[str, ...]) -> bool:
    """Tell whether a path begins with one of the prefixes."""
    return any(path.startswith(prefixes) for path in paths)


def branching_point() -> str:
    """Return the commit that the changes of this checkout are counted from."""
    head = git("rev-parse", "HEAD")
    for main in ("origin/main", "main"):
        try:
            base = git("merge-base", "HEAD", main)
        except subprocess.CalledProcessError:
            continue
        if base != head:
            return base
    return git("rev-parse", "HEAD~1")


def changed_paths(since: str) -> list[str]:
    """List the files that differ from a commit, those that git does not track yet among them."""
    changed = git("diff", "--name-only", "--no-renames", since)
    new = git("ls-files", "--others", "--exclude-standard")
    return [*changed.splitlines(), *new.splitlines()]


def git(*words: str) -> str:
    """Return what git prints."""
    command = ["git", *words]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
