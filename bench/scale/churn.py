"""A tenth of all chunks deleted and as much added, in a process of its own as a worker would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from uuid import UUID

import django
import numpy as np

from bench.scale.corpus import Maker, Material, Owner, ScaleCorpus

SHARE = 0.1


@dataclass(frozen=True)
class Churn:
    """What is being replaced, and by whom."""

    corpus: ScaleCorpus
    gone: list[int]
    process: BaseProcess
    results: Connection

    @classmethod
    def start(cls, corpus: ScaleCorpus, material: Material) -> Churn:
        """Begin to replace documents, taken at random."""
        from django.db import connection

        sizes = np.bincount(corpus.document_of)
        order = np.random.default_rng(3).permutation(len(sizes))
        gone = order[: int(np.searchsorted(np.cumsum(sizes[order]), len(corpus.ids) * SHARE))].tolist()
        pairs = [(corpus.documents[number], int(sizes[number])) for number in gone]
        results, told = get_context("spawn").Pipe(duplex=False)
        database = str(connection.settings_dict["NAME"])
        process = get_context("spawn").Process(
            target=_replace_all, args=(database, pairs, material, told), daemon=True
        )
        process.start()
        return cls(corpus, gone, process, results)

    def finish(self) -> ScaleCorpus:
        """Wait for the end; return what is there then."""
        added: list[ScaleCorpus] = self.results.recv()
        self.process.join()
        return self._merged(added)

    def _merged(self, added: Sequence[ScaleCorpus]) -> ScaleCorpus:
        corpus, gone = self.corpus, set(self.gone)
        stays = np.array([number not in gone for number in range(len(corpus.documents))])[corpus.document_of]
        numbers = np.arange(len(added)) + len(corpus.documents)
        return ScaleCorpus(
            np.concatenate([corpus.vectors[stays], *(each.vectors for each in added)]),
            [id for id, stay in zip(corpus.ids, stays, strict=True) if stay]
            + [id for each in added for id in each.ids],
            np.concatenate(
                [corpus.document_of[stays], np.repeat(numbers, [len(each.ids) for each in added])]
            ),
            corpus.documents + [each.documents[0] for each in added],
        )


def _replace_all(
    database: str,
    documents: list[tuple[Owner, int]],
    material: Material,
    told: Connection,
) -> None:
    django.setup()
    from django.db import connection

    from core.row_access import act_as_system_in_this_process

    act_as_system_in_this_process()
    connection.settings_dict["NAME"] = database
    maker = Maker(material, seed=2)
    told.send([_replaced(maker, owner, size) for owner, size in documents])


def _replaced(maker: Maker, owner: Owner, size: int) -> ScaleCorpus:
    """Delete a document and add one of its size, as deletion and ingestion do."""
    from kb.deletion import delete_document
    from kb.index.merging import is_due, merge
    from kb.index.segments import ScopeKey, index_document
    from kb.models import Document

    delete_document(Document.unscoped.get(pk=owner.id))
    new = maker.store([size], [replace(owner, id=UUID(int=owner.id.int ^ 1))])
    index_document(new.documents[0].id)
    key = ScopeKey(owner.workspace_id, owner.external_user_id, None)
    if is_due(key):
        merge(key)
    return new
