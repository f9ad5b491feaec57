"""Whose voice it is: a vector of a piece of speech, alike for pieces that the same person says.

The network is CAM++ (Wang et al. 2023, https://arxiv.org/abs/2303.00332), a graph for OpenVINO that
`ingestion.speakers.model` makes once. Its input are the logarithms of Kaldi's mel filter bank, less their
mean over time. Which pieces belong to one speaker only the whole recording tells: `ingestion.speakers`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import kaldi_native_fbank as fbank
import numpy as np
from numpy.typing import NDArray

from extract.base import Voice
from extract.media.languages import RATE, Samples
from extract.media.model import THREADS

MEL_BANDS = 80
# Kaldi counts in 16-bit steps.
LOUDEST = 2**15
# A syllable does not tell who says it.
LEAST_SECS = 0.5
# The network pools over a second; a shorter piece is heard again until it is so long.
HEARD_SECS = 3.0
DIGITS = 4


def voice_of(samples: Samples, graph: Path) -> Voice:
    """Return the voice in samples, mono, as a vector of length 1; empty if they are too few to tell.

    `graph` is the folder with the network. The same samples give the same vector.
    """
    if len(samples) < LEAST_SECS * RATE:
        return ()
    heard = np.tile(samples, -(-int(HEARD_SECS * RATE) // len(samples)))
    vector = _network(graph)(_features(heard)[np.newaxis])[0][0].astype(np.float64)
    return tuple(np.round(vector / np.linalg.norm(vector), DIGITS).tolist())


def _features(samples: Samples) -> NDArray[np.float32]:
    """Return the filter bank's output, (frames, `MEL_BANDS`): a hundred frames a second."""
    options = fbank.FbankOptions()
    options.frame_opts.samp_freq = RATE
    # Noise would make each run another one.
    options.frame_opts.dither = 0
    options.mel_opts.num_bins = MEL_BANDS
    bank = fbank.OnlineFbank(options)
    bank.accept_waveform(RATE, samples * LOUDEST)
    bank.input_finished()
    frames = np.stack([bank.get_frame(number) for number in range(bank.num_frames_ready)])
    features: NDArray[np.float32] = (frames - frames.mean(axis=0)).astype(np.float32)
    return features


@cache
def _network(graph: Path) -> Any:
    import openvino

    return openvino.Core().compile_model(graph / "model.xml", "CPU", {"INFERENCE_NUM_THREADS": THREADS})
