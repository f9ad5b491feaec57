"""File modes of `DATA_DIR`: only the account that Locus runs as may read it."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

UMASK = 0o077
# PostgreSQL protects its folder itself, and may run as another account.
DATABASE = "postgres"

logger = logging.getLogger(__name__)


def is_too_open(path: Path, data_dir: Path) -> bool:
    """Return whether group or others have needless rights on a file or folder; links have none."""
    mode = path.lstat().st_mode
    return not stat.S_ISLNK(mode) and bool(mode & _forbidden(path, data_dir))


def close_to_others(path: Path, data_dir: Path) -> None:
    """Remove rights of group and others that they do not need; raise `OSError` if the file isn't ours."""
    path.chmod(stat.S_IMODE(path.lstat().st_mode) & ~_forbidden(path, data_dir))


def too_open_paths(data_dir: Path) -> Iterator[Path]:
    """Yield the paths that other accounts may use: `data_dir` itself, and every file and folder below it."""
    for path in (data_dir, *_entries_below(data_dir, data_dir)):
        try:
            if is_too_open(path, data_dir):
                yield path
        except FileNotFoundError:
            continue


def close_data_dir(data_dir: Path) -> None:
    """Close paths that are too open, and log how many there were.

    Files in a closed folder are out of reach, so only open folders are searched: the start stays quick.
    """
    closed = 0
    for path in [data_dir, *(path for path in data_dir.iterdir() if path.name != DATABASE)]:
        # The target of a link is ours too: it holds what we store.
        target = path.resolve()
        if target.exists() and is_too_open(target, data_dir):
            try:
                closed += _close_all(target, data_dir)
            except OSError as error:
                logger.warning("Other accounts may use %s: %s.", error.filename, error.strerror)
    if closed:
        logger.warning("Closed %d files and folders of %s to other accounts.", closed, data_dir)


def _close_all(top: Path, data_dir: Path) -> int:
    """Close a file, or a folder with all its contents; return how many paths were too open."""
    close_to_others(top, data_dir)
    inside = (
        []
        if top == data_dir
        else [path for path in _entries_below(top, data_dir) if is_too_open(path, data_dir)]
    )
    for path in inside:
        close_to_others(path, data_dir)
    return 1 + len(inside)


def _forbidden(path: Path, data_dir: Path) -> int:
    """Return the mode bits that must be off; PostgreSQL's own account may pass through root's `data_dir`."""
    passed = path == data_dir and os.geteuid() == 0
    return UMASK & ~(stat.S_IXGRP | stat.S_IXOTH) if passed else UMASK


def _entries_below(folder: Path, data_dir: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        if Path(root) == data_dir and DATABASE in folders:
            folders.remove(DATABASE)
        yield from (Path(root, name) for name in [*folders, *files])
