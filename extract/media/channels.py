"""Whether the two channels of a recording carry different speech, as of the two ends of a telephone call."""

from __future__ import annotations

import numpy as np

from extract.media.languages import RATE, Samples

FRAME = RATE // 20
# Frames of less than this share of the loudest frames say nothing.
QUIET = 0.1
LOUDEST_PERCENT = 95
# How the loudness of the channels may go together (Pearson) if they carry different speech. Two microphones
# in a room give more than 0.8 whatever their distance; two speakers who take turns give less than 0.
MOST_ALIKE = 0.5


def are_apart(sound: Samples) -> bool:
    """Whether two channels, of the shape (2, samples), carry different sound.

    Their loudness is compared and not their samples: the same speech reaches two microphones at different
    times.
    """
    frames = sound.shape[-1] // FRAME
    loudness = np.sqrt(np.square(sound[:, : frames * FRAME]).reshape(2, frames, FRAME).mean(axis=2))
    loudest = float(np.percentile(loudness.max(axis=0), LOUDEST_PERCENT)) if frames else 0.0
    one, other = loudness[:, loudness.max(axis=0) > QUIET * loudest]
    if len(one) < 2:
        return False
    if not (one.std() and other.std()):
        # One channel is silent, so all that is said is said on the other one.
        return bool(one.max(initial=0.0) == 0.0 or other.max(initial=0.0) == 0.0)
    return bool(np.corrcoef(one, other)[0, 1] < MOST_ALIKE)
