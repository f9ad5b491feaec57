"""Audio and video: spoken words, each with its time from the start of the recording.

A recording is divided into units of about a minute. The cuts are made where nobody speaks. The position of a
cut depends only on the sound around it, so a unit is the same whether it is read alone or after the others.
If the two channels of a stereo recording carry different speech, each is read alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, repeat
from pathlib import Path

import numpy as np

from extract.base import Element, Finding, Kind, Opened, Request, TextOrigin, UnitRead, Voice, Warned
from extract.errors import Corrupted, FileTooLarge, NoText
from extract.kinds import KINDS
from extract.media.channels import are_apart
from extract.media.languages import RATE, Samples
from extract.media.sentences import locate_words
from extract.media.sound import Recording, recording
from extract.media.speech import SpokenSentence, Transcript, quietest_sample, transcribe
from extract.media.subtitles import subtitle_elements, subtitle_track
from extract.media.voices import voice_of
from extract.memory import allocation_errors
from extract.sniffing import sniff

UNIT_SECS = 60
# A cut is made within so many seconds of a full minute.
CUT_WITHIN = 5
# If there is more sound than the file declares, the last unit is extended by further stretches.
REST = 40
MOST_HOURS = 24
# If so many seconds of the declared sound are missing, the file was cut off.
MISSING = 2.0
# So many seconds of speech without a believed word: a language that no model knows, or singing.
SURELY_SPEECH = 5.0
LISTED = 10
SUBTITLES_USED = "The text is that of the film's subtitles. What is said may differ from them."
NO_SOUND_TRACK = "The film has no sound track, so nothing can be heard in it. Upload one with sound."


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield each stretch as pending, or with `request.deep` the sentences spoken in it."""
    file_type = sniff(path)
    with recording(path) as opened:
        count = _unit_count(opened.duration)
        mime_type = KINDS[file_type].mime_type
        yield Opened(file_type, mime_type, units=count, duration=opened.duration)
        wanted = request.units or tuple(range(1, count + 1))
        if shown := subtitle_track(opened.container, opened.track):
            yield from _read_subtitles(subtitle_elements(opened.container, shown), count, wanted)
        elif not opened.track:
            raise NoText(NO_SOUND_TRACK)
        elif request.deep:
            yield from _read_stretches(opened, count, wanted, request)
        else:
            yield from (UnitRead(number, TextOrigin.PENDING) for number in wanted)


def _unit_count(duration: float | None) -> int:
    if duration is not None and duration > MOST_HOURS * 3600:
        raise FileTooLarge(f"The recording is longer than {MOST_HOURS} hours. Cut it and upload the parts.")
    return max(1, round((duration or 0) / UNIT_SECS))


def _read_subtitles(elements: Iterator[Element], count: int, wanted: tuple[int, ...]) -> Iterator[Finding]:
    """Yield the subtitles of a film by the minute in which they begin; they replace recognition."""
    by_minute: dict[int, list[Element]] = {number: [] for number in wanted}
    for element in elements:
        start, _ = element.located.times() or (0.0, 0.0)
        by_minute.get(min(count, int(start) // UNIT_SECS + 1), []).append(element)
    for number, shown in by_minute.items():
        yield from shown
        yield UnitRead(number, TextOrigin.TEXT if shown else TextOrigin.BLANK)
    yield Warned("subtitles_used", SUBTITLES_USED)


def _read_stretches(
    opened: Recording, count: int, wanted: tuple[int, ...], request: Request
) -> Iterator[Finding]:
    left = list(wanted)
    lost: list[int] = []
    end = 0.0
    for number, group in groupby(stretches(opened.channels(), count), key=lambda stretch: stretch.unit):
        if not left:
            break
        heard: list[Heard] = []
        for stretch in group:
            end = stretch.start + stretch.samples.shape[-1] / RATE
            if number == left[0]:
                heard += _hear(stretch, request)
        if heard:
            yield from _findings(left.pop(0), heard)
            not_understood = sum(each.transcript.not_understood for each in heard)
            lost += [number] if not_understood > SURELY_SPEECH else []
    else:
        yield from _ending(opened, left, end)
    if lost:
        yield Warned("speech_not_understood", _not_understood(lost))


def _ending(opened: Recording, left: list[int], end: float) -> Iterator[Finding]:
    """Yield what is known at the end of the sound, `end` in seconds: units without any, and missing sound."""
    if not end and (opened.is_cut_off or opened.lost_secs):
        raise Corrupted
    yield from (UnitRead(number, TextOrigin.BLANK) for number in left)
    missing = (opened.duration or 0) - end + opened.lost_secs
    if opened.is_cut_off or missing > MISSING:
        yield Warned("repaired", "The recording is damaged or cut off: what could be decoded was read.")


def _not_understood(minutes: list[int]) -> str:
    named = ", ".join(map(str, minutes[:LISTED])) + (", …" if len(minutes) > LISTED else "")
    which = "minute" if len(minutes) == 1 else "minutes"
    return f"In {which} {named} there is speech that could not be understood. It was left out."


@dataclass(frozen=True, slots=True)
class Heard:
    """What is said in a stretch of sound, and by whom if the channels tell; else, if asked, the voices."""

    transcript: Transcript
    speaker: str | None = None
    voices: tuple[Voice, ...] = ()

    def spoken(self) -> Iterator[tuple[SpokenSentence, str | None, Voice]]:
        """Yield each sentence with its speaker and its voice."""
        voices = self.voices or repeat(())
        for sentence, voice in zip(self.transcript.sentences, voices, strict=False):
            yield sentence, self.speaker, voice


def _hear(stretch: Stretch, request: Request) -> list[Heard]:
    sound = stretch.samples
    if len(sound) == 2 and are_apart(sound):
        return [
            Heard(transcribe(channel, stretch.start, request.speech_model), f"channel {number}")
            for number, channel in enumerate(sound, start=1)
        ]
    mono = sound.mean(axis=0)
    transcript = transcribe(mono, stretch.start, request.speech_model)
    if request.voice_graph is None:
        return [Heard(transcript)]
    pieces = [_piece_of(mono, sentence, stretch.start) for sentence in transcript.sentences]
    with allocation_errors():
        return [Heard(transcript, voices=tuple(voice_of(piece, request.voice_graph) for piece in pieces))]


def _piece_of(samples: Samples, sentence: SpokenSentence, start: float) -> Samples:
    """Return the samples of a sentence; the first sample is `start` seconds into the recording."""
    first, last = sentence.words[0].start - start, sentence.words[-1].end - start
    return samples[int(first * RATE) : int(last * RATE)]


def _findings(number: int, heard: list[Heard]) -> Iterator[Finding]:
    spoken = [said for each in heard for said in each.spoken()]
    spoken.sort(key=lambda said: said[0].words[0].start)
    yield from (_element(*said) for said in spoken)
    speech_secs = round(sum(each.transcript.speech_secs for each in heard), 3)
    chances = [word.confidence for sentence, *_ in spoken for word in sentence.words]
    if chances:
        yield UnitRead(number, TextOrigin.SPEECH, sum(chances) / len(chances), speech_secs=speech_secs)
    else:
        yield UnitRead(number, TextOrigin.BLANK, speech_secs=speech_secs)


def _element(sentence: SpokenSentence, speaker: str | None, voice: Voice) -> Element:
    located = locate_words(sentence.words)
    return Element(Kind.PARAGRAPH, located, language=sentence.language, speaker=speaker, voice=voice)


# --- Stretches ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stretch:
    """The sound of one unit, (channels, samples), and the second of the recording at which it starts."""

    unit: int
    start: float
    samples: Samples


def stretches(blocks: Iterator[Samples], count: int) -> Iterator[Stretch]:
    """Cut sound into stretches near full minutes; sound beyond `count` units belongs to the last unit."""
    held: list[Samples] = []
    size = start = 0
    minute = 1
    for block in blocks:
        held.append(block)
        size += block.shape[-1]
        while size >= _samples_needed(minute, count) - start:
            sound = np.concatenate(held, axis=1)
            middle = minute * UNIT_SECS * RATE - start
            around = CUT_WITHIN * RATE
            near = sound[:, middle - around : middle + around].mean(axis=0)
            cut = middle - around + quietest_sample(near)
            yield Stretch(min(minute, count), start / RATE, sound[:, :cut])
            held, size, start, minute = [sound[:, cut:]], size - cut, start + cut, minute + 1
    if size:
        yield Stretch(min(minute, count), start / RATE, np.concatenate(held, axis=1))


def _samples_needed(minute: int, count: int) -> int:
    """Return how many samples from the start are needed to place a cut near a full minute."""
    return (minute * UNIT_SECS + (CUT_WITHIN if minute < count else REST)) * RATE
