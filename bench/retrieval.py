"""How long do finding and answering take? `python -m bench.retrieval --questions FILE`

Asks each question of a JSON-lines file (objects with `question` or `text`) over all that a user may read,
in the database of the running installation: embedding the question, retrieval alone, all of `rag_search`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

import django
from rich.console import Console
from rich.progress import track
from rich.table import Table

from manage import use_embedded_server

ROUNDS = 3


def timed(function: Callable[[str], object], questions: list[str], name: str) -> list[float]:
    """Return the milliseconds that each call took; a first round warms up and is not counted."""
    function(questions[0])
    times = []
    for question in track(questions * ROUNDS, description=name):
        start = perf_counter()
        function(question)
        times.append((perf_counter() - start) * 1000)
    return times


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--user", help="an e-mail address; by default the first user")
    arguments = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "locus.settings")
    if not os.environ.get("DATABASE_URL"):
        use_embedded_server()
    django.setup()
    from accounts.access.identity import principal_of_user
    from accounts.models import User
    from kb.embedding import embedding_model
    from kb.models import Chunk
    from runs.context import Run
    from search.questions import Question
    from search.rag import RagInput, rag_search
    from search.retrieval import rank
    from tests.testing.payments import UNRECORDED

    users = User.objects.order_by("pk")
    user = users.get(email=arguments.user) if arguments.user else users[0]
    principal = principal_of_user(user)
    rows = [json.loads(line) for line in arguments.questions.read_text().splitlines()]
    questions = [row.get("question") or row["text"] for row in rows]

    run = Run("bench", principal.default_workspace_id())

    async def answer(question: str) -> None:
        async for _ in rag_search(principal, RagInput(query=question), run):
            pass

    measured = {
        "embed the question": timed(embedding_model().embed_query, questions, "embedding"),
        "retrieve": timed(
            lambda q: rank(principal, Question(q), limit=10, payment=UNRECORDED), questions, "retrieval"
        ),
        "rag_search, whole": timed(lambda q: asyncio.run(answer(q)), questions, "answers"),
    }
    chunks = Chunk.objects.restricted_to(principal).filter(replaced_by=None).count()
    table = Table("step", "median ms", "p95 ms", title=f"{len(questions)} questions over {chunks} chunks")
    for step, times in measured.items():
        table.add_row(step, f"{median(times):.1f}", f"{quantiles(times, n=20)[-1]:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
