"""`manage.py evaluate`: how well the product finds, on data sets and on questions of one's own."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from uuid import UUID

import numpy as np
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.template.defaultfilters import pluralize
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column, Table

from accounts.access.identity import principal_of_user
from accounts.people.named import user_named, workspace_named
from accounts.principal import Principal
from core.errors import LocusError
from kb.reembedding import multilingual
from search.evaluation import collection as collections
from search.evaluation.collection import Collection
from search.evaluation.datasets import BadDataset, Dataset, load
from search.evaluation.metrics import MEASURES, Estimate
from search.evaluation.report import EvaluationReport
from search.evaluation.run import (
    BadSetting,
    Evaluation,
    RankingStage,
    Trial,
    ablation,
    combinations,
    evaluate,
    sweep,
    with_changes,
)
from search.question_language import is_english
from search.questions import DEFAULT, RankingSettings

SAMPLE_SEED = 0
UNFINISHED = 2
NO_WORKER = (
    "The documents are queued, but no worker is running: start Locus (bin/serve) or a worker "
    "(manage.py worker) and run this again, or run it with --ingest-here."
)
TUNED_TO_ONE = (
    "One data set alone was asked: its best setting may suit that set and nothing else. Give several, and "
    "keep one that the sweep does not see."
)


class Command(BaseCommand):
    """Add what a data set brings, ask its questions, and end with tables and perhaps a report."""

    help = "Measure retrieval on data sets, or on your own questions about a workspace (docs/evaluation.md)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument(
            "datasets", nargs="+", type=Path, metavar="DATASET", help="a folder or .jsonl file"
        )
        parser.add_argument("--workspace", required=True, metavar="ID|NAME", help="where the documents are")
        parser.add_argument("--user", required=True, metavar="EMAIL", help="who asks")
        parser.add_argument("--passages", default="passages.jsonl", metavar="FILE", help="of a folder")
        parser.add_argument("--queries", default="queries.jsonl", metavar="FILE", help="of a folder")
        parser.add_argument("--sample", type=int, metavar="N", help="ask so many questions of each set")
        parser.add_argument(
            "--ingest-here", action="store_true", help="process new documents in this process"
        )
        parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE,…", help="see --sweep")
        parser.add_argument("--sweep", type=Path, metavar="FILE", help='JSON: {"setting": [value, …], …}')
        parser.add_argument("--by", choices=MEASURES, default="nDCG@10", help="what a sweep goes by")
        parser.add_argument("--report", type=Path, metavar="FILE.html", help="write a page with bars")

    def handle(self, *args: Any, **options: Any) -> None:
        """Prepare, ask, report."""
        console = Console(soft_wrap=True)
        try:
            tried = combinations(_choices(options["set"], options["sweep"]))
            principal, found = _prepare(console, options)
        except (BadDataset, BadSetting) as error:
            raise CommandError(str(error)) from error
        except LocusError as error:
            raise CommandError(error.message) from error
        for one in found:
            for note in one.notes:
                console.print(f"{one.name}: {note}", style="yellow", markup=False, highlight=False)
        trials, settings = [], with_changes(DEFAULT, tried[0])
        if len(tried) > 1:
            trials = _sweep_all(console, principal, found, tried, options["by"])
            settings = trials[0].settings
            if not options["report"]:
                return
        evaluations = _evaluate_all(console, principal, found, settings)
        for evaluation in evaluations:
            console.print(stages_table(evaluation))
        if options["report"]:
            report = EvaluationReport.of(evaluations, settings, trials, options["by"])
            options["report"].write_text(report.html(), encoding="utf-8")
            console.print(f"The report is in {options['report']}.", markup=False)


# --- What is asked for -------------------------------------------------------------------------------------


def _choices(given: Sequence[str], file: Path | None) -> dict[str, list[str]]:
    """Return the values to try for each setting, as text."""
    choices: dict[str, list[str]] = {}
    if file:
        try:
            read = json.loads(file.read_text(encoding="utf-8"))
            choices = {name: [json.dumps(value) for value in values] for name, values in read.items()}
        except (OSError, ValueError, AttributeError, TypeError) as error:
            raise BadSetting(f'{file} is not {{"setting": [value, …], …}}: {error}') from error
    for one in given:
        name, equals, values = one.partition("=")
        if not equals or not values:
            raise BadSetting(f"--set takes NAME=VALUE,VALUE,…, not “{one}”.")
        choices[name] = values.split(",")
    return choices


def _prepare(console: Console, options: dict[str, Any]) -> tuple[Principal, list[Collection]]:
    user = user_named(options["user"])
    workspace, principal = workspace_named(user, options["workspace"]), principal_of_user(user)
    names = {"passages": options["passages"], "queries": options["queries"]}
    datasets = [_sample(load(path, **names), options["sample"]) for path in options["datasets"]]
    added = [_add_documents(console, principal, workspace.pk, dataset) for dataset in datasets]
    ids = {id for one in added for id in one.values()}
    _process(console, principal, ids, here=options["ingest_here"])
    _prepare_for_languages(console, principal, datasets, ids)
    return principal, [
        collections.collect(principal, workspace.pk, dataset, sources)
        for dataset, sources in zip(datasets, added, strict=True)
    ]


def _sample(dataset: Dataset, size: int | None) -> Dataset:
    if size is None or size >= len(dataset.queries):
        return dataset
    chosen = random.Random(SAMPLE_SEED).sample(dataset.queries, max(size, 1))  # noqa: S311
    return replace(dataset, queries=tuple(chosen))


# --- The documents -----------------------------------------------------------------------------------------


def _add_documents(
    console: Console, principal: Principal, workspace_id: UUID, dataset: Dataset
) -> dict[str, UUID]:
    """Return the ids of the data set's own documents by their keys."""
    sources = dataset.sources or ()
    with _bar(console, f"{dataset.name}: documents", len(sources)) as advance:
        added = {}
        for source in sources:
            added[source.key] = collections.add(principal, workspace_id, source)
            advance()
    return added


def _process(console: Console, principal: Principal, ids: set[UUID], *, here: bool) -> None:
    """Return once the documents are processed."""
    total = collections.count_unfinished(principal, ids)
    if not total:
        return
    work = collections.worker_here() if here else collections.worker_elsewhere()
    with work as is_worked_on, _bar(console, "Processing", total) as advance:
        for finished in collections.progress(principal, ids, is_worked_on):
            advance(finished)
    if collections.count_unfinished(principal, ids):
        raise CommandError(NO_WORKER, returncode=UNFINISHED)


def _prepare_for_languages(
    console: Console, principal: Principal, datasets: Sequence[Dataset], ids: set[UUID]
) -> None:
    """Fill the multilingual space where something is not in English, as a worker would have by now."""
    asked = (query.text for dataset in datasets for query in dataset.queries)
    if all(map(is_english, asked)) and not collections.are_in_other_languages(principal, ids):
        return
    with _bar(console, "Embedding for other languages", multilingual.count_missing()) as advance:
        for filled in multilingual.fill_now():
            advance(filled)


# --- Asking ------------------------------------------------------------------------------------------------


def _evaluate_all(
    console: Console, principal: Principal, found: list[Collection], settings: RankingSettings
) -> list[Evaluation]:
    stages = ablation(settings)
    evaluations = []
    for one in found:
        with _bar(console, f"{one.name}: questions", len(one.cases) * len(stages)) as advance:
            evaluations.append(evaluate(principal, one, stages, advance))
    return evaluations


def _sweep_all(
    console: Console,
    principal: Principal,
    found: list[Collection],
    tried: Sequence[Mapping[str, object]],
    measure: str,
) -> list[Trial]:
    others = [changes for changes in tried if with_changes(DEFAULT, changes) != DEFAULT]
    with _bar(console, "Sweep", sum(len(one.cases) for one in found) * (len(others) + 1)) as advance:
        trials = sweep(principal, found, others, measure, advance)
    console.print(sweep_table(trials, found, measure))
    if len(found) == 1:
        console.print(TUNED_TO_ONE, style="yellow")
    return trials


@contextmanager
def _bar(console: Console, label: str, total: int) -> Iterator[Callable[..., None]]:
    label_column = TextColumn("{task.description}", markup=False)
    columns = (label_column, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # In a file a bar is nothing but blank lines.
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(label, total=total)
        yield partial(progress.advance, task)


# --- Tables ------------------------------------------------------------------------------------------------


def stages_table(evaluation: Evaluation) -> Table:
    """Return a line for each stage: every measure with its interval, and how long a question takes."""
    one = evaluation.collection
    asked, held = len(one.cases), one.document_count
    title = f"{one.name}: {asked:,} question{pluralize(asked)} over {held:,} document{pluralize(held)}"
    # Two lines, so that all fit into 80 characters.
    names = ["stage", *(name.replace("@", "\n@") for name in MEASURES), "ms"]
    columns = [Column(name, no_wrap=True) for name in names]
    table = Table(*columns, title=title, box=SIMPLE_HEAD, padding=0, pad_edge=False)
    for stage in evaluation.stages:
        table.add_row(stage.name, *map(estimate_text, stage.estimates().values()), _latency(stage))
    table.caption = "below: 95 % confidence, bootstrap over questions; median and p95 of the time"
    return table


def sweep_table(trials: Sequence[Trial], found: Sequence[Collection], measure: str) -> Table:
    """Return a line for each combination of settings, best first."""
    sets = [one.name for one in found] if len(found) > 1 else []
    table = Table("settings", f"{measure}, mean", "against the product's", *sets, box=SIMPLE_HEAD)
    for trial in trials:
        by_set = map(estimate_text, trial.by_set) if sets else ()
        gain = gain_text(trial.gain) if trial.gain else ""
        table.add_row(changes_text(trial.changed), estimate_text(trial.mean), gain, *by_set)
    return table


def estimate_text(estimate: Estimate) -> str:
    """Return a mean and, below it, its interval."""
    return f"{estimate.mean:.3f}\n[dim]{_short(estimate.low)}–{_short(estimate.high)}[/]"


def _short(share: float) -> str:
    return f"{share:.2f}".removeprefix("0").replace("1.00", "1")


def gain_text(gain: Estimate) -> str:
    """Return a difference and, below it, its interval."""
    return f"{gain.mean:+.3f}\n[dim]{gain.low:+.3f}…{gain.high:+.3f}[/]"


def changes_text(changed: Mapping[str, object]) -> str:
    """Return settings as they are given to `--set`."""
    return " ".join(f"{name}={value}" for name, value in changed.items()) or "the product's"


def _latency(stage: RankingStage) -> str:
    times = stage.milliseconds
    return f"{median(times):.0f}\n[dim]{np.quantile(times, 0.95):.0f}[/]"
