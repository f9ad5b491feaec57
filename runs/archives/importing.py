"""Makes a workspace of an archive. Nothing in it is trusted: ids that are taken become others."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID, uuid5

import numpy as np
from django.core.files.base import File
from django.db import IntegrityError, transaction
from django.utils import timezone
from pydantic import JsonValue

from accounts.models import Session, User, Workspace
from core.locations import LocatedText
from kb.chunks import ChunkDraft, ElementBounds, chunk_ids, swap_chunks
from kb.collections import MOST_COLLECTIONS
from kb.documents import queue_ingestion
from kb.embedding import active_space
from kb.index.merging import merge_if_due
from kb.index.segments import ScopeKey
from kb.index.writing import index_vectors
from kb.jobs import EMBED_TASK, defer_for_document
from kb.models import (
    Chunk,
    ChunkVector,
    Document,
    DocumentCollection,
    EmbeddingSpace,
    Searchable,
    Stage,
    Status,
)
from kb.pictures import Picture
from kb.storage_quota import require_storage
from runs.archives import assistants
from runs.archives.assistants import ImportedAssistant
from runs.archives.layout import (
    ASSISTANTS,
    COLLECTIONS,
    DOCUMENTS,
    EXECUTIONS,
    MESSAGES,
    MOST_ASSISTANTS,
    SESSIONS,
    AssistantLine,
    ChunkLine,
    CollectionLine,
    DocumentLine,
    ExecutionLine,
    InvalidArchive,
    MessageLine,
    SessionLine,
    chunks_name,
    file_name,
)
from runs.archives.messages import ImportedMessage, importers
from runs.archives.reading import ID, Archive
from runs.models import Execution, ExecutionStatus

MOST_CHUNKS = 200_000
"""Of one document."""
USABLE = (Status.READY, Status.PARTIAL)
ANY_ID = re.compile(ID)


@dataclass
class Import:
    """An import under way. After a crash it is begun anew, and skips what is there already.

    `id` gives rise to ids in place of those that are taken, the same each time.
    """

    id: UUID
    archive: Archive
    workspace: Workspace
    user: User
    progress: Callable[[int, int], None] = lambda done, total: None
    sessions: dict[UUID, UUID] = field(default_factory=dict)
    documents: dict[UUID, UUID] = field(default_factory=dict)
    """By the id in the archive, the id here."""
    collections: dict[UUID, DocumentCollection] = field(default_factory=dict)
    """By the id in the archive."""
    messages: dict[UUID, UUID] = field(default_factory=dict)
    sessions_of_messages: dict[UUID, UUID] = field(default_factory=dict)
    """Both by the ids in the archive."""
    assistants: dict[UUID, UUID] = field(default_factory=dict)
    """Assistants and their bindings, by the ids in the archive."""
    executions: set[str] = field(default_factory=set)
    """The ids here."""
    chunks: dict[UUID, UUID] = field(default_factory=dict)
    """The same, for the chunks of documents whose id was taken."""

    def run(self) -> None:
        """Import everything; raise `InvalidArchive` or `QuotaExceeded`. What was imported before stays."""
        for session in self.archive.lines(SESSIONS, SessionLine):
            self._add_session(session)
        # Earlier versions exported none.
        if self.archive.has(COLLECTIONS):
            self._add_collections()
        total = self.archive.manifest.documents
        for number, line in enumerate(self.archive.lines(DOCUMENTS, DocumentLine), start=1):
            if number > total:
                raise InvalidArchive("The archive holds more documents than it says.")
            self._add_document(line)
            self.progress(number, total)
        # Earlier versions exported none of these either.
        if self.archive.has(ASSISTANTS):
            self._add_assistants()
        has_messages = self.archive.has(MESSAGES)
        # Results name messages, and messages name what answers them.
        for message in self.archive.lines(MESSAGES, MessageLine) if has_messages else ():
            self._check_message(message)
        for execution in self.archive.lines(EXECUTIONS, ExecutionLine):
            self._add_execution(execution)
        for message in self.archive.lines(MESSAGES, MessageLine) if has_messages else ():
            self._add_message(message)

    def _add_collections(self) -> None:
        numbers: Counter[str | None] = Counter()
        names = set()
        for line in self.archive.lines(COLLECTIONS, CollectionLine):
            place = line.external_user_id
            numbers[place] += 1
            is_known = line.id in self.collections or (place, line.name) in names
            if is_known or numbers[place] > MOST_COLLECTIONS:
                raise InvalidArchive("The archive holds too many collections, or one twice.")
            names.add((place, line.name))
            self.collections[line.id] = DocumentCollection(
                id=uuid5(self.id, str(line.id)),
                workspace=self.workspace,
                external_user_id=place,
                name=line.name,
            )
        DocumentCollection.unscoped.bulk_create(self.collections.values(), ignore_conflicts=True)

    def _collections_of(self, line: DocumentLine) -> list[UUID]:
        """Return the document's collections; raise `InvalidArchive` if one is not there, or elsewhere."""
        found = [self.collections.get(id) for id in line.collection_ids]
        if not all(one and one.external_user_id == line.external_user_id for one in found):
            raise InvalidArchive("A document is in a collection that is not in the archive.")
        return [one.pk for one in found if one]

    def _add_session(self, line: SessionLine) -> None:
        id = self.sessions[line.id] = uuid5(self.id, str(line.id))
        row = Session(
            id=id,
            user=self.user,
            workspace=self.workspace,
            title=line.title,
            pinned=line.pinned,
            searches_documents=line.searches_documents or not line.searches_web,
            searches_web=line.searches_web,
            updated_at=line.updated_at or line.created_at,
        )
        Session.unscoped.bulk_create([row], ignore_conflicts=True)
        Session.unscoped.filter(pk=id).update(created_at=line.created_at)

    # --- Assistants ---

    def _add_assistants(self) -> None:
        names = set()
        for number, line in enumerate(self.archive.lines(ASSISTANTS, AssistantLine), start=1):
            ids = [line.id, *(binding.id for binding in line.bindings)]
            is_known = any(id in self.assistants for id in ids) or (line.visibility, line.name) in names
            if is_known or len(set(ids)) < len(ids) or number > MOST_ASSISTANTS:
                raise InvalidArchive("The archive holds too many assistants, or one twice.")
            names.add((line.visibility, line.name))
            self.assistants |= {id: uuid5(self.id, str(id)) for id in ids}
            for add in assistants.importers:
                add(self.workspace, self.user, self._imported_assistant(line))

    def _imported_assistant(self, line: AssistantLine) -> ImportedAssistant:
        return ImportedAssistant(
            id=self.assistants[line.id],
            line=line,
            workspaces={line.workspace_id: self.workspace.pk},
            documents=self.documents,
            collections={id: collection.pk for id, collection in self.collections.items()},
            sessions=self.sessions,
            bindings=self.assistants,
        )

    # --- Messages ---

    def _check_message(self, line: MessageLine) -> None:
        """Remember a message; raise `InvalidArchive` for one of no conversation, or after no parent."""
        before = self.sessions_of_messages.get(line.parent_id) if line.parent_id else line.session_id
        if line.session_id not in self.sessions or before != line.session_id:
            raise InvalidArchive("A message belongs to no conversation of the archive.")
        self.sessions_of_messages[line.id] = line.session_id
        self.messages[line.id] = uuid5(self.id, str(line.id))

    def _add_message(self, line: MessageLine) -> None:
        documents = line.document_ids
        answers = [id for each in line.answers if (id := self._execution_id(each)) in self.executions]
        message = ImportedMessage(
            id=self.messages[line.id],
            session_id=self.sessions[line.session_id],
            parent_id=line.parent_id and self.messages[line.parent_id],
            content=line.content,
            document_ids=documents and [self.documents.get(id, id) for id in documents],
            created_at=line.created_at,
            answers=answers,
        )
        for add in importers:
            add(self.workspace, self.user, message)

    # --- Documents ---

    def _add_document(self, line: DocumentLine) -> None:
        id = self.documents[line.id] = self._free_id(line.id)
        drafts, vectors = self._drafts(line)
        if id != line.id:
            self.chunks |= dict(zip(chunk_ids(line.id, drafts), chunk_ids(id, drafts), strict=True))
        if Document.unscoped.filter(pk=id).exists():
            return
        document = self._new_document(line, id)
        stored = self._store_file(line, document)
        try:
            with transaction.atomic():
                self._store(line, document, drafts, vectors)
        except BaseException as error:
            if stored:
                document.file.storage.delete(document.file.name or "")
            if isinstance(error, IntegrityError):
                raise InvalidArchive("The archive holds a document twice.") from error
            raise
        merge_if_due(ScopeKey.of(document))

    def _free_id(self, id: UUID) -> UUID:
        """Return the id, or another one if a document outside this workspace has it."""
        elsewhere = Document.unscoped.filter(pk=id).exclude(workspace=self.workspace)
        # Chunks of a document that is gone may be left for a moment.
        return uuid5(self.id, str(id)) if elsewhere.exists() else id

    def _new_document(self, line: DocumentLine, id: UUID) -> Document:
        copied = set(DocumentLine.model_fields) - {
            "id",
            "session_id",
            "attached_to_id",
            "created_at",
            "collection_ids",
            "modality",
        }
        if line.session_id is not None and line.session_id not in self.sessions:
            raise InvalidArchive("A document is attached to a conversation that is not in the archive.")
        return Document(
            id=id,
            workspace=self.workspace,
            uploaded_by=self.user,
            session_id=line.session_id and self.sessions[line.session_id],
            attached_to_id=line.attached_to_id and self.documents.get(line.attached_to_id),
            collection_ids=self._collections_of(line),
            stage=Stage.DONE,
            progress=1.0,
            **{name: getattr(line, name) for name in copied},
        )

    def _store_file(self, line: DocumentLine, document: Document) -> bool:
        name = file_name(line.id)
        if not self.archive.has(name):
            return False
        # Not what the line says: it counts against the quota.
        document.size = self.archive.zip.getinfo(name).file_size
        with self.archive.open(name) as member:
            document.file.save("original", _sized(member, document.size), save=False)
        return True

    def _store(
        self,
        line: DocumentLine,
        document: Document,
        drafts: Sequence[ChunkDraft],
        vectors: Sequence[np.typing.NDArray[np.float16] | None],
    ) -> None:
        require_storage(self.workspace.pk, 1, document.size)
        document.save(force_insert=True)
        Document.unscoped.filter(pk=document.pk).update(created_at=line.created_at)
        if line.status in USABLE and drafts:
            swap_chunks(document.pk, drafts, line.language, line.modality)
            self._store_vectors(document, vectors)
        elif line.status in USABLE or line.status in (Status.FAILED, Status.CANCELLED):
            document.searchable = Searchable.NONE
            document.save(update_fields=["searchable"])
        elif document.file or document.url:
            # It was being read when it was exported: it is read here.
            queue_ingestion(document)

    def _store_vectors(
        self, document: Document, vectors: Sequence[np.typing.NDArray[np.float16] | None]
    ) -> None:
        live = Chunk.unscoped.filter(document=document).order_by("ordinal")
        ids = list(live.values_list("pk", flat=True))
        space = self._space()
        known = [(id, vector) for id, vector in zip(ids, vectors, strict=True) if vector is not None]
        if space is not None and known:
            rows = [ChunkVector(chunk_id=id, space=space, embedding=vector) for id, vector in known]
            ChunkVector.objects.bulk_create(rows)
            index_vectors(document.pk, space, [id for id, _ in known], np.stack([v for _, v in known]))
        document.chunk_count = len(ids)
        document.searchable = Searchable.FULL
        if space is None or len(known) < len(ids):
            document.searchable, document.status = Searchable.WORDS, Status.INDEXING
            document.stage, document.indexed_at = Stage.EMBEDDING, None
            defer_for_document(EMBED_TASK, document.pk)
        document.save(update_fields=["chunk_count", "searchable", "status", "stage", "indexed_at"])

    def _space(self) -> EmbeddingSpace | None:
        """Return the space in use if the archive's vectors are of it."""
        space, given = active_space(), self.archive.manifest.space
        same = (space.model, space.revision, space.dimensions) == (
            given.model,
            given.revision,
            given.dimensions,
        )
        return space if same else None

    def _drafts(
        self, line: DocumentLine
    ) -> tuple[list[ChunkDraft], list[np.typing.NDArray[np.float16] | None]]:
        drafts: list[ChunkDraft] = []
        vectors: list[np.typing.NDArray[np.float16] | None] = []
        name = chunks_name(line.id)
        for chunk in self.archive.lines(name, ChunkLine) if self.archive.has(name) else ():
            if len(drafts) == MOST_CHUNKS:
                raise InvalidArchive("A document of the archive has too many chunks.")
            drafts.append(_draft(chunk))
            vectors.append(self._vector(chunk))
        return drafts, vectors

    def _vector(self, chunk: ChunkLine) -> np.typing.NDArray[np.float16] | None:
        space = self._space()
        if chunk.vector is None or space is None:
            return None
        try:
            vector = np.frombuffer(base64.b64decode(chunk.vector, validate=True), "<f2").astype(np.float16)
        except (binascii.Error, ValueError):
            raise InvalidArchive from None
        if vector.shape != (space.dimensions,) or not np.isfinite(vector).all():
            raise InvalidArchive("A vector of the archive is damaged.")
        return vector

    # --- Conversations ---

    def _add_execution(self, line: ExecutionLine) -> None:
        id = self._execution_id(line.id)
        self.executions.add(id)
        row = Execution(
            id=id,
            tool=line.tool,
            user=self.user,
            workspace=self.workspace,
            session_id=line.session_id and self.sessions.get(line.session_id),
            inputs=self._with_present_ids(line.inputs),
            read_workspaces=[self.workspace.pk],
            read_documents=[self.documents.get(id, id) for id in line.read_documents],
            status=ExecutionStatus.COMPLETED,
            result=self._with_present_ids(line.result),
            lease_until=timezone.now(),
            finished_at=line.finished_at or line.created_at,
        )
        Execution.unscoped.bulk_create([row], ignore_conflicts=True)
        Execution.unscoped.filter(pk=row.pk).update(created_at=line.created_at)

    def _execution_id(self, id: str) -> str:
        digest = hashlib.sha256(f"{self.id} {id}".encode()).digest()
        return f"call_{base64.urlsafe_b64encode(digest)[:24].decode()}"

    def _with_present_ids(self, value: JsonValue) -> JsonValue:
        """Return JSON in which ids that were taken are replaced by those that things have here."""
        present = self.documents | self.chunks | self.sessions | self.messages | self.assistants

        def replace(found: re.Match[str]) -> str:
            id = UUID(found[0])
            return str(present.get(id, id))

        # One pass: a hostile archive has many ids and long answers.
        replaced: JsonValue = json.loads(ANY_ID.sub(replace, json.dumps(value)))
        return replaced


def _draft(chunk: ChunkLine) -> ChunkDraft:
    try:
        return ChunkDraft(
            located=LocatedText.load(chunk.text, chunk.spans),
            headings=tuple(chunk.headings),
            sentences=tuple(chunk.sentences),
            elements=None if chunk.elements is None else tuple(ElementBounds(*one) for one in chunk.elements),
            is_table=chunk.is_table,
            picture=Picture.load(chunk.picture) if chunk.picture else None,
        )
    except (KeyError, TypeError, ValueError):
        raise InvalidArchive("A place in the archive is damaged.") from None


def _sized(member: object, size: int) -> File[bytes]:
    """Return a member as a file that Django can store without reading it whole."""
    file: File[bytes] = File(member)  # type: ignore[arg-type]
    file.size = size
    return file
