"""Do citations hold? `python -m bench.citations FOLDER … [--foreign FILE …]`

Each FOLDER holds `docs/` with PDFs and `questions.jsonl` (objects with `question`). The PDFs are ingested,
the questions asked by `rag_search` over that folder alone, with the generator the settings name. Then, by
other means than the product's own: is every sentence cited, do the words of a sentence stand in its quote (of
a formula, which cites each operand at a place of its own, in its quotes together), do the words of a quote
stand in its boxes when the PDF is opened anew? The questions of `--foreign` files have no answer in any
folder: are they refused?

Last, the verifier itself: citations are turned to wrong sources and numbers are changed, and it must notice.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pymupdf
from rich.console import Console
from rich.progress import track
from rich.table import Table

from tests.testing.scratch import both_steps, scratch_database, stored

if TYPE_CHECKING:
    from accounts.principal import Principal
    from search.contexts import Context
    from search.events import BoxData, RagResult

CITATION_RUN = re.compile(r'(?:\s*<citation id="[^"]*">\[\d+\]</citation>)+')
ESCAPED = re.compile(r"\\([\[\]*_])")
"""What Markdown takes for text: “[11]” behind a full stop belongs to its sentence."""
ENOUGH = 0.9
"""Of the words of a quote so many must stand in its boxes: a hyphen may part one."""
SAID = 0.6
"""Of the words of a sentence so many must stand in its quote."""

console = Console(width=120)


@dataclass
class CitationTally:
    """How often something that should hold does."""

    held: int = 0
    of: int = 0
    misses: list[str] = field(default_factory=list)

    def count(self, holds: bool, what: str) -> None:
        """Count a case; keep the first few that fail to look at."""
        self.held += holds
        self.of += 1
        if not holds:
            self.misses.append(what)

    def __str__(self) -> str:
        return f"{self.held / self.of:.3f} ({self.held} of {self.of})" if self.of else "no case"


@dataclass
class CitationFigures:
    """What is reported."""

    answered: CitationTally = field(default_factory=CitationTally)
    cited: CitationTally = field(default_factory=CitationTally)
    supported: CitationTally = field(default_factory=CitationTally)
    supported_together: CitationTally = field(default_factory=CitationTally)
    boxed: CitationTally = field(default_factory=CitationTally)
    refused: CitationTally = field(default_factory=CitationTally)
    wrong_source: CitationTally = field(default_factory=CitationTally)
    wrong_number: CitationTally = field(default_factory=CitationTally)

    def table(self) -> Table:
        """Return a line for each figure."""
        table = Table("figure", "share", title="Citations")
        for name, tally in (
            ("questions answered, of the folders'", self.answered),
            ("questions refused, of the foreign", self.refused),
            ("sentences cited", self.cited),
            ("citations supported by their quote", self.supported),
            ("sentences supported by their quotes together", self.supported_together),
            ("cited boxes that hold the quote's words", self.boxed),
            ("citations of a wrong source found out", self.wrong_source),
            ("citations with a wrong number found out", self.wrong_number),
        ):
            table.add_row(name, str(tally))
        return table


def main() -> None:
    """Ingest, ask, check, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--foreign", type=Path, nargs="*", default=[])
    parser.add_argument("--sample", type=int, default=100, help="so many of the foreign questions")
    parser.add_argument("--misses", type=int, default=0, help="show so many cases of each that fail")
    arguments = parser.parse_args()
    foreign = [question for file in arguments.foreign for question in questions_of(file)]
    foreign = random.Random(0).sample(foreign, min(arguments.sample, len(foreign)))  # noqa: S311
    figures = CitationFigures()
    with scratch_database():
        for folder in arguments.folders:
            principal, files = ingested(folder)
            for question in track(questions_of(folder / "questions.jsonl"), folder.name, console=console):
                result = asked(principal, question)
                check(result, files, figures)
                mislead(result, question, figures)
            for question in track(foreign, f"{folder.name}, foreign", console=console):
                figures.refused.count(not asked(principal, question).answered, question)
        console.print(figures.table())
        for name, tally in vars(figures).items():
            for miss in tally.misses[: arguments.misses]:
                console.print(f"{name}: {miss}", markup=False)


def questions_of(file: Path) -> list[str]:
    """Return the questions of a JSON-lines file."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [row.get("question") or row["text"] for row in rows]


def ingested(folder: Path) -> tuple[Principal, dict[str, Path]]:
    """Ingest the PDFs of a folder in a workspace of their own; return who sees them, and the files by id."""
    from accounts.access.identity import principal_of_user
    from accounts.models import User
    from kb.models import Document, Status

    files = {}
    found = sorted((folder / "docs").glob("*.pdf"))
    if not found:
        raise SystemExit(f"{folder / 'docs'} holds no PDFs.")
    for file in track(found, f"{folder.name}, reading", console=console):
        document = stored(file)
        for step in both_steps():
            step(document.pk)
        document.refresh_from_db()
        if document.status != Status.READY:
            console.print(f"{file.name}: {document.status}, {document.warnings}")
        files[str(document.pk)] = file
    user = User.objects.get(email="bench@example.org")
    others = Document.unscoped.exclude(pk__in=files)
    others.delete()
    return principal_of_user(user), files


def asked(principal: Principal, question: str, documents: Sequence[UUID] | None = None) -> RagResult:
    """Return the result of `rag_search` over some documents, or over all."""
    from runs.context import Run
    from runs.events import ToolEnd
    from search.events import RagResult
    from search.rag import RagInput, rag_search

    run = Run("bench", principal.default_workspace_id())
    inputs = RagInput(query=question, document_ids=documents and list(documents))

    async def result() -> RagResult:
        async for event in rag_search(principal, inputs, run):
            if isinstance(event, ToolEnd) and isinstance(event.data, RagResult):
                return event.data
        raise AssertionError("The stream had no end.")

    return asyncio.run(result())


# --- Checking ----------------------------------------------------------------------------------------------


def check(result: RagResult, files: dict[str, Path], figures: CitationFigures) -> None:
    """Count what holds of one result."""
    figures.answered.count(result.answered, result.response)
    if not result.answered:
        return
    for sentence, is_cited in sentences(result.response):
        figures.cited.count(is_cited, sentence)
    together: dict[str, str] = {}
    for context in result.contexts:
        for quote in context.quotes:
            said = result.response[quote.response_start : quote.response_end]
            quoted = f"{quote.header.text}\n{quote.text}" if quote.header else quote.text
            figures.supported.count(share(words(said), words(quoted)) >= SAID, f"{said} <- {quoted}")
            together[said] = f"{together.get(said, '')}\n{quoted}"
            placed = [(quote.text, quote.bbox)]
            if quote.header:
                placed.append((quote.header.text, quote.header.bbox))
            for text, boxes in placed:
                if boxes:
                    found = words(text_in_boxes(files[context.document_id], boxes))
                    figures.boxed.count(share(words(text), found) >= ENOUGH, text)
    for said, quoted in together.items():
        figures.supported_together.count(share(words(said), words(quoted)) >= SAID, f"{said} <- {quoted}")


def sentences(response: str) -> Iterator[tuple[str, bool]]:
    """Yield each sentence of a response, and whether a citation follows it."""
    from core.text.sentences import sentence_bounds

    for line in response.splitlines():
        *cited, rest = CITATION_RUN.split(ESCAPED.sub(r"\1", line))
        for part, is_cited in [*((part, True) for part in cited), (rest, False)]:
            texts = [part[start:end] for start, end in sentence_bounds(part, "en")]
            texts = [text for text in texts if words(text)]
            yield from ((text, is_cited and text is texts[-1]) for text in texts)


def words(text: str) -> list[str]:
    """Return the words and numbers of a text, without case, marks and ligatures."""
    return re.findall(r"\w+", unicodedata.normalize("NFKC", text).replace("\u00ad", "").casefold())


def share(wanted: Sequence[str], held: Sequence[str]) -> float:
    """Return which share of the wanted words is held."""
    return sum(word in {*held} for word in wanted) / max(1, len(wanted))


def text_in_boxes(file: Path, boxes: Sequence[BoxData]) -> str:
    """Return the characters of a PDF whose centres lie in the boxes, as displayed."""
    found = []
    with pymupdf.open(file) as pdf:
        for box in boxes:
            page = pdf[box.page_number - 1]
            area = pymupdf.Rect(box.bbox)
            found.append("".join(characters(page, area)))
    return " ".join(found)


def characters(page: Any, area: pymupdf.Rect) -> Iterator[str]:
    """Yield the characters in an area of a page as it is displayed, a space where a line ends."""
    for block in page.get_text("rawdict")["blocks"]:
        for line in block.get("lines", []):
            for span in line["spans"]:
                for char in span["chars"]:
                    x0, y0, x1, y1 = char["bbox"]
                    if (pymupdf.Point((x0 + x1) / 2, (y0 + y1) / 2) * page.rotation_matrix) in area:
                        yield char["c"]
            yield " "


# --- Misleading --------------------------------------------------------------------------------------------


def mislead(result: RagResult, question: str, figures: CitationFigures) -> None:
    """Cite each statement from another source, and with another number; count whether that is found out."""
    contexts = contexts_of(result)
    for context in result.contexts:
        for quote in context.quotes:
            said = result.response[quote.response_start : quote.response_end]
            for other in contexts:
                if other.rank != context.rank and share(words(said), words(other.text)) < SAID:
                    taken = still_cited(said, other.rank, contexts, question)
                    figures.wrong_source.count(not taken, f"{said} <- {other.text}")
            lie = re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), said, count=1)
            if lie != said and not any(number_of(lie) & {*words(each.text)} for each in contexts):
                taken = still_cited(lie, context.rank, contexts, question)
                figures.wrong_number.count(not taken, lie)


def number_of(text: str) -> set[str]:
    """Return the first of the words with a digit."""
    return {*[word for word in words(text) if re.search(r"\d", word)][:1]}


def contexts_of(result: RagResult) -> list[Context]:
    """Return the contexts as the verifier takes them."""
    from kb.models import Chunk
    from search.contexts import context_of_chunk

    chunks = Chunk.unscoped.in_bulk([context.chunk_id for context in result.contexts])
    by_id = {str(id): chunk for id, chunk in chunks.items()}
    return [
        context_of_chunk(each.rank, by_id[each.chunk_id], each.document_name, each.score)
        for each in result.contexts
    ]


def still_cited(said: str, rank: int, contexts: Sequence[Context], question: str) -> bool:
    """Tell whether a false citation would get through."""
    from kb.embedding import embedding_model
    from kb.embedding.calibration import calibration_of
    from search.citations.resolve import resolve

    model = embedding_model()
    calibration = calibration_of(model.name)
    resolved = resolve(f"{said} <source_{rank}>", contexts, question, calibration, model.embed_documents)
    return rank in resolved.sources_used


if __name__ == "__main__":
    main()
