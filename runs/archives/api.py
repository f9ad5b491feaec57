"""`/api/v1/workspaces/{id}/export`, `…/exports`, `…/exports/{export_id}` and `/api/v1/workspaces/import`."""

from __future__ import annotations

from datetime import datetime
from typing import Self
from uuid import UUID

from django.http import HttpResponseBase
from pydantic import Field
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.roles import KeyScope
from core.api.lists import ListPage, ListQuery, page_of
from core.api.operations import ReadBody, operation, respond
from core.api.validation import ApiModel
from kb.api.uploads import SentFile
from kb.files import follows_redirects, serve_file
from runs.archives.transfers import (
    archive_of,
    begin_export,
    begin_import,
    can_be_downloaded,
    exports_of,
    visible_transfer,
)
from runs.models import TransferKind, TransferStatus, WorkspaceTransfer


class TransferShape(ApiModel):
    """An export or import, and how far it is."""

    id: UUID
    kind: TransferKind
    workspace_id: UUID
    status: TransferStatus
    documents_done: int
    documents_total: int | None
    size: int | None = Field(description="Bytes of the archive.")
    error: str | None = Field(description="Why it failed, and what to do.")
    created_at: datetime
    expires_at: datetime | None = Field(description="Until then the archive can be downloaded.")
    download_url: str | None

    @classmethod
    def of(cls, request: Request, row: WorkspaceTransfer) -> Self:
        """Return what its maker sees of a transfer."""
        return cls(
            id=row.pk,
            kind=TransferKind(row.kind),
            workspace_id=row.workspace_id,
            status=TransferStatus(row.status),
            documents_done=row.done,
            documents_total=row.total,
            size=row.size,
            error=row.error or None,
            created_at=row.created_at,
            expires_at=row.expires_at,
            download_url=f"{address_of(request, row)}/file" if can_be_downloaded(row) else None,
        )


class ExportList(ListPage[TransferShape]):
    """A page of exports, newest first."""


class NewImport(ApiModel):
    """The form of `POST workspaces/import`."""

    file: SentFile
    name: str | None = Field(None, min_length=1, max_length=200, description="By default the archive's.")


def address_of(request: Request, row: WorkspaceTransfer) -> str:
    """Return the address at which a transfer is followed."""
    return request.build_absolute_uri(f"/api/v1/workspaces/{row.workspace_id}/{row.kind}s/{row.pk}")


class ExportView(APIView):
    """Export a workspace."""

    required_scope = KeyScope.ADMIN

    @operation("workspaces_export", tag="Workspaces", answers={202: TransferShape}, fails=(404,))
    def post(self, request: Request, id: UUID) -> Response:
        """Write documents, chunks, settings and your own conversations into one archive, as an admin.

        A worker does it; follow `Location`. Documents attached to conversations of others are left out.
        """
        row = begin_export(principal_of(request), id)
        return respond(TransferShape.of(request, row), 202, {"Location": address_of(request, row)})


class ExportsView(APIView):
    """The exports of a workspace."""

    required_scope = KeyScope.ADMIN

    @operation(
        "workspaces_exports",
        tag="Workspaces",
        query=ListQuery,
        answers={200: ExportList},
        fails=(404,),
    )
    def get(self, request: Request, id: UUID, query: ListQuery) -> ExportList:
        """List your own exports of the workspace, newest first; those that failed or have expired, too."""
        found = exports_of(principal_of(request), id)
        return page_of(ExportList, found, lambda row: TransferShape.of(request, row), request, query)


class ExportStateView(APIView):
    """One export."""

    @operation("workspaces_export_read", tag="Workspaces", answers={200: TransferShape}, fails=(404,))
    def get(self, request: Request, id: UUID, transfer_id: UUID) -> TransferShape:
        """Return how far an export is, and where its archive is; only to who began it."""
        principal = principal_of(request)
        return TransferShape.of(request, visible_transfer(principal, TransferKind.EXPORT, id, transfer_id))


class ExportFileView(APIView):
    """The archive of an export."""

    @operation(
        "workspaces_export_file",
        tag="Workspaces",
        answers={(200, "application/octet-stream"): bytes, (206, "application/octet-stream"): bytes},
        fails=(404, 416),
    )
    def get(self, request: Request, id: UUID, transfer_id: UUID) -> HttpResponseBase:
        """Return the archive, as long as it has not expired; only to who began the export."""
        row = visible_transfer(principal_of(request), TransferKind.EXPORT, id, transfer_id)
        name = f"{row.workspace.name} {row.created_at:%Y-%m-%d}.zip"
        part, may_redirect = request.headers.get("Range"), follows_redirects(request)
        return serve_file(archive_of(row), name, "application/zip", part, may_redirect=may_redirect)


class ImportView(APIView):
    """Import a workspace."""

    required_scope = KeyScope.ADMIN
    parser_classes = [MultiPartParser]

    @operation(
        "workspaces_import",
        tag="Workspaces",
        body={"multipart/form-data": NewImport},
        answers={202: TransferShape},
    )
    def post(self, request: Request, read_body: ReadBody[NewImport]) -> Response:
        """Make a new workspace, which you own, of an archive that an export has written.

        A worker does it; follow `Location`. Chunks keep their ids where their documents' ids are free here.
        """
        body = read_body()
        row = begin_import(principal_of(request), body.file, body.name)
        return respond(TransferShape.of(request, row), 202, {"Location": address_of(request, row)})


class ImportStateView(APIView):
    """One import."""

    @operation("workspaces_import_read", tag="Workspaces", answers={200: TransferShape}, fails=(404,))
    def get(self, request: Request, id: UUID, transfer_id: UUID) -> TransferShape:
        """Return how far an import is; only to who began it."""
        principal = principal_of(request)
        return TransferShape.of(request, visible_transfer(principal, TransferKind.IMPORT, id, transfer_id))
