"""What is searched: scopes of all sizes, and the exact answer in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from bench.scale.corpus import SHARES, SMALL_WORKSPACES, Owner, ScaleCorpus

if TYPE_CHECKING:
    from accounts.principal import Principal

DEPTHS = (10, 50)


@dataclass(frozen=True, slots=True)
class Scope:
    """What is searched: its name, for whom, and in which documents."""

    name: str
    principal: Principal
    documents: frozenset[UUID] | None = None

    def holds(self, owner: Owner) -> bool:
        """Apply the rule of contract §2 anew, in one line."""
        return (
            owner.workspace_id in self.principal.roles
            and owner.external_user_id == self.principal.external_user_id
            and (self.documents is None or owner.id in self.documents)
        )


def scopes(corpus: ScaleCorpus) -> list[Scope]:
    """Return scopes of all shares, and their intersections with external users and lists of documents."""
    from accounts.models import User, Workspace
    from accounts.principal import Principal
    from accounts.roles import Role

    user = User.objects.get()
    names = [f"workspace {n}" for n in range(len(SHARES) + SMALL_WORKSPACES)]
    ids = dict(Workspace.objects.values_list("name", "pk"))
    everything = Principal(user.pk, {ids[name]: Role.VIEWER for name in names})
    some = np.random.default_rng(4).permutation(len(corpus.documents))

    def of(*numbers: int) -> Principal:
        return replace(everything, roles={ids[names[n]]: Role.VIEWER for n in numbers})

    def listed(count: int) -> frozenset[UUID]:
        return frozenset(corpus.documents[n].id for n in some[:count])

    small = range(len(SHARES), len(names))
    guest = "user 0"
    return [
        *(Scope(f"workspace of {share:.2%}", of(n)) for n, share in enumerate(SHARES)),
        Scope(f"{SMALL_WORKSPACES} small workspaces", of(*small)),
        Scope("all workspaces", everything),
        Scope("all, an external user", everything.for_external_user(guest)),
        *(
            Scope(f"workspace of {share:.2%}, an external user", of(n).for_external_user(guest))
            for n, share in enumerate(SHARES[:3])
        ),
        Scope("all, 1 document", everything, listed(1)),
        Scope("all, 100 documents", everything, listed(100)),
        Scope("all, half of the documents", everything, listed(len(corpus.documents) // 2)),
        Scope("workspace of 50.00%, half of the documents", of(0), listed(len(corpus.documents) // 2)),
    ]


def held(corpus: ScaleCorpus, scope: Scope) -> NDArray[np.bool_]:
    """Return which chunks a scope holds."""
    return np.array([scope.holds(owner) for owner in corpus.documents])[corpus.document_of]


def exact_answers(corpus: ScaleCorpus, scope: Scope, queries: NDArray[np.float32]) -> list[list[UUID]]:
    """Return for each query the ids of the nearest chunks of a scope, by comparing all."""
    numbers = np.flatnonzero(held(corpus, scope))
    best: list[list[tuple[float, int]]] = [[] for _ in queries]
    for start in range(0, len(numbers), 100_000):
        part = numbers[start : start + 100_000]
        similarity = queries @ corpus.vectors[part].astype(np.float32).T
        for found, row in zip(best, similarity, strict=True):
            nearest = np.argsort(-row)[: max(DEPTHS)]
            found += zip((-row[nearest]).tolist(), part[nearest].tolist(), strict=True)
    return [[corpus.ids[number] for _, number in sorted(found)[: max(DEPTHS)]] for found in best]


def recall(found: Sequence[list[UUID]], exact: Sequence[list[UUID]], depth: int) -> float:
    """Return the mean share of the `depth` nearest that were found among as many."""
    shares = [
        len({*ours[:depth]} & {*theirs[:depth]}) / len(theirs[:depth])
        for ours, theirs in zip(found, exact, strict=True)
        if theirs
    ]
    return float(np.mean(shares)) if shares else 1.0
