"""Are the right pages of reports found? `python -m bench.report_pages --user EMAIL --workspace NAME FOLDER
…`

Each FOLDER holds `questions.jsonl` and `docs/` (docs/evaluation.md); their files are in the workspace
already. Every question that names its page is asked twice: with its file alone open, and with the files of
all folders open. Shown is the share of questions with a right page among the first 5 and 10 pages, by words
alone, by vectors alone, by both with several weights, by the whole ranking, by the product (which also knows
reports by name and statements by their lines), and by a naive baseline: windows of 1,000 characters of each
page's text, embedded by the same model, nearest first. Pages count once, at their best chunk or window.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import django
import numpy as np
import pymupdf
from rich.console import Console
from rich.progress import track
from rich.table import Table

from manage import use_embedded_server

if TYPE_CHECKING:
    from accounts.principal import Principal
    from kb.embedding.base import Vectors
    from kb.models import Chunk
    from search.questions import RankingSettings

WINDOW_CHARS = 1000
CUTS = (5, 10)
DEPTH = 60
WORD_WEIGHTS = (0.3, 0.6)

Page = tuple[str, int]
"""A file's name, and the number of a page from 1."""
Way = Callable[["PageQuestion", bool], Iterable[Page]]
"""Yields pages for a question, best first, perhaps repeated; its file alone is open, or all are."""


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """A question, its file, and the pages with the evidence."""

    folder: str
    text: str
    file: str
    pages: frozenset[int]


def main() -> None:
    """Ask everything in every way and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--user", required=True, metavar="EMAIL")
    parser.add_argument("--workspace", required=True, metavar="NAME")
    arguments = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "locus.settings")
    if not os.environ.get("DATABASE_URL"):
        use_embedded_server()
    django.setup()
    from core.row_access import act_as_system_in_this_process
    from kb.embedding import embedding_model

    act_as_system_in_this_process()
    questions = [each for folder in arguments.folders for each in questions_of(folder)]
    files = [file for folder in arguments.folders for file in sorted((folder / "docs").glob("*.pdf"))]
    ways = {
        "naive windows": NaiveWindows(files).pages,
        **pipeline_ways(arguments.user, arguments.workspace, files),
    }
    hits = {
        (name, alone): [hits_of(way, question, alone) for question in questions]
        for name, way in track(ways.items(), description="Asking")
        for alone in (True, False)
    }
    Console(width=140).print(table(questions, hits, embedding_model().describe()))


def questions_of(folder: Path) -> Iterator[PageQuestion]:
    """Yield the questions of a folder whose pages are known."""
    from search.evaluation.datasets import load

    for query in load(folder).queries:
        pages = frozenset(judgement.page for judgement in query.judgements if judgement.page)
        if pages:
            yield PageQuestion(folder.name, query.text, query.judgements[0].document, pages)


def hits_of(way: Way, question: PageQuestion, alone: bool) -> list[bool]:
    """Return for each of `CUTS` whether a right page is among so many."""
    ranked = list(dict.fromkeys(way(question, alone)))[: max(CUTS)]
    right = {(question.file, page) for page in question.pages}
    return [not right.isdisjoint(ranked[:cut]) for cut in CUTS]


# --- Our own ways ------------------------------------------------------------------------------------------


def pipeline_ways(email: str, workspace_name: str, files: Sequence[Path]) -> dict[str, Way]:
    """Return the ways of the product: each search, both with several weights, and all that it does."""
    from accounts.access.identity import principal_of_user
    from accounts.people.named import user_named, workspace_named
    from kb.models import Document
    from search.questions import RankingSettings

    user = user_named(email)
    principal = principal_of_user(user)
    workspace = workspace_named(user, workspace_name)
    held = Document.objects.restricted_to(principal).filter(workspace_id=workspace.pk)
    ids = {document.name: document.pk for document in held}
    if missing := {file.name for file in files} - set(ids):
        raise SystemExit(f"The workspace lacks {', '.join(sorted(missing))}: manage.py evaluate adds them.")
    ids = {file.name: ids[file.name] for file in files}
    fused = {
        f"both, words × {weight}": RankingSettings(words=weight, rerank=0.0)
        for weight in (*WORD_WEIGHTS, 1.0)
    }
    reranked = {f"reranked, words × {weight}": RankingSettings(words=weight) for weight in WORD_WEIGHTS}
    settings = {
        "words alone": RankingSettings(vector=0.0, rerank=0.0),
        "vectors alone": RankingSettings(words=0.0, rerank=0.0),
        **fused,
        **reranked,
        "whole ranking": RankingSettings(),
    }
    ranked = {name: partial(found_pages, principal, ids, each) for name, each in settings.items()}
    return {**ranked, "the product": partial(found_pages, principal, ids, None)}


def found_pages(
    principal: Principal,
    ids: Mapping[str, UUID],
    settings: RankingSettings | None,
    question: PageQuestion,
    alone: bool,
) -> Iterator[Page]:
    """Yield the pages of the chunks that a ranking with these settings finds, or else the product."""
    from search.finding import find
    from search.questions import Question
    from search.retrieval import rank
    from tests.testing.payments import UNRECORDED

    asked = Question(question.text, (ids[question.file],) if alone else tuple(ids.values()))
    if settings is None:
        results = find(principal, asked, limit=DEPTH, payment=UNRECORDED).ranking.results
    else:
        results = rank(principal, asked, limit=DEPTH, settings=settings, payment=UNRECORDED).results
    for result in results:
        yield from pages_of_chunk(result.chunk)


def pages_of_chunk(chunk: Chunk) -> Iterator[Page]:
    """Yield the pages that a chunk stands on, in order."""
    from search.evaluation.collection import pages_of

    for page in sorted(pages_of(chunk)):
        yield chunk.document.name, page


# --- The naive way -----------------------------------------------------------------------------------------


class NaiveWindows:
    """Windows of the text of each page and their vectors, by the same model; nothing else."""

    def __init__(self, files: Sequence[Path]) -> None:
        from kb.embedding import embedding_model

        self._model = embedding_model()
        found = [window for file in files for window in windows(file)]
        self._pages = [page for page, _ in found]
        self._vectors: Vectors = self._model.embed_documents([text for _, text in found])
        self._files = np.array([file for (file, _), _ in found])

    def pages(self, question: PageQuestion, alone: bool) -> Iterator[Page]:
        """Yield the pages of the nearest windows."""
        cosines = self._vectors @ self._model.embed_query(question.text)
        if alone:
            cosines[self._files != question.file] = -np.inf
        for place in np.argsort(-cosines)[:DEPTH]:
            yield self._pages[place]


def windows(file: Path) -> Iterator[tuple[Page, str]]:
    """Yield the text of each page in windows."""
    with pymupdf.open(file) as pdf:
        if pdf.needs_pass:
            pdf.authenticate("")
        for number, page in enumerate(pdf, start=1):
            text = page.get_text()
            for start in range(0, len(text), WINDOW_CHARS):
                if window := text[start : start + WINDOW_CHARS].strip():
                    yield (file.name, number), window


# --- The table ---------------------------------------------------------------------------------------------


def table(
    questions: Sequence[PageQuestion], hits: Mapping[tuple[str, bool], list[list[bool]]], title: str
) -> Table:
    """Return a line for each way, with the open files of both kinds for each folder and for all."""
    folders = list(dict.fromkeys(question.folder for question in questions))
    chosen = {"all": list(range(len(questions)))} | {
        folder: [place for place, each in enumerate(questions) if each.folder == folder] for folder in folders
    }
    lines = Table("way", "open", title=f"Page hit@5 / @10 over {len(questions)} questions; {title}")
    for name, places in chosen.items():
        lines.add_column(f"{name} ({len(places)})")
    for (name, alone), found in hits.items():
        cells = [_cell(np.array([found[place] for place in places])) for places in chosen.values()]
        lines.add_row(name, "one file" if alone else "all files", *cells)
    lines.caption = "below: 95 % confidence, bootstrap over questions"
    return lines


def _cell(found: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> str:
    from search.evaluation.metrics import estimate

    estimates = [estimate(found[:, cut].astype(np.float64)) for cut in range(len(CUTS))]
    means = " / ".join(f"{each.mean:.2f}" for each in estimates)
    ranges = " / ".join(f"{each.low:.2f}–{each.high:.2f}" for each in estimates)
    return f"{means}\n{ranges}"


if __name__ == "__main__":
    main()
