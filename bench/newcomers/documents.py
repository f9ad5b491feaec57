"""The documents that newcomers ask about, ingested once into a database that is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from uuid import UUID

from rich.progress import track

from bench.newcomers.questions import NewcomerQuestion
from tests.testing.scratch import both_steps, stored

REPORTS = "pdf_qa"
PASSAGES = ("text_retrieval/xquad_en_de/passages.de.jsonl", "text_retrieval/xquad_en_de/passages.en.jsonl")


def ids_by_file(questions: Sequence[NewcomerQuestion], folder: Path, kept: Path) -> dict[str, UUID]:
    """Ingest what an earlier run has not; return all ids by the file as questions name it."""
    place = kept / "ids_by_file.json"
    known: dict[str, str] = json.loads(place.read_text(encoding="utf-8")) if place.is_file() else {}
    missing = {name: path for name, path in files(questions, folder, kept).items() if name not in known}
    for name, path in track(missing.items(), "Reading"):
        known[name] = str(ingested(path))
        place.write_text(json.dumps(known), encoding="utf-8")
    return {name: UUID(id) for name, id in known.items()}


def ingested(path: Path) -> UUID:
    """Ingest a file as far as it can be read; return its document's id."""
    from core.errors import DocumentError

    document = stored(path)
    with suppress(DocumentError):
        for step in both_steps():
            step(document.pk)
    return document.pk


def files(questions: Sequence[NewcomerQuestion], folder: Path, kept: Path) -> dict[str, Path]:
    """Return the files to ingest: those asked about, and reports and passages that stand beside them."""
    asked_about = dict.fromkeys(question.file for question in questions)
    names = [name for name in asked_about if "#" not in name]
    reports = (str(path.relative_to(folder)) for path in sorted((folder / REPORTS).glob("*/docs/*.pdf")))
    found = {name: folder / name for name in names}
    return found | dict(_passages(folder, kept)) | {name: folder / name for name in reports}


def _passages(folder: Path, kept: Path) -> Iterator[tuple[str, Path]]:
    """Yield each passage as a file with its title as heading."""
    from search.evaluation.datasets import load

    for name in PASSAGES:
        if not (folder / name).is_file():
            continue
        language = name.split(".")[-2]
        queries = f"queries.{language}.jsonl"
        for source in load((folder / name).parent, passages=Path(name).name, queries=queries).sources or ():
            assert isinstance(source.content, bytes)
            path = kept / "passages" / language / source.key.replace(":", "_").replace("#", "_") / source.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(source.content)
            yield f"{name}#{source.key}", path
