"""What does PostgreSQL's own separation of tenants cost? `python -m bench.row_access FOLDER [--chunks N]`

FOLDER holds the passages and questions of `bench.scale`. Searches and requests run alternately with row-level
security and without it, on the same connection. Each begins on a connection that worked for somebody else.
Prints milliseconds of waiting and of processor time, of this process and of PostgreSQL's, for one call.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import numpy as np
import psutil
from rich.table import Table

from bench.scale.__main__ import build
from bench.scale.corpus import Material, ScaleCorpus, console, read
from bench.scale.measuring import Ranked, TimedQuestion
from bench.scale.scopes import scopes
from tests.testing.scratch import scratch_database

if TYPE_CHECKING:
    from accounts.principal import Principal

SCOPES = [
    "workspace of 50.00%",
    "100 small workspaces",
    "all workspaces",
    "all, an external user",
    "all, 1 document",
    "all, 100 documents",
]
Work = Callable[[int], object]


def main() -> None:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=200)
    arguments = parser.parse_args()
    with scratch_database():
        from kb.embedding import embedding_model

        model = embedding_model()
        sentences, questions = read(arguments.folder)
        texts, languages = list(sentences), np.array(list(sentences.values()))
        corpus = build(arguments.chunks, Material(texts, languages, model.embed_documents(texts)))
        asked = TimedQuestion(questions[:50], np.array([model.embed_query(text) for text in questions[:50]]))
        table = Table("work", "ms without", "ms with", "CPU ms without", "CPU ms with", "more CPU")
        for name, work in works(corpus, asked):
            table.add_row(name, *compared(work, arguments.rounds))
        console.print(table)


def works(corpus: ScaleCorpus, asked: TimedQuestion) -> Iterator[tuple[str, Work]]:
    """Yield what is measured: searches in scopes of all kinds, requests to the API."""
    from django.test import Client

    from accounts.access.keys import create_key
    from accounts.models import User
    from accounts.scope import as_principal
    from core.row_access import NOTHING, with_access
    from kb.models import Chunk, Document

    def searching(ranked: Ranked) -> Work:
        def search(number: int) -> object:
            with as_principal(ranked.scope.principal):
                return ranked.by_both(number % len(asked))

        return search

    for scope in scopes(corpus):
        if scope.name in SCOPES:
            yield f"search: {scope.name}", searching(Ranked(scope, asked))
        if scope.name == "all workspaces":
            yield f"search and rerank: {scope.name}", reranking(scope.principal, asked)
    key = create_key(User.objects.get(), "bench", scopes=["read"])[1]
    client = Client(headers={"Authorization": f"Bearer {key}", "Host": "localhost"})
    own = {"external_user_id": None}
    documents = cycle(Document.unscoped.filter(**own).order_by("pk").values_list("pk", flat=True)[:500])
    chunks = cycle(Chunk.unscoped.filter(**own).order_by("pk").values_list("pk", flat=True)[:500])

    def requesting(address: Callable[[], str]) -> Work:
        def request(number: int) -> object:
            with with_access(NOTHING):
                reply = client.get(address())
            assert reply.status_code == 200, reply.content
            return reply

        return request

    yield "GET documents?limit=50", requesting(lambda: "/api/v1/documents?limit=50")
    yield "GET document", requesting(lambda: f"/api/v1/documents/{next(documents)}")
    yield "GET chunk", requesting(lambda: f"/api/v1/chunks/{next(chunks)}")
    yield "GET me", requesting(lambda: "/api/v1/me")


def reranking(principal: Principal, asked: TimedQuestion) -> Work:
    """Return the whole search of `POST search`."""
    from accounts.scope import as_principal
    from search.questions import Question
    from search.retrieval import rank
    from tests.testing.payments import UNRECORDED

    def search(number: int) -> object:
        with as_principal(principal):
            question = Question(asked.texts[number % len(asked)])
            return rank(principal, question, limit=10, payment=UNRECORDED)

    return search


@dataclass
class Times:
    """Milliseconds of each call: until it ended, and of processor time."""

    waited: list[float] = field(default_factory=list)
    spent: list[float] = field(default_factory=list)


def compared(work: Work, rounds: int) -> tuple[str, ...]:
    """Return the columns of a line of the table."""
    from django.db import connection

    from core.database.base import DatabaseWrapper
    from core.row_access import as_system

    times = {False: Times(), True: Times()}
    for number in range(-3, rounds):
        for is_on in (False, True) if number % 2 else (True, False):
            with as_system("as if somebody else had used the connection"), connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                backend = psutil.Process(cursor.fetchone()[0])
            DatabaseWrapper._has_tenant_role[connection.alias] = is_on
            spent, begun = _spent(backend), perf_counter()
            work(number)
            if number >= 0:
                times[is_on].waited.append((perf_counter() - begun) * 1000)
                times[is_on].spent.append((_spent(backend) - spent) * 1000)
    off, on = times[False], times[True]
    waited = [median(part.waited) for part in (off, on)]
    spent_on = [median(part.spent) for part in (off, on)]
    more = f"{100 * (spent_on[1] / spent_on[0] - 1):+.1f} %"
    return *(f"{each:.2f}" for each in (*waited, *spent_on)), more


def _spent(backend: psutil.Process) -> float:
    # The kernel counts a process's time in nanoseconds here, and in hundredths of a second elsewhere.
    ran = Path(f"/proc/{backend.pid}/schedstat").read_text().split()[0]
    return process_time() + int(ran) / 1e9


if __name__ == "__main__":
    main()
