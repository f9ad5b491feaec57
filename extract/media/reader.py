"""Audio and video: spoken words, each with its time from the start of the recording.

A recording is divided into units of about a minute. The cuts are made where nobody speaks. The position of a
cut depends only on the sound around it, so a unit is the same whether it is read alone or after the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from core.locations import InTime, LocatedText, Span
from extract.base import Element, Finding, Kind, Opened, Request, TextOrigin, UnitRead, Warned
from extract.cleaning import clean
from extract.errors import Corrupted, FileTooLarge
from extract.kinds import KINDS
from extract.media.sound import Recording, recording
from extract.media.speech import RATE, Samples, SpokenWord, Transcript, quietest_sample, transcribe
from extract.sniffing import sniff

UNIT_SECS = 60
# A cut is made within so many seconds of a full minute.
CUT_WITHIN = 5
# If there is more sound than the file declares, the last unit is extended by further stretches.
REST = 40
MOST_HOURS = 24
# If so many seconds of the declared sound are missing, the file was cut off.
MISSING = 2.0
# So many seconds of speech without a recognised word: a language that the model does not know, or singing.
SURELY_SPEECH = 10.0


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield each stretch as pending, or with `request.deep` the sentences spoken in it."""
    file_type = sniff(path)
    with recording(path) as opened:
        count = _unit_count(opened.duration)
        mime_type = KINDS[file_type].mime_type
        yield Opened(file_type, mime_type, units=count, duration=opened.duration)
        wanted = request.units or tuple(range(1, count + 1))
        if request.deep and opened.track:
            yield from _read_stretches(opened, count, wanted)
        else:
            source = TextOrigin.PENDING if opened.track else TextOrigin.BLANK
            yield from (UnitRead(number, source) for number in wanted)


def _unit_count(duration: float | None) -> int:
    if duration is not None and duration > MOST_HOURS * 3600:
        raise FileTooLarge(f"The recording is longer than {MOST_HOURS} hours. Cut it and upload the parts.")
    return max(1, round((duration or 0) / UNIT_SECS))


def _read_stretches(opened: Recording, count: int, wanted: tuple[int, ...]) -> Iterator[Finding]:
    left = list(wanted)
    end = 0.0
    for number, group in groupby(stretches(opened.samples(), count), key=lambda stretch: stretch.unit):
        if not left:
            return
        heard = []
        for stretch in group:
            end = stretch.start + len(stretch.samples) / RATE
            if number == left[0]:
                heard.append(transcribe(stretch.samples, stretch.start))
        if heard:
            yield from _findings(left.pop(0), heard)
    if not end and (opened.is_cut_off or opened.lost_secs):
        raise Corrupted
    yield from (UnitRead(number, TextOrigin.BLANK) for number in left)
    missing = (opened.duration or 0) - end + opened.lost_secs
    if opened.is_cut_off or missing > MISSING:
        yield Warned("repaired", "The recording is damaged or cut off: what could be decoded was read.")


def _findings(number: int, heard: list[Transcript]) -> Iterator[Finding]:
    sentences = [sentence for stretch in heard for sentence in stretch.sentences]
    yield from map(_element, sentences)
    speech_secs = round(sum(stretch.speech_secs for stretch in heard), 3)
    if sentences:
        chances = [word.confidence for sentence in sentences for word in sentence]
        yield UnitRead(number, TextOrigin.SPEECH, sum(chances) / len(chances), speech_secs=speech_secs)
        return
    if speech_secs > SURELY_SPEECH:
        yield Warned(
            "speech_not_understood", f"In minute {number} there is speech that could not be understood."
        )
    yield UnitRead(number, TextOrigin.BLANK, speech_secs=speech_secs)


def _element(sentence: list[SpokenWord]) -> Element:
    """Return a sentence as a paragraph, with the white space that the model put before each word."""
    text = ""
    spans = []
    for word in sentence:
        spoken = " ".join(clean(word.text).split())
        if spoken:
            text += " " if text and word.text[:1].isspace() else ""
            spans.append(Span(len(text), len(text) + len(spoken), InTime(word.start, word.end)))
            text += spoken
    return Element(Kind.PARAGRAPH, LocatedText.of_spans(text, spans))


# --- Stretches ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stretch:
    """The sound of one unit, and the second of the recording at which it starts."""

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
        size += len(block)
        while size >= _samples_needed(minute, count) - start:
            sound = np.concatenate(held)
            middle = minute * UNIT_SECS * RATE - start
            around = CUT_WITHIN * RATE
            cut = middle - around + quietest_sample(sound[middle - around : middle + around])
            yield Stretch(min(minute, count), start / RATE, sound[:cut])
            held, size, start, minute = [sound[cut:]], size - cut, start + cut, minute + 1
    if size:
        yield Stretch(min(minute, count), start / RATE, np.concatenate(held))


def _samples_needed(minute: int, count: int) -> int:
    """Return how many samples from the start are needed to place a cut near a full minute."""
    return (minute * UNIT_SECS + (CUT_WITHIN if minute < count else REST)) * RATE
