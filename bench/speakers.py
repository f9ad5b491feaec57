"""Are speakers told apart by their voices? `SPEAKER_TURNS=true python -m bench.speakers FOLDER`

FOLDER holds a folder for each speaker, with recordings in which only that speaker is heard. Conversations are
made of them by chance: one to five of the speakers say pieces of 0.7 to 11 s, in turns. Prints, for
conversations of each number of speakers, the share of the speaking time that has the right speaker (each
speaker found stands for one real speaker at most), and how often their number is right.
"""

from __future__ import annotations

import argparse
import os
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path
from statistics import fmean

import django
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from extract.base import Voice
from extract.media.languages import RATE, Samples
from extract.media.sound import recording
from extract.media.voices import voice_of

CONVERSATIONS = 200
MOST_SPEAKERS = 5
TURNS = (6, 15, 30, 60)
PAUSE_MS = 150


@dataclass(frozen=True, slots=True)
class VoicedPiece:
    """So many seconds that one speaker says, in that voice."""

    speaker: str
    secs: float
    voice: Voice


def main() -> None:
    """Cut, embed, make conversations, group, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=15, help="at most so many recordings of a speaker")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "locus.settings")
    django.setup()
    from ingestion.speakers.model import voice_graph
    from ingestion.speakers.turns import speakers_of

    graph = voice_graph()
    if graph is None:
        parser.error("set SPEAKER_TURNS=true")
    chance = random.Random(given.seed)  # noqa: S311 - not a secret
    pieces: dict[str, list[VoicedPiece]] = {}
    folders = sorted(each for each in given.folder.iterdir() if each.is_dir())
    for folder in track(folders, "Listening"):
        cut = (piece for file in _files(folder, given.files) for piece in _cut(file, chance))
        voiced = ((len(piece) / RATE, voice_of(piece, graph)) for piece in cut)
        pieces[folder.name] = [VoicedPiece(folder.name, secs, voice) for secs, voice in voiced if voice]
    right: defaultdict[int, list[tuple[float, bool]]] = defaultdict(list)
    for _ in track(range(CONVERSATIONS), "Grouping"):
        spoken = _conversation(pieces, chance)
        found = speakers_of(
            np.array([each.voice for each in spoken]), np.array([each.secs for each in spoken])
        )
        count = len({each.speaker for each in spoken})
        right[count].append((_share_right(spoken, found), len(set(found)) == count))
    table = Table("speakers", "conversations", "speaking time right", "number right")
    for count, scores in sorted(right.items()):
        shares, counts = zip(*scores, strict=True)
        table.add_row(str(count), str(len(scores)), f"{fmean(shares):.3f}", f"{fmean(counts):.2f}")
    Console().print(table)


def _files(folder: Path, count: int) -> list[Path]:
    """Return the largest files of a speaker: prompts of one word say little."""
    files = (each for each in folder.rglob("*") if each.is_file())
    return sorted(files, key=lambda file: file.stat().st_size, reverse=True)[:count]


def _cut(file: Path, chance: random.Random) -> Iterator[Samples]:
    """Yield pieces of speech, short ones more often than long ones."""
    from faster_whisper.vad import VadOptions, get_speech_timestamps

    with recording(file) as opened:
        sound = np.concatenate(list(opened.samples()))
    for spoken in get_speech_timestamps(sound, VadOptions(min_silence_duration_ms=PAUSE_MS)):
        start = int(spoken["start"])
        while start < spoken["end"]:
            end = start + int(0.7 * exp(chance.uniform(0, 2.8)) * RATE)
            yield sound[start : min(end, int(spoken["end"]))]
            start = end


def _conversation(pieces: Mapping[str, Sequence[VoicedPiece]], chance: random.Random) -> list[VoicedPiece]:
    count = min(chance.randint(1, MOST_SPEAKERS), len(pieces))
    left = {name: chance.sample(pieces[name], len(pieces[name])) for name in chance.sample([*pieces], count)}
    spoken: list[VoicedPiece] = []
    for _ in range(chance.choice(TURNS)):
        last = spoken[-1].speaker if spoken else ""
        others = [name for name in left if left[name] and (name != last or count == 1)]
        if not others:
            break
        own = left[chance.choice(others)]
        spoken += [own.pop() for _ in range(min(len(own), chance.randint(1, 3)))]
    return spoken


def _share_right(spoken: Sequence[VoicedPiece], found: Sequence[int]) -> float:
    """Return the share of the seconds that is right, with speakers found paired to real ones as is best."""
    from scipy.optimize import linear_sum_assignment

    names = sorted({each.speaker for each in spoken})
    together = np.zeros((len(names), max(found)))
    for each, number in zip(spoken, found, strict=True):
        together[names.index(each.speaker), number - 1] += each.secs
    return float(together[linear_sum_assignment(-together)].sum() / together.sum())


if __name__ == "__main__":
    main()
