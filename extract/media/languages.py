"""Which language is spoken when: the speech of a stretch of sound, in passages of one language each.

The model names a language for each piece of at most `PIECE_SECS`, with a probability for each that it knows.
A switch to another language and back must be more probable than that one piece was misheard: so the passages
are the most probable sequence in which each switch costs `SWITCH_COST`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from faster_whisper import WhisperModel

ENGLISH = "en"
RATE = 16_000
"""Samples per second, mono, -1 to 1: the model's input."""

Samples = NDArray[np.float32]

PIECE_SECS = 10.0
# A pause at which the speaker, and so the language, may change.
PAUSE_MS = 300
# Natural logarithm. A single piece between two of another language must be e^(2 x cost) times as probable in
# its own.
SWITCH_COST = 1.5
LEAST_PROBABILITY = 1e-4
FRAMES_PER_SEC = 100


@dataclass(frozen=True, slots=True)
class SpokenPassage:
    """Samples `start` to `end` of a stretch, in which one language is spoken: the code of the model.

    `probability` is that of the language, the mean over its speech. `secs` of it are speech.
    """

    start: int
    end: int
    language: str
    probability: float
    secs: float


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    chances: dict[str, float]

    @property
    def secs(self) -> float:
        return (self.end - self.start) / RATE


def passages(samples: Samples, model: WhisperModel) -> list[SpokenPassage]:
    """Return the passages of a stretch in order, none if nobody speaks; together they cover all samples."""
    pieces = [_Piece(start, end, _chances(samples[start:end], model)) for start, end in _speech(samples)]
    if not pieces:
        return []
    spoken = zip(pieces, most_probable([piece.chances for piece in pieces]), strict=True)
    runs = [
        (language, [piece for piece, _ in run]) for language, run in groupby(spoken, key=lambda pair: pair[1])
    ]
    ends = [(run[-1].end + after[0].start) // 2 for (_, run), (_, after) in pairwise(runs)]
    bounds = zip([0, *ends], [*ends, len(samples)], strict=True)
    return [_passage(*bound, *run) for bound, run in zip(bounds, runs, strict=True)]


def _passage(start: int, end: int, language: str, pieces: list[_Piece]) -> SpokenPassage:
    secs = sum(piece.secs for piece in pieces)
    mean = sum(piece.chances.get(language, 0.0) * piece.secs for piece in pieces) / secs
    return SpokenPassage(start, end, language, mean, secs)


def _speech(samples: Samples) -> list[tuple[int, int]]:
    """Return first and last sample of each piece in which somebody speaks."""
    from faster_whisper.vad import VadOptions, get_speech_timestamps

    options = VadOptions(min_silence_duration_ms=PAUSE_MS, max_speech_duration_s=PIECE_SECS)
    found: list[tuple[int, int]] = []
    for spoken in get_speech_timestamps(samples, options):
        start, end = int(spoken["start"]), int(spoken["end"])
        # Few words show their language badly, so neighbours are taken together.
        if found and end - found[-1][0] <= PIECE_SECS * RATE:
            found[-1] = found[-1][0], end
        else:
            found.append((start, end))
    return found


def _chances(samples: Samples, model: WhisperModel) -> dict[str, float]:
    """Return the probability of each language; without the silence that fills it up to 30 s, a piece takes a
    tenth of the time, and its language is found as well. A model for English alone hears nothing else."""
    if not model.model.is_multilingual:
        return {ENGLISH: 1.0}
    from faster_whisper.audio import pad_or_trim

    frames = max(FRAMES_PER_SEC, len(samples) * FRAMES_PER_SEC // RATE)
    features = pad_or_trim(model.feature_extractor(samples), frames)
    (found,) = model.model.detect_language(model.encode(features))
    return {token.strip("<|>"): chance for token, chance in found}


def most_probable(pieces: Sequence[dict[str, float]]) -> list[str]:
    """Return a language for each piece: the most probable sequence (Viterbi), each switch at its cost."""
    languages = sorted({language for chances in pieces for language in chances})
    scores = _logarithms(pieces[0], languages)
    before: list[dict[str, str]] = []
    for chances in pieces[1:]:
        best = max(scores, key=lambda language: scores[language])
        came = {
            language: language if score >= scores[best] - SWITCH_COST else best
            for language, score in scores.items()
        }
        costs = {language: 0.0 if came[language] == language else SWITCH_COST for language in came}
        heard = _logarithms(chances, languages)
        scores = {language: scores[came[language]] - costs[language] + heard[language] for language in scores}
        before.append(came)
    path = [max(scores, key=lambda language: scores[language])]
    for came in reversed(before):
        path.append(came[path[-1]])
    return path[::-1]


def _logarithms(chances: dict[str, float], languages: Sequence[str]) -> dict[str, float]:
    floor = LEAST_PROBABILITY
    return {language: math.log(max(chances.get(language, 0.0), floor)) for language in languages}
