"""Makes a backup while Locus runs: first most of the files, then a moment's rows with what is new."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from django.conf import settings
from django.core.files.storage import default_storage

from locus.backup.database import Row, Snapshot, names_now, take_snapshot
from locus.backup.layout import (
    FORMAT,
    BackedUpFile,
    Backup,
    BackupError,
    BackupFolder,
    BackupManifest,
    sha256_of_path,
    write_durably,
)

SECRETS = ("SECRET_KEY", "KEY_PEPPER", "ENCRYPTION_KEY")
MOST_MOMENTS = 5
# A fingerprint must not help to guess a secret that somebody made up.
SCRYPT = {"n": 2**14, "r": 8, "p": 1, "dklen": 16}

Progress = Callable[[str], None]


@dataclass
class Tally:
    """What one pass over the files has done."""

    files: int = 0
    bytes: int = 0
    copied: int = 0
    missing: list[str] = field(default_factory=list)


def create_backup(path: Path, say: Progress, *, with_secrets: bool = False, keep: int = 0) -> Backup:
    """Add a backup to a folder and return it; raise `BackupError`, and leave the earlier ones as they are."""
    folder = BackupFolder.make(path)
    with folder.lock():
        # Most files while nobody waits. What changes meanwhile is little, and comes with the moment.
        with take_snapshot() as snapshot:
            first = _copy_files(folder, snapshot.files(), None, say)
        say(f"Files: {first.files}, of which {first.copied} are new.")
        for _ in range(MOST_MOMENTS):
            backup = _try_moment(folder, say, with_secrets)
            if backup is not None:
                break
        else:
            raise BackupError("Files are deleted faster than they can be copied: try again at a calmer time.")
        if keep and (removed := folder.keep_last(keep)):
            say(f"Old backups removed: {removed}.")
        return backup


def _try_moment(folder: BackupFolder, say: Progress, with_secrets: bool) -> Backup | None:
    """Return a backup of this moment, or None if a file of it was deleted before it was copied."""
    now = datetime.now(UTC)
    backup = folder.begin(now.strftime("%Y-%m-%dT%H-%M-%S.%fZ"))
    with take_snapshot() as snapshot:
        with backup.list.open("w", encoding="utf-8") as lines:
            tally = _copy_files(folder, snapshot.files(), lines, say)
        lost = names_now(tally.missing)
        if lost != set(tally.missing):
            say("Files were deleted meanwhile; once more.")
            return None
        say("The database is dumped.")
        snapshot.dump(backup.dump)
        backup.write_manifest(_manifest(backup, snapshot, tally, now))
    if with_secrets:
        values = {name: getattr(settings, name) for name in SECRETS}
        write_durably(backup.secrets, json.dumps(values).encode())
    return folder.complete(backup)


def _copy_files(folder: BackupFolder, rows: Iterable[Row], lines: IO[str] | None, say: Progress) -> Tally:
    """Copy what the folder lacks, and write a line for each file."""
    tally = Tally()
    for name, sha256, size in rows:
        if not (sha256 and folder.has_object(sha256, size)):
            try:
                with default_storage.open(name) as content:
                    sha256, size = folder.store(content)
            except FileNotFoundError:
                tally.missing.append(name)
                continue
            tally.copied += 1
        tally.files += 1
        tally.bytes += size
        if lines:
            lines.write(json.dumps(asdict(BackedUpFile(name, sha256, size))) + "\n")
        if tally.files % 1000 == 0:
            say(f"Files: {tally.files} ({tally.bytes / 2**20:,.0f} MiB), of which {tally.copied} are new.")
    return tally


def _manifest(backup: Backup, snapshot: Snapshot, tally: Tally, now: datetime) -> BackupManifest:
    return BackupManifest(
        format=FORMAT,
        version=settings.VERSION,
        created_at=now.isoformat(),
        migrations=snapshot.migrations(),
        files=tally.files,
        bytes=tally.bytes,
        missing=tally.missing,
        dump_sha256=sha256_of_path(backup.dump),
        list_sha256=sha256_of_path(backup.list),
        fingerprints=fingerprints(),
    )


def fingerprints() -> dict[str, str]:
    """Return a digest of each secret of this installation, by its name."""
    return {name: _fingerprint(name, getattr(settings, name)) for name in SECRETS}


def _fingerprint(name: str, secret: str) -> str:
    return hashlib.scrypt(secret.encode(), salt=f"locus backup {name}".encode(), **SCRYPT).hex()
