"""From elements to chunks: the units of retrieval.

A chunk stays within one section. It fits the embedding model's window together with its heading path. It
consists of whole sentences; a sentence longer than the window is cut between words, and a word of more than
60 characters anywhere. No chunk is longer than `MOST_CHARS`, however few tokens a tokenizer counts. The
chunk's text is the document's own words, so that every character keeps its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, takewhile

from core.locations import LocatedText
from core.text.sentences import sentence_bounds
from extract.base import Element, Kind, Pictured
from ingestion.packing import MOST_BLANK, draft_of, pack_paragraphs, split_piece
from ingestion.row_groups import Piece
from ingestion.sections import join_short_sections, sections
from ingestion.short_chunks import join_short_chunks
from ingestion.table_chunks import table_chunks
from ingestion.table_introductions import parted_before_table
from ingestion.token_counts import LARGEST, SPECIAL_TOKENS, Tokenizer, count_tokens, least_tokens
from kb.chunks import ChunkDraft
from kb.pictures import Picture

HEADINGS_SHARE = 0.25


def chunk_elements(
    elements: Iterable[Element], tokenizer: Tokenizer, language: str | None
) -> Iterator[ChunkDraft]:
    """Yield the chunks of a document in reading order."""
    return join_short_chunks(_chunks_of_sections(elements, tokenizer, language), tokenizer)


def _chunks_of_sections(
    elements: Iterable[Element], tokenizer: Tokenizer, language: str | None
) -> Iterator[ChunkDraft]:
    window = min(LARGEST, tokenizer.max_tokens) - SPECIAL_TOKENS
    for section in join_short_sections(sections(elements)):
        headings, taken = _fit_headings(section.headings, tokenizer, int(window * HEADINGS_SHARE))
        room = window - taken
        above: list[Element] = []
        runs = [(key, list(run)) for key, run in groupby(section.elements, key=_separation)]
        for ((is_table, picture, spoken), together), following in zip(runs, [*runs[1:], None], strict=True):
            if is_table:
                yield from table_chunks(together, above, tokenizer, headings, room)
                above = []
                continue
            if following and following[0][0] and not picture:
                together, above = parted_before_table(together)
            if not together:
                continue
            owners = {id(element.located): element for element in together}
            measured = _measure_sentences(together, tokenizer, spoken or language, room)
            for pieces in pack_paragraphs(measured, room):
                draft = replace(draft_of(pieces, headings, owners), language=spoken)
                yield _picture_draft(draft, pieces, picture, together) if picture else draft


def _separation(element: Element) -> tuple[bool, Pictured | None, str | None]:
    """Return a key that separates elements into chunks: tables are alone, as are the elements of each picture
    and the sentences in each spoken language."""
    return element.kind is Kind.TABLE, element.picture, element.language


def _fit_headings(path: tuple[str, ...], tokenizer: Tokenizer, room: int) -> tuple[tuple[str, ...], int]:
    """Return the innermost headings that fit into `room` tokens, and how many they take."""
    counts = count_tokens([f"{heading} >" for heading in path], tokenizer)
    taken = 0
    for kept, count in enumerate(reversed(counts)):
        if taken + count > room:
            return path[len(path) - kept :], taken
        taken += count
    return path, taken


# --- Sentences ---------------------------------------------------------------------------------------------


def _measure_sentences(
    elements: Sequence[Element], tokenizer: Tokenizer, language: str | None, room: int
) -> Iterator[list[Piece]]:
    """Yield each element as its sentences with their size in tokens, none larger than `room`."""
    cuts = [
        (element.located, start, end)
        for element in elements
        for start, end in sentence_bounds(element.text, language)
    ]
    counts = count_tokens([element.text[start:end] for element, start, end in cuts], tokenizer)
    # One token more for the separator, which some tokenizers count.
    pieces = [
        Piece(*cut, max(count + 1, least_tokens(blanks_end - cut[1])))
        for cut, count, blanks_end in zip(cuts, counts, _ends_with_blanks(cuts), strict=True)
    ]
    # A heading alone in a chunk says nothing, so room is left for the sentence after it.
    room_after = max(room - _leading_headings(elements, pieces), room // 2)
    for _, of_element in groupby(pieces, key=lambda piece: id(piece.element)):
        yield [part for piece in of_element for part in split_piece(piece, tokenizer, room_after)]


def _leading_headings(elements: Iterable[Element], pieces: Iterable[Piece]) -> int:
    """Return the tokens of the headings at the beginning of a section."""
    headings = takewhile(lambda element: element.kind is Kind.HEADING, elements)
    leading = {id(element.located) for element in headings}
    return sum(piece.tokens for piece in pieces if id(piece.element) in leading)


def _ends_with_blanks(cuts: Sequence[tuple[LocatedText, int, int]]) -> Iterator[int]:
    """Yield the end of each sentence, with the blanks after it unless they separate it from the next one."""
    for (element, _, end), following in zip(cuts, [*cuts[1:], None], strict=True):
        is_near = following and following[0] is element and following[1] - end <= MOST_BLANK
        yield following[1] if following and is_near else end


# --- Assembly ----------------------------------------------------------------------------------------------


def _picture_draft(
    draft: ChunkDraft, pieces: Sequence[Piece], picture: Pictured, elements: Iterable[Element]
) -> ChunkDraft:
    """Return the draft as one of a picture, with the position from which a model wrote its text."""
    machines = {id(element.located): element.machine for element in elements}
    machine_made = [index for index, piece in enumerate(pieces) if machines[id(piece.element)]]
    if not machine_made:
        return replace(draft, picture=Picture(picture.area))
    first = machine_made[0]
    shown = Picture(picture.area, draft.sentences[first][0], machines[id(pieces[first].element)])
    return replace(draft, picture=shown)
