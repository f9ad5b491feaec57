"""What models say of a question and texts: how similar they are, and how well each text answers it.

Statements are weighed in a text process, and the models are in the web process. There a `ModelReading` asks
them; a text process has a `DistantReading`, which sends each call to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from kb.embedding import EmbeddingModel, Vectors, embedding_model, multilingual_model
from kb.embedding.calibration import calibration_of
from search.named_documents import as_columns_say
from search.question_language import is_english
from search.rerank.ms_marco import ms_marco

Call = tuple[Literal["similarity"], Sequence[str], Sequence[bool]] | tuple[Literal["answers"], Sequence[str]]


class QuestionReading(Protocol):
    """What is asked of models about one question; each call takes one batch."""

    def similarity(self, texts: Sequence[str], across: Sequence[bool]) -> Vectors:
        """Return the cosine of each text with the question, of shape (texts,).

        Cosines are on the scale for which the weights and the floor are given. `across` tells which texts are
        in another language than the question.
        """

    def answers(self, texts: Sequence[str]) -> Vectors:
        """Return the logarithm of the odds that each text answers the question, both in English."""


@dataclass(frozen=True, slots=True)
class ModelReading:
    """The resident models, and a question."""

    question: str

    def similarity(self, texts: Sequence[str], across: Sequence[bool]) -> Vectors:
        """See `QuestionReading`."""
        is_foreign = np.asarray(across) if is_english(self.question) else np.ones(len(texts), dtype=bool)
        found = np.empty(len(texts), dtype=np.float32)
        for of_these, model_for in ((is_foreign, multilingual_model), (~is_foreign, embedding_model)):
            if of_these.any():
                some = [text for text, counts in zip(texts, of_these, strict=True) if counts]
                found[of_these] = self._similarity(model_for(), some, np.asarray(across)[of_these])
        return found

    def _similarity(self, model: EmbeddingModel, texts: Sequence[str], across: Vectors) -> Vectors:
        asked = model.embed_query(as_columns_say(self.question))
        cosines: Vectors = model.embed_documents(texts) @ asked
        scale = calibration_of(model.name)
        return np.where(across, scale.similarity(cosines, across=True), scale.similarity(cosines))

    def answers(self, texts: Sequence[str]) -> Vectors:
        """See `QuestionReading`."""
        return ms_marco().logits(self.question, texts)

    def serve(self, call: Call) -> Vectors:
        """Answer a call of a `DistantReading`."""
        return self.similarity(*call[1:]) if call[0] == "similarity" else self.answers(call[1])


@dataclass(frozen=True, slots=True)
class DistantReading:
    """The models of another process: `ask` sends a call to it and returns what they say."""

    ask: Callable[[Call], Any]

    def similarity(self, texts: Sequence[str], across: Sequence[bool]) -> Vectors:
        """See `QuestionReading`."""
        cosines: Vectors = self.ask(("similarity", texts, across))
        return cosines

    def answers(self, texts: Sequence[str]) -> Vectors:
        """See `QuestionReading`."""
        odds: Vectors = self.ask(("answers", texts))
        return odds
