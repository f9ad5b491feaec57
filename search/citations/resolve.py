"""Turns markers into verified citations, each with the supporting sentence and its place."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from search.citations.markers import MARKER, seam
from search.citations.support import Embed, Verifier
from search.contexts import Context, Sentence
from search.events import BoxData, FilePlace, Header, Quote

CERTAIN = 0.5
"""A sentence with this share of the statement's words surely supports it."""
FEWEST_WORDS = 3
"""“According to <source_1>, …”: with fewer words before its marker, the statement continues after it."""
_GROUP = re.compile(
    rf"(?<![ \t])(?P<before>[ \t]*+)(?P<markers>{MARKER.pattern}(?:[ \t]*+{MARKER.pattern})*+)"
    r"(?P<after>[ \t]*+)"
)
# After “Inc.” and other abbreviations a sentence continues in lower case.
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+(?![\sa-zß-öø-ÿ])|\n+")
_LIST_MARK = re.compile(r"^\s*(?:[-*+>]|\d+[.)])\s+")

Outcome = Literal["held", "moved", "unsupported", "unknown", "repeated", "unchecked"]
"""`unchecked`: there was no time to verify it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a marker: `asked` is the rank it named, `cited` the one in the response, if any."""

    statement: str
    asked: int
    cited: int | None
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Resolved:
    """A finished response: markers replaced, quotes found, unsupported citations removed and counted."""

    response: str
    quotes: dict[int, list[Quote]]
    """By rank, in the order of the citations."""
    verdicts: list[Verdict]

    @property
    def removed(self) -> int:
        """The number of markers without a source, without support, or that could not be checked."""
        return sum(verdict.outcome in ("unknown", "unsupported", "unchecked") for verdict in self.verdicts)

    @property
    def sources_used(self) -> list[int]:
        """The cited ranks, ascending."""
        return sorted(self.quotes)


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence of the raw text, by its offsets."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Edit:
    """A replacement of a part of the raw text in the response."""

    start: int
    end: int
    replacement: str


def resolve(raw: str, contexts: Sequence[Context], question: str, embed: Embed) -> Resolved:
    """Turn each supported `<source_N>` into a citation of its source; drop the others.

    A marker whose source does not support its sentence moves to a source that does. Only markers change.
    `embed` returns unit vectors, and is called only where words do not decide.
    """
    verifier = Verifier(contexts, question, embed)
    edits: list[_Edit] = []
    verdicts: list[Verdict] = []
    cited: list[tuple[int, _Statement]] = []
    for group, statement in _groups(raw):
        judged = _judge_markers(statement.text, _ranks(group), verifier)
        ranks = [verdict.cited for verdict in judged if verdict.cited is not None]
        edits.append(_edit(group, [verifier.sources[rank].context.citation for rank in ranks]))
        verdicts += judged
        cited += [(rank, statement) for rank in ranks]
    quotes: defaultdict[int, list[Quote]] = defaultdict(list)
    for rank, statement in cited:
        quotes[rank].append(_quote(verifier, rank, statement, _moved_offset(edits, statement.start)))
    return Resolved(_apply_edits(raw, edits), dict(quotes), verdicts)


def remove_markers(raw: str) -> Resolved:
    """Return the response without any of its markers: unverified text has no citations."""
    groups = list(_GROUP.finditer(raw))
    verdicts = [Verdict("", rank, None, "unchecked") for group in groups for rank in _ranks(group)]
    return Resolved(_apply_edits(raw, [_edit(group, []) for group in groups]), {}, verdicts)


# --- Statements --------------------------------------------------------------------------------------------


def _groups(raw: str) -> Iterator[tuple[re.Match[str], _Statement]]:
    """Yield each run of markers with the statement it is about."""
    groups = list(_GROUP.finditer(raw))
    ends = [0, *(group.end() for group in groups)]
    starts = [*(group.start() for group in groups[1:]), len(raw)]
    statement = _Statement("", 0, 0)
    for group, begin, until in zip(groups, ends, starts, strict=False):
        before = _last_sentence(raw, begin, group.start())
        if before and (len(before.text.split()) >= FEWEST_WORDS or not _goes_on(raw, group)):
            statement = before
        elif before or not statement.text:
            statement = _first_sentence(raw, group.end(), until) or before or statement
        yield group, statement


def _goes_on(raw: str, group: re.Match[str]) -> bool:
    """Return whether the sentence continues after the markers."""
    behind = raw[group.end() :].lstrip(",;: \t")
    return behind[:1].isalnum() and not raw[: group.start()].rstrip().endswith((".", "!", "?"))


def _last_sentence(raw: str, start: int, end: int) -> _Statement | None:
    parts = _SENTENCE_END.split(raw[start:end].rstrip())
    text = _LIST_MARK.sub("", parts[-1]).strip().lstrip(".,;:!? ")
    return _statement_at(raw, text, raw.rindex(text, start, end)) if any(map(str.isalnum, text)) else None


def _first_sentence(raw: str, start: int, end: int) -> _Statement | None:
    text = _SENTENCE_END.split(raw[start:end].strip())[0].lstrip(".,;:!? ").rstrip()
    return _statement_at(raw, text, raw.index(text, start, end)) if any(map(str.isalnum, text)) else None


def _statement_at(raw: str, text: str, start: int) -> _Statement:
    return _Statement(text, start, start + len(text))


# --- Judging -----------------------------------------------------------------------------------------------


def _ranks(group: re.Match[str]) -> list[int]:
    return [int(number) for number in MARKER.findall(group["markers"])]


def _judge_markers(statement: str, ranks: Sequence[int], verifier: Verifier) -> list[Verdict]:
    """Return what becomes of the markers of one statement, in their order."""
    # A marker without a statement has no meaning, whatever its source says.
    known = [rank for rank in dict.fromkeys(ranks) if rank in verifier.sources and statement]
    held = {rank for rank in known if _holds(verifier, statement, rank, known)}
    verdicts: list[Verdict] = []
    used: set[int] = set()
    for rank in ranks:
        cited, outcome = _judge(statement, rank, held, used, verifier)
        used |= {cited} if cited is not None else set()
        verdicts.append(Verdict(statement, rank, cited, outcome))
    return verdicts


def _judge(
    statement: str, rank: int, held: set[int], used: set[int], verifier: Verifier
) -> tuple[int | None, Outcome]:
    if rank not in verifier.sources:
        return None, "unknown"
    if rank in used:
        return None, "repeated"
    if rank in held:
        return rank, "held"
    elsewhere = _better_source(statement, held, verifier) if statement else None
    if elsewhere is None:
        return None, "unsupported"
    return (None, "repeated") if elsewhere in used | held else (elsewhere, "moved")


def _holds(verifier: Verifier, statement: str, rank: int, known: Sequence[int]) -> bool:
    return verifier.is_held(statement, rank, [other for other in known if other != rank])


def _better_source(statement: str, held: set[int], verifier: Verifier) -> int | None:
    """Return the source that supports a statement best; sources already cited for it come first."""
    if held:
        return min(held)
    bearing = [rank for rank in verifier.sources if verifier.is_held(statement, rank)]
    return max(bearing, key=lambda rank: verifier.evidence(statement, rank).share, default=None)


# --- The response ------------------------------------------------------------------------------------------


def _edit(group: re.Match[str], citations: Sequence[str]) -> _Edit:
    """Replace markers by citations; if none is left, remove the space before them too."""
    kept = f"{group['before']}{''.join(citations)}" if citations else seam(group.string[: group.start()])
    return _Edit(group.start(), group.end(), f"{kept}{group['after']}")


def _apply_edits(raw: str, edits: Sequence[_Edit]) -> str:
    response, at = "", 0
    for edit in edits:
        response += raw[at : edit.start] + edit.replacement
        at = edit.end
    return response + raw[at:]


def _moved_offset(edits: Sequence[_Edit], offset: int) -> int:
    """Return where an offset into the raw text lies in the response."""
    return offset + sum(
        len(edit.replacement) - (edit.end - edit.start) for edit in edits if edit.end <= offset
    )


def _quote(verifier: Verifier, rank: int, statement: _Statement, start: int) -> Quote:
    evidence, context = verifier.evidence(statement.text, rank), verifier.sources[rank].context
    sentence, located, picture = evidence.sentence, context.located, context.picture
    is_certain = evidence.share >= CERTAIN
    times = located.times(sentence.start, sentence.end)
    return Quote(
        text=sentence.text,
        bbox=_boxes(context, sentence) if is_certain else None,
        start_time=times[0] if times else None,
        end_time=times[1] if times else None,
        response_start=start,
        response_end=start + statement.end - statement.start,
        chunk_start=sentence.start,
        chunk_end=sentence.end,
        machine_made=picture is not None and picture.is_machine_made(sentence.start),
        place=FilePlace.of(located.files(sentence.start, sentence.end)) if is_certain else None,
        header=_header(context, sentence) if is_certain else None,
    )


def _header(context: Context, row: Sentence) -> Header | None:
    header = context.header
    if header is None or row.start < header.end:
        return None
    return Header(text=header.text, bbox=_boxes(context, header))


def _boxes(context: Context, sentence: Sentence) -> list[BoxData] | None:
    """Return a box for each line of a sentence, None in a file without pages."""
    return [BoxData.of(box) for box in context.located.boxes(sentence.start, sentence.end)] or None
