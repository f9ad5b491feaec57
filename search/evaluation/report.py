"""The report: one HTML page that needs nothing else, with figures, bars and the worst questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from math import inf
from statistics import median

import numpy as np
from django.conf import settings as django_settings
from django.template.loader import render_to_string
from django.utils import timezone

from kb.embedding import active_space
from search.evaluation.metrics import MEASURES, Estimate, Judged, estimate, measure_all, ndcg, recall
from search.evaluation.reliability import bins_of, calibration_error
from search.evaluation.run import DEPTH, Evaluation, QueryOutcome, RankingStage, Trial
from search.questions import RankingSettings

WORST = 20
RECALL_AT = (1, 2, 5, 10, 20, 50)
HEADLINES = {
    "documents": ("nDCG@10", "MRR@10", "recall@10", "recall@50"),
    "chunks": ("hit@1", "hit@5", "hit@10", "MRR@10"),
}
EXPLAINED = {
    "nDCG@10": "Are the relevant ones at the top of the first ten?",
    "MRR@10": "One over the rank of the first relevant one.",
    "recall@10": "The share of what is relevant among the first ten.",
    "recall@50": "The share of what is relevant among the first fifty.",
    "hit@1": "The first result is relevant.",
    "hit@5": "One of the first five is relevant.",
    "hit@10": "One of the first ten is relevant.",
}


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure and how long its bar is: solid to `low`, pale to `high`, both CSS percentages."""

    label: str
    value: str
    low: str
    high: str
    mark: str = ""
    """Where a line across the bar shows what was to be expected, if anything."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Bars below a title; `headline` is the whole pipeline's figure and its interval, if any."""

    title: str
    explained: str
    bars: tuple[Bar, ...]
    headline: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ReportRow:
    """A line of the table of all figures."""

    stage: str
    cells: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Missed:
    """A question that went badly."""

    outcome: QueryOutcome
    verdict: str


@dataclass(frozen=True, slots=True)
class ReportSection:
    """What the page says about one data set."""

    evaluation: Evaluation
    panels: tuple[Panel, ...]
    steps: tuple[tuple[str, str], ...]
    rows: tuple[ReportRow, ...]
    worst: tuple[Missed, ...]
    imperfect: int

    @classmethod
    def of(cls, evaluation: Evaluation) -> ReportSection:
        """Work out everything that is shown."""
        stages = evaluation.stages
        estimates = {stage.name: stage.estimates() for stage in stages}
        counts = "chunks" if any(c.counts == "chunks" for c in evaluation.collection.cases) else "documents"
        missed = _missed_questions(evaluation)
        return cls(
            evaluation,
            (
                *(_measure_panel(measure, estimates) for measure in HEADLINES[counts]),
                _recall_panel([outcome.judged for outcome in evaluation.whole.outcomes]),
                _reliability_panel(evaluation.whole.outcomes),
                _times_panel(stages),
            ),
            tuple(_steps(evaluation.whole.outcomes)),
            tuple(ReportRow(name, tuple(map(_cell, found.values()))) for name, found in estimates.items()),
            tuple(missed[:WORST]),
            len(missed),
        )


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """A page about evaluations under one set of settings, and about the sweep that chose them, if any."""

    sections: tuple[ReportSection, ...]
    settings: RankingSettings
    trials: tuple[Trial, ...]
    measure: str
    model: str
    made_at: datetime

    @classmethod
    def of(
        cls,
        evaluations: Sequence[Evaluation],
        settings: RankingSettings,
        trials: Sequence[Trial] = (),
        measure: str = "",
    ) -> EvaluationReport:
        """Work out everything that is shown."""
        return cls(
            tuple(map(ReportSection.of, evaluations)),
            settings,
            tuple(trials),
            measure,
            str(active_space()),
            timezone.now(),
        )

    def html(self) -> str:
        """Return the page."""
        rows = [
            {
                "settings": " ".join(f"{k}={v}" for k, v in trial.changed.items()) or "the product's",
                "mean": _cell(trial.mean),
                "gain": f"{trial.gain.mean:+.3f} ({trial.gain.low:+.3f} to {trial.gain.high:+.3f})"
                if trial.gain
                else "",
                "by_set": [_cell(one) for one in trial.by_set],
            }
            for trial in self.trials
        ]
        context = {
            "report": self,
            "settings": asdict(self.settings),
            "measures": list(MEASURES),
            "trials": rows,
            "depth": DEPTH,
        }
        return render_to_string("search/evaluation.html", context)


def _measure_panel(measure: str, estimates: Mapping[str, Mapping[str, Estimate]]) -> Panel:
    by_stage = {stage: found[measure] for stage, found in estimates.items()}
    bars = tuple(_bar(stage, one) for stage, one in by_stage.items())
    return Panel(measure, EXPLAINED[measure], bars, _cell(list(by_stage.values())[-1]))


def _recall_panel(judged: Sequence[Judged]) -> Panel:
    """Return what share of the relevant ones the whole pipeline finds among its first ones."""
    bars = tuple(_bar(f"first {k}", estimate(measure_all(partial(recall, k=k), judged))) for k in RECALL_AT)
    return Panel("Recall", "The share of what is relevant, by the number of results.", bars)


def _reliability_panel(outcomes: Sequence[QueryOutcome]) -> Panel:
    """Return how often first results are relevant, by how likely the product says they are."""
    predicted = np.array([one.predicted for one in outcomes])
    bins = bins_of(predicted, measure_all(MEASURES["hit@1"], [one.judged for one in outcomes]))
    bars = tuple(
        replace(_bar(f"{one.low:.1f}–{one.high:.1f}, {one.count}", one.right), mark=f"{one.predicted:.2%}")
        for one in bins
    )
    silent = float((predicted < django_settings.RELEVANCE_FLOOR).mean())
    explained = (
        "The share of first results that are relevant, by how likely the product says they are (the line), "
        f"and the number of questions. The mean distance of both is {calibration_error(bins):.3f}. Below "
        f"{django_settings.RELEVANCE_FLOOR:g} no answer is written: {silent:.1%} of these questions."
    )
    return Panel("Reliability", explained, bars)


def _bar(label: str, mean: Estimate) -> Bar:
    return Bar(label, f"{mean.mean:.3f}", f"{mean.low:.2%}", f"{mean.high:.2%}")


def _times_panel(stages: Sequence[RankingStage]) -> Panel:
    """Return the median and the 95th percentile of each stage's times per question."""
    times = {stage.name: np.quantile(stage.milliseconds, (0.5, 0.95)) for stage in stages}
    longest = max(p95 for _, p95 in times.values())
    bars = tuple(
        Bar(name, _milliseconds(middle), f"{middle / longest:.2%}", f"{p95 / longest:.2%}")
        for name, (middle, p95) in times.items()
    )
    explained = f"Median, pale to the 95th percentile. The full width is {_milliseconds(longest)}."
    return Panel("Time per question", explained, bars)


def _milliseconds(value: float) -> str:
    return f"{value / 1000:.2g} s" if value >= 1000 else f"{value:.3g} ms"


def _cell(estimate: Estimate) -> tuple[str, str]:
    return f"{estimate.mean:.3f}", f"{estimate.low:.3f} to {estimate.high:.3f}"


def _steps(outcomes: Sequence[QueryOutcome]) -> list[tuple[str, str]]:
    """Return the median time of each step that ranking reports."""
    names = dict.fromkeys(name for outcome in outcomes for name in outcome.timings)
    seconds = {name: median(outcome.timings.get(name, 0.0) for outcome in outcomes) for name in names}
    return [(name, _milliseconds(middle * 1000)) for name, middle in seconds.items()]


def _missed_questions(evaluation: Evaluation) -> list[Missed]:
    """Return the questions that the whole pipeline answers imperfectly, worst first."""
    scored = [(ndcg(one.judged, 10), one) for one in evaluation.whole.outcomes]
    worst = sorted(
        (pair for pair in scored if pair[0] < 1), key=lambda pair: (pair[0], -(pair[1].judged.first or inf))
    )
    return [Missed(outcome, _verdict(outcome)) for _, outcome in worst]


def _verdict(outcome: QueryOutcome) -> str:
    first, met = outcome.judged.first, sum(rank is not None for rank in outcome.judged.ranks)
    if first is None:
        return f"nothing relevant among the first {DEPTH} chunks"
    of = len(outcome.judged.ranks)
    return f"first met at rank {first}" + (f"; {met} of {of} met at all" if of > 1 else "")
