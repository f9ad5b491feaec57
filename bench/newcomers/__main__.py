"""What does a newcomer get? `python -m bench.newcomers FOLDER --keep FOLDER [--questions FILE] [--show …]`

The first FOLDER holds the samples that `questions.jsonl` names. They are ingested once; the database is kept
in the other one. Each question is asked by `rag_search`, with its file alone open or with all of them, by the
generator the settings name. An answer is useful if it holds an accepted answer (see
`search.evaluation.right_answers`) and cites the file, at the page or time that the question names. The halves
are apart: nothing is fitted to the one held out, so `--show` prints what came of the development half.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.citations import CITATION_RUN, asked
from bench.newcomers.documents import ids_by_file
from bench.newcomers.questions import QUESTIONS, NewcomerQuestion, newcomer_questions
from tests.testing.scratch import kept_database

if TYPE_CHECKING:
    from search.events import ContextData, RagResult

CAME = ("useful", "closest passages", "wrong", "refused")
HALVES = ("dev", "held-out")

console = Console(width=140)


def main() -> None:
    """Ingest what is missing, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("samples", type=Path)
    parser.add_argument("--keep", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--questions", type=Path, default=QUESTIONS, metavar="FILE")
    parser.add_argument("--show", choices=HALVES)
    given = parser.parse_args()
    kept_database(given.keep.resolve())
    from accounts.access.identity import principal_of_user
    from accounts.models import User

    questions = newcomer_questions(given.questions)
    ids = ids_by_file(questions, given.samples.resolve(), given.keep.resolve())
    principal = principal_of_user(User.objects.get(email="bench@example.org"))
    came = []
    for question in track(questions, "Asking", console=console):
        result = asked(principal, question.question, [ids[question.file]] if question.alone else None)
        came.append((question, outcome(result, question, str(ids[question.file]))))
        if given.show == half(question):
            show(result, *came[-1])
    console.print(table(came))


def half(question: NewcomerQuestion) -> str:
    """Return the half that a question belongs to."""
    return HALVES[question.is_held_out]


def outcome(result: RagResult, question: NewcomerQuestion, document: str) -> str:
    """Return which of `CAME` came of a question."""
    if not result.answered:
        return "closest passages" if result.outcome == "closest" else "refused"
    from search.evaluation.right_answers import is_right

    holds = is_right(CITATION_RUN.sub("", result.response), question.answers)
    places = [each for each in result.contexts if each.used_in_response and each.document_id == document]
    return "useful" if holds and any(is_at(each, question) for each in places) else "wrong"


def is_at(context: ContextData, question: NewcomerQuestion) -> bool:
    """Tell whether a cited passage stands where the question says."""
    if question.page is not None:
        boxes = context.bbox or []
        return question.page in {context.page_number, *(box.page_number for box in boxes)}
    if question.time is not None:
        start, end = context.start_time, context.end_time
        return start is not None and end is not None and start <= question.time[1] and end >= question.time[0]
    return True


# --- The report --------------------------------------------------------------------------------------------


def show(result: RagResult, question: NewcomerQuestion, came: str) -> None:
    """Print a question, what came of it and the answer."""
    console.print(f"[{came}] {question.file}\n  {question.question} {question.answers}", markup=False)
    if came != "useful":
        console.print(f"  {CITATION_RUN.sub('', result.response)}", markup=False)


def table(came: Sequence[tuple[NewcomerQuestion, str]]) -> Table:
    """Return the share of each outcome: a line for each half, and for each kind of the development half."""
    shares = Table("questions", "number", *CAME, title="What newcomers get")
    for name in HALVES:
        shares.add_row(name, *_cells([what for question, what in came if half(question) == name]))
    developed = [(question.kind, what) for question, what in came if not question.is_held_out]
    for kind in dict.fromkeys(kind for kind, _ in developed):
        shares.add_row(f"  {kind}", *_cells([what for each, what in developed if each == kind]))
    shares.caption = "with 95 % confidence, bootstrap over questions"
    return shares


def _cells(outcomes: Sequence[str]) -> list[str]:
    from search.evaluation.metrics import estimate

    cells = [str(len(outcomes))]
    for name in CAME:
        share = estimate(np.array([float(outcome == name) for outcome in outcomes]))
        cells.append(f"{share.mean:.2f} ({share.low:.2f}–{share.high:.2f})")
    return cells


if __name__ == "__main__":
    main()
