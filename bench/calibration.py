"""Which constants fit an embedding model? `python -m bench.calibration --user EMAIL WORKSPACE=FOLDER …`

Each FOLDER is a data set of passages whose documents are in WORKSPACE already (docs/evaluation.md), and
FOLDER,QUERIES,PASSAGES names other files of it. Prints what `kb/embedding/calibration.py` should hold for
EMBEDDING_MODEL: nDCG@10 by weight of words and by share of the fused score, with and without late
interaction, for each set and on average; and the relevance that divides the right passages from the best
ones of other titles, by logistic regression.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import django
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from manage import use_embedded_server

if TYPE_CHECKING:
    from accounts.principal import Principal
    from search.evaluation.collection import Case, Collection
    from search.retrieval import RankedChunk

Numbers = NDArray[np.float64]
WEIGHTS = (0.3, 0.5, 0.7, 1.0, 1.4)
SHARES = (0.5, 0.75, 1.0, 1.5, 2.5, 5.0)
DEPTH = 10
CANDIDATES = 200
STEPS = 30
RIDGE = 1e-3


@dataclass(frozen=True, slots=True)
class Asked:
    """A question's candidates: arrays of one length, in the order of the fused score."""

    words: Numbers
    cosines: Numbers
    coverage: Numbers
    late: Numbers
    """NaN for those that were not read again."""
    is_right: NDArray[np.bool_]
    titles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Set:
    """A data set with the candidates of its questions."""

    name: str
    asked: list[Asked] = field(default_factory=list)


def main() -> None:
    """Ask, fit, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", metavar="WORKSPACE=FOLDER[,QUERIES,PASSAGES]")
    parser.add_argument("--user", required=True, metavar="EMAIL")
    parser.add_argument("--questions", type=int, default=150, help="of each set")
    arguments = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "locus.settings")
    if not os.environ.get("DATABASE_URL"):
        use_embedded_server()
    django.setup()
    from core.row_access import act_as_system_in_this_process
    from kb.embedding import embedding_model

    act_as_system_in_this_process()
    sets = [ask_all(given, arguments.user, arguments.questions) for given in arguments.sets]
    console = Console(width=110)
    console.print(embedding_model().describe())
    console.print(ranking_table(sets))
    console.print(relevance_table(sets))


# --- Asking ------------------------------------------------------------------------------------------------


def ask_all(given: str, email: str, count: int) -> Set:
    """Ask a sample of a set's questions, always the same one."""
    from accounts.access.identity import principal_of_user
    from accounts.people.named import user_named, workspace_named
    from search.evaluation import collection as collections
    from search.evaluation.datasets import load

    name, _, place = given.partition("=")
    folder, *files = place.split(",")
    dataset = load(Path(folder), **dict(zip(("queries", "passages"), files, strict=False)))
    user = user_named(email)
    principal = principal_of_user(user)
    workspace = workspace_named(user, name)
    added = {source.key: collections.add(principal, workspace.pk, source) for source in dataset.sources or ()}
    found = collections.collect(principal, workspace.pk, dataset, added)
    cases = random.Random(0).sample(found.cases, min(count, len(found.cases)))  # noqa: S311
    asked = [ask(principal, found, case) for case in track(cases, description=dataset.name)]
    return Set(dataset.name, asked)


def ask(principal: Principal, collection: Collection, case: Case) -> Asked:
    """Return the candidates of a question; the first ones are read again by late interaction."""
    from search.questions import Question, RankingSettings
    from search.retrieval import rank
    from tests.testing.payments import UNRECORDED

    question = Question(case.query, collection.document_ids, (collection.workspace_id,))
    settings = RankingSettings(rerank=0.0)
    results = rank(principal, question, limit=CANDIDATES, settings=settings, payment=UNRECORDED).results
    return Asked(
        np.array([found.scores.words for found in results], dtype=float),
        np.array([found.scores.vector for found in results], dtype=float),
        np.array([found.coverage for found in results]),
        late_scores(case.query, results),
        np.array([any(target.is_met_by(found.chunk) for target in case.targets) for found in results]),
        tuple(found.chunk.document.name for found in results),
    )


def late_scores(question: str, results: Sequence[RankedChunk]) -> Numbers:
    """Return what late interaction says of the first results."""
    from search.rerank.late_interaction import LateInteraction
    from tests.testing.payments import UNRECORDED

    scores = np.full(len(results), np.nan)
    reranker = LateInteraction()
    first = [found.chunk.text_to_embed for found in results[: reranker.passages]]
    if first:
        scores[: len(first)] = reranker.score(question, first, within=60.0, payment=UNRECORDED)
    return scores


# --- Fitting -----------------------------------------------------------------------------------------------


def ranking_table(sets: Sequence[Set]) -> Table:
    """Return nDCG@10 for each weight of words, and each share of the fused score; best mean first."""
    table = Table("words", "fused share", *(one.name for one in sets), "mean", title="nDCG@10")
    lines = []
    for weight, share in product(WEIGHTS, (None, *SHARES)):
        figures = [np.mean([ndcg(asked, weight, share) for asked in one.asked]) for one in sets]
        lines.append((float(np.mean(figures)), weight, share, figures))
    for mean, weight, share, figures in sorted(lines, key=lambda line: -line[0]):
        shown = "no late interaction" if share is None else str(share)
        table.add_row(str(weight), shown, *(f"{figure:.3f}" for figure in figures), f"{mean:.3f}")
    return table


def ndcg(asked: Asked, weight: float, share: float | None) -> float:
    """Return nDCG@10 of a question with one right passage."""
    from search import fusion

    fused = fusion.fuse((weight, asked.words), (1.0, asked.cosines))
    late = asked.late if share is not None else np.full_like(fused, np.nan)
    final = fusion.fuse_reranked(fused, late, share or 1.0)
    ranks = np.flatnonzero(asked.is_right[np.argsort(-final, kind="stable")]) + 1
    return 1 / float(np.log2(1 + ranks[0])) if len(ranks) and ranks[0] <= DEPTH else 0.0


def relevance_table(sets: Sequence[Set]) -> Table:
    """Return the cosines and the regression of each set, and of all together."""
    head = (
        "set",
        "cosine right",
        "cosine other",
        "cosine ·",
        "coverage ·",
        "bias",
        "right kept",
        "other kept",
    )
    table = Table(*head, title="relevance; kept from 0.3 on by the constants of all sets together")
    pairs = {one.name: examples(one.asked) for one in sets}
    everything = np.concatenate(list(pairs.values()))
    whole = regression(everything)
    for name, of_set in [*pairs.items(), ("all", everything)]:
        right, other = of_set[of_set[:, 2] == 1], of_set[of_set[:, 2] == 0]
        own = regression(of_set)
        kept = [float(np.mean(probability(part, whole) >= 0.3)) for part in (right, other)]
        cosines = [f"{part[:, 0].mean():.3f} ±{part[:, 0].std():.3f}" for part in (right, other)]
        table.add_row(name, *cosines, *(f"{value:.1f}" for value in own), *(f"{share:.0%}" for share in kept))
    return table


def examples(asked: Sequence[Asked]) -> Numbers:
    """Return rows of cosine, coverage and 1 for right passages, 0 for the best one of another title."""
    rows = []
    for one in asked:
        right = np.flatnonzero(one.is_right)
        if not len(right):
            continue
        title = one.titles[right[0]]
        other = [place for place, name in enumerate(one.titles) if name != title]
        for place, is_right in ((right[0], 1.0), *((at, 0.0) for at in other[:1])):
            if np.isfinite(one.cosines[place]):
                rows.append((one.cosines[place], one.coverage[place], is_right))
    return np.array(rows).reshape(-1, 3)


def regression(rows: Numbers) -> Numbers:
    """Return the weights of cosine, coverage and 1 by Newton's method."""
    inputs, labels = _inputs(rows), rows[:, 2]
    weights = np.zeros(inputs.shape[1])
    for _ in range(STEPS):
        guessed = 1 / (1 + np.exp(-inputs @ weights))
        # The ridge keeps the weights finite where a set can be divided without error.
        gradient = inputs.T @ (labels - guessed) - RIDGE * weights
        curvature = (inputs * (guessed * (1 - guessed))[:, None]).T @ inputs + RIDGE * np.eye(len(weights))
        weights += np.linalg.solve(curvature, gradient)
    return weights


def probability(rows: Numbers, weights: Numbers) -> Numbers:
    """Return the relevance of each row."""
    chances: Numbers = 1 / (1 + np.exp(-_inputs(rows) @ weights))
    return chances


def _inputs(rows: Numbers) -> Numbers:
    return np.column_stack([rows[:, 0], rows[:, 1], np.ones(len(rows))])


if __name__ == "__main__":
    main()
