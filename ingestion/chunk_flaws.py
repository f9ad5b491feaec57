"""What is wrong with chunks, as far as rules can tell without knowing the document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from extract.base import Kind
from ingestion.structure.lists import LIST_ITEM
from kb.chunks import ChunkDraft

# A chunk of fewer characters says little by itself.
FEWEST_CHARS = 40
WORD = re.compile(r"[^\W\d_]{2,}|[\u3040-\u9fff]")

SHORT, HEADINGS_ALONE, MID_SENTENCE, NO_WORDS = "short", "headings_alone", "mid_sentence", "no_words"
FLAWS = (SHORT, HEADINGS_ALONE, MID_SENTENCE, NO_WORDS)


def chunk_report(drafts: Sequence[ChunkDraft]) -> dict[str, Any]:
    """Return how long the chunks are in characters, and how many have each flaw."""
    sizes = sorted(len(draft.located.text) for draft in drafts)
    flaws_of_each = [list(chunk_flaws(draft)) for draft in drafts]
    flaws = Counter(chain.from_iterable(flaws_of_each))
    return {
        "total": len(drafts),
        "characters": {
            "least": sizes[0] if sizes else 0,
            "median": sizes[len(sizes) // 2] if sizes else 0,
            "most": sizes[-1] if sizes else 0,
        },
        "flawed": sum(map(bool, flaws_of_each)),
        "flaws": {flaw: flaws[flaw] for flaw in FLAWS},
    }


def chunk_flaws(draft: ChunkDraft) -> Iterator[str]:
    """Yield the flaws of a chunk."""
    text, bounds = draft.located.text, draft.elements or ()
    if len(text) < FEWEST_CHARS:
        yield SHORT
    if bounds and all(bound.kind is Kind.HEADING for bound in bounds):
        yield HEADINGS_ALONE
    begins = bounds[0].kind if bounds else Kind.PARAGRAPH
    if begins is Kind.PARAGRAPH and text[:1].islower() and not LIST_ITEM.match(text):
        yield MID_SENTENCE
    if not WORD.search(text):
        yield NO_WORDS
