"""The cache of page images in `DATA_DIR/cache/pages/{document}`: few of each page, with a limit for all.

A file's modification time is its last use. Processes share the folder: an image appears complete, by a
rename, and may be removed at any time.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from django.conf import settings

DRAFT = ".tmp"
WIDTHS_KEPT = 8
"""Images of one page at different widths; crops are as many as there are places to show."""
DRAFT_SECS = 3600
TOUCHED_EVERY_SECS = 600
# After storing this share of the limit, check whether all images are within it; then reduce them to the
# second share, so that the next check is not due at once.
LOOK_AFTER, LEAVE = 1 / 16, 7 / 8

_stored = 0
_lock = threading.Lock()


def folder() -> Path:
    """Return the folder that holds a folder for each document."""
    return Path(settings.DATA_DIR) / "cache" / "pages"


def use(image: Path) -> bool:
    """Return whether the image is cached, and record its use."""
    try:
        if image.stat().st_mtime < time.time() - TOUCHED_EVERY_SECS:
            os.utime(image)
    except FileNotFoundError:
        return False
    return True


def remove(cache: Path) -> None:
    """Remove all images of a document."""
    shutil.rmtree(cache, ignore_errors=True)


def note_stored(image: Path) -> None:
    """Enforce the limits after an image was stored."""
    global _stored
    with suppress(FileNotFoundError):
        size = image.stat().st_size
        if image.stem.count("-") == 1:
            _keep_few_widths(image)
        with _lock:
            _stored += size
            is_due = _stored > settings.PAGE_CACHE_BYTES * LOOK_AFTER
            _stored = 0 if is_due else _stored
        if is_due:
            sweep()


def sweep() -> int:
    """Remove images unused for long, and the least recently used beyond the limit; return the bytes."""
    now = time.time()
    oldest = now - settings.PAGE_CACHE_DAYS * 86400
    kept, before = [], 0
    for path, stat in _files():
        before += stat.st_size
        limit = now - DRAFT_SECS if path.suffix == DRAFT else oldest
        if stat.st_mtime < limit:
            path.unlink(missing_ok=True)
        else:
            kept.append((stat.st_mtime, stat.st_size, path))
    total = sum(size for _, size, _ in kept)
    if total > settings.PAGE_CACHE_BYTES:
        for _, size, path in sorted(kept):
            if total <= settings.PAGE_CACHE_BYTES * LEAVE:
                break
            path.unlink(missing_ok=True)
            total -= size
    return before - total


def _keep_few_widths(image: Path) -> None:
    page = image.stem.partition("-")[0]
    widths = [
        (entry.stat().st_mtime, entry.path)
        for entry in os.scandir(image.parent)
        if entry.name.startswith(f"{page}-") and entry.name.endswith(".png") and entry.name.count("-") == 1
    ]
    for _, path in sorted(widths)[:-WIDTHS_KEPT]:
        if path != str(image):
            Path(path).unlink(missing_ok=True)


def _files() -> Iterator[tuple[Path, os.stat_result]]:
    for document in _subfolders():
        with suppress(FileNotFoundError), os.scandir(document) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    yield Path(entry.path), entry.stat(follow_symlinks=False)


def _subfolders() -> list[Path]:
    try:
        return [Path(entry.path) for entry in os.scandir(folder()) if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []
