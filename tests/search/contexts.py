"""Contexts made by hand, with a place for every word."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid4

from core.locations import Box, LocatedText, OnPage, Page
from search.contexts import ChunkContext, Context

PAGE = Page(3, 600, 800)


def context(rank: int, *sentences: str, located: bool = True, between: str = " ") -> ChunkContext:
    """A context whose sentence i stands on line i of page 3, each word 10 points wide."""
    lines = [
        LocatedText.of_words(
            (word, OnPage(PAGE, line, Box(10.0 * i, 20.0 * line, 10.0 * i + 9, 20.0 * line + 12)))
            for i, word in enumerate(sentence.split())
        )
        for line, sentence in enumerate(sentences)
    ]
    text = LocatedText.join(lines, between)
    bounds, at = [], 0
    for sentence in sentences:
        bounds.append((at, at + len(sentence)))
        at += len(sentence) + 1
    return ChunkContext(
        rank=rank,
        text=text.text,
        document_name="a.pdf",
        score=1.0,
        sentence_bounds=tuple(bounds),
        spans=tuple(text.dump()) if located else (),
        language="en",
        chunk_id=uuid4(),
        document_id=uuid4(),
    )


def table_context(text: str, rank: int = 1, **other: Any) -> Context:
    """Return a context that is a table with a sentence for each row below its header."""
    bounds, at = [], 0
    for line in text.split("\n"):
        bounds.append((at, at + len(line)))
        at += len(line) + 1
    made = context(rank, "x", located=False)
    return replace(made, text=text, sentence_bounds=tuple(bounds[2:]), spans=(), **other)
