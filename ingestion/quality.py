"""The quality of an extraction: the verdict on a document, and its quality report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

from extract.base import Kind, TextOrigin, UnitRead, Warned
from extract.errors import Corrupted, NoText
from ingestion.chunk_flaws import chunk_report
from ingestion.extraction import ExtractionState
from kb.chunks import ChunkDraft

NAMED = 10
LISTED, EXCERPT_CHARS = 100, 80
# Below this, recognised text is likely to have wrong words in every line.
POOR_CONFIDENCE = 0.7
# Warnings that mean that a part of the document can't be found.
MISSING_PARTS = frozenset({"pages_unreadable", "parts_unreadable"})
# A few hidden characters, such as a page number or a crop mark outside the page, need no warning.
WORTH_A_WARNING = 25
HIDDEN_ADVICE = (
    "Look at them in the quality report: if they belong to the document, make them visible in it and upload "
    "it again; if they contain instructions to a language model, do not trust the document."
)
NO_SPEECH = "No speech was heard in the recording, so there is nothing to find. Check its sound track."
NOT_UNDERSTOOD = (
    "There is speech or singing in the recording, but none of it could be understood. Its language may be "
    "unknown to the speech model. Upload a transcript or subtitles instead."
)
# In so many seconds of what sounds like speech, there is some.
SURELY_SPEECH = 2.0


def warnings_of(reading: ExtractionState) -> list[Warned]:
    """Return warnings for people; raise `NoText` or `Corrupted` if nothing usable was read."""
    _check_usable(reading)
    reads = [unit.read for unit in reading.units.values()]
    return [
        *reading.warnings,
        *_unreadable(reading),
        *_repair_warnings(reading),
        *_doubtful(reading, reads),
        *_hidden_warning(reading),
    ]


def is_partial(warnings: Iterable[Mapping[str, str]]) -> bool:
    """Whether these warnings, in their stored form, mean that parts of the document can't be found."""
    return any(warning["code"] in MISSING_PARTS for warning in warnings)


def quality_of(
    reading: ExtractionState,
    drafts: Sequence[ChunkDraft],
    warnings: Iterable[Warned],
    language: str | None,
) -> dict[str, Any]:
    """Return the quality report: units by source, confidence of recognition, tables, pictures, speech, and
    the lengths and flaws of the chunks."""
    reads = [reading.units[number].read for number in sorted(reading.units)]
    sources = Counter(read.source.value for read in reads)
    return {
        "unit": reading.unit_name,
        "units": {
            "total": reading.unit_count,
            **{source.value: sources[source.value] for source in TextOrigin},
        },
        "unreadable": [read.number for read in reads if read.source is TextOrigin.UNREADABLE],
        "without_text": [read.number for read in reads if read.source is TextOrigin.BLANK],
        "recognised": [
            {"number": read.number, "confidence": round(read.confidence, 3)}
            for read in reads
            if read.confidence is not None
        ],
        "characters": sum(len(element.text) for element in reading.elements),
        "tables": sum(read.tables for read in reads),
        "pictures": sum(read.pictures for read in reads),
        "seconds": _seconds(reading, reads),
        "hidden": [_excerpt(number, text) for number, text in list(_hidden(reading).items())[:LISTED]],
        "chunks": chunk_report(drafts),
        "language": language,
        "warnings": [asdict(warning) for warning in warnings],
    }


def _check_usable(reading: ExtractionState) -> None:
    if reading.descriptions or any(unit.elements for unit in reading.units.values()):
        if _cut_off(reading) and _numbers(reading, TextOrigin.UNREADABLE):
            raise Corrupted(
                "The file is cut off: its end is missing. Get the whole file and upload it again."
            )
        return
    if _cut_off(reading):
        raise Corrupted("The file is cut off: its end is missing. Get the whole file and upload it again.")
    if _numbers(reading, TextOrigin.UNREADABLE):
        raise Corrupted
    raise NoText(_why_silent(reading))


def _why_silent(reading: ExtractionState) -> str | None:
    """Return why a recording has no text, None for what is no recording."""
    if reading.opened is None or reading.opened.duration is None:
        return None
    spoken = sum(unit.read.speech_secs or 0.0 for unit in reading.units.values())
    return NOT_UNDERSTOOD if spoken > SURELY_SPEECH else NO_SPEECH


def _cut_off(reading: ExtractionState) -> bool:
    return reading.opened is not None and reading.opened.is_cut_off


def _numbers(reading: ExtractionState, source: TextOrigin) -> list[int]:
    return sorted(number for number, unit in reading.units.items() if unit.read.source is source)


def _unreadable(reading: ExtractionState) -> list[Warned]:
    numbers = _numbers(reading, TextOrigin.UNREADABLE)
    if not numbers:
        return []
    code = "pages_unreadable" if reading.unit_name == "page" else "parts_unreadable"
    return [Warned(code, _warn_about(reading, numbers, "could not be read"))]


def _repair_warnings(reading: ExtractionState) -> list[Warned]:
    if not _cut_off(reading):
        return []
    return [Warned("repaired", "The file was damaged at its end; the rest could be read.")]


def _doubtful(reading: ExtractionState, reads: list[UnitRead]) -> list[Warned]:
    poor = sorted(r.number for r in reads if r.confidence is not None and r.confidence < POOR_CONFIDENCE)
    if not poor:
        return []
    confidence = fmean(read.confidence for read in reads if read.confidence is not None)
    what = f"were hard to recognise (mean confidence {confidence:.0%}): expect wrong words"
    return [Warned("low_confidence", _warn_about(reading, poor, what))]


def _hidden(reading: ExtractionState) -> dict[int, str]:
    """Return the hidden text of each unit, by the unit's number."""
    texts = {
        number: " ".join(found.text for found in reading.units[number].elements if found.kind is Kind.HIDDEN)
        for number in sorted(reading.units)
    }
    return {number: text for number, text in texts.items() if text}


def _hidden_warning(reading: ExtractionState) -> list[Warned]:
    hidden = _hidden(reading)
    characters = sum(map(len, hidden.values()))
    if characters < WORTH_A_WARNING:
        return []
    where = f" ({reading.unit_name}s {_number_list(list(hidden))})" if reading.unit_count > 1 else ""
    what = f"{characters} characters that readers can't see were left out of the text{where}."
    return [Warned("hidden_text", f"{what} {HIDDEN_ADVICE}")]


def _excerpt(number: int, text: str) -> dict[str, Any]:
    excerpt = text if len(text) <= EXCERPT_CHARS else text[: EXCERPT_CHARS - 1].rstrip() + "…"
    return {"number": number, "characters": len(text), "excerpt": excerpt}


def _warn_about(reading: ExtractionState, numbers: list[int], what: str) -> str:
    return f"{len(numbers)} of {reading.unit_count} {reading.unit_name}s {what}: {_number_list(numbers)}."


def _number_list(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:NAMED])) + (", …" if len(numbers) > NAMED else "")


def _seconds(reading: ExtractionState, reads: list[UnitRead]) -> dict[str, float] | None:
    if reading.opened is None or reading.opened.duration is None:
        return None
    total = reading.opened.duration
    speech = min(total, sum(read.speech_secs or 0.0 for read in reads))
    return {"total": round(total, 2), "speech": round(speech, 2), "without_speech": round(total - speech, 2)}
