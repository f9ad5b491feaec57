"""The worker's part in exports and imports."""

from __future__ import annotations

from uuid import UUID

from procrastinate.contrib.django import app

from runs.archives.transfers import EXPORT_TASK, IMPORT_TASK, remove_expired, run_transfer


@app.task(name=EXPORT_TASK)
def export_workspace(transfer_id: str) -> None:
    """Write the archive of a workspace."""
    run_transfer(UUID(transfer_id))


@app.task(name=IMPORT_TASK)
def import_workspace(transfer_id: str) -> None:
    """Make a workspace of an archive."""
    run_transfer(UUID(transfer_id))


@app.periodic(cron="17 * * * *")
@app.task(name="remove_expired_archives", queueing_lock="remove_expired_archives")
def remove_expired_archives(timestamp: int) -> None:
    """Remove archives that may no longer be downloaded."""
    remove_expired()
