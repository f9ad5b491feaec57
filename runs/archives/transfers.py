"""Begins exports and imports, and does them in the worker."""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from pydantic import ValidationError

from accounts.access.identity import principal_of_user
from accounts.audit.recording import record
from accounts.models import AuditAction, User, Workspace
from accounts.people.workspaces import create_workspace
from accounts.preferences import SettingSource, change_model, change_settings
from accounts.principal import Principal
from accounts.roles import KeyScope, Role
from core.errors import LocusError, NotFound
from core.jobs import defer_job
from kb.storage import StoredFile
from runs.archives.exporting import write_archive
from runs.archives.importing import Import
from runs.archives.layout import Manifest
from runs.archives.reading import open_archive
from runs.models import TransferKind, TransferStatus, WorkspaceTransfer

logger = logging.getLogger(__name__)
EXPORT_TASK, IMPORT_TASK = "export_workspace", "import_workspace"
TASKS = {TransferKind.EXPORT: EXPORT_TASK, TransferKind.IMPORT: IMPORT_TASK}
LIVE = (TransferStatus.QUEUED, TransferStatus.RUNNING)
NOTE_EVERY_SECS = 1.0
INTERNAL = "Something went wrong on our side. Try again, or ask your administrator."


def begin_export(principal: Principal, workspace_id: UUID) -> WorkspaceTransfer:
    """Queue the export of a workspace for one of its admins; return the one under way if there is one."""
    _require_admin(principal, workspace_id)
    under_way = WorkspaceTransfer.objects.restricted_to(principal).filter(
        kind=TransferKind.EXPORT, workspace=workspace_id, status__in=LIVE
    )
    with transaction.atomic():
        Workspace.objects.select_for_update().get(pk=workspace_id)
        found = under_way.first()
        if found is not None:
            return found
        record(AuditAction.WORKSPACE_EXPORTED, principal, workspace_id=workspace_id)
        return _begin(TransferKind.EXPORT, principal.user_id, workspace_id)


def begin_import(principal: Principal, upload: File[bytes], name: str | None) -> WorkspaceTransfer:
    """Make a workspace that the caller owns, and queue the import of an archive; raise `InvalidArchive`."""
    principal.refuse_external_user("can’t import workspaces")
    with tempfile.NamedTemporaryFile(dir=_folder(), suffix=".zip") as copy:
        for block in upload.chunks():
            copy.write(block)
        copy.flush()
        with open_archive(Path(copy.name)) as archive:
            manifest = archive.manifest
        with transaction.atomic():
            workspace = new_workspace(principal, manifest, name)
            transfer = _begin(TransferKind.IMPORT, principal.user_id, workspace.pk)
            copy.seek(0)
            transfer.file = default_storage.save(f"transfers/{transfer.pk}.zip", File(copy))
            transfer.size, transfer.total = upload.size, manifest.documents
            transfer.save(update_fields=["file", "size", "total"])
    return transfer


def new_workspace(principal: Principal, manifest: Manifest, name: str | None) -> Workspace:
    """Return a new workspace with the archive's settings; those that this deployment refuses are left out."""
    workspace = create_workspace(principal, name or manifest.name)
    workspace.share_with_external_users = manifest.share_with_external_users
    workspace.save(update_fields=["share_with_external_users"])
    shape = change_model(SettingSource.WORKSPACE, "ImportedSettings")
    for section, values in manifest.settings.items():
        with suppress(ValidationError, LocusError):
            change_settings(workspace.pk, shape.model_validate({section: values}))
    record(AuditAction.WORKSPACE_IMPORTED, principal, workspace_id=workspace.pk, documents=manifest.documents)
    return workspace


def exports_of(principal: Principal, workspace_id: UUID) -> QuerySet[WorkspaceTransfer]:
    """Return the caller's own exports of a workspace, or raise `NotFound` or `Forbidden`."""
    _require_admin(principal, workspace_id)
    own = WorkspaceTransfer.objects.restricted_to(principal)
    return own.filter(kind=TransferKind.EXPORT, workspace=workspace_id)


def visible_transfer(
    principal: Principal, kind: TransferKind, workspace_id: UUID, id: UUID
) -> WorkspaceTransfer:
    """Return the caller's own transfer, or raise `NotFound` or `Forbidden`."""
    found = WorkspaceTransfer.objects.restricted_to(principal).filter(
        kind=kind, workspace=workspace_id, pk=id
    )
    transfer = found.first()
    if transfer is None:
        raise NotFound
    _require_admin(principal, workspace_id)
    return transfer


def can_be_downloaded(transfer: WorkspaceTransfer) -> bool:
    """Tell whether a transfer is an export that has an archive, and has not expired."""
    return (
        transfer.kind == TransferKind.EXPORT
        and transfer.status == TransferStatus.COMPLETED
        and bool(transfer.file)
        and transfer.expires_at is not None
        and transfer.expires_at > timezone.now()
    )


def archive_of(transfer: WorkspaceTransfer) -> StoredFile:
    """Return the archive of an export, or raise `NotFound` if there is none yet or no longer."""
    if not can_be_downloaded(transfer) or not default_storage.exists(transfer.file):
        raise NotFound("The archive is not there yet, or no longer. Export the workspace again.")
    return StoredFile(default_storage, transfer.file)


def run_transfer(id: UUID) -> None:
    """Do an export or import in the worker; one that was interrupted begins anew."""
    transfer = WorkspaceTransfer.unscoped.filter(pk=id, status__in=LIVE).first()
    if transfer is None:
        return
    _note(transfer, status=TransferStatus.RUNNING, done=0)
    try:
        work = _export if transfer.kind == TransferKind.EXPORT else _import
        work(transfer)
    except LocusError as error:
        _note(transfer, status=TransferStatus.FAILED, error=error.message)
    except Exception:
        logger.exception("The %s %s failed.", transfer.kind, id)
        _note(transfer, status=TransferStatus.FAILED, error=INTERNAL)


def remove_expired() -> None:
    """Remove archives whose time is over; the rows stay, without them."""
    for transfer in WorkspaceTransfer.unscoped.filter(expires_at__lte=timezone.now()).exclude(file=""):
        default_storage.delete(transfer.file)
        _note(transfer, file="")


def remove_archives_of(workspace_ids: Collection[UUID], user_ids: Collection[int]) -> dict[str, int]:
    """Remove the archives of workspaces and users that are deleted; see `accounts.people.deletion`."""
    of_workspaces = WorkspaceTransfer.unscoped.filter(workspace__in=workspace_ids)
    for transfer in of_workspaces | WorkspaceTransfer.unscoped.filter(user__in=user_ids):
        if transfer.file:
            default_storage.delete(transfer.file)
            _note(transfer, file="")
    return {}


def _begin(kind: TransferKind, user_id: int, workspace_id: UUID) -> WorkspaceTransfer:
    transfer = WorkspaceTransfer.unscoped.create(kind=kind, user_id=user_id, workspace_id=workspace_id)
    defer_job(TASKS[kind], {"transfer_id": str(transfer.pk)}, lock=str(transfer.pk))
    return transfer


def _export(transfer: WorkspaceTransfer) -> None:
    # Who has lost the right since gets nothing.
    _require_admin(principal_of_user(transfer.user), transfer.workspace_id)
    path = _folder() / f"{transfer.pk}.zip"
    try:
        write_archive(transfer.workspace, transfer.user, path, _noting(transfer))
        with path.open("rb") as archive:
            name = default_storage.save(f"transfers/{transfer.pk}.zip", File(archive))
        expires = timezone.now() + timedelta(hours=settings.EXPORT_HOURS)
        size = path.stat().st_size
        _note(transfer, status=TransferStatus.COMPLETED, file=name, size=size, expires_at=expires)
    finally:
        path.unlink(missing_ok=True)


def _import(transfer: WorkspaceTransfer) -> None:
    with StoredFile(default_storage, transfer.file).local_copy() as path:
        import_archive(path, transfer.pk, transfer.workspace, transfer.user, _noting(transfer))
    default_storage.delete(transfer.file)
    _note(transfer, status=TransferStatus.COMPLETED, file="")


def import_archive(
    path: Path, id: UUID, workspace: Workspace, user: User, progress: Callable[[int, int], None]
) -> None:
    """Import an archive into a new workspace; raise `InvalidArchive`."""
    with open_archive(path) as archive:
        Import(id, archive, workspace, user, progress).run()


def _noting(transfer: WorkspaceTransfer) -> Callable[[int, int], None]:
    """Return a function that stores how far a transfer is, at most once a second."""
    last = 0.0

    def note(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last > NOTE_EVERY_SECS or done == total:
            last = time.monotonic()
            _note(transfer, done=done, total=total)

    return note


def _note(transfer: WorkspaceTransfer, **values: object) -> None:
    WorkspaceTransfer.unscoped.filter(pk=transfer.pk).update(**values)
    for name, value in values.items():
        setattr(transfer, name, value)


def _require_admin(principal: Principal, workspace_id: UUID) -> None:
    principal.require_workspace(workspace_id, Role.ADMIN)
    principal.require_scope(KeyScope.ADMIN)
    principal.refuse_external_user("can’t export workspaces")


def _folder() -> Path:
    folder = Path(settings.DATA_DIR) / "cache" / "transfers"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
