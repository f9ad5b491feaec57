"""Writes an archive, a document at a time: memory does not grow with the workspace."""

from __future__ import annotations

import base64
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.access.identity import principal_of_user
from accounts.models import Session, User, Workspace
from kb.documents import has_file
from kb.embedding import active_space
from kb.models import Chunk, ChunkVector, Document, DocumentCollection, EmbeddingSpace, Modality
from runs.archives import assistants
from runs.archives.layout import (
    ASSISTANTS,
    COLLECTIONS,
    DOCUMENTS,
    EXECUTIONS,
    FORMAT,
    MANIFEST,
    MESSAGES,
    SESSIONS,
    VERSION,
    ChunkLine,
    CollectionLine,
    DocumentLine,
    ExecutionLine,
    Line,
    Manifest,
    SessionLine,
    Space,
    chunks_name,
    file_name,
)
from runs.archives.messages import exporters
from runs.models import Execution, ExecutionStatus
from runs.withholding import hidden_documents, withhold

AT_ONCE = 200
Progress = Callable[[int, int], None]
"""Is told how many documents are written, of how many."""
WRITTEN = [name for name in DocumentLine.model_fields if name != "modality"]


def write_archive(workspace: Workspace, user: User, path: Path, progress: Progress) -> None:
    """Write a workspace for one of its admins: all documents, and the user's own conversations.

    Documents that are attached to conversations of others are left out: nobody else sees them.
    """
    documents = exported_documents(workspace, user)
    space, total = active_space(), documents.count()
    progress(0, total)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        archive.writestr(MANIFEST, _manifest(workspace, space, total).model_dump_json())
        collections = {line.id: line for line in _collections(workspace)}
        _write_lines(archive, COLLECTIONS, collections.values())
        # A member of a zip file is written whole: lines of documents wait in a file of their own.
        with tempfile.TemporaryFile(dir=path.parent) as lines:
            for number, document in enumerate(documents.iterator(AT_ONCE), start=1):
                line = _write_document(archive, document, space)
                # One may have been made, or deleted, since.
                line.collection_ids = [id for id in line.collection_ids if id in collections]
                lines.write(line.model_dump_json().encode() + b"\n")
                progress(number, total)
            lines.seek(0)
            with archive.open(_deflated(DOCUMENTS), "w", force_zip64=True) as member:
                shutil.copyfileobj(lines, member)
        _write_lines(archive, SESSIONS, _sessions(workspace, user))
        # After them: an assistant names the conversations that are in the archive.
        assistant_lines = (each(workspace, user) for each in assistants.exporters)
        _write_lines(archive, ASSISTANTS, chain.from_iterable(assistant_lines))
        _write_lines(archive, EXECUTIONS, _executions(workspace, user))
        _write_lines(archive, MESSAGES, chain.from_iterable(each(workspace, user) for each in exporters))


def exported_documents(workspace: Workspace, user: User) -> QuerySet[Document]:
    """Return the documents that an admin's export holds, each before its attachments."""
    own = Q(session=None) | Q(session__user=user, session__external_user_id=None)
    return Document.unscoped.filter(own, workspace=workspace).order_by("created_at", "pk")


def _manifest(workspace: Workspace, space: EmbeddingSpace, documents: int) -> Manifest:
    return Manifest(
        format=FORMAT,
        version=VERSION,
        name=workspace.name,
        share_with_external_users=workspace.share_with_external_users,
        settings=workspace.settings,
        created_at=timezone.now(),
        space=Space(model=space.model, revision=space.revision, dimensions=space.dimensions),
        documents=documents,
    )


def _collections(workspace: Workspace) -> Iterator[CollectionLine]:
    for row in DocumentCollection.unscoped.filter(workspace=workspace).order_by("name", "pk"):
        yield CollectionLine(**{name: getattr(row, name) for name in CollectionLine.model_fields})


def _write_document(archive: zipfile.ZipFile, document: Document, space: EmbeddingSpace) -> DocumentLine:
    if has_file(document):
        # Stored as they are: most kinds are compressed already, and a bomb is then known by its ratio.
        info = zipfile.ZipInfo(file_name(document.pk))
        storage, name = document.file.storage, document.file.name or ""
        with storage.open(name) as file, archive.open(info, "w", force_zip64=True) as member:
            shutil.copyfileobj(file, member)
    modality = Modality.TEXT
    with archive.open(_deflated(chunks_name(document.pk)), "w", force_zip64=True) as member:
        for chunk, line in _chunks(document, space):
            if not line.is_table and line.picture is None:
                modality = Modality(chunk.modality)
            member.write(line.model_dump_json().encode() + b"\n")
    values = {name: getattr(document, name) for name in WRITTEN}
    return DocumentLine(**values, modality=modality)


def _chunks(document: Document, space: EmbeddingSpace) -> Iterator[tuple[Chunk, ChunkLine]]:
    live = Chunk.unscoped.filter(document=document, replaced_by=None).order_by("ordinal")
    ids = list(live.values_list("pk", flat=True))
    for start in range(0, len(ids), AT_ONCE):
        some = ids[start : start + AT_ONCE]
        vectors = dict(
            ChunkVector.objects.filter(chunk__in=some, space=space).values_list("chunk_id", "embedding")
        )
        for chunk in live.filter(pk__in=some):
            vector = vectors.get(chunk.pk)
            line = ChunkLine(
                text=chunk.text,
                headings=chunk.headings,
                spans=chunk.spans,
                sentences=chunk.sentences,
                elements=chunk.elements,
                is_table=chunk.modality == Modality.TABLE,
                picture=chunk.picture,
                vector=None if vector is None else _encoded(np.asarray(vector, np.float16)),
            )
            yield chunk, line


def _encoded(vector: np.typing.NDArray[np.float16]) -> str:
    return base64.b64encode(vector.astype("<f2").tobytes()).decode()


def _sessions(workspace: Workspace, user: User) -> Iterator[SessionLine]:
    own = Session.unscoped.filter(workspace=workspace, user=user, external_user_id=None)
    for row in own.order_by("created_at").iterator(AT_ONCE):
        copied = set(SessionLine.model_fields)
        yield SessionLine(**{name: getattr(row, name) for name in copied})


def _executions(workspace: Workspace, user: User) -> Iterator[ExecutionLine]:
    principal = principal_of_user(user)
    own = Execution.objects.restricted_to(principal).filter(
        workspace=workspace, status=ExecutionStatus.COMPLETED
    )
    for row in own.order_by("created_at").iterator(AT_ONCE):
        hidden = hidden_documents(principal, row.read_documents)
        yield ExecutionLine(
            id=row.pk,
            tool=row.tool,
            session_id=row.session_id,
            inputs=row.inputs,
            result=withhold(row.result, hidden),
            read_documents=row.read_documents,
            created_at=row.created_at,
            finished_at=row.finished_at,
        )


def _write_lines(archive: zipfile.ZipFile, name: str, lines: Iterable[Line]) -> None:
    with archive.open(_deflated(name), "w", force_zip64=True) as member:
        for line in lines:
            member.write(line.model_dump_json().encode() + b"\n")


def _deflated(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info
