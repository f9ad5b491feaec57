"""What models say of a question and texts: how similar they are, and how well each text answers it.

Statements are weighed in a text process, and the models are in the web process. There a `ModelReading` asks
them; a text process has a `DistantReading`, which sends each call to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Literal, Protocol

import numpy as np

from kb.embedding import Vectors, embedding_model, multilingual_model
from kb.embedding.calibration import calibration_of
from search.named_documents import as_columns_say
from search.question_language import is_english, is_in_another_language
from search.rerank.ms_marco import ms_marco


class Languages(StrEnum):
    """In which languages a question and a text are: the model for English knows no other."""

    ENGLISH = "English"
    SAME = "the same other language"
    TWO = "two languages"


Call = (
    tuple[Literal["similarity"], Sequence[str], Sequence[Languages]]
    | tuple[Literal["answers"], Sequence[tuple[str, str]]]
)


@lru_cache(maxsize=512)
def languages_of(question: str, language: str | None) -> Languages:
    """Return in which languages a question and a text are; one of no known language is in the question's."""
    if is_in_another_language(question, language):
        return Languages.TWO
    return Languages.ENGLISH if is_english(question) and language in (None, "en") else Languages.SAME


class QuestionReading(Protocol):
    """What is asked of models about one question; each call takes one batch."""

    @property
    def question(self) -> str:
        """The question, as it was asked."""

    def similarity(self, texts: Sequence[str], languages: Sequence[Languages]) -> Vectors:
        """Return the cosine of each text with the question, of shape (texts,).

        Cosines are on the scale for which the weights and the floor are given. `languages` tells of each text
        in which languages it and the question are.
        """

    def answers(self, asked: Sequence[tuple[str, str]]) -> Vectors:
        """Return the logarithm of the odds that each text answers the question before it, both in English."""


@dataclass(frozen=True, slots=True)
class ModelReading:
    """The resident models, and a question."""

    question: str

    def similarity(self, texts: Sequence[str], languages: Sequence[Languages]) -> Vectors:
        """See `QuestionReading`."""
        found = np.empty(len(texts), dtype=np.float32)
        for kind in Languages:
            places = [at for at, each in enumerate(languages) if each is kind]
            if places:
                found[places] = self._similarity([texts[at] for at in places], kind)
        return found

    def _similarity(self, texts: Sequence[str], languages: Languages) -> Vectors:
        model = embedding_model() if languages is Languages.ENGLISH else multilingual_model()
        asked = model.embed_query(as_columns_say(self.question))
        cosines: Vectors = model.embed_documents(texts) @ asked
        return calibration_of(model.name).similarity(cosines, across=languages is Languages.TWO)

    def answers(self, asked: Sequence[tuple[str, str]]) -> Vectors:
        """See `QuestionReading`."""
        return ms_marco().logits(asked)

    def serve(self, call: Call) -> Vectors:
        """Answer a call of a `DistantReading`."""
        return self.similarity(*call[1:]) if call[0] == "similarity" else self.answers(call[1])


@dataclass(frozen=True, slots=True)
class DistantReading:
    """The models of another process: `ask` sends a call to it and returns what they say."""

    question: str
    ask: Callable[[Call], Any]

    def similarity(self, texts: Sequence[str], languages: Sequence[Languages]) -> Vectors:
        """See `QuestionReading`."""
        cosines: Vectors = self.ask(("similarity", texts, languages))
        return cosines

    def answers(self, asked: Sequence[tuple[str, str]]) -> Vectors:
        """See `QuestionReading`."""
        odds: Vectors = self.ask(("answers", asked))
        return odds
