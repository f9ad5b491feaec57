"""Turns markers into verified citations, each with the supporting sentence and its place."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Literal

from core.text.full_stops import NUMBERED
from kb.embedding.calibration import Calibration
from search.citations.claims import AnalysedText
from search.citations.markers import MARKER, seam
from search.citations.support import Embed, Evidence, Verifier
from search.contexts import Context
from search.events import Quote
from search.quoted_sentences import quoted_sentence

CERTAIN = 0.5
"""A sentence with this share of the statement's words surely supports it."""
FEWEST_WORDS = 3
"""“According to <source_1>, …”: with fewer words before its marker, the statement continues after it."""
_GROUP = re.compile(
    rf"(?<![ \t])(?P<before>[ \t]*+)(?P<markers>{MARKER.pattern}(?:[ \t]*+{MARKER.pattern})*+)"
    r"(?P<after>[ \t]*+)"
)
# After “Inc.” and other abbreviations a sentence continues in lower case. “Am 5. Oktober” and “Dr. Ada
# Lovelace” are parts of one, too.
_SENTENCE_END = re.compile(
    r"(?<=[.!?。！？])(?<!\bDr\.)(?<!\bMr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bProf\.)(?<!\bNr\.)(?<!\bNo\.)"
    rf"(?!(?<=\b\d\.)\s(?i:{NUMBERED.pattern})\b)(?!(?<=\b\d\d\.)\s(?i:{NUMBERED.pattern})\b)"
    r"\s+(?![\sa-zß-öø-ÿ])|\n+"
)
_MAY_GO_ON = re.compile(r"(?:(?<=\b\d\.)|(?<=\b\d\d\.))\s+\w*+\Z")
"""Behind “5.” what is written so far of the next word may become “Oktober”."""
_SENTENCE_ENDS = (".", "!", "?", "。", "！", "？")
_WORD = re.compile(r"\S")
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


@dataclass(frozen=True, slots=True)
class JudgedGroup:
    """A run of markers at `start` to `end` of the raw text, and what becomes of it."""

    start: int
    end: int
    citations: str
    """What replaces it in the response."""
    markers: str
    """What replaces it in text that is sent on with markers: only those that hold."""
    verdicts: tuple[Verdict, ...]
    quotes: tuple[tuple[int, Quote], ...] = ()
    """By rank; their `response_start` and `response_end` are offsets into the raw text."""


def resolve(
    raw: str, contexts: Sequence[Context], question: str, calibration: Calibration, embed: Embed
) -> Resolved:
    """Turn each supported `<source_N>` into a citation of its source; drop the others.

    A marker whose source does not support its sentence moves to a source that does. Only markers change.
    `embed` returns unit vectors of the model that `calibration` belongs to, and is called only where words do
    not decide.
    """
    return assemble(raw, judge_groups(raw, contexts, question, calibration, 0, embed))


def judge_groups(
    raw: str,
    contexts: Sequence[Context],
    question: str,
    calibration: Calibration,
    skip: int,
    embed: Embed,
) -> list[JudgedGroup]:
    """Return what becomes of each run of markers but the first `skip`."""
    verifier = Verifier(contexts, question, calibration, embed)
    return [
        _judge_group(found.group, found.statement, verifier) for found in islice(_groups(raw), skip, None)
    ]


def unchecked_groups(raw: str, skip: int = 0) -> list[JudgedGroup]:
    """Return all runs of markers but the first `skip` as removed: unverified text has no citations."""
    return [_unchecked(group) for group in islice(_GROUP.finditer(raw), skip, None)]


def assemble(raw: str, groups: Sequence[JudgedGroup]) -> Resolved:
    """Return the response: the raw text with what becomes of all of its markers."""
    edits = [_Edit(group.start, group.end, group.citations) for group in groups]
    quotes: defaultdict[int, list[Quote]] = defaultdict(list)
    for group in groups:
        for rank, quote in group.quotes:
            start = _moved_offset(edits, quote.response_start)
            end = start + quote.response_end - quote.response_start
            quotes[rank].append(quote.model_copy(update={"response_start": start, "response_end": end}))
    verdicts = [verdict for group in groups for verdict in group.verdicts]
    return Resolved(_apply_edits(raw, edits), dict(quotes), verdicts)


# --- Statements --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _FoundGroup:
    """A run of markers with the statement it is about; `reach` is how much text was looked at to tell."""

    group: re.Match[str]
    statement: _Statement
    reach: int


def settled_groups(raw: str) -> tuple[list[int], int]:
    """Return where the first runs of markers start that more text behind `raw` would not change, and up to
    where there are no others."""
    found = list(_groups(raw))
    settled = list(takewhile(lambda each: each.reach < len(raw), found))
    starts = [each.group.start() for each in found]
    return starts[: len(settled)], starts[len(settled)] if len(settled) < len(found) else len(raw)


def boundaries(raw: str, start: int) -> list[int]:
    """Return the offsets above `start` at which a new statement has begun, ascending.

    Markers belong to the statement before them.
    """
    found = _SENTENCE_END.finditer(raw, start)
    sentences = {match.end() for match in found if not _MAY_GO_ON.match(raw, match.start())}
    groups = {
        group.end()
        for group in _GROUP.finditer(raw, start)
        if raw[start : group.start()].rstrip().endswith(_SENTENCE_ENDS)
    }
    return [end for end in sorted(sentences | groups) if _begins_statement(raw, end)]


def _begins_statement(raw: str, offset: int) -> bool:
    word = _WORD.search(raw, offset)
    return word is not None and not MARKER.match(raw, word.start())


def _groups(raw: str) -> Iterator[_FoundGroup]:
    groups = list(_GROUP.finditer(raw))
    ends = [0, *(group.end() for group in groups)]
    starts = [*(group.start() for group in groups[1:]), len(raw)]
    statement = _Statement("", 0, 0)
    for group, begin, until in zip(groups, ends, starts, strict=False):
        before = _last_sentence(raw, begin, group.start())
        reach = len(raw) - len(raw[group.end() :].lstrip(",;: \t"))
        if before and (len(before.text.split()) >= FEWEST_WORDS or not _goes_on(raw, group)):
            statement = before
        elif before or not statement.text:
            statement = _first_sentence(raw, group.end(), until) or before or statement
            reach = _end_of_first_sentence(raw, group.end(), until)
        yield _FoundGroup(group, statement, reach)


def _end_of_first_sentence(raw: str, start: int, until: int) -> int:
    """Return where the first sentence is known to end: at the next one, or at the next markers."""
    said = _WORD.search(raw, start, until)
    end = _SENTENCE_END.search(raw, said.start() + 1, until) if said else None
    return end.end() if end and not _MAY_GO_ON.match(raw, end.start()) else until


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


def _judge_group(group: re.Match[str], statement: _Statement, verifier: Verifier) -> JudgedGroup:
    verdicts = _judge_markers(statement.text, _ranks(group), verifier)
    ranks = [verdict.cited for verdict in verdicts if verdict.cited is not None]
    quotes = tuple(_quotes(verifier, ranks, statement))
    return JudgedGroup(
        group.start(),
        group.end(),
        _replaced(group, [verifier.sources[rank].context.citation for rank, _ in quotes]),
        _replaced(group, [f"<source_{rank}>" for rank in ranks]),
        tuple(verdicts),
        quotes,
    )


def _unchecked(group: re.Match[str]) -> JudgedGroup:
    left = _replaced(group, [])
    verdicts = tuple(Verdict("", rank, None, "unchecked") for rank in _ranks(group))
    return JudgedGroup(group.start(), group.end(), left, left, verdicts)


def _replaced(group: re.Match[str], kept: Sequence[str]) -> str:
    """Replace markers by those that are kept; if none is, remove the space before them too."""
    left = f"{group['before']}{''.join(kept)}" if kept else seam(group.string[: group.start()])
    return f"{left}{group['after']}"


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


def _quotes(verifier: Verifier, ranks: Sequence[int], statement: _Statement) -> Iterator[tuple[int, Quote]]:
    """Yield what each source of a statement says, by rank: its sentence, and those of figures it lacks."""
    first = {rank: verifier.evidence(statement.text, rank).sentence for rank in ranks}
    for rank, context in ((rank, verifier.sources[rank].context) for rank in ranks):
        others = [sentence.text for other, sentence in first.items() if other != rank]
        shown = AnalysedText(" \n".join(others), context.language).terms
        for evidence in verifier.with_its_figures(statement.text, rank, shown):
            yield rank, _quote(context, evidence, statement)


def _quote(context: Context, evidence: Evidence, statement: _Statement) -> Quote:
    placed = quoted_sentence(context, evidence.sentence, is_certain=evidence.share >= CERTAIN)
    return Quote(**dict(placed), response_start=statement.start, response_end=statement.end)
