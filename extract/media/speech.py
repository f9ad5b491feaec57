"""Speech recognition: words, their times and their language from the samples of a recording.

`faster-whisper` (CTranslate2, 8-bit integers) with models on this machine; nothing is downloaded. The voice
detector removes silence, music and noise first, because a model would invent words for them. Each passage is
read in its own language (`extract.media.languages`). What a model has probably invented is left out, and
reported as not understood.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from extract.media.languages import ENGLISH, RATE, Samples, SpokenPassage, passages
from extract.media.model import AUTO, model_for
from extract.media.sentences import SpokenWord, cut_sentences
from extract.memory import allocation_errors

if TYPE_CHECKING:
    from faster_whisper.transcribe import Segment
    from faster_whisper.transcribe import SpokenWord as FoundWord

# Silences of so many milliseconds are skipped.
SKIPPED_SILENCE = 1000
# Words for a breath are not believed after so many seconds of silence.
HALLUCINATION_SILENCE = 2.0
# If the model is stuck it tries once more, at random. The usual five rounds of five tries do not help: in a
# language that the model does not know they take as long as listening does.
TEMPERATURES, TRIES = (0.0, 0.6), 1
# Mean logarithm of a token's probability: below, the words are invented. More is asked of other languages
# than English, which a model for English alone reads, and of one that is less probable than `SURE`.
LEAST_IN_ENGLISH, LEAST_IN_ENGLISH_IF_UNSURE = -1.0, -0.75
LEAST, LEAST_IF_UNSURE = -0.6, -0.5
SURE = 0.5
# A text that can be compressed more than this, or is repeated so often, goes in circles. Nobody says so many
# characters a second.
MOST_COMPRESSION, MOST_REPEATED, MOST_CHARS_A_SEC = 2.4, 3, 40
# Shorter times of segments are too rough to count by.
LEAST_SECS = 0.5
# A cut is made where speech is least likely within so many seconds; distance from the middle costs a little.
SMOOTHED, FAR_COSTS = 0.3, 0.01
VOICE_FRAME = 512
# Codes of the model that are not ISO 639-1's.
ISO_639_1 = {"jw": "jv", "yue": "zh"}


@dataclass(frozen=True, slots=True)
class SpokenSentence:
    """Words of one language, ISO 639-1 or None for one without such a code."""

    words: tuple[SpokenWord, ...]
    language: str | None


@dataclass(frozen=True, slots=True)
class Transcript:
    """Sentences in order; `speech_secs` is how much of the sound is speech, short pauses within it included,
    and `not_understood` how much of that is left out."""

    sentences: list[SpokenSentence]
    speech_secs: float
    not_understood: float


def transcribe(samples: Samples, start: float = 0.0, model: str = AUTO) -> Transcript:
    """Return what is spoken in a stretch of sound that begins `start` seconds into the recording.

    `model` is a packaged model's name or a folder with one. The same samples give the same words, whatever
    was transcribed before. Raises `FileNotFoundError` for a folder without a model, and `OutOfMemory`.
    """
    with allocation_errors():
        sentences: list[SpokenSentence] = []
        spoken = lost = 0.0
        for passage in passages(samples, model_for(model, None)):
            believed, missing = _read_passage(samples, passage, model)
            words = (_word(word, start + passage.start / RATE, _secs(passage)) for word in believed)
            language = ISO_639_1.get(passage.language, passage.language)
            code = language if len(language) == 2 else None
            sentences += [SpokenSentence(tuple(each), code) for each in cut_sentences(words)]
            spoken += passage.secs
            lost += missing
        return Transcript(sentences, min(spoken, len(samples) / RATE), lost)


def _read_passage(samples: Samples, passage: SpokenPassage, model: str) -> tuple[list[FoundWord], float]:
    """Return the words that are believed, and the seconds of speech without any."""
    import ctranslate2

    # Where the model is unsure it samples at random; a repeated extraction must sample the same.
    ctranslate2.set_random_seed(0)
    found, _ = model_for(model, passage.language).transcribe(
        samples[passage.start : passage.end],
        language=passage.language,
        word_timestamps=True,
        temperature=TEMPERATURES,
        best_of=TRIES,
        condition_on_previous_text=False,
        vad_filter=True,
        vad_parameters={"min_silence_duration_ms": SKIPPED_SILENCE},
        hallucination_silence_threshold=HALLUCINATION_SILENCE,
    )
    segments = list(found)
    believed = believed_segments(segments, least_log_probability(passage))
    if not believed:
        return [], passage.secs
    missing = sum(segment.end - segment.start for segment in segments if segment not in believed)
    return [word for segment in believed for word in segment.words or ()], missing


def least_log_probability(passage: SpokenPassage) -> float:
    """Return above which mean logarithm of probability the words of a passage are believed."""
    is_sure = passage.probability >= SURE
    if passage.language == ENGLISH:
        return LEAST_IN_ENGLISH if is_sure else LEAST_IN_ENGLISH_IF_UNSURE
    return LEAST if is_sure else LEAST_IF_UNSURE


def believed_segments(segments: Sequence[Segment], least: float) -> list[Segment]:
    """Return the segments that do not look invented; those of one window of the model are judged together."""
    sound = [
        segment
        for _, window in groupby(segments, key=lambda segment: segment.seek)
        for heard in [list(window)]
        if _compression("".join(segment.text for segment in heard)) <= MOST_COMPRESSION
        for segment in heard
        if segment.avg_logprob > least and not _is_too_fast(segment)
    ]
    return [
        segment
        for _, group in groupby(sound, key=lambda segment: segment.text.strip().lower())
        for alike in [list(group)]
        if len(alike) <= MOST_REPEATED
        for segment in alike
    ]


def _is_too_fast(segment: Segment) -> bool:
    secs = max(float(segment.end - segment.start), LEAST_SECS)
    return len(segment.text.strip()) > MOST_CHARS_A_SEC * secs


def _compression(text: str) -> float:
    """Return how many times shorter a text can be made, by characters: letters of other scripts than the
    Latin one are two bytes or three, and could be compressed by that alone."""
    single = bytes(ord(char) & 0xFF for char in text)
    return len(single) / max(len(zlib.compress(single)), 1)


def _secs(passage: SpokenPassage) -> float:
    return (passage.end - passage.start) / RATE


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


def _word(found: FoundWord, start: float, length: float) -> SpokenWord:
    begin = min(max(float(found.start), 0.0), length)
    end = min(max(float(found.end), begin), length)
    return SpokenWord(found.word, start + begin, start + end, float(found.probability))
