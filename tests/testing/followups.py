"""How well follow-ups are made self-contained: cases of `tests/samples/followups`, asked of the real index.

A case is a conversation, its next question, and what a person would ask instead who knows nothing of the
conversation. A follow-up is *met* if its first five results hold the first of that question's.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from assistants.followups import Rewriter, SelfContained, Turn, self_contained
from core.llm.payment import NoCharge
from tests.testing.paths import SAMPLES
from tests.testing.scratch import both_steps, stored

if TYPE_CHECKING:
    from accounts.principal import Principal

FOLDER = SAMPLES / "followups"
HALVES = ("developing", "held_out")
FIRST = 5
"""So many results of a follow-up are looked at."""
WANTED = 3
"""So many of the self-contained question's."""
UNPAID = NoCharge("a measurement of follow-ups")

Ids = Sequence[UUID]


def cases_of(name: str, folder: Path = FOLDER) -> list[dict[str, Any]]:
    """Return the cases of a file."""
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text("utf-8").splitlines()]


def ingest(files: Sequence[Path] = ()) -> tuple[Principal, dict[str, UUID]]:
    """Read the documents; return who sees them, and the id of each by its name."""
    from accounts.access.identity import principal_of_user
    from accounts.models import User

    ids: dict[str, UUID] = {}
    for file in files or sorted((FOLDER / "documents").iterdir()):
        document = stored(file)
        for step in both_steps():
            step(document.pk)
        ids[file.name] = document.pk
    return principal_of_user(User.objects.get(email="bench@example.org")), ids


@dataclass(frozen=True)
class FollowUpOutcome:
    """What a follow-up found, with and without what was said before, and what it should have found."""

    case: dict[str, Any]
    read_as: SelfContained
    found: Ids
    bare: Ids
    """What the question finds as it was typed."""
    wanted: Ids

    @property
    def is_met(self) -> bool:
        """Whether the first of the wanted is among what was found."""
        return self.wanted[0] in self.found

    @property
    def is_met_bare(self) -> bool:
        """The same for the question as it was typed."""
        return self.wanted[0] in self.bare

    @cached_property
    def share(self) -> float:
        """Return how many of the wanted were found, 0 to 1."""
        return len(set(self.wanted) & set(self.found)) / len(self.wanted)

    @cached_property
    def share_bare(self) -> float:
        """The same for the question as it was typed."""
        return len(set(self.wanted) & set(self.bare)) / len(self.wanted)


def measure(
    cases: Sequence[dict[str, Any]],
    principal: Principal,
    ids: dict[str, UUID],
    rewriter: Rewriter | None = None,
) -> Iterator[FollowUpOutcome]:
    """Yield what comes of each case."""
    for case in cases:
        read_as = read(case, ids, rewriter)

        def found(question: str, count: int, documents: tuple[UUID, ...] | None = None) -> Ids:
            return _found(principal, question, count, documents)

        yield FollowUpOutcome(
            case,
            read_as,
            found(read_as.question, FIRST, read_as.document_ids),
            found(case["question"], FIRST),
            found(case["alone"], WANTED),
        )


def read(case: dict[str, Any], ids: dict[str, UUID], rewriter: Rewriter | None = None) -> SelfContained:
    """Return what the last question of a case is read as, each turn before it read in the same way."""
    return asyncio.run(_read(case, ids, rewriter))


async def _read(case: dict[str, Any], ids: dict[str, UUID], rewriter: Rewriter | None) -> SelfContained:
    history: list[Turn] = []
    for said in case["turns"]:
        asked = await self_contained(said["question"], history, rewriter=rewriter)
        cites = tuple(said["cites"])
        documents = tuple(ids[name] for name in cites)
        history.append(Turn(said["question"], asked.question, said["answer"], documents, cites))
    return await self_contained(case["question"], history, rewriter=rewriter)


def _found(principal: Principal, question: str, count: int, documents: tuple[UUID, ...] | None) -> Ids:
    from search.questions import Question
    from search.retrieval import rank

    ranking = rank(principal, Question(question, documents), limit=count, payment=UNPAID)
    return [each.chunk.pk for each in ranking.results]


def changed(cases: Sequence[dict[str, Any]], ids: dict[str, UUID]) -> list[tuple[str, str]]:
    """Return the self-contained questions that were not left alone, and what became of them."""
    read_as = [(case["question"], read(case, ids)) for case in cases]
    return [(question, after.question) for question, after in read_as if after.carried]
