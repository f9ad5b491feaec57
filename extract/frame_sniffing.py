"""Recognises MPEG sound without a header: frames that each begin where the one before ends.

Recordings that were cut, streamed or tagged by some programs begin in the middle of a frame, or with other
bytes before the first one.
"""

from __future__ import annotations

SYNC = b"\xff"
# So many frames in a row occur in no other kind of file by chance.
FRAMES_IN_A_ROW = 4
MOST_TRIED = 4096

# MPEG audio: kilobits per second by version (1, or 2 and 2.5) and layer (1, 2, 3), and samples per second.
BIT_RATES = {
    (1, 1): (32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (1, 2): (32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (1, 3): (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (2, 1): (32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    (2, 2): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
SAMPLING_RATES = {3: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8_000)}
LONGEST_AAC_INDEX = 12


def kind_of_frames(head: bytes) -> str | None:
    """Return `mp3` or `aac` if a file begins with a frame of MP3, or holds a row of frames; else None."""
    if _mpeg_size(head, 0):
        return "mp3"
    at = head.find(SYNC)
    for _ in range(MOST_TRIED):
        if at < 0:
            return None
        if _are_frames(head, at, adts=False):
            return "mp3"
        if _are_frames(head, at, adts=True):
            return "aac"
        at = head.find(SYNC, at + 1)
    return None


def _are_frames(head: bytes, at: int, *, adts: bool) -> bool:
    for number in range(FRAMES_IN_A_ROW):
        size = _adts_size(head, at) if adts else _mpeg_size(head, at)
        if not size:
            # A short file may end sooner, at the end of a frame.
            return number > 1 and at == len(head)
        at += size
    return True


def _mpeg_size(head: bytes, at: int) -> int:
    """Return how long the frame is that begins here, 0 if none does."""
    header = head[at : at + 4]
    if len(header) < 4 or header[0] != 0xFF or header[1] & 0xE0 != 0xE0:
        return 0
    version, layer = header[1] >> 3 & 3, 4 - (header[1] >> 1 & 3)
    rate_index, sampling_index, padding = header[2] >> 4, header[2] >> 2 & 3, header[2] >> 1 & 1
    if version == 1 or layer == 4 or rate_index in (0, 15) or sampling_index == 3:
        return 0
    first = version == 3
    rates = BIT_RATES[(1, layer) if first else (2, 1 if layer == 1 else 2)]
    bits, sampling = rates[rate_index - 1] * 1000, SAMPLING_RATES[version][sampling_index]
    if layer == 1:
        return (12 * bits // sampling + padding) * 4
    samples = 72 if layer == 3 and not first else 144
    return samples * bits // sampling + padding


def _adts_size(head: bytes, at: int) -> int:
    """Return how long the AAC frame is that begins here, 0 if none does."""
    header = head[at : at + 6]
    if len(header) < 6 or header[0] != 0xFF or header[1] & 0xF6 != 0xF0:
        return 0
    if header[2] >> 2 & 15 > LONGEST_AAC_INDEX:
        return 0
    size = (header[3] & 3) << 11 | header[4] << 3 | header[5] >> 5
    return size if size > 7 else 0
