"""Is what is found right and quick among a million chunks? `python -m bench.scale FOLDER [--chunks N]`

FOLDER holds `passages*.jsonl` and `queries*.jsonl` (objects with `text`), of which the corpus is made. Then,
for scopes from one document to everything: recall against the exact answer, and milliseconds, while nothing
else happens, while a tenth is replaced, and after that.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from rich.progress import track

from bench.scale.churn import Churn
from bench.scale.corpus import SHARES, SMALL_WORKSPACES, Maker, Material, ScaleCorpus, console, read
from bench.scale.measuring import TimedQuestion, measure, measure_reranking
from bench.scale.scopes import scopes
from tests.testing.scratch import scratch_database

QUESTIONS = 100
TABLES = ["kb_segment", "kb_segmentterm", "kb_term", "kb_segmentcodes", "kb_chunkvector", "kb_chunk"]


def main() -> None:
    """Build, measure, churn, measure again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chunks", type=int, default=1_000_000)
    arguments = parser.parse_args()
    with scratch_database():
        from kb.embedding import embedding_model

        model = embedding_model()
        sentences, questions = read(arguments.folder)
        texts = list(sentences)
        languages = np.array(list(sentences.values()))
        material = Material(texts, languages, model.embed_documents(texts))
        chosen = questions[:: max(1, len(questions) // QUESTIONS)][:QUESTIONS]
        asked = TimedQuestion(chosen, np.array([model.embed_query(text) for text in chosen]))
        corpus = build(arguments.chunks, material)
        report_size()
        measure_all(corpus, asked, material)


def build(chunks: int, material: Material) -> ScaleCorpus:
    """Store and index a corpus of so many chunks; print how long it took."""
    from accounts.models import User, Workspace
    from kb.index.merging import merge
    from kb.index.segments import ScopeKey, index_document
    from kb.models import Segment

    user = User.objects.create_user("bench@example.org", "a long password")
    workspaces = [
        Workspace.create_for(user, name=f"workspace {n}").pk for n in range(len(SHARES) + SMALL_WORKSPACES)
    ]
    maker = Maker(material, seed=1)
    sizes = maker.sizes(chunks)
    corpus = maker.store(sizes, maker.owners(sizes, workspaces))
    execute("ANALYZE")
    begun = perf_counter()
    for owner in track(corpus.documents, description="indexing", console=console):
        index_document(owner.id)
    indexed = perf_counter()
    keys = {ScopeKey(owner.workspace_id, owner.external_user_id, None) for owner in corpus.documents}
    for key in track(sorted(keys, key=str), description="merging", console=console):
        merge(key)
    segments = Segment.unscoped.count()
    console.print(
        f"{chunks:,} chunks of {len(sizes):,} documents: indexed in {indexed - begun:.0f} s, merged into"
        f" {segments} segments on {len(keys)} keys in {perf_counter() - indexed:.0f} s"
    )
    execute("VACUUM ANALYZE")
    return corpus


def report_size() -> None:
    """Print what the index takes on disk."""
    sizes = [execute(f"SELECT pg_total_relation_size('{table}')")[0][0] / 2**20 for table in TABLES]
    console.print(", ".join(f"{table} {size:,.0f} MB" for table, size in zip(TABLES, sizes, strict=True)))


def measure_all(corpus: ScaleCorpus, asked: TimedQuestion, material: Material) -> None:
    """Print the tables."""
    measure("At rest", corpus, asked)
    measure_reranking(asked, next(each for each in scopes(corpus) if each.name == "all workspaces"))
    churn = Churn.start(corpus, material)
    measure("While a tenth is deleted and as much added", corpus, asked, only_timing=True)
    measure("After that", churn.finish(), asked)


def execute(sql: str) -> list[tuple[Any, ...]]:
    """Run a statement and return its rows, if it has any."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall() if cursor.description else []


if __name__ == "__main__":
    main()
