"""Files that open with a password: a child process opens them, and the file without it is kept.

The password is in memory while its request lasts, and nowhere else (docs/reference/documents.md).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from django.conf import settings
from django.core.files.base import File

from accounts.principal import Principal
from accounts.quotas.request_rates import count_password
from core.errors import Conflict, ValidationError, WrongPassword
from core.fair_slots import FairSlots
from core.process.telemetry import SWITCHES
from core.threads import give_connection_back
from extract.errors import NO_UNLOCKING, Encrypted
from extract.unlocking import NOT_PROTECTED, OUTPUT, TIMEOUT_SECS, UNLOCKED, WRONG_PASSWORD
from kb.documents import original_file
from kb.models import Document, Status
from kb.replacing import replace_by_unlocked

ROOT = Path(__file__).resolve().parents[1]
PATIENCE_SECS = 20.0
NOT_WAITING = "This document is not waiting for a password."
_slots = FairSlots(max(1, (os.cpu_count() or 1) - 1), per_user=1, most_waiting=16)


def unlock_document(principal: Principal, document: Document, password: str) -> None:
    """Keep the document's file without its password, and queue its ingestion.

    Raise `WrongPassword`, `RateLimited` after many attempts, `Conflict` if the document needs no password,
    and `ValidationError` for a protection that can't be opened.
    """
    _require_locked(document)
    count_password(principal)
    give_connection_back()
    with original_file(document).local_copy() as path, unlocked(principal, path, password) as file:
        if file is None:
            raise Conflict(NOT_WAITING)
        replace_by_unlocked(principal, document, file, _require_locked)


@contextmanager
def unlocked_upload(
    upload: File[bytes], principal: Principal, password: str | None
) -> Iterator[File[bytes] | None]:
    """Yield an upload without its password; None if it has none, or another one.

    What can't be opened becomes a document that fails, and can be unlocked there.
    """
    if password is None:
        yield None
        return
    with ExitStack() as stack:
        copy = stack.enter_context(tempfile.NamedTemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR))
        for block in upload.chunks():
            copy.write(block)
        copy.flush()
        upload.seek(0)
        file = None
        with suppress(ValidationError):
            file = stack.enter_context(unlocked(principal, Path(copy.name), password))
        yield file


@contextmanager
def unlocked(principal: Principal, path: Path, password: str) -> Iterator[File[bytes] | None]:
    """Yield the file at `path` without its password, None if it has none.

    Raise `WrongPassword`, or `ValidationError` for a protection that can't be opened.
    """
    with tempfile.TemporaryDirectory(dir=settings.FILE_UPLOAD_TEMP_DIR) as folder:
        deadline = time.monotonic() + PATIENCE_SECS
        with _slots.slot(principal.user_id, deadline - time.monotonic()):
            status = _exit_status(path, folder, password)
        if status == NOT_PROTECTED:
            yield None
        elif status == WRONG_PASSWORD:
            raise WrongPassword(param="password")
        elif status != UNLOCKED:
            raise ValidationError(NO_UNLOCKING, param="password")
        else:
            with (Path(folder) / OUTPUT).open("rb") as file:
                yield File(file)


def _exit_status(path: Path, folder: str, password: str) -> int:
    command = [sys.executable, "-m", "extract.unlocking", str(path), folder]
    # Nothing of ours in its environment: a file that takes it over must find no secrets there.
    environment = {"PATH": os.defpath, "OPENBLAS_NUM_THREADS": "1", **SWITCHES}
    try:
        return subprocess.run(  # noqa: S603
            command,
            cwd=ROOT,
            env=environment,
            input=password.encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT_SECS,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired:
        return -1


def _require_locked(document: Document) -> None:
    if document.status != Status.FAILED or document.error_code != Encrypted.code:
        raise Conflict(NOT_WAITING)
