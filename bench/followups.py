"""Do follow-ups find what was meant? `python -m bench.followups [--show] [--model] [--folder FOLDER]`

Each case is a conversation with a question that leaves something out, and the self-contained question that a
person wrote for it. The table shows in how many cases the first five results hold the first result of that
question (“met”), and which share of its first three (“share”); “bare” is the question as it was typed. Half
of the cases are held out: `--show` lists the others only. `--model` rewrites with the model that the settings
name. A FOLDER holds `developing.jsonl`, `held_out.jsonl` and `documents/`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from uuid import UUID

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tests.testing.followups import FOLDER, HALVES, FollowUpOutcome, cases_of, changed, ingest, measure
from tests.testing.scratch import scratch_database

console = Console(width=140)


def main() -> None:
    """Ingest, ask, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="list the developing cases one by one")
    parser.add_argument("--model", action="store_true", help="rewrite with the model of the settings")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    with scratch_database():
        from assistants.followups.rewriting import model_rewriter
        from core.llm.payment import NoCharge

        rewriter = model_rewriter(NoCharge("a measurement of follow-ups")) if arguments.model else None
        principal, ids = ingest(sorted((arguments.folder / "documents").iterdir()))
        table = Table("half", "cases", "met", "met bare", "share", "share bare", "changed that stand alone")
        for half in HALVES:
            outcomes = list(measure(cases_of(half, arguments.folder), principal, ids, rewriter))
            table.add_row(half, *figures(outcomes), alone_figure(half, arguments.folder, ids))
            if arguments.show and half != "held_out":
                show(outcomes)
    console.print(table)


def figures(outcomes: Sequence[FollowUpOutcome]) -> list[str]:
    """Return the cells of a half."""
    return [
        str(len(outcomes)),
        f"{mean(each.is_met for each in outcomes):.2f}",
        f"{mean(each.is_met_bare for each in outcomes):.2f}",
        f"{mean(each.share for each in outcomes):.2f}",
        f"{mean(each.share_bare for each in outcomes):.2f}",
    ]


def alone_figure(half: str, folder: Path, ids: dict[str, UUID]) -> str:
    """Return how many questions that stand alone were changed; nothing where there are none."""
    if not (folder / f"standalone_{half}.jsonl").is_file():
        return ""
    cases = cases_of(f"standalone_{half}", folder)
    wrong = changed(cases, ids)
    if half != "held_out":
        for question, read_as in wrong:
            console.print(escape(f"changed: {question} → {read_as}"))
    return f"{len(wrong)} of {len(cases)}"


def show(outcomes: Sequence[FollowUpOutcome]) -> None:
    """List the cases."""
    for each in outcomes:
        mark = "met   " if each.is_met else "MISSED"
        line = f"{mark} {each.share:.1f} {each.case['question']} → {each.read_as.question}"
        console.print(escape(line if each.is_met else f"{line}\n       wanted: {each.case['alone']}"))


if __name__ == "__main__":
    main()
