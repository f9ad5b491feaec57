"""How sure must the extractive generator be before it answers? `python -m bench.answer_floor FOLDER`

FOLDER holds `passages.jsonl`, `queries.jsonl` and `qrels.jsonl` (passage_id, title, text; query_id, text).
Each sampled question is asked twice: over all passages, and over those of other titles, where none answers.
The table shows, for each floor, how often a question with an answer is answered, and one without is not:
floors of log odds if the folder is in English, floors of fit and lead if not
(`search/generation/extractive/choosing.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import django
from rich.console import Console
from rich.progress import track
from rich.table import Table

if TYPE_CHECKING:
    from search.contexts import ChunkContext

CONTEXTS = 5
FLOORS_OF_ODDS = (-4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0)
FLOORS_OF_FIT = (0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75)


def read(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON-lines file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def as_context(rank: int, passage: dict[str, Any], score: float) -> ChunkContext:
    """Return a passage as the generator would get it, cut into sentences."""
    from core.text.sentences import sentence_bounds
    from search.contexts import ChunkContext

    return ChunkContext(
        rank=rank,
        text=passage["text"],
        document_name=passage["title"],
        score=score,
        headings=(passage["title"],),
        sentence_bounds=tuple(sentence_bounds(passage["text"], "en")),
        language="en",
        chunk_id=uuid4(),
        document_id=uuid4(),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=int, default=150)
    arguments = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "locus.settings")
    django.setup()
    from kb.embedding import embedding_model
    from search.generation.extractive.choosing import fit_and_lead
    from search.generation.extractive.reading import ModelReading
    from search.generation.extractive.weighing import weigh

    passages = read(arguments.folder / "passages.jsonl")
    title_of = {p["passage_id"]: p["title"] for p in passages}
    answers = {row["query_id"]: row["passage_id"] for row in read(arguments.folder / "qrels.jsonl")}
    queries = read(arguments.folder / "queries.jsonl")
    model = embedding_model()
    vectors = model.embed_documents([p["text"] for p in passages])

    def best(question: str, excluded_title: str | None) -> float:
        similarity = vectors @ model.embed_query(question)
        order = [i for i in similarity.argsort()[::-1] if passages[i]["title"] != excluded_title][:CONTEXTS]
        contexts = [as_context(rank, passages[i], similarity[i]) for rank, i in enumerate(order, start=1)]
        weighed = weigh(question, contexts, ModelReading(question))
        odds = [each.odds for each in weighed if each.odds is not None]
        return max(odds, default=fit_and_lead(weighed) if weighed else 0.0)

    sample = random.Random(0).sample(queries, min(arguments.questions, len(queries)))  # noqa: S311
    scores = [
        (best(q["text"], None), best(q["text"], title_of[answers[q["query_id"]]]))
        for q in track(sample, description="Asking")
    ]
    table = Table("floor", "answered, when there is an answer", "not answered, when there is none", "mean")
    are_odds = any(score < 0 or score > max(FLOORS_OF_FIT) + 1 for pair in scores for score in pair)
    for floor in FLOORS_OF_ODDS if are_odds else FLOORS_OF_FIT:
        told = sum(with_answer >= floor for with_answer, _ in scores) / len(scores)
        silent = sum(without < floor for _, without in scores) / len(scores)
        table.add_row(f"{floor:.2f}", f"{told:.0%}", f"{silent:.0%}", f"{(told + silent) / 2:.0%}")
    Console().print(table)


if __name__ == "__main__":
    main()
