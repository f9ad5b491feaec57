"""From the voices of sentences to speakers: voices that are alike belong to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from extract.base import Element

# The cosine at which as many pairs of one speaker fall below as pairs of two rise above: higher for longer
# sentences, whose voices are clearer. It is `ALIKE` less what a short one lacks, by its seconds.
ALIKE, LACKING, LACKING_SECS = 0.69, 0.27, 1.4
# So far apart, 1 being that point, are two groups of sentences on average if two people say them.
APART = 1.05
# Shorter sentences do not found a speaker, they go to the one whose voice is nearest.
FOUNDING_SECS = 1.0
# Who is heard for less than this in the whole recording was a cough, or another's voice misheard.
LEAST_SECS = 2.0
# The time and memory of grouping grow with the square of this; the longest sentences are taken.
MOST_GROUPED = 2000

Vectors = NDArray[np.float64]
"""(sentences, dimensions), each row of length 1."""


def with_speakers(elements: Sequence[Element]) -> list[Element]:
    """Return the elements with their speakers, `speaker 1` being who is heard first.

    Elements that have a speaker keep it. Nobody is named in a recording with one voice.
    """
    voiced = [element for element in elements if element.voice and not element.speaker]
    if not voiced:
        return list(elements)
    vectors = np.array([element.voice for element in voiced])
    labels = speakers_of(vectors, np.array([_secs(element) for element in voiced]))
    if len(set(labels)) == 1:
        return list(elements)
    names = {id(element): f"speaker {label}" for element, label in zip(voiced, labels, strict=True)}
    named: list[Element] = []
    last = names[id(voiced[0])]
    for element in elements:
        if not element.speaker:
            # A word too short to have a voice belongs to the turn that it stands in.
            last = names.get(id(element), last)
        named.append(element if element.speaker else replace(element, speaker=last))
    return named


def speakers_of(voices: Vectors, secs: NDArray[np.float64]) -> list[int]:
    """Return a number for each sentence, counted from 1 in the order in which speakers are first heard."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    founding = np.flatnonzero(secs >= FOUNDING_SECS)
    if len(founding) > MOST_GROUPED:
        founding = np.sort(founding[np.argsort(-secs[founding], kind="stable")[:MOST_GROUPED]])
    if len(founding) < 2:
        return [1] * len(voices)
    vectors, lengths = voices[founding], secs[founding]
    distances = squareform(_distances(vectors, lengths), checks=False)
    groups = fcluster(linkage(distances, "average"), APART, "distance")
    heard = {group: lengths[groups == group].sum() for group in np.unique(groups)}
    longest = max(heard, key=heard.__getitem__)
    kept = [group for group, total in heard.items() if total >= LEAST_SECS or group == longest]
    centres = np.stack([lengths[groups == group] @ vectors[groups == group] for group in kept])
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    nearest = (voices @ centres.T).argmax(axis=1).tolist()
    order = {group: number for number, group in enumerate(dict.fromkeys(nearest), start=1)}
    return [order[group] for group in nearest]


def _distances(voices: Vectors, secs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far apart the voices of each two sentences are, 1 where one speaker is as likely as two."""
    shorter = np.minimum.outer(secs, secs)
    alike = ALIKE - LACKING * np.exp(-shorter / LACKING_SECS)
    apart = (1 - np.clip(voices @ voices.T, -1, 1)) / (1 - alike)
    np.fill_diagonal(apart, 0)
    return apart


def _secs(element: Element) -> float:
    start, end = element.located.times() or (0.0, 0.0)
    return end - start
