"""How well, and how fast, are characters and speech recognised? `python -m bench.recognition [FOLDER]`

FOLDER holds `scans/ground_truth.jsonl` and `audio/transcripts.jsonl` as its README describes. Prints error
rates of characters and words, how well boxes and times match, seconds, and peak memory, each part in a
process with the limits of the sandbox. `--long MINUTES` reads a recording of that length, joined from the
others, and prints memory as it goes; `--model` takes the folder of another speech model; `--dpi` draws the
report sample at several resolutions.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import wave
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from core.confinement.limits import limit_use
from core.errors import DocumentError
from core.locations import Box, Page
from extract.base import Element, Extractor, Limits, Request, UnitRead
from extract.media import reader as media
from extract.media import speech
from extract.media.languages import RATE
from extract.media.sound import recording
from extract.ocr import image
from extract.ocr.recognition import recognise

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
REPORT = Path(__file__).resolve().parents[1] / "tests" / "samples" / "report.pdf"
REQUEST = Request(Limits(1000), deep=True)
MEMORY_BYTES = 2 * 2**30
NEAR = 3.0
BY_CHARACTER = frozenset({"ja", "zh"})
FAR_OVER = 24 * 3600
RESOLUTIONS = (72, 100, 150, 200, 300)
console = Console()


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED)
    parser.add_argument("--model", type=Path, metavar="FOLDER")
    parser.add_argument("--long", type=int, metavar="MINUTES")
    parser.add_argument("--dpi", action="store_true")
    parser.add_argument("--part", choices=["scans", "audio"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if not (given.part or given.dpi or given.long):
        for part in ("scans", "audio"):
            subprocess.run(
                [sys.executable, "-m", "bench.recognition", *sys.argv[1:], "--part", part], check=True
            )
        return
    limit_use(MEMORY_BYTES, FAR_OVER)
    if given.model:
        vars(media)["transcribe"] = partial(speech.transcribe, model=given.model)
    if given.dpi:
        resolutions()
    elif given.long:
        long(given.folder / "audio", given.long)
    elif given.part == "scans":
        scans(given.folder / "scans")
    else:
        recordings(given.folder / "audio")


# --- Scans -------------------------------------------------------------------------------------------------


def scans(folder: Path) -> None:
    """Print a line for each scan; the first one pays for loading the models."""
    table = Table(
        "scan", "characters wrong", "words missing", "lines found", "seconds", "confidence", title="OCR"
    )
    for truth in jsonl(folder / "ground_truth.jsonl"):
        elements, unit, seconds = read(image.extract, folder / truth["file"])
        said, wanted = folded(element.text for element in elements), folded([truth["text"]])
        missing = 1 - shared(said.split(), wanted.split()) / len(wanted.split())
        wrong = distance(said, wanted) / len(wanted)
        found = lines_found(elements, truth["lines"]) if truth["lines"] else "-"
        confidence = f"{unit.confidence or 0:.3f}"
        table.add_row(truth["file"], f"{wrong:.1%}", f"{missing:.1%}", found, f"{seconds:.1f}", confidence)
    console.print(table, memory())


def lines_found(elements: list[Element], lines: list[dict[str, Any]]) -> str:
    """Return of how many of the true lines most of the box is covered by boxes that we give."""
    boxes = [box.box for element in elements for box in element.located.boxes()]
    covered = sum(any(overlap(Box(*line["bbox"]), box) > 0.5 for box in boxes) for line in lines)
    return f"{covered} of {len(lines)}"


def overlap(one: Box, other: Box) -> float:
    """Return the share of the smaller box that both have in common."""
    width = min(one.x2, other.x2) - max(one.x1, other.x1)
    height = min(one.y2, other.y2) - max(one.y1, other.y1)
    smaller = min((box.x2 - box.x1) * (box.y2 - box.y1) for box in (one, other))
    return max(width, 0) * max(height, 0) / max(smaller, 1e-9)


def resolutions() -> None:
    """Print, for several resolutions, how much of the report is read wrongly and how long a page takes."""
    from extract.pdf.mupdf import pymupdf

    table = Table("dpi", "characters wrong", "seconds a page", title="Resolution")
    with pymupdf.open(REPORT) as pdf:
        for dpi in (RESOLUTIONS[0], *RESOLUTIONS):  # the first one pays for loading the models
            wrong = total = 0
            start = perf_counter()
            for page in pdf:
                drawn = page.get_pixmap(dpi=dpi, alpha=False)
                pixels = np.frombuffer(drawn.samples, np.uint8).reshape(drawn.height, drawn.width, 3)
                found = recognise(pixels, Page(1, page.rect.width, page.rect.height))
                wanted = folded([page.get_text()])
                wrong += distance(folded(element.text for element in found.elements), wanted)
                total += len(wanted)
            seconds = (perf_counter() - start) / pdf.page_count
            table.add_row(str(dpi), f"{wrong / total:.1%}", f"{seconds:.2f}")
    console.print(table, memory())


# --- Recordings --------------------------------------------------------------------------------------------


def recordings(folder: Path) -> None:
    """Print a line for each recording, and the errors of each language."""
    wrong_in, wanted_in = Counter[str](), Counter[str]()
    columns = (
        "recording",
        "language",
        "heard as",
        "wrong",
        "starts compared",
        "off by",
        "at most",
        "seconds",
        "x real time",
        "confidence",
    )
    table = Table(*columns, title="Speech")
    for truth in jsonl(folder / "transcripts.jsonl"):
        try:
            elements, unit, seconds = read(media.extract, folder / truth["file"])
        except DocumentError as error:
            table.add_row(truth["file"], truth["lang"], error.code)
            continue
        said, wanted = (units_of(text, truth["lang"]) for text in (texts(elements), [truth["text"]]))
        errors = distance(said, wanted)
        # What is left out with a warning is no wrong word.
        wrong_in[truth["lang"]] += errors if said else 0
        wanted_in[truth["lang"]] += len(wanted) if said else 0
        wrong = f"{errors / len(wanted):.1%}" if wanted and said else f"{len(said)} words"
        off = starts_off(elements, truth["segments"] or [])
        compared = f"{len(off)} of {len(truth['segments'] or [])}"
        times = (compared, f"{median(off):.2f} s", f"{max(off):.2f} s") if off else ("-",) * 3
        speed = f"{truth['duration_s'] / seconds:.1f}"
        heard = " ".join(sorted({element.language or "?" for element in elements}))
        row = (truth["file"], truth["lang"], heard, wrong, *times)
        table.add_row(*row, f"{seconds:.1f}", speed, f"{unit.confidence or 0:.3f}")
    console.print(table)
    for language, count in wanted_in.items():
        unit_name = "characters" if language in BY_CHARACTER else "words"
        console.print(f"{language}: {wrong_in[language] / max(count, 1):.3f} of {count} {unit_name} wrong")
    console.print(memory())


def units_of(parts: list[str], language: str) -> list[str]:
    """Return the words of a text, or its characters in languages that put no blanks between words."""
    text = folded(parts, plain=True)
    return list(text.replace(" ", "")) if language in BY_CHARACTER else text.split()


def texts(elements: list[Element]) -> list[str]:
    """Return what was said."""
    return [element.text for element in elements]


def starts_off(elements: list[Element], segments: list[dict[str, Any]]) -> list[float]:
    """Return by how many seconds the first word of each true segment is off.

    Left out are segments whose first word was not heard within NEAR seconds: that is a wrong word, or a time
    that is off by more, and the number of those compared says how many there are.
    """
    spoken = [
        (
            folded([element.text[span.start : span.end]], plain=True),
            element.located.times(span.start, span.end),
        )
        for element in elements
        for span in element.located.spans
    ]
    off = []
    for segment in segments:
        first = folded([segment["text"]], plain=True).split()[0]
        starts = [abs(times[0] - segment["start_s"]) for word, times in spoken if word == first and times]
        off += [min(starts)] if starts and min(starts) < NEAR else []
    return off


def long(folder: Path, minutes: int) -> None:
    """Read a long recording and print resident memory every ten units."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "long.wav"
        repeat(folder, path, minutes)
        start = perf_counter()
        for finding in media.extract(path, REQUEST):
            if isinstance(finding, UnitRead) and finding.number % 10 == 0:
                console.print(f"minute {finding.number}: {resident_mb():.0f} MB, {memory()}")
        console.print(f"{minutes * 60 / (perf_counter() - start):.1f} x real time")


def repeat(folder: Path, path: Path, minutes: int) -> None:
    """Write the English recordings one after the other until there are so many minutes."""
    names = ("sonnet001.mp3", "jfk.flac", "LJ001-0001.wav", "LJ001-0003.wav", "speech_sample1.mp3")
    parts = []
    for name in names:
        with recording(folder / name) as opened:
            parts += [*opened.samples(), np.zeros(RATE, np.float32)]
    round_of_all = (np.concatenate(parts) * 32767).astype(np.int16)
    times = -(-minutes * 60 * RATE // len(round_of_all))
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        for _ in range(times):
            out.writeframes(round_of_all.tobytes())


# --- Measures ----------------------------------------------------------------------------------------------


def read(extract: Extractor, path: Path) -> tuple[list[Element], UnitRead, float]:
    """Return the elements of a file, its last unit, and the seconds that reading took."""
    start = perf_counter()
    findings = list(extract(path, REQUEST))
    unit = next(finding for finding in reversed(findings) if isinstance(finding, UnitRead))
    elements = [finding for finding in findings if isinstance(finding, Element)]
    return elements, unit, perf_counter() - start


def folded(parts: Iterable[str], *, plain: bool = False) -> str:
    """Return text in capitals with single spaces; `plain` leaves letters, digits and spaces only."""
    text = " ".join(" ".join(parts).upper().split())
    return "".join(letter for letter in text if letter.isalnum() or letter == " ") if plain else text


def shared(some: list[str], others: list[str]) -> int:
    """Return how many words two texts have in common, in any order."""
    return (Counter(some) & Counter(others)).total()


def distance(found: str | list[str], wanted: str | list[str]) -> int:
    """Return how many insertions, deletions and replacements lead from one to the other."""
    row = list(range(len(wanted) + 1))
    for at, item in enumerate(found, start=1):
        before, row[0] = row[0], at
        for column, other in enumerate(wanted, start=1):
            before, row[column] = (
                row[column],
                min(row[column] + 1, row[column - 1] + 1, before + (item != other)),
            )
    return row[-1]


def memory() -> str:
    """Return the peak of resident memory, and of address space on Linux."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    space = "".join(_status("VmPeak")) if sys.platform == "linux" else "unknown"
    return f"peak {peak:.0f} MB resident, address space {space}"


def resident_mb() -> float:
    """Return resident memory now."""
    return int(next(_status("VmRSS")).split()[0]) / 1024


def _status(name: str) -> Iterator[str]:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            yield " ".join(line.split()[1:])


def jsonl(path: Path) -> list[dict[str, Any]]:
    """Return the objects in a file, one a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
