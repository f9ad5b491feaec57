"""Sentences of contexts as events show them: the words, and where they stand."""

from __future__ import annotations

from search.contexts import Context, Sentence
from search.events import BoxData, FilePlace, Header, QuotedSentence


def quoted_sentence(context: Context, sentence: Sentence, *, is_certain: bool = True) -> QuotedSentence:
    """Return a sentence with its place; one that nobody can be sure of has only the times of its speech."""
    located, picture = context.located, context.picture
    times = located.times(sentence.start, sentence.end)
    return QuotedSentence(
        text=sentence.text,
        bbox=_boxes(context, sentence) if is_certain else None,
        start_time=times[0] if times else None,
        end_time=times[1] if times else None,
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
