"""A folder of backups: contents by their digests, and for each backup a dump and a list of names.

```
objects/ab/abcd…      the content of a file, named by its sha256; all backups share them
backups/MOMENT/       one complete backup: database.dump, files.jsonl, manifest.json
```
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Self

FORMAT = 1
BLOCK_BYTES = 1024 * 1024
UNFINISHED = ".unfinished"


class BackupError(Exception):
    """A backup can't be made or used; the message is one sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class BackedUpFile:
    """A file of the storage, by its name there, with its content's sha256 and bytes."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """What a backup says of itself; the digests are those of its other two files."""

    format: int
    version: str
    created_at: str
    migrations: list[str]
    files: int
    bytes: int
    missing: list[str]
    """Names of files that the installation itself had lost."""
    dump_sha256: str
    list_sha256: str
    fingerprints: dict[str, str]
    """By the names of the installation's secrets, digests that tell whether another has the same."""


@dataclass(frozen=True, slots=True)
class Backup:
    """One backup in its folder."""

    folder: Path

    @property
    def dump(self) -> Path:
        """The dump of the database, in pg_dump's own format."""
        return self.folder / "database.dump"

    @property
    def list(self) -> Path:
        """The files, one JSON object a line."""
        return self.folder / "files.jsonl"

    @property
    def secrets(self) -> Path:
        """The installation's secrets, if they were to be kept with it."""
        return self.folder / "secrets.json"

    def manifest(self) -> BackupManifest:
        """Return what it says of itself; raise `BackupError` if it is none of ours."""
        try:
            manifest = BackupManifest(**json.loads((self.folder / "manifest.json").read_text("utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise BackupError(f"{self.folder} is no backup of Locus, or damaged: {error}") from None
        if manifest.format != FORMAT:
            raise BackupError(f"{self.folder} was made by another Locus ({manifest.version}). Use that one.")
        return manifest

    def write_manifest(self, manifest: BackupManifest) -> None:
        """Write what it says of itself."""
        write_durably(self.folder / "manifest.json", json.dumps(asdict(manifest), indent=1).encode())

    def files(self) -> Iterator[BackedUpFile]:
        """Yield its files."""
        with self.list.open(encoding="utf-8") as lines:
            for line in lines:
                yield BackedUpFile(**json.loads(line))


class BackupFolder:
    """The folder that keeps all backups of one installation."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def make(cls, path: Path) -> Self:
        """Return the folder at a path, made if need be: nobody else may look into it."""
        for each in (path, path / "objects", path / "backups"):
            each.mkdir(mode=0o700, parents=True, exist_ok=True)
        return cls(path)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Let one process at a time change the folder."""
        with (self.path / "lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BackupError(f"Another process works in {self.path}: wait for it to end.") from None
            yield

    def backups(self) -> list[Backup]:
        """Return the complete backups, the oldest first."""
        try:
            names = sorted(each.name for each in (self.path / "backups").iterdir())
        except FileNotFoundError:
            return []
        return [Backup(self.path / "backups" / name) for name in names if not name.endswith(UNFINISHED)]

    def begin(self, moment: str) -> Backup:
        """Return a new backup that is not yet complete; what was left of earlier ones is removed."""
        for left in (self.path / "backups").glob(f"*{UNFINISHED}"):
            shutil.rmtree(left)
        folder = self.path / "backups" / f"{moment}{UNFINISHED}"
        folder.mkdir(mode=0o700)
        return Backup(folder)

    def complete(self, backup: Backup) -> Backup:
        """Give a whole backup its name, by which it counts from now on."""
        whole = backup.folder.with_name(backup.folder.name.removesuffix(UNFINISHED))
        backup.folder.rename(whole)
        sync_folder(whole.parent)
        return Backup(whole)

    def object_path(self, sha256: str) -> Path:
        """Return where the content with a digest is, or would be."""
        return self.path / "objects" / sha256[:2] / sha256

    def has_object(self, sha256: str, size: int) -> bool:
        """Tell whether a content of this digest and size is here."""
        try:
            return self.object_path(sha256).stat().st_size == size
        except FileNotFoundError:
            return False

    def store(self, content: IO[bytes]) -> tuple[str, int]:
        """Keep a content; return its digest and size. It is there whole, or not at all."""
        draft = self.path / "objects" / f"draft-{os.getpid()}"
        digest, size = hashlib.sha256(), 0
        try:
            with draft.open("wb") as copy:
                while block := content.read(BLOCK_BYTES):
                    digest.update(block)
                    size += len(block)
                    copy.write(block)
                copy.flush()
                os.fsync(copy.fileno())
            target = self.object_path(digest.hexdigest())
            target.parent.mkdir(mode=0o700, exist_ok=True)
            draft.replace(target)
            sync_folder(target.parent)
        finally:
            draft.unlink(missing_ok=True)
        return digest.hexdigest(), size

    def keep_last(self, count: int) -> int:
        """Remove all backups but the last so many, and contents that none has; return how many backups."""
        old = self.backups()[:-count]
        for backup in old:
            shutil.rmtree(backup.folder)
        used = {file.sha256 for backup in self.backups() for file in backup.files()} if old else set()
        for content in (self.path / "objects").glob("*/*") if old else ():
            if content.name not in used:
                content.unlink()
        return len(old)


def sha256_of_path(path: Path) -> str:
    """Return the hexadecimal digest of a file of this machine."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_durably(path: Path, content: bytes) -> None:
    """Write a file that only we may read, and wait until the disk has it."""
    path.touch(mode=0o600)
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Wait until the disk knows the names in a folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
