"""Do answers hold the answer? `python -m bench.answers FOLDER … [--foreign FILE …]`

A FOLDER holds `docs/` and `questions.jsonl`, or `passages.jsonl`, `queries.jsonl` and `qrels.jsonl` (see
docs/evaluation.md). Its documents are ingested and its questions asked by `rag_search` over them alone, with
the generator the settings name. An answer is right if it holds an accepted one (see
`search.evaluation.right_answers`): `answer`, `answer_alt` or `answers`, of twelve words at most. Answers to
questions about reports are longer: for these `bench/report_answers.jsonl` gives what has to be held. It is
wrong if it answers and does not. “At once” is right in the first statement already. The questions of
`--foreign` files have no answer in any folder.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.citations import CITATION_RUN, CitationTally, asked, questions_of
from tests.testing.scratch import both_steps, scratch_database, stored

if TYPE_CHECKING:
    from accounts.principal import Principal

MOST_WORDS = 12
REPORT_ANSWERS = Path(__file__).with_name("report_answers.jsonl")
"""What an answer has to hold, by the id of the question."""

console = Console(width=110)


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question and its accepted short answers, of which there may be none."""

    text: str
    accepted: tuple[str, ...]


class AnswerFigures:
    """What is reported of a folder."""

    def __init__(self) -> None:
        self.right, self.wrong, self.at_once = CitationTally(), CitationTally(), CitationTally()
        self.answered, self.refused = CitationTally(), CitationTally()
        self.words: list[int] = []

    def count(self, question: AskedQuestion, response: str, answered: bool) -> None:
        """Count a question that has an answer."""
        self.answered.count(answered, question.text)
        if answered:
            self.words.append(len(CITATION_RUN.sub("", response).split()))
        from search.evaluation.right_answers import is_right

        if question.accepted:
            first, said = CITATION_RUN.split(response)[0], CITATION_RUN.sub("", response)
            holds = answered and is_right(said, question.accepted)
            self.right.count(holds, question.text)
            self.wrong.count(answered and not holds, question.text)
            self.at_once.count(answered and is_right(first, question.accepted), question.text)

    def row(self) -> list[str]:
        """Return the cells of the report."""
        words = f"{sum(self.words) / max(1, len(self.words)):.0f}"
        tallies = (self.right, self.wrong, self.at_once, self.answered, self.refused)
        return [*(f"{tally}\n{interval(tally)}" for tally in tallies), words]


def interval(tally: CitationTally) -> str:
    """Return the 95 % confidence interval of a share, after Wilson (1927)."""
    if not tally.of:
        return ""
    share, z2 = tally.held / tally.of, 1.96**2
    middle = (share + z2 / (2 * tally.of)) / (1 + z2 / tally.of)
    half = 1.96 * sqrt(share * (1 - share) / tally.of + z2 / (4 * tally.of**2)) / (1 + z2 / tally.of)
    return f"{middle - half:.2f}–{middle + half:.2f}"


def main() -> None:
    """Ingest, ask, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--foreign", type=Path, nargs="*", default=[])
    parser.add_argument("--sample", type=int, default=100, help="so many questions of each, at most")
    arguments = parser.parse_args()
    foreign = sampled([each for file in arguments.foreign for each in questions_of(file)], arguments.sample)
    names = ("right", "wrong", "at once", "answered", "foreign refused", "words")
    table = Table("folder", *names, title="Answers", caption="below: 95 % confidence")
    with scratch_database():
        for folder in arguments.folders:
            principal, figures = ingested(folder), AnswerFigures()
            for question in track(sampled(asked_of(folder), arguments.sample), folder.name, console=console):
                result = asked(principal, question.text)
                figures.count(question, result.response, result.answered)
            for text in track(foreign, f"{folder.name}, foreign", console=console):
                figures.refused.count(not asked(principal, text).answered, text)
            table.add_row(folder.name, *figures.row())
    console.print(table)


def sampled(all_of_them: Sequence[Any], count: int) -> list[Any]:
    """Return some, always the same."""
    return random.Random(0).sample(all_of_them, min(count, len(all_of_them)))  # noqa: S311


def asked_of(folder: Path) -> list[AskedQuestion]:
    """Return the questions of a folder."""
    file = folder / "questions.jsonl"
    lines = (file if file.is_file() else folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    known = {
        row["question_id"]: tuple(row["answers"])
        for row in map(json.loads, REPORT_ANSWERS.read_text(encoding="utf-8").splitlines())
    }
    return [question_in(json.loads(line), known) for line in lines]


def question_in(row: dict[str, Any], known: Mapping[str, tuple[str, ...]]) -> AskedQuestion:
    """Return a question of either layout, with its `known` answers or else its short ones."""
    text = row.get("question") or row["text"]
    if (of_report := known.get(row.get("question_id", ""))) is not None:
        return AskedQuestion(text, of_report)
    answers = [row.get("answer"), *(row.get("answer_alt") or ()), *(row.get("answers") or ())]
    short = tuple(each for each in answers if each and len(each.split()) <= MOST_WORDS)
    return AskedQuestion(text, short)


def ingested(folder: Path) -> Principal:
    """Ingest the documents of a folder, and forget all others; return who sees them."""
    from accounts.access.identity import principal_of_user
    from accounts.models import User
    from kb.models import Document

    Document.unscoped.all().delete()
    with tempfile.TemporaryDirectory() as scratch:
        for file in track([*files_of(folder, Path(scratch))], f"{folder.name}, reading", console=console):
            document = stored(file)
            for step in both_steps():
                step(document.pk)
    return principal_of_user(User.objects.get(email="bench@example.org"))


def files_of(folder: Path, scratch: Path) -> Iterator[Path]:
    """Yield the files of a folder; passages are written to `scratch`."""
    from search.evaluation.datasets import load

    for number, source in enumerate(load(folder).sources or ()):
        if isinstance(source.content, Path):
            yield source.content
        else:
            file = scratch / f"{number}.html"
            file.write_bytes(source.content)
            yield file


if __name__ == "__main__":
    main()
