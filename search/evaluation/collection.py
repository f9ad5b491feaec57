"""The documents of a data set in a workspace: added, processed, and matched with judgements."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from typing import Literal
from uuid import UUID

from anyio.from_thread import start_blocking_portal
from django.conf import settings
from django.utils import timezone
from django.utils.text import Truncator
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateWorker

from accounts.principal import Principal
from core.locations import InFile, PageLine
from kb.documents import Details, add_document
from kb.embedding import embedding_model
from kb.models import FINISHED, Chunk, Document, Status
from search.evaluation.datasets import BadDataset, Dataset, DatasetDocument, Judgement, list_complaints

LOOK_EVERY_SECS = 0.5


@dataclass(frozen=True, slots=True)
class Target:
    """What is relevant to a query: chunks of a document, or the document as a whole (`chunks` None)."""

    document_id: UUID
    chunks: frozenset[UUID] | None
    relevance: float
    label: str

    def is_met_by(self, chunk: Chunk) -> bool:
        """Whether a chunk is relevant by this target."""
        if self.chunks is None:
            return chunk.document_id == self.document_id
        return chunk.pk in self.chunks


@dataclass(frozen=True, slots=True)
class Case:
    """A query and its targets, of which there is at least one."""

    query: str
    targets: tuple[Target, ...]

    @property
    def counts(self) -> Literal["documents", "chunks"]:
        """What occupies a rank: each chunk or, if whole documents are relevant, each document."""
        return "documents" if all(target.chunks is None for target in self.targets) else "chunks"


@dataclass(frozen=True, slots=True)
class Collection:
    """A data set ready for evaluation.

    `document_ids` are searched, None for all of the workspace. `notes` name the gaps of the figures.
    """

    name: str
    workspace_id: UUID
    cases: tuple[Case, ...]
    document_ids: tuple[UUID, ...] | None
    document_count: int
    notes: tuple[str, ...]


# --- Adding ------------------------------------------------------------------------------------------------


def add(principal: Principal, workspace_id: UUID, source: DatasetDocument) -> UUID:
    """Make a source a document of the workspace, unless it is there; return its id."""
    with source.open() as content:
        document, _ = add_document(principal, content, Details(workspace_id, language=source.language))
    return document.pk


def count_unfinished(principal: Principal, ids: Iterable[UUID]) -> int:
    """Return how many of these documents are not processed yet."""
    documents = Document.objects.restricted_to(principal).filter(pk__in=list(ids))
    return documents.exclude(status__in=FINISHED).count()


def are_in_other_languages(principal: Principal, ids: Iterable[UUID]) -> bool:
    """Tell whether any of the documents is not in English, as far as their languages are known."""
    documents = Document.objects.restricted_to(principal).filter(pk__in=list(ids))
    return documents.filter(language__isnull=False).exclude(language__in=("", "en")).exists()


def progress(principal: Principal, ids: Iterable[UUID], is_worked_on: Callable[[], bool]) -> Iterator[int]:
    """Yield at intervals how many of the documents were processed since the last time.

    Ends when all are processed, or when `is_worked_on` returns False.
    """
    wanted = list(ids)
    before = count_unfinished(principal, wanted)
    while before and is_worked_on():
        time.sleep(LOOK_EVERY_SECS)
        left = count_unfinished(principal, wanted)
        yield before - left
        before = left


@contextmanager
def worker_elsewhere() -> Iterator[Callable[[], bool]]:
    """Leave the queue to other processes; the yielded function returns whether one works on it."""
    yield lambda: ProcrastinateWorker.objects.filter(
        last_heartbeat__gt=timezone.now() - timedelta(seconds=settings.WORKER_STALLED_SECS)
    ).exists()


@contextmanager
def worker_here() -> Iterator[Callable[[], bool]]:
    """Process the queue in a thread of this process; the yielded function returns whether it still runs."""
    embedding_model()  # a wrong setting is reported now
    with start_blocking_portal() as portal:
        worker = portal.start_task_soon(_work)
        try:
            yield lambda: not worker.done() or worker.result() is not None
        finally:
            worker.cancel()


async def _work() -> None:
    # Through the queue, because `search` does not import `ingestion`.
    with app.replace_connector(app.connector.get_worker_connector()):  # type: ignore[attr-defined]
        async with app.open_async():
            await app.run_worker_async(
                concurrency=settings.WORKER_CONCURRENCY,
                update_heartbeat_interval=settings.WORKER_HEARTBEAT_SECS,
                stalled_worker_timeout=settings.WORKER_STALLED_SECS,
                shutdown_graceful_timeout=0,
                install_signal_handlers=False,
                delete_jobs="successful",
            )


# --- What is relevant --------------------------------------------------------------------------------------


def collect(
    principal: Principal, workspace_id: UUID, dataset: Dataset, added: Mapping[str, UUID]
) -> Collection:
    """Find the targets of the judgements; `added` are the ids of the data set's sources by key.

    Raises `BadDataset` if a judgement names something that does not exist.
    """
    documents = {
        document.pk: document
        for document in Document.objects.restricted_to(principal).filter(workspace_id=workspace_id)
    }
    named, texts = _Names(documents.values(), added), _Texts(principal)
    excerpts = {added[source.key]: source.excerpt for source in dataset.sources or ()}
    complaints: list[str] = []
    cases = []
    for query in dataset.queries:
        targets = []
        for judgement in query.judgements:
            try:
                id = named.find(judgement.document)
                targets.append(_target(judgement, documents[id], texts, excerpts.get(id, "")))
            except LookupError as error:
                complaints.append(f"{query.place}: {error.args[0]}")
        cases.append(Case(query.text, tuple(targets)))
    if complaints:
        raise BadDataset("\n".join(list_complaints(complaints)))
    own = None if dataset.sources is None else tuple(dict.fromkeys(added.values()))
    searched = [documents[id] for id in own] if own is not None else list(documents.values())
    return Collection(
        dataset.name,
        workspace_id,
        tuple(cases),
        # A list of all the workspace's documents restricts nothing, and would cost time.
        own if own is not None and len(own) < len(documents) else None,
        len(searched),
        tuple(_notes(dataset, searched, cases)),
    )


class _Names:
    """From names of documents in judgements to ids."""

    def __init__(self, documents: Iterable[Document], added: Mapping[str, UUID]) -> None:
        self._added = added
        self._named: dict[str, list[UUID]] = defaultdict(list)
        for document in documents:
            self._named[document.name].append(document.pk)
            self._named[str(document.pk)].append(document.pk)

    def find(self, name: str) -> UUID:
        """Return the id, or raise `LookupError` with advice."""
        if name in self._added:
            return self._added[name]
        found = self._named.get(name, [])
        if not found:
            near = get_close_matches(name, self._named, n=1)
            hint = f" Did you mean “{near[0]}”?" if near else ""
            raise LookupError(f"the workspace has no document “{name}”.{hint}")
        if len(found) > 1:
            raise LookupError(
                f"several documents are called “{name}”; name one by its id: {', '.join(map(str, found))}."
            )
        return found[0]


@dataclass(frozen=True, slots=True)
class _Part:
    """A chunk as judgements see it: its pages, and its text with white space and case folded."""

    id: UUID
    pages: frozenset[int]
    text: str


class _Texts:
    """The live chunks of documents, read when they are first asked for."""

    def __init__(self, principal: Principal) -> None:
        self._principal = principal
        self._parts: dict[UUID, list[_Part]] = {}

    def of(self, document_id: UUID) -> list[_Part]:
        """Return the parts of a document in reading order."""
        if document_id not in self._parts:
            chunks = Chunk.objects.restricted_to(self._principal).filter(
                document_id=document_id, replaced_by=None
            )
            self._parts[document_id] = [
                _Part(chunk.pk, pages_of(chunk), _fold(chunk.text)) for chunk in chunks.order_by("ordinal")
            ]
        return self._parts[document_id]


def pages_of(chunk: Chunk) -> frozenset[int]:
    """Return the numbers of the pages (of a presentation: slides) that a chunk stands on."""
    places = [run.place for run in chunk.located.runs]
    pages = {place.page.number for place in places if isinstance(place, PageLine)}
    slides = {place.slide for place in places if isinstance(place, InFile) and place.slide is not None}
    return frozenset(pages | slides)


def _target(judgement: Judgement, document: Document, texts: _Texts, excerpt: str) -> Target:
    if judgement.page is None and judgement.text is None:
        return Target(document.pk, None, judgement.relevance, _label(document.name, None, excerpt))
    if judgement.page and judgement.page > (document.page_count or 0):
        raise LookupError(f"“{document.name}” has no page {judgement.page}.")
    parts = texts.of(document.pk)
    if judgement.page:
        parts = [part for part in parts if judgement.page in part.pages]
    if judgement.text:
        parts = [part for part in parts if _fold(judgement.text) in part.text]
        if not parts:
            where = f"page {judgement.page} of " if judgement.page else ""
            raise LookupError(
                f"no chunk of {where}“{document.name}” holds “{_shorten(judgement.text)}”: "
                "give a shorter text, such as one sentence, or the page alone."
            )
    label = _label(document.name, judgement.page, judgement.text or "")
    return Target(document.pk, frozenset(part.id for part in parts), judgement.relevance, label)


def _label(name: str, page: int | None, text: str) -> str:
    return name + (f", page {page}" if page else "") + (f": “{_shorten(text)}”" if text else "")


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold()


def _shorten(text: str) -> str:
    return Truncator(text).words(12)


def _notes(dataset: Dataset, searched: list[Document], cases: list[Case]) -> Iterator[str]:
    failed = [document.name for document in searched if document.status == Status.FAILED]
    pending = sum(not document.is_finished for document in searched)
    empty = sum(any(target.chunks == frozenset() for target in case.targets) for case in cases)
    if dataset.left_out:
        yield f"Questions left out, because they name nothing that is relevant: {dataset.left_out}."
    if failed:
        yield f"Documents that could not be read, so that they can't be found: {', '.join(failed[:5])}."
    if pending:
        yield f"Documents that are still being processed: {pending}."
    if empty:
        yield f"Questions with a relevant page that holds no text, which counts as missed: {empty}."
