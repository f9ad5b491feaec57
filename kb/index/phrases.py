"""Phrases: text in quotation marks in a question must occur in a chunk word for word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from uuid import UUID

import numpy as np
from django.db.models.functions import Left

from accounts.principal import Principal
from core.text.analysis import terms
from core.text.normalizing import normalize
from kb.chunk_size import MOST_CHARS
from kb.index.view import Rows, View
from kb.index.words import holding_all
from kb.models import Chunk, with_headings

PHRASE = re.compile(r'"([^"]+)"|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»')
MOST_READ = 2000
"""If more chunks hold all words of a phrase, only the first ones in reading order are checked."""


def phrases_in(question: str) -> list[str]:
    """Return what stands in quotes, folded."""
    quoted = ("".join(groups) for groups in PHRASE.findall(question))
    return [phrase for phrase in map(fold, quoted) if phrase]


def narrow_to_phrases(principal: Principal, view: View, question: str) -> View:
    """Return the view of rows that hold every phrase; the whole view without phrases or without such rows."""
    phrases = phrases_in(question)
    if not phrases:
        return view
    rows = _holding_words(view, phrases)[:MOST_READ]
    ids = view.chunk_ids(rows)
    holding = holding_phrases(principal, ids, phrases)
    held = [id in holding for id in ids]
    return view.narrow(rows[held]) if any(held) else view


def holding_phrases(principal: Principal, ids: Sequence[UUID], phrases: Sequence[str]) -> set[UUID]:
    """Return which of these chunks the principal may find and hold every one of the folded phrases."""
    chunks = Chunk.objects.restricted_to(principal).filter(pk__in=ids, replaced_by=None)
    texts = {
        id: fold(with_headings(headings, text))
        for id, headings, text in chunks.values_list("pk", "headings", Left("text", MOST_CHARS))
    }
    return {id for id, text in texts.items() if all(phrase in text for phrase in phrases)}


def fold(text: str) -> str:
    """Return `text` without case, typographic variants and line breaks."""
    return " ".join(normalize("NFKC", text).casefold().split())


def _holding_words(view: View, phrases: list[str]) -> Rows:
    found = [
        holding_all(view, {term for phrase in phrases for term in terms(phrase, language or None)})
        for language in sorted(view.languages)
    ]
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.intp)
