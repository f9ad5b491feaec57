"""What models say of a question and texts, without models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kb.embedding.base import Vectors
from search.generation.extractive.reading import Languages


def _nothing(text: str) -> float:
    return 0.0


@dataclass(frozen=True, slots=True)
class GivenReading:
    """Says of each text what it is given; by default that it has nothing to do with the question."""

    cosine: Callable[[str], float] = _nothing
    odds: Callable[[str], float] = _nothing
    question: str = ""

    def similarity(self, texts: Sequence[str], languages: Sequence[Languages]) -> Vectors:
        """Return what `cosine` says of each, in whichever language."""
        return np.array([*map(self.cosine, texts)], np.float32)

    def answers(self, asked: Sequence[tuple[str, str]]) -> Vectors:
        """Return what `odds` says of each text, whatever the question."""
        return np.array([self.odds(text) for _, text in asked], np.float32)
