"""In any world whatever: list, search, document, chunk, file, page and streams agree with the reference.

Users, memberships with roles, documents of external users and conversations, narrowed keys; then documents
move, roles change, sharing is switched and keys are narrowed, and everybody asks again.
"""

from __future__ import annotations

import inspect
import json
import logging
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings

from accounts.models import User, Workspace
from kb.api import files
from kb.models import Document, Segment
from tests.adversary.reference import Asker, Paper, Personal, sees
from tests.adversary.worlds import PLANS, TEXT, WORD, Plan, RandomWorld, StoredSegment
from tests.factories import indexed_document

# Worlds are stored without reading a text: their segments are copies of one.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("in_segments")]
logger = logging.getLogger(__name__)

WITHIN = [
    "documents/{document}",
    "documents/{document}/file",
    "documents/{document}/pages/1",
    "documents/{document}/pages/1/text",
    "documents/{document}/events",
    "documents/{document}/chunks",
    "documents/{document}/outline?chunk_id={chunk}",
    "documents/{document}/reading",
    "documents/{document}/quality",
    "documents/{document}/summary",
    "chunks/{chunk}",
    "documents?id={document}",
]
"""All that is read of one document; each request takes the next of them, and each refused one, too."""
OF_AN_EXECUTION = ["executions/{execution}", "executions/{execution}/events?after=0"]


class Asking:
    """Compares the API with the reference, and counts."""

    def __init__(self, template: Document) -> None:
        self.template = template
        self.index = StoredSegment(Segment.unscoped.get(document=template))
        # Turns of their own for what is seen and what is not: a few worlds ask for everything both ways.
        self.turns: defaultdict[tuple[str, bool], Iterator[int]] = defaultdict(count)
        self.counts = Counter[str]()

    def ask_all(self, world: RandomWorld) -> None:
        """Let everybody of a world ask for everything."""
        for asker, headers in world.askers():
            inside = next((each for each in world.sessions if each.id == asker.session), None)
            if inside is not None and not sees(asker, inside):
                assert self.get("documents", asker, headers)[0] == 404
                self.counts["refused session"] += 1
                continue
            self.lists(world, asker, headers)
            for paper, chunk in zip(world.papers, world.chunks, strict=True):
                ids = {"document": paper.id, "chunk": chunk}
                self.reads(WITHIN, ids, asker, headers, sees(asker, paper, world.shared))
            for execution in world.executions:
                self.reads(
                    OF_AN_EXECUTION, {"execution": execution.id}, asker, headers, sees(asker, execution)
                )

    def lists(self, world: RandomWorld, asker: Asker, headers: dict[str, str]) -> None:
        """Compare the lists and the search."""
        visible = {str(p.id) for p in world.papers if sees(asker, p, world.shared, by_id=False)}
        found = self.get("documents?limit=200", asker, headers)[1]["results"]
        assert {one["id"] for one in found} == visible
        body = {"query": WORD, "limit": 100, "rerank": False}
        body |= {"session_id": str(asker.session)} if asker.session else {}
        reply = Client().post("/api/v1/search", body, "application/json", headers=headers)
        assert {one["document_id"] for one in reply.json()["results"]} == visible, reply.content
        mine = {execution.id for execution in world.executions if sees(asker, execution)}
        assert {one["id"] for one in self.get("executions", asker, headers)[1]["results"]} == mine
        self.counts.update(listed=1, **{"in lists": len(visible)})

    def reads(
        self, paths: list[str], ids: dict[str, Any], asker: Asker, headers: dict[str, str], visible: bool
    ) -> None:
        """Compare one way to read a document or an execution."""
        path = paths[next(self.turns[paths[0], visible]) % len(paths)]
        status = self.get(path.format(**ids), asker, headers)[0]
        assert status in ((200, 204) if visible else (404,)), (path, status, asker, ids)
        self.counts[f"{path} {'seen' if visible else 'unseen'}"] += 1

    def get(self, path: str, asker: Asker, headers: dict[str, str]) -> tuple[int, Any]:
        """Return status and JSON of a GET."""
        within = f"{'&' if '?' in path else '?'}session_id={asker.session}" if asker.session else ""
        response = Client().get(f"/api/v1/{path}{within}", headers=headers)
        is_json = response["Content-Type"] == "application/json" if "Content-Type" in response else False
        return response.status_code, json.loads(response.content) if is_json else None


@pytest.fixture
def asking(monkeypatch: pytest.MonkeyPatch, transactional_db: None) -> Iterator[Asking]:
    """Ask without drawing pages: who gets one is decided before."""
    monkeypatch.setattr(files, "page_png", lambda *_args, **_options: b"a page")
    owner = User.objects.create_user("template@example.org")
    yield Asking(indexed_document(Workspace.create_for(owner, name="template"), TEXT))


def check(plan: Plan, asking: Asking) -> None:
    world = RandomWorld(plan, asking.template, asking.index)
    asking.ask_all(world)
    if plan.changes:
        world.happen()
        asking.ask_all(world)
    asking.counts["worlds"] += 1


def search(asking: Asking, worlds: int) -> None:
    """Check so many worlds, and that they were not all empty."""
    fixture = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]

    # Without shrinking, which takes minutes: a world is small anyway.
    @settings(max_examples=worlds, suppress_health_check=fixture, phases=[Phase.generate])
    @given(PLANS)
    def hold(plan: Plan) -> None:
        check(plan, asking)

    hold()
    logger.info(dict(sorted(asking.counts.items())))
    assert asking.counts["worlds"] >= worlds
    for path in WITHIN:
        assert asking.counts[f"{path} seen"] and asking.counts[f"{path} unseen"], path


def test_worlds_agree_with_the_reference(asking: Asking) -> None:
    search(asking, 60)


@pytest.mark.slow("adversary")
def test_two_thousand_worlds_agree_with_the_reference(asking: Asking) -> None:
    search(asking, 2000)


def test_the_reference_is_small() -> None:
    """It decides over all others, so it must be read at one look."""
    lines = [line for line in inspect.getsource(sees).splitlines() if line.strip()]
    assert len(lines) <= 20
    assert not sees(Asker(1, {1}), Paper("d", 1, "x")) and sees(Asker(1, {1}, "x"), Personal("e", 1, 1, "x"))
