"""Subtitles, in a file of their own or in a film: sentences with the times at which they are shown.

FFmpeg reads the syntax; so every kind of subtitles that it knows as text is read the same way. Sentences are
cut as in speech, because a subtitle often shows only a part of one.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import av
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.stream import Disposition
from av.subtitles.stream import SubtitleStream

from extract.base import Element, Finding, Kind, Opened, Request, TextOrigin, UnitRead
from extract.cleaning import clean
from extract.errors import Corrupted, Empty
from extract.media.sentences import SpokenWord, cut_sentences, locate_words
from extract.text.plain import read_text
from extract.text_sniffing import subtitle_syntax

# The codecs of subtitles that are text, not pictures of it.
TEXT_CODECS = frozenset({"subrip", "webvtt", "ass", "ssa", "mov_text", "srt", "text"})
# What FFmpeg calls each syntax.
DEMUXERS = {"vtt": "webvtt", "srt": "srt", "ass": "ass"}
MIME_TYPES = {"vtt": "text/vtt", "srt": "application/x-subrip", "ass": "text/x-ssa"}
# Of an event of Advanced SubStation Alpha, the text is the ninth field; all decoders yield such events.
FIELDS_BEFORE_TEXT = 8
STYLING = re.compile(r"\{[^{}]{0,1000}+\}|<[^<>]{0,1000}+>")
BREAKS = {"\\N": " ", "\\n": " ", "\\h": " "}


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the sentences; raise `Corrupted` if there are none in what begins as subtitles."""
    text = read_text(path)
    syntax = subtitle_syntax(text)
    if syntax is None:
        raise Corrupted
    yield Opened("subtitles", MIME_TYPES[syntax])
    try:
        source = io.BytesIO(text.encode())
        with av.open(source, "r", format=DEMUXERS[syntax], metadata_errors="ignore") as container:
            elements = list(subtitle_elements(container, container.streams.subtitles[0]))
    except (av.error.FFmpegError, ValueError, IndexError) as error:
        raise Corrupted from error
    if not elements:
        raise Empty
    yield from elements
    yield UnitRead(1, TextOrigin.TEXT)


def subtitle_track(container: InputContainer, sound: AudioStream | None) -> SubtitleStream | None:
    """Return the subtitles of what is said in a film: as text, complete, and in the language of its sound."""
    spoken = _language(sound.metadata) if sound else None
    for track in container.streams.subtitles:
        if track.codec_context is None or track.codec_context.name not in TEXT_CODECS:
            continue
        is_same = sound is None or _language(track.metadata) == spoken
        if is_same and not track.disposition & Disposition.forced:
            return track
    return None


def _language(metadata: Mapping[str, str]) -> str | None:
    named = metadata.get("language", "und")
    return None if named == "und" else named


def subtitle_elements(container: InputContainer, track: SubtitleStream) -> Iterator[Element]:
    """Yield the sentences of a track of subtitles, each with the times of the subtitles that it is in."""
    shown = sorted(_words(container, track), key=lambda word: word.start)
    for sentence in cut_sentences(shown):
        located = locate_words(sentence)
        if located.text:
            yield Element(Kind.PARAGRAPH, located)


def _words(container: InputContainer, track: SubtitleStream) -> Iterator[SpokenWord]:
    for packet in container.demux(track):
        if packet.pts is None or not packet.time_base:
            continue
        start = max(0.0, float(packet.pts * packet.time_base))
        end = start + max(0.0, float((packet.duration or 0) * packet.time_base))
        for word in _texts(packet.decode()):
            yield SpokenWord(f" {word}", start, end, 1.0)


def _texts(decoded: Iterable[object]) -> Iterator[str]:
    """Yield the words of what is shown, without styling."""
    for shown in decoded:
        event = getattr(shown, "ass", b"")
        fields = event.decode("utf-8", "replace").split(",", FIELDS_BEFORE_TEXT)
        text = fields[-1] if len(fields) > FIELDS_BEFORE_TEXT else ""
        for mark, blank in BREAKS.items():
            text = text.replace(mark, blank)
        yield from clean(STYLING.sub("", text)).split()
