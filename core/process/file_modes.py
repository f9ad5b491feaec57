"""Who may read `DATA_DIR`: the account that Locus runs as, and nobody else."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

UMASK = 0o077
# PostgreSQL guards its folder itself, and may run as another account.
DATABASE = "postgres"

logger = logging.getLogger(__name__)


def is_too_open(path: Path, data_dir: Path) -> bool:
    """Tell whether group or others may do with a file or folder what they need not; links say nothing."""
    mode = path.lstat().st_mode
    return not stat.S_ISLNK(mode) and bool(mode & _forbidden(path, data_dir))


def close(path: Path, data_dir: Path) -> None:
    """Take from group and others what they need not have; raise `OSError` if the file isn't ours."""
    path.chmod(stat.S_IMODE(path.lstat().st_mode) & ~_forbidden(path, data_dir))


def too_open(data_dir: Path) -> Iterator[Path]:
    """Yield what other accounts may use: `data_dir` itself, and every file and folder below it."""
    for path in (data_dir, *_below(data_dir, data_dir)):
        try:
            if is_too_open(path, data_dir):
                yield path
        except FileNotFoundError:
            continue


def tighten(data_dir: Path) -> None:
    """Close what is too open, and say in the log how much that was.

    What lies in a closed folder is out of reach, so only open folders are looked into: a start is quick.
    """
    closed = 0
    for path in [data_dir, *(path for path in data_dir.iterdir() if path.name != DATABASE)]:
        # A folder elsewhere, behind a link, is ours too: it holds what we store.
        target = path.resolve()
        if target.exists() and is_too_open(target, data_dir):
            try:
                closed += _close_all(target, data_dir)
            except OSError as error:
                logger.warning("Other accounts may use %s: %s.", error.filename, error.strerror)
    if closed:
        logger.warning("Closed %d files and folders of %s to other accounts.", closed, data_dir)


def _close_all(top: Path, data_dir: Path) -> int:
    """Close a file, or a folder with all that is in it; return how many were too open."""
    close(top, data_dir)
    inside = (
        [] if top == data_dir else [path for path in _below(top, data_dir) if is_too_open(path, data_dir)]
    )
    for path in inside:
        close(path, data_dir)
    return 1 + len(inside)


def _forbidden(path: Path, data_dir: Path) -> int:
    """Return the mode bits that must be off; PostgreSQL's own account passes through root's `data_dir`."""
    passed = path == data_dir and os.geteuid() == 0
    return UMASK & ~(stat.S_IXGRP | stat.S_IXOTH) if passed else UMASK


def _below(folder: Path, data_dir: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        if Path(root) == data_dir and DATABASE in folders:
            folders.remove(DATABASE)
        yield from (Path(root, name) for name in [*folders, *files])
