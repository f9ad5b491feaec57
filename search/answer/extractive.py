"""An answer without a language model: the sentences that best answer the question, each with its source.

It can't be wrong about what a document says, only about which sentence matters; below a floor of
relevance it says that there is no answer.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass

from kb.embedding import embedding_model
from kb.tables import cells_of
from search.answer.base import Answerer, Context, Sentence

MAX_SENTENCES = 4
MAX_PER_CONTEXT = 2
SENTENCE_CHARS = range(20, 600)
WORD_WEIGHT = 0.3
"""How much a question whose every word stands in the sentence adds to the cosine similarity."""
FLOOR = 0.55
"""Below this no sentence is an answer; found with `bench/answer_floor.py`."""
QUESTION = re.compile(r"\?\W*$")
"""A question resembles another question more than its answer does, and answers nothing."""
CONTEXT_WEIGHT = 0.15
"""How much a sentence of the least relevant context loses against one of the most relevant."""
NEAR_BEST = 0.12
"""How far below the best sentence another may score and still be told."""
NOTHING_FOUND = "I found no answer to this in these documents."


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence of a context and how well it answers the question."""

    context: Context
    sentence: Sentence
    score: float


class ExtractiveAnswerer(Answerer):
    """Quotes the best sentences."""

    model = "extractive"

    async def answer(self, question: str, contexts: Sequence[Context]) -> AsyncIterator[str]:
        """Yield one list item for each chosen sentence, best first; a single one is a plain paragraph."""
        chosen = choose(await asyncio.to_thread(weigh, question, contexts))
        if not chosen:
            yield NOTHING_FOUND
        lead = "- " if len(chosen) > 1 else ""
        for evidence in chosen:
            told = escape_markdown(as_told(evidence.sentence.text))
            yield f"{lead}{told} <source_{evidence.context.rank}>\n"


def weigh(question: str, contexts: Sequence[Context]) -> list[Evidence]:
    """Score every sentence by meaning, by the question's words that stand in it, and by its context."""
    candidates = list(_candidates(contexts))
    if not candidates:
        return []
    model = embedding_model()
    similarity = model.embed_documents([s.text for _, s in candidates]) @ model.embed_query(question)
    asked, handicaps = _stems(question), _handicaps(contexts)
    return [
        Evidence(
            context,
            sentence,
            float(cosine) + WORD_WEIGHT * _coverage(asked, sentence.text) - handicaps[context.rank],
        )
        for (context, sentence), cosine in zip(candidates, similarity, strict=True)
    ]


def choose(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Return the few sentences worth telling, best first, no text twice; nothing if none passes the floor."""
    ranked = sorted(evidence, key=lambda e: (-e.score, e.context.rank, e.sentence.start))
    if not ranked or ranked[0].score < FLOOR:
        return []
    chosen: list[Evidence] = []
    for candidate in ranked:
        same_context = sum(c.context.rank == candidate.context.rank for c in chosen)
        told = any(fold(c.sentence.text) == fold(candidate.sentence.text) for c in chosen)
        near = candidate.score >= max(FLOOR, ranked[0].score - NEAR_BEST)
        if near and not told and same_context < MAX_PER_CONTEXT and len(chosen) < MAX_SENTENCES:
            chosen.append(candidate)
    return chosen


def fold(text: str) -> str:
    """Return `text` with every run of white space as one space."""
    return " ".join(text.split())


def as_told(sentence: str) -> str:
    """Return a sentence in one line; dots, not Markdown's bars, set the cells of a table's row apart."""
    text = fold(sentence)
    if not (text.startswith("|") and text.endswith("|")):
        return text
    return " · ".join(cells_of(text))


def escape_markdown(text: str) -> str:
    """Return `text` so that Markdown shows it as it is and no part of it can pose as a citation."""
    escaped = re.sub(r"([\\`*_\[\]<>]|~(?=~)|&(?=#?\w+;))", r"\\\1", text)
    return re.sub(r"^(\d{0,9})([-+.)#])(?=[\s#])", r"\1\\\2", escaped)


def _candidates(contexts: Sequence[Context]) -> Iterator[tuple[Context, Sentence]]:
    for context in contexts:
        headings = {fold(heading) for heading in context.chunk.headings}
        for sentence in context.sentences:
            told = fold(sentence.text)
            if len(told) in SENTENCE_CHARS and told not in headings and not QUESTION.search(told):
                yield context, sentence


def _handicaps(contexts: Sequence[Context]) -> dict[int, float]:
    """Return by rank what a sentence loses: nothing in the best context, `CONTEXT_WEIGHT` in the worst."""
    best, worst = max(c.score for c in contexts), min(c.score for c in contexts)
    spread = best - worst or 1.0
    return {c.rank: CONTEXT_WEIGHT * (best - c.score) / spread for c in contexts}


def _coverage(asked: frozenset[str], sentence: str) -> float:
    return len(asked & _stems(sentence)) / len(asked) if asked else 0.0


def _stems(text: str) -> frozenset[str]:
    """Return the longer words, cut to five letters: crude, but the same for “acquire” and “acquired”."""
    return frozenset(word[:5] for word in re.findall(r"\w+", text.lower()) if len(word) > 3 or word.isdigit())
