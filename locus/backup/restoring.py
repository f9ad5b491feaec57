"""Checks a backup, and makes an installation of it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from kb.doctor import CHECKS, examine
from locus.backup.creating import SECRETS, Progress, fingerprints
from locus.backup.database import count_users, refuse_others, restore_dump
from locus.backup.layout import (
    BLOCK_BYTES,
    BackedUpFile,
    Backup,
    BackupError,
    BackupFolder,
    BackupManifest,
    sha256_of_path,
    write_durably,
)


def choose_backup(folder: BackupFolder, name: str | None) -> Backup:
    """Return the backup with a name, or the newest; raise `BackupError` if there is none."""
    backups = folder.backups()
    chosen = [backup for backup in backups if name in (None, backup.folder.name)]
    if not chosen:
        known = ", ".join(backup.folder.name for backup in backups) or "none"
        raise BackupError(f"{folder.path} has no backup {name or ''}. It has: {known}.")
    return chosen[-1]


def check_backup(folder: BackupFolder, backup: Backup, say: Progress) -> BackupManifest:
    """Compare all of a backup with its digests; raise `BackupError` at the first that differs."""
    manifest = backup.manifest()
    pairs = ((backup.dump, manifest.dump_sha256), (backup.list, manifest.list_sha256))
    for path, sha256 in pairs:
        if not path.exists() or sha256_of_path(path) != sha256:
            raise BackupError(f"{path} is damaged: restore another backup.")
    for count, file in enumerate(backup.files(), 1):
        content = folder.object_path(file.sha256)
        if not content.exists() or sha256_of_path(content) != file.sha256:
            raise BackupError(f"{content} is damaged, the content of {file.name}: restore another backup.")
        if count % 1000 == 0:
            say(f"Checked: {count} of {manifest.files} files.")
    say(f"The backup of {manifest.created_at} is whole: {manifest.files} files.")
    return manifest


def restore(folder: BackupFolder, backup: Backup, say: Progress, *, replace: bool) -> None:
    """Make this installation what the backup has; raise `BackupError`.

    Files come first, and rows in one transaction: an interrupted restore may be run again.
    """
    manifest = check_backup(folder, backup, say)
    _refuse_newer(manifest)
    if not replace and count_users():
        raise BackupError("This installation is not empty. With --replace all that is in it is deleted.")
    refuse_others()
    for count, file in enumerate(backup.files(), 1):
        _restore_file(folder, file)
        if count % 1000 == 0:
            say(f"Restored: {count} of {manifest.files} files.")
    restore_dump(backup.dump)
    call_command("migrate", interactive=False, verbosity=0)
    say("Database and files are restored.")
    if backup.secrets.exists():
        _restore_secrets(backup)
        say("The secrets of the backup are in DATA_DIR; variables of the environment go before them.")
    else:
        _compare_secrets(manifest, say)


def findings() -> list[str]:
    """Return what `doctor` finds, a line for each kind."""
    results = [examine(check) for check in CHECKS]
    return [f"{result.check.what}: {result.count}" for result in results if result.count]


def _refuse_newer(manifest: BackupManifest) -> None:
    known = {f"{app}.{name}" for app, name in MigrationLoader(connection).disk_migrations}
    if unknown := sorted(set(manifest.migrations) - known):
        raise BackupError(
            f"The backup is of Locus {manifest.version}, which is newer ({unknown[0]}): install that first."
        )


def _restore_file(folder: BackupFolder, file: BackedUpFile) -> None:
    if default_storage.exists(file.name):
        if _digest_of(file.name) == file.sha256:
            return
        default_storage.delete(file.name)
    with folder.object_path(file.sha256).open("rb") as content:
        name = default_storage.save(file.name, File(content))
    if name != file.name or _digest_of(name) != file.sha256:
        raise BackupError(f"The file store did not keep {file.name} as it was.")


def _digest_of(name: str) -> str:
    digest = hashlib.sha256()
    with default_storage.open(name) as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def _restore_secrets(backup: Backup) -> None:
    for name, secret in json.loads(backup.secrets.read_text("utf-8")).items():
        if name in SECRETS:
            write_durably(Path(settings.DATA_DIR) / name.lower(), secret.encode())


def _compare_secrets(manifest: BackupManifest, say: Progress) -> None:
    mine = fingerprints()
    for name in sorted(name for name, value in manifest.fingerprints.items() if mine.get(name) != value):
        say(f"{name} is not that of the backup: put DATA_DIR/{name.lower()} or the variable {name} back.")
