"""Asking every query of a collection, stage by stage, and under several settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from time import perf_counter

from django.utils.text import Truncator

from accounts.principal import Principal
from core.llm.payment import NoCharge
from kb.models import Chunk
from search.evaluation.collection import Case, Collection
from search.evaluation.metrics import MEASURES, Estimate, Floats, Judged, estimate, measure_all
from search.questions import DEFAULT, Question, RankingSettings
from search.retrieval import RankedChunk, rank

DEPTH = 100
OPERATOR = NoCharge("an evaluation by the operator")
"""How many chunks are asked for."""
WEIGHTS = ("words", "vector", "rerank")
SHOWN = 3
"""How many results of a question are kept to be shown."""
PREVIEW = 40
"""How many words of them."""

Step = Callable[[], None]


class BadSetting(Exception):
    """A setting that ranking does not know, or a value that it can't have."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A result as a report shows it."""

    document: str
    page: int | None
    text: str
    is_relevant: bool


@dataclass(frozen=True, slots=True)
class QueryOutcome:
    """What came of one query: the first results, how long they took, and the seconds of each step."""

    case: Case
    judged: Judged
    first: tuple[Shown, ...]
    milliseconds: float
    timings: Mapping[str, float]
    predicted: float
    """How likely the first result is relevant, says the product; 0 if there is none."""


@dataclass(frozen=True, slots=True)
class RankingStage:
    """One way of ranking, by its name, with its outcomes in the order of the queries."""

    name: str
    settings: RankingSettings
    outcomes: tuple[QueryOutcome, ...]

    def values(self, measure: str) -> Floats:
        """Return a measure for each query, shape (queries,)."""
        return measure_all(MEASURES[measure], [outcome.judged for outcome in self.outcomes])

    def estimates(self) -> dict[str, Estimate]:
        """Return the mean of every measure."""
        return {name: estimate(self.values(name)) for name in MEASURES}

    @property
    def milliseconds(self) -> list[float]:
        """How long each query took."""
        return [outcome.milliseconds for outcome in self.outcomes]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A collection with its stages; the last one is the whole pipeline."""

    collection: Collection
    stages: tuple[RankingStage, ...]

    @property
    def whole(self) -> RankingStage:
        """The pipeline as the product runs it."""
        return self.stages[-1]


# --- Stages ------------------------------------------------------------------------------------------------


def ablation(settings: RankingSettings) -> dict[str, RankingSettings]:
    """Return each search alone, their fusion, and the fusion reranked, as far as the settings have them."""
    on = [name for name in WEIGHTS if getattr(settings, name)]
    searches = [name for name in on if name != "rerank"]
    stages = {f"{name} only": _with_only(settings, [name]) for name in searches}
    if len(searches) > 1:
        stages["fused"] = _with_only(settings, searches)
    if "rerank" in on:
        stages["reranked"] = settings
    return stages


def _with_only(settings: RankingSettings, kept: Sequence[str]) -> RankingSettings:
    return with_changes(settings, {name: 0.0 for name in WEIGHTS if name not in kept})


def evaluate(
    principal: Principal, collection: Collection, stages: Mapping[str, RankingSettings], step: Step
) -> Evaluation:
    """Ask every query in every stage; `step` is called after each."""
    return Evaluation(
        collection,
        tuple(
            RankingStage(name, settings, tuple(_ask_all(principal, collection, settings, step)))
            for name, settings in stages.items()
        ),
    )


def _ask_all(
    principal: Principal, collection: Collection, settings: RankingSettings, step: Step
) -> Iterator[QueryOutcome]:
    _ask(principal, collection, collection.cases[0], settings)  # pays for what is loaded once
    for case in collection.cases:
        yield _ask(principal, collection, case, settings)
        step()


def _ask(principal: Principal, collection: Collection, case: Case, settings: RankingSettings) -> QueryOutcome:
    question = Question(case.query, collection.document_ids, (collection.workspace_id,))
    start = perf_counter()
    ranking = rank(principal, question, limit=DEPTH, settings=settings, payment=OPERATOR)
    milliseconds = (perf_counter() - start) * 1000
    items = distinct(case, ranking.results)
    first = tuple(_result_shown(case, found.chunk) for found in items[:SHOWN])
    predicted = items[0].relevance if items else 0.0
    return QueryOutcome(case, judge(case, items), first, milliseconds, ranking.timings, predicted)


def _result_shown(case: Case, chunk: Chunk) -> Shown:
    is_relevant = any(target.is_met_by(chunk) for target in case.targets)
    return Shown(chunk.document.name, chunk.page_number, Truncator(chunk.text).words(PREVIEW), is_relevant)


def distinct(case: Case, results: Sequence[RankedChunk]) -> list[RankedChunk]:
    """Return what takes up a rank: the first chunk of each document, or each chunk; see `Case.counts`."""
    by_document = case.counts == "documents"
    first: dict[object, RankedChunk] = {}
    for found in results:
        first.setdefault(found.chunk.document_id if by_document else found.chunk.pk, found)
    return list(first.values())


def judge(case: Case, items: Sequence[RankedChunk]) -> Judged:
    """Return at which rank each target of a case is first met."""
    ranks = tuple(
        next((rank for rank, item in enumerate(items, start=1) if target.is_met_by(item.chunk)), None)
        for target in case.targets
    )
    return Judged(ranks, tuple(target.relevance for target in case.targets))


# --- Sweeps ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Trial:
    """One combination of a sweep: its mean over the sets, and by how much it differs from the product's."""

    changed: Mapping[str, object]
    settings: RankingSettings
    by_set: tuple[Estimate, ...]
    mean: Estimate
    gain: Estimate | None


def combinations(choices: Mapping[str, Sequence[str]]) -> list[dict[str, object]]:
    """Return every combination of the values chosen for each setting; raise `BadSetting`."""
    values = {name: [_value(name, text) for text in texts] for name, texts in choices.items()}
    return [dict(zip(values, combination, strict=True)) for combination in product(*values.values())]


def _value(name: str, text: str) -> object:
    known = [field.name for field in fields(RankingSettings)]
    if name not in known:
        raise BadSetting(f"There is no setting “{name}”. There are: {', '.join(known)}.")
    kind = type(getattr(DEFAULT, name))
    try:
        value = text if kind is str else json.loads(text)
    except ValueError:
        value = None
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise BadSetting(f"{name} is a {kind.__name__}, not “{text}”.")
    return value


def sweep(
    principal: Principal,
    collections: Sequence[Collection],
    combinations: Sequence[Mapping[str, object]],
    measure: str,
    step: Step,
) -> list[Trial]:
    """Ask everything once with the product's settings and once with each combination; return the best first.

    A setting is judged by the mean of `measure` over the collections, each of which counts the same.
    """

    def values(settings: RankingSettings) -> list[Floats]:
        return [
            RankingStage("", settings, tuple(_ask_all(principal, one, settings, step))).values(measure)
            for one in collections
        ]

    base = values(DEFAULT)
    trials = [Trial({}, DEFAULT, tuple(map(estimate, base)), estimate(*base), None)]
    for changed in combinations:
        settings = with_changes(DEFAULT, changed)
        reached = values(settings)
        gains = [new - old for new, old in zip(reached, base, strict=True)]
        by_set = tuple(map(estimate, reached))
        trials.append(Trial(changed, settings, by_set, estimate(*reached), estimate(*gains)))
    return sorted(trials, key=lambda trial: -trial.mean.mean)


def with_changes(settings: RankingSettings, changes: Mapping[str, object]) -> RankingSettings:
    """Return settings with some of them changed."""
    return replace(settings, **changes)  # type: ignore[arg-type]
