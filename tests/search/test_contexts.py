"""Contexts are values: made of a chunk or of a page, cited as either, and quick to send."""

from __future__ import annotations

import ast
import pickle
from pathlib import Path
from uuid import uuid4

from core.locations import Box, LocatedText, OnPage, Page, PageBox
from kb.models import Chunk
from kb.pictures import Picture
from search.contexts import context_of_chunk, context_of_page
from tests.search.contexts import context

ROOT = Path(__file__).parents[2]
PAGE = Page(3, 600, 800)
WORDS = LocatedText.of_words([("Tall", OnPage(PAGE, 1, Box(10, 20, 30, 32)))])


def test_a_chunk_keeps_all_that_answers_and_quotes_need() -> None:
    area = PageBox(Box(5, 5, 9, 9), PAGE)
    chunk = Chunk(
        id=uuid4(),
        document_id=uuid4(),
        workspace_id=uuid4(),
        text="Tall",
        headings=["Trees"],
        spans=WORDS.dump(),
        sentences=[[0, 4]],
        page_number=3,
        language="en",
        modality="image",
        picture=Picture(area, 4, "seer-1").dump(),
    )
    made = context_of_chunk(2, chunk, "a.pdf", 0.5, 0.25)
    assert (made.chunk_id, made.document_id, made.workspace_id) == (
        chunk.pk,
        chunk.document_id,
        chunk.workspace_id,
    )
    assert (made.rank, made.score, made.rerank_score, made.document_name) == (2, 0.5, 0.25, "a.pdf")
    assert (made.located, made.boxes) == (chunk.located, chunk.boxes(chunk.located))
    assert made.picture == chunk.shown
    assert [(each.text, each.start, each.end) for each in made.sentences] == [("Tall", 0, 4)]
    assert made.citation == f'<citation id="{chunk.pk}">[2]</citation>'


def test_a_page_is_cited_by_its_address_and_can_not_break_out_of_it() -> None:
    made = context_of_page(
        1,
        url="https://tea.example/?a=1&b=2",
        title='Tea "and" <b>',
        text="Tea is hot. Ice is not.",
        language="en",
        score=None,
    )
    assert made.citation == (
        '<web_citation url="https://tea.example/?a=1&amp;b=2" title="Tea &quot;and&quot; &lt;b&gt;">'
        "[1]</web_citation>"
    )
    assert made.document_name == 'Tea "and" <b> (tea.example)'
    assert [each.text for each in made.sentences] == ["Tea is hot.", "Ice is not."]
    assert (made.score, made.rerank_score, made.boxes, made.picture) == (0.0, None, [], None)


def test_what_was_worked_out_does_not_travel() -> None:
    made = context(1, "Tea is hot.", "Ice is not.")
    light = len(pickle.dumps(made.portable()))
    assert made.located.boxes() and made.sentences
    assert len(pickle.dumps(made.portable())) == light < len(pickle.dumps(made))
    assert made.portable() == made
    assert made.portable(with_places=False).located.runs == ()


def test_nothing_that_answers_makes_a_row_to_carry_a_text() -> None:
    makers = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "search").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Chunk"
    ]
    assert makers == []
