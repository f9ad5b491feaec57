"""Data sets: documents, queries, and judgements of which document, page or text is relevant to a query.

Three layouts are read: a folder of passages (`passages.jsonl`, `queries.jsonl`, `qrels.jsonl`), a folder of
files (`questions.jsonl`, `docs/`), and one file of questions about documents that the workspace holds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TypeVar

from django.core.files.base import ContentFile, File
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

MAX_COMPLAINTS = 10


class BadDataset(Exception):
    """A data set that can't be read; the message names the file, the lines and what is wrong there."""


@dataclass(frozen=True, slots=True)
class DatasetDocument:
    """A document that a data set brings along; `key` is what its judgements call it, `language` ISO 639-1.

    `excerpt` tells it from others of its name.
    """

    key: str
    name: str
    content: Path | bytes
    language: str | None = None
    excerpt: str = ""

    def open(self) -> File[bytes]:
        """Return its content as an upload, to be closed by the caller."""
        if isinstance(self.content, bytes):
            return ContentFile(self.content, name=self.name)
        return File(self.content.open("rb"), name=self.name)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is relevant: a document, or what of it stands on `page` (from 1) and holds `text`.

    `document` is the key of a `DatasetDocument`, or else the name or id of a document in the workspace.
    """

    document: str
    page: int | None = None
    text: str | None = None
    relevance: float = 1.0


@dataclass(frozen=True, slots=True)
class Query:
    """A question and what is relevant to it; `place` says where it was read, for messages."""

    text: str
    judgements: tuple[Judgement, ...]
    place: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """`sources` is None if the questions are about documents that are in the workspace already."""

    name: str
    queries: tuple[Query, ...]
    sources: tuple[DatasetDocument, ...] | None = None
    left_out: int = 0
    """Questions without anything that is relevant to them."""


def load(path: Path, *, passages: str = "passages.jsonl", queries: str = "queries.jsonl") -> Dataset:
    """Read the data set at `path`; the names choose files of a folder of passages. Raise `BadDataset`."""
    if path.is_file():
        dataset = _own_questions(path)
    elif (path / "questions.jsonl").is_file():
        dataset = _files(path)
    elif (path / "qrels.jsonl").is_file():
        dataset = _passages(path, passages, queries)
    elif path.is_dir():
        raise BadDataset(f"{path} holds neither qrels.jsonl nor questions.jsonl: see docs/evaluation.md.")
    else:
        raise BadDataset(f"{path} does not exist.")
    if not dataset.queries:
        raise BadDataset(f"{path} holds no question with something that is relevant to it.")
    return dataset


# --- Lines -------------------------------------------------------------------------------------------------


class DatasetLine(BaseModel):
    """An object on a line of a file; unknown keys are none of ours."""

    model_config = ConfigDict(frozen=True)


LineT = TypeVar("LineT", bound=DatasetLine)


@dataclass(frozen=True, slots=True)
class Complaint:
    """What is wrong with a line."""

    line: int
    problem: str


def _lines(path: Path, model: type[LineT]) -> list[tuple[int, LineT]]:
    """Return the objects of a file with their line numbers; raise `BadDataset` about all bad ones."""
    read: list[tuple[int, LineT]] = []
    complaints: list[Complaint] = []
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if line.strip():
            try:
                read.append((number, model.model_validate_json(line)))
            except ValidationError as error:
                complaints += [Complaint(number, _problem(one)) for one in error.errors()]
    _complain(path, complaints)
    return read


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        there = ", ".join(sorted(found.name for found in path.parent.glob("*.jsonl")))
        raise BadDataset(f"There is no {path}. The folder holds: {there or 'no .jsonl'}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadDataset(f"{path} can't be read: {error}") from error


def _problem(error: object) -> str:
    assert isinstance(error, dict)
    where = ".".join(str(part) for part in error["loc"])
    return f"{where}: {error['msg']}" if where else str(error["msg"])


def _complain(path: Path, complaints: Iterable[Complaint]) -> None:
    found = [f"{path}, line {one.line}: {one.problem}" for one in complaints]
    if found:
        raise BadDataset("\n".join(list_complaints(found)))


def list_complaints(complaints: list[str]) -> list[str]:
    """Return the first complaints, and how many more there are."""
    more = len(complaints) - MAX_COMPLAINTS
    return complaints[:MAX_COMPLAINTS] + ([f"… and {more} more"] if more > 0 else [])


# --- A folder of passages ----------------------------------------------------------------------------------


class _Passage(DatasetLine):
    passage_id: str
    parallel_id: str | None = None
    title: str = ""
    text: str
    lang: str | None = Field(default=None, pattern="^[a-z]{2}$")


class _Query(DatasetLine):
    query_id: str
    parallel_id: str | None = None
    text: str = Field(min_length=1)


class _Relevance(DatasetLine):
    """A line of qrels; the parallel ids hold for each of several languages."""

    query_id: str | None = None
    passage_id: str | None = None
    parallel_query_id: str | None = None
    parallel_passage_id: str | None = None
    relevance: float = 1.0

    @model_validator(mode="after")
    def _names_both(self) -> _Relevance:
        if not self.query or not self.passage:
            raise ValueError("query_id and passage_id (or both with parallel_) are needed")
        return self

    @property
    def query(self) -> str | None:
        return self.query_id or self.parallel_query_id

    @property
    def passage(self) -> str | None:
        return self.passage_id or self.parallel_passage_id


def _passages(folder: Path, passages: str, queries: str) -> Dataset:
    keys: dict[str, str] = {}
    sources = []
    for _, passage in _lines(folder / passages, _Passage):
        sources.append(_document_of(passage))
        keys |= dict.fromkeys(filter(None, (passage.passage_id, passage.parallel_id)), passage.passage_id)
    lines = _lines(folder / queries, _Query)
    judged = _read_judgements(folder / "qrels.jsonl", keys)
    asked = tuple(
        Query(line.text, tuple(found), f"{queries}, line {number}")
        for number, line in lines
        if (found := judged.get(line.query_id) or judged.get(line.parallel_id or ""))
    )
    # A folder may hold several sets: one for each pair of languages.
    pair = "" if (passages, queries) == ("passages.jsonl", "queries.jsonl") else f" ({queries} → {passages})"
    return Dataset(folder.name + pair, asked, tuple(sources), left_out=len(lines) - len(asked))


def _document_of(passage: _Passage) -> DatasetDocument:
    """Return a passage as a document: HTML, because no text in it can be taken for markup."""
    title = f"<h1>{escape(passage.title)}</h1>" if passage.title else ""
    html = (
        f'<!doctype html><html><meta charset="utf-8"><body>{title}<p>{escape(passage.text)}</p></body></html>'
    )
    name = f"{passage.title or passage.passage_id}.html"
    return DatasetDocument(passage.passage_id, name, html.encode(), passage.lang, passage.text)


def _read_judgements(path: Path, keys: dict[str, str]) -> dict[str, list[Judgement]]:
    judged: dict[str, list[Judgement]] = defaultdict(list)
    unknown = []
    for number, line in _lines(path, _Relevance):
        if line.relevance <= 0:
            continue
        if line.passage not in keys:
            unknown.append(Complaint(number, f"there is no passage {line.passage}"))
        else:
            judged[line.query or ""].append(Judgement(keys[line.passage], relevance=line.relevance))
    _complain(path, unknown)
    return judged


# --- A folder of files -------------------------------------------------------------------------------------


class _Evidence(DatasetLine):
    page_number: int | None = Field(default=None, ge=1)


class _Question(DatasetLine):
    question: str = Field(min_length=1)
    doc: str | None = None
    evidence: tuple[_Evidence, ...] = ()
    relevant_docs: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _has_a_document(self) -> _Question:
        if self.doc is None and not self.relevant_docs:
            raise ValueError("doc or relevant_docs is needed")
        return self

    def judgements(self) -> tuple[Judgement, ...]:
        """Return the pages of the evidence, or else the relevant documents."""
        pages = dict.fromkeys(one.page_number for one in self.evidence if one.page_number)
        if self.doc is not None:
            return tuple(Judgement(self.doc, page) for page in pages)
        return tuple(Judgement(name) for name in dict.fromkeys(self.relevant_docs))


def _files(folder: Path) -> Dataset:
    path = folder / "questions.jsonl"
    files = sorted(file for file in (folder / "docs").glob("*") if file.is_file() and file.name[0] != ".")
    names = {file.name for file in files}
    lines = _lines(path, _Question)
    _complain(
        path,
        (
            Complaint(number, f"docs/ holds no {name}")
            for number, line in lines
            for name in filter(None, (line.doc, *line.relevant_docs))
            if name not in names
        ),
    )
    queries = tuple(
        Query(line.question, judgements, f"{path.name}, line {number}")
        for number, line in lines
        if (judgements := line.judgements())
    )
    sources = tuple(DatasetDocument(file.name, file.name, file) for file in files)
    return Dataset(folder.name, queries, sources, left_out=len(lines) - len(queries))


# --- Questions of one's own --------------------------------------------------------------------------------


class _Strict(DatasetLine):
    # A misspelt `page` must not turn a question about a page into one about a document.
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Relevant(_Strict):
    document: str = Field(min_length=1)
    page: int | None = Field(default=None, ge=1)
    text: str | None = Field(default=None, min_length=1)


class _OwnQuestion(_Strict):
    query: str = Field(min_length=1)
    relevant: tuple[_Relevant, ...] = Field(min_length=1)


def _own_questions(path: Path) -> Dataset:
    queries = tuple(
        Query(
            line.query,
            tuple(Judgement(one.document, one.page, one.text) for one in line.relevant),
            f"{path.name}, line {number}",
        )
        for number, line in _lines(path, _OwnQuestion)
    )
    return Dataset(path.stem, queries)
