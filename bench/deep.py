"""Do reports hold what one answer leaves out? `python -m bench.deep [FOLDER] [--show]`

`deep_questions.jsonl` has 30 questions about two or three articles each, with their evidence: the passage of
`squad_dev` that holds it, and the words that an answer has to say. FOLDER is that set; its articles are
ingested, one document each. Every question is asked of `rag_search` (“one answer”) and of the deep agent
(“report”), with the generator that the settings name. “Told” is the share of evidence whose words the text
says, “cited” that of which a cited passage holds the words too, “whole” that of questions
of which all is told.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import track
from rich.table import Table

from bench.citations import CITATION_RUN, asked
from search.evaluation.right_answers import is_right
from tests.testing.scratch import both_steps, scratch_database, stored

if TYPE_CHECKING:
    from accounts.principal import Principal

SQUAD = Path("../shared/data/text_retrieval/squad_dev")
QUESTIONS = Path(__file__).with_name("deep_questions.jsonl")
console = Console(width=130)


@dataclass(slots=True)
class EvidenceFigures:
    """What is reported of one way of asking."""

    told: list[bool] = field(default_factory=list)
    cited: list[bool] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    words: list[int] = field(default_factory=list)

    def count(self, result: Any, evidence: Sequence[dict[str, str]], seconds: float) -> list[bool]:
        """Count an answer; return which evidence it tells."""
        said = CITATION_RUN.sub("", result.response)
        used = "\n".join(each.text_preview or "" for each in result.contexts if each.used_in_response)
        quoted = "\n".join(quote.text for each in result.contexts for quote in each.quotes or ())
        told = [is_right(said, [each["answer"]]) for each in evidence]
        self.told += told
        self.cited += [
            is_told and is_right(f"{used}\n{quoted}", [each["answer"]])
            for is_told, each in zip(told, evidence, strict=True)
        ]
        self.whole.append(all(told))
        self.seconds.append(seconds)
        self.words.append(len(said.split()))
        return told

    def row(self) -> list[str]:
        """Return the cells of the report."""
        shares = [f"{mean(each):.2f}" for each in (self.told, self.cited, self.whole)]
        return [*shares, f"{mean(self.words):.0f}", f"{1000 * mean(self.seconds):.0f}"]


def main() -> None:
    """Ingest, ask in both ways, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=SQUAD)
    parser.add_argument("--show", action="store_true", help="list what each way has told")
    arguments = parser.parse_args()
    rows = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    table = Table("asked by", "told", "cited", "whole", "words", "ms", title=f"{len(rows)} questions")
    with scratch_database():
        principal = ingested_articles(arguments.folder)
        ways = {"one answer": asked, "report": asked_deeply}
        figures = {name: EvidenceFigures() for name in ways}
        for row in track(rows, "asking", console=console):
            marks = []
            for name, ask in ways.items():
                began = perf_counter()
                result = ask(principal, row["question"])
                told = figures[name].count(result, row["evidence"], perf_counter() - began)
                marks.append("".join("+" if each else "-" for each in told))
            if arguments.show:
                console.print(escape(f"{'  '.join(marks)}  {row['question']}"))
        for name, counted in figures.items():
            table.add_row(name, *counted.row())
    console.print(table)


def ingested_articles(folder: Path) -> Principal:
    """Ingest the articles of a set of passages, one document each; return who sees them."""
    from accounts.access.identity import principal_of_user
    from accounts.models import User

    with tempfile.TemporaryDirectory() as scratch:
        for file in track([*articles(folder, Path(scratch))], "reading", console=console):
            document = stored(file)
            for step in both_steps():
                step(document.pk)
    return principal_of_user(User.objects.get(email="bench@example.org"))


def articles(folder: Path, scratch: Path) -> Iterator[Path]:
    """Write the passages of each article into a file, and yield the files."""
    passages = defaultdict(list)
    for line in (folder / "passages.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        passages[row["title"]].append(row["text"])
    for title, texts in passages.items():
        file = scratch / f"{title}.md"
        file.write_text("\n\n".join([f"# {title}", *texts]), "utf-8")
        yield file


def asked_deeply(principal: Principal, question: str) -> Any:
    """Return the result of the deep agent over all documents."""
    from assistants.agent.inputs import AgentInput
    from assistants.agent.tool import agent
    from runs.context import Run
    from runs.events import ToolEnd
    from runs.lifecycle import begin
    from runs.registry import tool_named

    inputs = AgentInput(query=question, deep=True)
    execution = begin(principal, tool_named("agent"), inputs, None)
    run = Run(execution.pk, execution.workspace_id)

    async def result() -> Any:
        async for event in agent(principal, inputs, run):
            if isinstance(event, ToolEnd):
                return event.data
        raise AssertionError("The stream had no end.")

    return asyncio.run(result())


if __name__ == "__main__":
    main()
