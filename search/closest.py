"""The sentence of each passage that comes nearest to a question that nothing answers.

A reader is shown it and led to its place: often it holds what was asked for in other words, and nobody can be
sure that it does. The beginning of a passage seldom has anything to do with the question.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from django.core.exceptions import ImproperlyConfigured

from core.errors import Timeout
from kb.embedding import embedding_model
from kb.embedding.calibration import knows_english_alone
from search.contexts import Context, Sentence
from search.generation.extractive.question_parts import parts_of_question
from search.generation.extractive.reading import (
    Languages,
    ModelReading,
    QuestionReading,
    languages_of,
)
from search.generation.extractive.weighing import weigh
from search.text_processes import text_processes

MOST_PASSAGES = 3
"""So many closest passages are shown."""

logger = logging.getLogger(__name__)


def closest_sentences(question: str, contexts: Sequence[Context]) -> Mapping[int, Sentence]:
    """Return the sentence of each of the first contexts, by rank; none if that fails or takes too long.

    An answer is not lost for it. Call it in a thread, because it waits.
    """
    first = contexts[:MOST_PASSAGES]
    sent = [context.portable(with_places=False) for context in first]
    try:
        found: Mapping[int, int] = text_processes.run(
            "closest", question, sent, embed=ModelReading(question).serve
        )
    # A model that can't be loaded, and what a text process says of a text that it can't work on.
    except (Timeout, ImproperlyConfigured, RuntimeError) as error:
        logger.warning("The sentences that come nearest to a question were not found: %s", error)
        return {}
    return {
        context.rank: context.sentences[found[context.rank]] for context in first if context.rank in found
    }


def comparable_at_once(question: str, contexts: Sequence[Context]) -> list[Context]:
    """Return the contexts that the embedding model can compare with a question.

    Another model takes seconds and memory: it is loaded to answer, and not to show where an answer may be.
    """
    if not knows_english_alone(embedding_model().name):
        return list(contexts)
    return [each for each in contexts if languages_of(question, each.language) is Languages.ENGLISH]


def places_of_closest(question: str, contexts: Sequence[Context], reading: QuestionReading) -> dict[int, int]:
    """Return which sentence of each context comes nearest, from 0, by the rank of the context."""
    evidence = weigh(parts_of_question(question).subject, contexts, reading)
    # What was not read once more was no better, and scores on another scale.
    ranked = sorted(evidence, key=lambda each: (each.odds is not None, each.score))
    return {each.statement.context.rank: each.statement.at for each in ranked}
