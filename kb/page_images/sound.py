"""The process that measures how loud an untrusted recording is, from its start to its end.

`python -m kb.page_images.sound FILE` writes a JSON list of `PEAKS` numbers from 0 to 100 to its standard
output, or an empty list if there is no sound. It exits with 4 if the file can't be read. Nothing of Django is
imported.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import av
import numpy as np

from core.confinement.limits import limit_this_process, lower_priority
from extract.errors import Corrupted
from extract.media.languages import RATE, Samples
from extract.media.sound import Recording, recording
from kb.page_images.drawing import MEMORY_BYTES, TIMEOUT_SECS, UNDRAWABLE

PEAKS = 1000
FULLY_READ_SECS = 900.0
"""A longer recording is only sampled, at one place for each peak."""
LONGEST_SECS = TIMEOUT_SECS * 0.6
"""Places that can't be sampled in this time stay silent."""
FRAMES_AT_ONCE = 3
MAX_BYTES = 2**20


def peaks_of(file: Path) -> list[int]:
    """Return the loudest sample in each of `PEAKS` equal parts, 100 being the loudest of all."""
    with recording(file) as opened:
        if opened.track is None or not opened.duration:
            return []
        is_short = opened.duration <= FULLY_READ_SECS
        peaks = _all_peaks(opened) if is_short else _sampled_peaks(opened, opened.duration)
    loudest = float(peaks.max(initial=0.0))
    scaled = peaks / loudest * 100 if loudest else peaks
    return [round(float(peak)) for peak in scaled]


def _all_peaks(opened: Recording) -> Samples:
    total = max(1, int((opened.duration or 0) * RATE))
    peaks = np.zeros(PEAKS, np.float32)
    at = 0
    for block in opened.samples():
        parts = np.minimum((np.arange(at, at + len(block)) * PEAKS) // total, PEAKS - 1)
        np.maximum.at(peaks, parts, np.abs(block))
        at += len(block)
    return peaks


def _sampled_peaks(opened: Recording, duration: float) -> Samples:
    peaks = np.zeros(PEAKS, np.float32)
    until = time.monotonic() + LONGEST_SECS
    # Every second place first: if time runs out, what is known is spread over the whole.
    for part in [*range(0, PEAKS, 2), *range(1, PEAKS, 2)]:
        if time.monotonic() > until:
            break
        peaks[part] = _loudness_at(opened, (part + 0.5) * duration / PEAKS)
    empty = peaks[1::2] == 0
    peaks[1::2][empty] = peaks[0::2][empty]
    return peaks


def _loudness_at(opened: Recording, secs: float) -> float:
    container, track = opened.container, opened.track
    assert track is not None
    assert track.time_base is not None
    try:
        container.seek(int(secs / track.time_base) + (track.start_time or 0), stream=track)
        loudest = 0.0
        for number, frame in enumerate(container.decode(track)):
            samples = frame.to_ndarray()
            most = float(np.iinfo(samples.dtype.name).max) if samples.dtype.kind == "i" else 1.0
            loudest = max(loudest, float(np.abs(samples.astype(np.float32)).max(initial=0.0)) / most)
            if number + 1 >= FRAMES_AT_ONCE:
                break
    except (av.error.FFmpegError, ValueError):
        return 0.0
    return loudest


def _main(file: str) -> int:
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_BYTES, MAX_BYTES))
    lower_priority()
    limit_this_process(MEMORY_BYTES, TIMEOUT_SECS, Path(file))
    try:
        peaks = peaks_of(Path(file))
    except (Corrupted, av.error.FFmpegError, RuntimeError, ValueError, MemoryError):
        return UNDRAWABLE
    sys.stdout.write(json.dumps(peaks))
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
