"""From elements to chunks: the units of retrieval.

A chunk stays within one section. It fits the embedding model's window together with its heading path. It
consists of whole sentences; a sentence longer than the window is cut between words, and a word of more than
60 characters anywhere. No chunk is longer than `MOST_CHARS`, however few tokens a tokenizer counts. The
chunk's text is the document's own words, so that every character keeps its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, takewhile

from core.locations import LocatedText
from core.text.sentences import sentence_bounds
from core.text.tables import without_marks
from extract.base import Element, Kind, Pictured
from ingestion.row_groups import GroupNames, Piece
from ingestion.sections import HeadedSection, join_short_sections, sections
from ingestion.short_chunks import SEPARATOR, join_chunks, join_short_chunks
from ingestion.token_counts import (
    CHARS_PER_TOKEN,
    LARGEST,
    SPECIAL_TOKENS,
    Tokenizer,
    count_tokens,
    least_tokens,
)
from kb.chunks import ChunkDraft, ElementBounds
from kb.pictures import Picture

# In running text, fewer blanks stand between two words; longer gaps separate texts.
MOST_BLANK = 4 * CHARS_PER_TOKEN
HEADINGS_SHARE = 0.25
# A table's header is repeated above each group of its rows, unless it takes a larger share of the window.
HEADER_SHARE = 0.5
# The same for a row that names the rows below it.
GROUP_NAME_SHARE = 0.25
# No tokenizer makes more tokens of so few characters than a window holds; longer words are cut.
WORD = re.compile(r"\S{1,60}")
VISIBLE = re.compile(r"\S")


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
        for (is_table, picture, spoken), run in groupby(section.elements, key=_separation):
            together = list(run)
            if is_table:
                yield from _tables(together, above, tokenizer, headings, room)
                above = []
                continue
            if _lead_to_table(together, section) and not picture:
                above = together
                continue
            owners = {id(element.located): element for element in together}
            measured = _measure_sentences(together, tokenizer, spoken or language, room)
            for pieces in pack_paragraphs(measured, room):
                draft = replace(_draft(pieces, headings, owners), language=spoken)
                yield _picture_draft(draft, pieces, picture, together) if picture else draft


def _separation(element: Element) -> tuple[bool, Pictured | None, str | None]:
    """Return a key that separates elements into chunks: tables are alone, as are the elements of each picture
    and the sentences in each spoken language."""
    return element.kind is Kind.TABLE, element.picture, element.language


def pack_paragraphs(paragraphs: Iterable[list[Piece]], room: int) -> Iterator[list[Piece]]:
    """Fill chunks with sentences. A paragraph that fits into one chunk does not start in the last half of
    another."""
    chunk: list[Piece] = []
    used = 0
    for paragraph in paragraphs:
        whole = sum(piece.tokens for piece in paragraph)
        if used >= room / 2 and used + whole > room >= whole:
            yield chunk
            chunk, used = [], 0
        for piece in paragraph:
            if used + piece.tokens > room and chunk:
                yield chunk
                chunk, used = [], 0
            chunk.append(piece)
            used += piece.tokens
    if chunk:
        yield chunk


def _lead_to_table(together: Sequence[Element], section: HeadedSection) -> bool:
    """Whether the elements are headings, and a table follows in their section."""
    last = section.elements[-1]
    return all(element.kind is Kind.HEADING for element in together) and last is not together[-1]


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
        yield [part for piece in of_element for part in _split(piece, tokenizer, room_after)]


def _leading_headings(elements: Iterable[Element], pieces: Iterable[Piece]) -> int:
    """Return the tokens of the headings at the beginning of a section."""
    headings = takewhile(lambda element: element.kind is Kind.HEADING, elements)
    leading = {id(element.located) for element in headings}
    return sum(piece.tokens for piece in pieces if id(piece.element) in leading)


def _split(piece: Piece, tokenizer: Tokenizer, room: int) -> Iterator[Piece]:
    """Cut a sentence that is larger than `room` between its words."""
    if piece.tokens <= room:
        yield piece
        return
    words = list(WORD.finditer(piece.element.text, piece.start, piece.end))
    counts = count_tokens([word[0] for word in words], tokenizer)
    start, end, used = piece.start, piece.start, 1
    for word, count in zip(words, counts, strict=True):
        is_far = word.start() - end > MOST_BLANK
        size = max(count, least_tokens(word.end() - (word.start() if is_far else end)))
        if (used + size > room or is_far) and word.start() > start:
            yield Piece(piece.element, start, end, used)
            start, used = word.start(), 1
        used += size
        end = word.end()
    yield Piece(piece.element, start, end, used)


def _ends_with_blanks(cuts: Sequence[tuple[LocatedText, int, int]]) -> Iterator[int]:
    """Yield the end of each sentence, with the blanks after it unless they separate it from the next one."""
    for (element, _, end), following in zip(cuts, [*cuts[1:], None], strict=True):
        is_near = following and following[0] is element and following[1] - end <= MOST_BLANK
        yield following[1] if following and is_near else end


# --- Tables ------------------------------------------------------------------------------------------------


def _tables(
    tables: Iterable[Element],
    above: Sequence[Element],
    tokenizer: Tokenizer,
    headings: tuple[str, ...],
    room: int,
) -> Iterator[ChunkDraft]:
    """Yield the chunks of tables; the first begins with the headings above, since they say nothing alone."""
    lead = _heading_draft(above, headings) if above else None
    taken = sum(count_tokens([element.text for element in above], tokenizer)) + len(above)
    if lead and taken > room * HEADER_SHARE:
        yield lead
        lead, taken = None, 0
    for table in tables:
        for draft in _table_drafts(table, tokenizer, headings, room - taken):
            yield join_chunks(lead, draft) if lead else draft
            lead = None
        taken = 0


def _heading_draft(headings: Sequence[Element], path: tuple[str, ...]) -> ChunkDraft:
    pieces = [Piece(element.located, 0, len(element.text), 0) for element in headings]
    return _draft(pieces, path, {id(element.located): element for element in headings})


def _table_drafts(
    table: Element, tokenizer: Tokenizer, headings: tuple[str, ...], room: int
) -> Iterator[ChunkDraft]:
    """Yield a table whole, or as rows that each begin with its header and the name of their group."""
    texts = [without_marks(table.text[start:end]) for start, end in table.rows]
    rows = [
        Piece(table.located, start, end, max(count, least_tokens(end - start)) + 1)
        for (start, end), count in zip(table.rows, count_tokens(texts, tokenizer), strict=True)
    ]
    header = rows[:1] if rows[0].tokens <= room * HEADER_SHARE and len(rows) > 1 else []
    body = rows[len(header) :]
    left = room - sum(row.tokens for row in header)
    names = GroupNames.of(body, int(left * GROUP_NAME_SHARE))
    if sum(row.tokens for row in body) > left:
        left -= names.tokens
    parts = [part for row in body for part in _split(row, tokenizer, left)]
    for group in pack_paragraphs([[part] for part in parts], left):
        yield _row_group([*header, *names.above(group[0])], group, headings)


def _row_group(repeated: list[Piece], rows: list[Piece], headings: tuple[str, ...]) -> ChunkDraft:
    """Return a chunk of rows below the rows that are repeated above them."""
    cut = [piece.element.slice(piece.start, piece.end) for piece in [*repeated, *rows]]
    bounds = []
    at = 0
    for part in cut:
        bounds.append((at, at + len(part.text)))
        at += len(part.text) + 1
    return ChunkDraft(
        LocatedText.join(cut, "\n"),
        headings,
        tuple(bounds[len(repeated) :]),
        is_table=True,
        elements=(ElementBounds(0, at - 1, Kind.TABLE),),
    )


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


def _runs(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """Yield pieces that are consecutive in an element; long stretches of blanks are left out."""
    run: list[Piece] = []
    for piece in pieces:
        if run and (piece.element is not run[-1].element or piece.start - run[-1].end > MOST_BLANK):
            yield run
            run = []
        run.append(piece)
    if run:
        yield run


def _draft(pieces: list[Piece], headings: tuple[str, ...], owners: Mapping[int, Element]) -> ChunkDraft:
    """Join pieces into a chunk; `owners` are the elements of their texts, by the texts' identity."""
    parts: list[LocatedText] = []
    sentences: list[tuple[int, int]] = []
    bounds: list[ElementBounds] = []
    at = 0
    for run in _runs(pieces):
        start, owner = run[0].start, owners[id(run[0].element)]
        part = run[0].element.slice(start, run[-1].end)
        sentences += [(at + p.start - start, at + p.end - start) for p in run]
        is_continued = VISIBLE.search(owner.text, 0, start) is not None
        end = at + len(part.text)
        bounds.append(ElementBounds(at, end, owner.kind, owner.level, is_continued, owner.speaker))
        parts.append(part)
        at += len(part.text) + len(SEPARATOR)
    return ChunkDraft(LocatedText.join(parts, SEPARATOR), headings, tuple(sentences), elements=tuple(bounds))
