"""Citations: raw `<source_N>` markers while text streams, resolved ones with quotes in the result."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from search.answer.base import Context, Sentence
from search.events import BoxData, Quote

MARKER = re.compile(r"<source_(\d{1,4})>")
_MARKER_BEGUN = re.compile(r"<(?:s(?:o(?:u(?:r(?:c(?:e(?:_\d{0,4})?)?)?)?)?)?)?$")
_WORDS_AND_MARKERS = re.compile(rf"{MARKER.pattern}|\s+|[^\s<]+|<")
MAX_PARTIAL_BYTES = 256
CERTAIN = 0.5
"""From this share of the statement's words on, a sentence surely is the one that supports it."""


# --- While streaming -------------------------------------------------------------------------------------


class MarkerSafeSplitter:
    """Cuts a stream of text into partials of at most 256 JSON-escaped bytes, never inside a marker."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> Iterator[str]:
        """Yield what can be sent; a marker that may have begun is held back."""
        text = self._held + text
        begun = _MARKER_BEGUN.search(text)
        ready = text[: begun.start()] if begun else text
        self._held = text[len(ready) :]
        yield from _pieces(ready)

    def finish(self) -> Iterator[str]:
        """Yield what was held back for a marker that never came."""
        yield from _pieces(self._held)
        self._held = ""


def _pieces(text: str) -> Iterator[str]:
    piece = ""
    for token in _tokens(text):
        if piece and _escaped_size(piece + token) > MAX_PARTIAL_BYTES:
            yield piece
            piece = ""
        piece += token
    if piece:
        yield piece


def _tokens(text: str) -> Iterator[str]:
    for match in _WORDS_AND_MARKERS.finditer(text):
        token = match.group()
        # Twelve bytes are the most that JSON spends on a character: a surrogate pair of escapes.
        step = MAX_PARTIAL_BYTES // 12
        if _escaped_size(token) <= MAX_PARTIAL_BYTES:
            yield token
        else:
            yield from (token[i : i + step] for i in range(0, len(token), step))


def _escaped_size(text: str) -> int:
    return len(json.dumps(text)) - 2


# --- In the result ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Resolved:
    """A finished response: its markers replaced, its quotes found, its inventions removed and counted."""

    response: str
    quotes: dict[int, list[Quote]]
    """By rank, in the order of the citations."""
    removed: int

    @property
    def sources_used(self) -> list[int]:
        """The cited ranks, ascending."""
        return sorted(self.quotes)


def resolve(raw: str, contexts: Sequence[Context]) -> Resolved:
    """Turn each `<source_N>` into `<citation id="CHUNK_ID">[N]</citation>`; find the sentence behind it."""
    by_rank = {context.rank: context for context in contexts}
    quotes: defaultdict[int, list[Quote]] = defaultdict(list)
    response, removed, at, statement = "", 0, 0, (0, 0)
    for marker in MARKER.finditer(raw):
        between = raw[at : marker.start()]
        if between.strip():
            statement = _statement(response, between)
        response += between
        at = marker.end()
        context = by_rank.get(int(marker.group(1)))
        if context is None:
            removed += 1
            continue
        response += f'<citation id="{context.chunk.pk}">[{context.rank}]</citation>'
        quotes[context.rank].append(_quote(context, response, statement))
    return Resolved(response + raw[at:], dict(quotes), removed)


def _statement(before: str, between: str) -> tuple[int, int]:
    """Return where in the response the cited statement stands: the last sentence before the marker."""
    sentences = re.split(r"(?<=[.!?])\s+(?=\S)|\n+", between.rstrip())
    last = re.sub(r"^\s*(?:[-*+>]|\d+[.)])\s+", "", sentences[-1]).strip()
    start = len(before) + between.rindex(last)
    return start, start + len(last)


def _quote(context: Context, response: str, statement: tuple[int, int]) -> Quote:
    start, end = statement
    sentence, share = supporting_sentence(context, response[start:end])
    boxes = [BoxData.of(box) for box in context.located.boxes(sentence.start, sentence.end)]
    times = context.located.times(sentence.start, sentence.end)
    return Quote(
        text=sentence.text,
        bbox=boxes if boxes and share >= CERTAIN else None,
        start_time=times[0] if times else None,
        end_time=times[1] if times else None,
        response_start=start,
        response_end=end,
    )


def supporting_sentence(context: Context, statement: str) -> tuple[Sentence, float]:
    """Return the context's sentence that shares most words with the statement, and the share (0..1)."""
    said = _words(statement)

    def share(sentence: Sentence) -> float:
        words = _words(sentence.text)
        return len(said & words) / max(1, min(len(said), len(words)))

    def likeness(sentence: Sentence) -> tuple[float, int]:
        words = _words(sentence.text)
        return len(said & words) / max(1, len(said | words)), -sentence.start

    best = max(context.sentences, key=likeness)
    return best, share(best)


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower().replace("\\", "")))
