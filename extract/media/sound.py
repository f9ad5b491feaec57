"""The sound of a recording as a stream of samples, from any container, in little memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import InputContainer

from extract.errors import Corrupted, Encrypted, UnsupportedType
from extract.media.languages import RATE, Samples

# Only these formats are tried: some other formats of the library are lists of files to open.
FORMATS = "wav,w64,mp3,mov,flac,ogg,matroska,aiff,avi,aac,caf,au,asf,amr,mpeg,mpegts"
# What FFmpeg keeps of the mark that protected sound has in MP4 files.
PROTECTED_TAGS = frozenset({"enca", "drms", "aavd"})
# The GUIDs of the objects of ASF files (wma, wmv) that say how the content is encrypted.
PROTECTED_ASF = (
    bytes.fromhex("fbb3112223bdd211b4b700a0c955fc6e"),
    bytes.fromhex("14e68a292226174cb935dae07ee9289c"),
)
ASF = bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c")
HEADER_BYTES = 64 * 2**10
PROTECTED = (
    "The recording is protected against copying (DRM), so its sound can't be read. Upload a copy without "
    "protection."
)
NO_DECODER = (
    "The sound is stored in a form that can't be read ({}). Convert it to MP3, M4A or WAV and upload that."
)
# Clocks of damaged recordings may jump. Smaller jumps occur in intact files of some programs.
JUMP_SECS = 0.5
BLOCK = 10 * RATE


@dataclass(slots=True)
class Recording:
    """An opened recording; `track` is its main sound track, None for a silent film."""

    container: InputContainer
    track: AudioStream | None
    duration: float | None
    """In seconds, as the file declares or, failing that, as its packets do."""
    lost_secs: float = field(default=0.0, init=False)
    """Seconds that could not be decoded; valid after all samples were read."""
    is_cut_off: bool = field(default=False, init=False)
    """Whether the file ends in the middle of its data; valid after all samples were read."""

    def samples(self) -> Iterator[Samples]:
        """Yield all samples from the start of the recording, silence where samples are missing."""
        for sound in self._resampled("mono"):
            yield sound.reshape(-1)

    def channels(self) -> Iterator[Samples]:
        """Yield all samples, each block of the shape (2, samples) if the sound has two channels, else
        (1, samples)."""
        is_stereo = self.track is not None and self.track.codec_context.channels == 2
        yield from self._resampled("stereo" if is_stereo else "mono")

    def _resampled(self, layout: str) -> Iterator[Samples]:
        resampler = AudioResampler(format="fltp", layout=layout, rate=RATE)
        count = 2 if layout == "stereo" else 1
        for item in self._frames():
            if isinstance(item, int):
                yield from _silence(item, count)
                continue
            item.pts = None  # the resampler would complain about a clock that jumps
            yield from map(_samples, resampler.resample(item))
        yield from map(_samples, resampler.resample(None))

    def _frames(self) -> Iterator[AudioFrame | int]:
        """Yield frames and, between them, the number of missing samples."""
        start = (self.container.start_time or 0) / av.time_base
        now = 0.0
        for frame in self._decoded():
            at = frame.time - start if frame.time is not None else now
            if now + JUMP_SECS < at <= (self.duration or 0):
                yield round((at - now) * RATE)
                now = at
            now += frame.samples / frame.sample_rate
            yield frame

    def _decoded(self) -> Iterator[AudioFrame]:
        packets = self.container.demux(self.track) if self.track else iter(())
        while True:
            try:
                packet = next(packets)
            except StopIteration:
                return
            except av.error.FFmpegError:
                self.is_cut_off = True
                return
            try:
                yield from packet.decode()
            except av.error.FFmpegError:
                self.lost_secs += float((packet.duration or 0) * (packet.time_base or 0))


@contextmanager
def recording(path: Path) -> Iterator[Recording]:
    """Open a recording; raise `Corrupted` if that fails, `Encrypted` or `UnsupportedType` for sound that no
    decoder reads."""
    with path.open("rb") as file:
        _refuse_protected_asf(file.read(HEADER_BYTES))
        file.seek(0)
        try:
            container = _container(file)
        except (av.error.FFmpegError, ValueError, OSError) as error:
            raise Corrupted from error
        with container:
            track = _main_track(container)
            if track is None and not container.streams.video:
                raise Corrupted
            yield Recording(container, track, _duration(container, path))


def _refuse_protected_asf(head: bytes) -> None:
    if head.startswith(ASF) and any(mark in head for mark in PROTECTED_ASF):
        raise Encrypted(PROTECTED)


def _main_track(container: InputContainer) -> AudioStream | None:
    track = container.streams.best("audio") or next(iter(container.streams.audio), None)
    unknown = next((stream for stream in container.streams if stream.codec_context is None), None)
    if track is None and unknown is not None and unknown.type == "audio":
        raise UnsupportedType(NO_DECODER.format("unknown codec"))
    if track is None:
        return None
    assert isinstance(track, AudioStream)
    if track.codec_context is None:
        raise UnsupportedType(NO_DECODER.format("unknown codec"))
    if track.codec_context.codec_tag in PROTECTED_TAGS:
        raise Encrypted(PROTECTED)
    track.codec_context.thread_count = 1
    return track


def _container(file: BinaryIO) -> InputContainer:
    return av.open(file, mode="r", metadata_errors="ignore", container_options={"format_whitelist": FORMATS})


def _samples(frame: AudioFrame) -> Samples:
    return frame.to_ndarray().astype(np.float32, copy=False)


def _duration(container: InputContainer, path: Path) -> float | None:
    # AVI files declare the duration of their picture.
    if container.duration is not None and container.format.name != "avi":
        return container.duration / av.time_base
    return _last_packet(path)


def _last_packet(path: Path) -> float | None:
    """Return when the last packet ends: a recording that was never finished does not declare its length."""
    end: float | None = None
    with path.open("rb") as file, _container(file) as container:
        start = (container.start_time or 0) / av.time_base
        try:
            for packet in container.demux():
                if packet.pts is not None:
                    time = float((packet.pts + (packet.duration or 0)) * packet.time_base) - start
                    end = max(end or 0.0, time)
        except av.error.FFmpegError:
            return end
    return end


def _silence(count: int, channels: int) -> Iterator[Samples]:
    for start in range(0, count, BLOCK):
        yield np.zeros((channels, min(BLOCK, count - start)), dtype=np.float32)
