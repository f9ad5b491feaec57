"""How right and how quick: recall against the exact answer, milliseconds by median and 95th percentile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from bench.scale.corpus import ScaleCorpus, console
from bench.scale.scopes import DEPTHS, Scope, exact_answers, held, recall, scopes

COLUMNS = [
    *("scope", "chunks"),
    *(f"recall@{depth}" for depth in DEPTHS),
    *("short", "vector ms", "words ms, 2-8 words", "search ms"),
]


@dataclass(frozen=True)
class TimedQuestion:
    """Questions, and their vectors of shape (questions, dimensions)."""

    texts: Sequence[str]
    vectors: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.texts)


def measure(title: str, corpus: ScaleCorpus, asked: TimedQuestion, *, only_timing: bool = False) -> None:
    """Print a line for each scope."""
    table = Table(*COLUMNS, title=f"{title} (median / p95)")
    for scope in scopes(corpus):
        ranked = Ranked(scope, asked)
        found, vector = timed(ranked.by_vector, range(len(asked)))
        _, words = timed(ranked.by_words, short_questions(asked))
        _, whole = timed(ranked.by_both, range(len(asked)))
        size = int(np.count_nonzero(held(corpus, scope)))
        figures = ["-"] * (len(DEPTHS) + 1)
        if not only_timing:
            exact = exact_answers(corpus, scope, asked.vectors)
            figures = [f"{recall(found, exact, depth):.4f}" for depth in DEPTHS]
            figures.append(str(sum(len(each) < min(max(DEPTHS), size) for each in found)))
        table.add_row(scope.name, f"{size:,}", *figures, vector, words, whole)
    console.print(table)


@dataclass(frozen=True)
class Ranked:
    """The searches in one scope, by the number of a question."""

    scope: Scope
    asked: TimedQuestion

    def by_vector(self, number: int) -> list[UUID]:
        """Return the nearest chunks."""
        from kb.embedding import active_space
        from kb.index.nearest import best, similarities, worth_comparing
        from kb.index.view import open_view

        space = active_space()
        view = open_view(self.scope.principal, space, documents=self.scope.documents)
        query = self.asked.vectors[number]
        rows = worth_comparing(view, space, query)
        return view.chunk_ids(best(rows, similarities(view, space, query, rows), max(DEPTHS))[0])

    def by_words(self, number: int) -> list[UUID]:
        """Return the best by BM25."""
        from kb.embedding import active_space
        from kb.index.view import open_view
        from kb.index.words import question_words, score_words

        view = open_view(self.scope.principal, active_space(), documents=self.scope.documents)
        words = question_words(self.asked.texts[number], view.languages)
        return view.chunk_ids(score_words(view, words).best(100))

    def by_both(self, number: int) -> object:
        """Search as `POST search` does, without the reranker."""
        from search.questions import DEFAULT, Question
        from search.retrieval import rank
        from tests.testing.payments import UNRECORDED

        documents = None if self.scope.documents is None else tuple(self.scope.documents)
        question = Question(self.asked.texts[number], document_ids=documents)
        return rank(
            self.scope.principal,
            question,
            limit=10,
            settings=replace(DEFAULT, rerank=0.0),
            payment=UNRECORDED,
        )


def measure_reranking(asked: TimedQuestion, scope: Scope) -> None:
    """Print how long a whole search of everything takes, and what it spends its time on."""
    from search.questions import Question
    from search.retrieval import rank
    from tests.testing.payments import UNRECORDED

    results, times = timed(
        lambda number: rank(scope.principal, Question(asked.texts[number]), limit=10, payment=UNRECORDED),
        range(len(asked)),
    )
    stages = {stage: np.median([each.timings[stage] for each in results]) for stage in results[0].timings}
    spent = ", ".join(f"{stage} {secs * 1000:.0f}" for stage, secs in stages.items())
    partly = sum(each.reranked is not True for each in results)
    console.print(f"{scope.name}, reranked: {times} ms; medians: {spent}; out of time: {partly}")


def short_questions(asked: TimedQuestion) -> list[int]:
    """Return the numbers of the questions of two to eight words."""
    return [number for number, text in enumerate(asked.texts) if 2 <= len(text.split()) <= 8]


def timed(work: Callable[[int], Any], numbers: Sequence[int]) -> tuple[list[Any], str]:
    """Return what `work` returns for each number, and its milliseconds: median / 95th percentile."""
    work(numbers[0])
    results, times = [], []
    for number in numbers:
        begun = perf_counter()
        results.append(work(number))
        times.append((perf_counter() - begun) * 1000)
    return results, f"{np.median(times):.0f} / {np.percentile(times, 95):.0f}"
