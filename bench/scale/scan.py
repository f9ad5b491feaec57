"""How quick and right is the scan of codes in one very large scope? `python -m bench.scale.scan --chunks N`

Vectors are made at random around centres, coded and forgotten: only codes stay in memory, as in a process.
Recall is the share of the nearest vectors that the scan proposes for the exact comparison.
"""

from __future__ import annotations

import argparse
import os
import resource
from time import perf_counter

import django
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

DIMENSIONS = 384
SLAB = 1 << 16
CENTRES = 20_000
SPREAD = 0.9
"""The length of what is added to a centre: neighbours have a cosine of about 0.55."""
OFF_TOPIC = 0.25
DEPTHS = (10, 50)
console = Console(width=130)


def main() -> None:
    """Build the codes, ask, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=1_000_000)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--dead", type=float, default=0.0, help="the share of chunks that may not be found")
    arguments = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "locus.settings")
    django.setup()
    from kb.index import nearest
    from kb.index.codes import encoder

    random = np.random.default_rng(7)
    centres = unit(random.standard_normal((CENTRES, DIMENSIONS), np.float32))
    asked = questions(random, centres, arguments.questions)
    coder = encoder(DIMENSIONS)
    # One product instead of the rounds of the transform: the same up to rounding.
    rotation = coder.project(np.eye(DIMENSIONS, dtype=np.float32))
    slabs: list[nearest.Slab] = []
    scores = np.full((len(asked), 0), 0, np.float32)
    rows = np.zeros((len(asked), 0), np.intp)
    for begin in track(range(0, arguments.chunks, SLAB), description="coding", console=console):
        vectors = around(random, centres, min(SLAB, arguments.chunks - begin))
        bits = np.packbits(vectors @ rotation > 0, axis=1)
        codes = np.ascontiguousarray(np.ascontiguousarray(bits).view(np.uint64).T)
        alive = random.random(len(vectors)) >= arguments.dead if arguments.dead else None
        slabs.append(nearest.Slab(begin, codes, alive))
        found = asked @ vectors.T
        if alive is not None:
            found[:, ~alive] = -np.inf
        scores, rows = keep_best(scores, rows, found, begin)
    console.print(f"{arguments.chunks:,} chunks, codes {sum(s.codes.nbytes for s in slabs) / 2**20:,.0f} MB")
    report(slabs, coder, asked, rows)


def report(slabs: object, coder: object, asked: NDArray[np.float32], exact: NDArray[np.intp]) -> None:
    """Ask each question twice, and print recall and milliseconds of the second time."""
    from kb.index import nearest

    for name, coarse_from in (("whole codes", 1 << 62), ("coarse step", nearest.COARSE_FROM)):
        nearest.COARSE_FROM = coarse_from
        found, times = [], []
        for question in asked:
            begun = perf_counter()
            found.append(nearest.nearest_codes(slabs, coder, question))  # type: ignore[arg-type]
            times.append(1000 * (perf_counter() - begun))
        recalls = [
            np.mean([np.isin(right[:depth], rows).mean() for right, rows in zip(exact, found, strict=True)])
            for depth in DEPTHS
        ]
        median, late = np.percentile(times, [50, 95])
        console.print(
            f"{name}: recall@10 {recalls[0]:.4f}, @50 {recalls[1]:.4f}, "
            f"{median:.0f} / {late:.0f} ms (median / p95), {os.cpu_count()} cores"
        )
    console.print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10:,.0f} MB")


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the vectors with length 1."""
    scaled: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


def around(random: np.random.Generator, centres: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Return vectors around centres taken at random."""
    noise = random.standard_normal((count, DIMENSIONS), np.float32) * np.float32(SPREAD / DIMENSIONS**0.5)
    return unit(centres[random.integers(0, len(centres), count)] + noise)


def questions(random: np.random.Generator, centres: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Return questions around centres, and some that are near to nothing."""
    asked = around(random, centres, count)
    off = int(count * OFF_TOPIC)
    asked[:off] = unit(random.standard_normal((off, DIMENSIONS), np.float32))
    return asked


def keep_best(
    scores: NDArray[np.float32], rows: NDArray[np.intp], found: NDArray[np.float32], begin: int
) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """Return the best scores and rows of what was kept and what was found, best first."""
    depth = max(DEPTHS)
    scores = np.concatenate([scores, found], axis=1)
    rows = np.concatenate([rows, np.broadcast_to(begin + np.arange(found.shape[1]), found.shape)], axis=1)
    order = np.argsort(-scores, axis=1)[:, :depth] if scores.shape[1] <= depth else None
    if order is None:
        near = np.argpartition(-scores, depth, axis=1)[:, :depth]
        order = np.take_along_axis(near, np.argsort(-np.take_along_axis(scores, near, 1), axis=1), 1)
    return np.take_along_axis(scores, order, 1), np.take_along_axis(rows, order, 1)


if __name__ == "__main__":
    main()
