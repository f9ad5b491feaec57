"""Which labels a text has, and what stands behind, below or above them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from core.text.tables import RULE, header_of, is_table, table_end, table_start
from search.contexts import Context
from search.generation.extractive.statements import without_mark
from search.generation.extractive.tables import row_cells, rows_of
from search.generation.extractive.wording import fold

MOST_CHARS_OF_VALUE = 200
MOST_LINES = 400
"""So many lines of a text are read."""
_BEHIND = re.compile(
    r"(?:\d{1,3}(?:[.,]\d{1,2})? ?% )?([^\W\d_][^:：|]{0,40}?) ?[:：] ?(?<=[\s：])(\S.{0,199})"
)
"""“Meeting ID: 869”, but no “https://…” and no “10:30”."""
_BEFORE_FIGURE = re.compile(
    r"([^\W\d_][^\d:]{0,40}?) ((?:[A-Z]{2,3} ?|[$€£¥] ?)?\d[\d.,:/ -]{0,30}(?: ?[AP]M)?)"
)
"""“Cash Received 101.00”, “Invoice number 60000053668”."""
_ADDRESS = re.compile(r"(?<![\w.@-])[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{1,100}\w")
_NUMBER_TO_CALL = re.compile(
    r"\b(?:call|phone|telephone|dial|tel|fon|telefon\w*|rufen|anrufen|appele[rz]|téléphone|llam\w{1,5}"
    r"|teléfono)\b[^.!?\d+]{0,40}(\+?\(?\d[\d ()/-]{5,18}\d)",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"(\d[\d.,/½¼¾]{0,8} ?(?:(?:k?g|mg|m?l|[cd]l|k?m|[cm]m|oz|lbs?|cups?|tbsp|tsp|EL|TL|litres?|liters?"
    r"|pieces?|pcs|Stück|Liter) (?:of |de |d['’])?)?)([^\W\d_][^\d:.!?]{1,40})"
)
"""“4 eggs”, “250 g flour”: how many, or how much, there is of something."""
_CLOSING = (
    r"(?:yours (?:sincerely|faithfully|truly)|(?:with )?(?:best|kind|warm) (?:wishes|regards)|sincerely"
    r"|regards|cheers|mit (?:freundlichen|besten|herzlichen) grüßen|(?:viele|beste|herzliche"
    r"|freundliche) grüße|hochachtungsvoll|cordialement|bien cordialement|atentamente"
    r"|un (?:cordial )?saludo|saludos(?: cordiales)?)"
)
_SIGNED = re.compile(rf"(?i:{_CLOSING}),? ([^\W\d_a-z][\w'’.-]{{0,30}}(?: [^\W\d_][\w'’.-]{{0,30}}){{0,4}})")
_CLOSES = re.compile(rf"(?i:{_CLOSING}),?")
_NAME = re.compile(r"([^\W\d_a-z][\w'’.-]{0,30}(?: [^\W\d_][\w'’.-]{0,30}){0,4})")
_DATED = re.compile(
    r"[^\W\d_a-z][\w'’.-]{0,30}(?: [^\W\d_][\w'’.-]{0,30}){0,3}, (?:(?:on|den|am|le|a"
    r"|the) )?(\d{1,2}\.? ?(?:de )?[^\W\d_]{3,12}\.? ?(?:de )?\d{4}|[^\W\d_]{3,12} \d{1,2}, \d{4}"
    r"|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{4}-\d\d-\d\d)\.?"
)
"""“Bristol, 9 September 2025”, above or below a letter."""
_LABEL = re.compile(r"[^\W\d_][\w'’./&-]{0,40}(?: [\w'’./&#-]{1,40}){0,4} ?[:：]?")
_MARKED = re.compile(r" ?[:：]\Z")
_BELOW = re.compile(r"\(([^\W\d_][^()]{2,100})\)")
"""A form names in brackets, below it, what has been filled in."""
_ENDS = re.compile(r"[.!?…。！？]\Z")
_PLACEHOLDER = re.compile(r"\[[^\[\]]{1,60}\]")
"""What stands for something else: “[Image unavailable.]”."""
MOST_WORDS_OF_BARE_VALUE = 12


@dataclass(frozen=True, slots=True)
class Field:
    """A value and its label; `quotable` is what can be told of it: both, where they stand in one line."""

    context: Context
    label: str
    value: str
    quotable: str
    is_count: bool = False
    """Whether it is the number of what its label names."""
    is_below: bool = False
    """Whether its label stands in brackets below it, and says more than a question does."""

    def may_be_unsaid(self, words: int) -> int:
        """Return how many of the words of its label a question need not say."""
        return words // 2 if self.is_below else int(words > 2)


def fields_of(context: Context) -> Iterator[Field]:
    """Yield the fields of a text, in reading order, and those of its table."""
    text = context.text
    start, end = (table_start(text), table_end(text)) if is_table(text) else (len(text), len(text))
    fields = [
        field
        for part in (text[:start], text[end:])
        for field in _of_lines(
            context, [fold(line) for line in part.splitlines() if line.strip()][:MOST_LINES]
        )
    ]
    is_letter = any(field.label == "From" and "@" in field.value for field in fields)
    yield from _of_letter(context, fields) if is_letter else fields
    yield from _of_sentences(context)
    yield from _of_form(context, text[start:end])
    yield from _of_rows(context)


def _of_sentences(context: Context) -> Iterator[Field]:
    """Yield the numbers to call and the addresses to write to that sentences give."""
    for sentence in context.sentences:
        said = fold(sentence.text)
        if address := _ADDRESS.search(said):
            yield Field(context, "e-mail", address[0], said)
        if number := _NUMBER_TO_CALL.search(said):
            yield Field(context, "phone", number[1], said)


def _of_letter(context: Context, fields: Sequence[Field]) -> Iterator[Field]:
    """Yield the fields of an e-mail: its date is when it was sent, and its title is its subject."""
    for field in fields:
        yield replace(field, label="Sent") if field.label == "Date" else field
    if context.headings and fold(context.headings[0]) in map(fold, context.text.splitlines()):
        subject = fold(context.headings[0])
        yield Field(context, "Subject", subject, subject)


def _of_lines(context: Context, lines: list[str]) -> Iterator[Field]:
    headings = {fold(heading) for heading in context.headings}
    for marked, below in pairwise([*lines, ""]):
        line = without_mark(marked)
        if marked in headings or line in headings:
            continue
        if match := _COUNTED.fullmatch(line):
            yield Field(context, match[2], match[1].rstrip(), line, is_count=True)
        elif match := _SIGNED.fullmatch(line) or (_CLOSES.fullmatch(line) and _NAME.fullmatch(below)):
            yield Field(context, "signed", match[match.lastindex or 0], match[match.lastindex or 0])
        elif match := _DATED.fullmatch(line):
            yield Field(context, "sent", match[1], line)
        elif (match := _BEHIND.fullmatch(line) or _BEFORE_FIGURE.fullmatch(line)) and not _is_prose(match[2]):
            yield Field(context, match[1], match[2].rstrip(), line)
        elif (match := _BELOW.fullmatch(below)) and _is_value(line):
            yield Field(context, match[1], line, line, is_below=True)
        elif _LABEL.fullmatch(line) and _is_value(below):
            yield Field(context, _MARKED.sub("", line), below, below)


def _is_prose(value: str) -> bool:
    """Tell whether a sentence stands behind a label: it is read as others are."""
    return len(value.split()) > MOST_WORDS_OF_BARE_VALUE and _ENDS.search(value) is not None


def _is_value(line: str) -> bool:
    """Tell whether a line can be what another one is the label of: no sentence, and no label itself."""
    is_long = len(line) > MOST_CHARS_OF_VALUE or len(line.split()) > MOST_WORDS_OF_BARE_VALUE
    is_item = without_mark(line) != line
    is_other = _MARKED.search(line) or _ENDS.search(line) or _PLACEHOLDER.fullmatch(line)
    return bool(line) and not is_long and not is_item and not is_other


def _of_form(context: Context, table: str) -> Iterator[Field]:
    lines = [line for line in table.splitlines()[:MOST_LINES] if not RULE.fullmatch(line)]
    header = header_of(table)
    for above, below in pairwise(lines):
        for value, label in zip(row_cells(above), row_cells(below), strict=False):
            if (match := _BELOW.fullmatch(label)) and _is_value(value):
                # What is read as the names of columns is quoted with a row below it only.
                quotable = f"{match[1]}: {value}" if above == header else value
                yield Field(context, match[1], value, quotable, is_below=True)


def _of_rows(context: Context) -> Iterator[Field]:
    """Yield what stands behind the name of each row, of a table whose columns have no names."""
    rows = rows_of(context.text) if is_table(context.text) else ()
    for row in islice(rows, MOST_LINES):
        if row.name and not any(cell.column for cell in row.cells):
            for cell in row.cells:
                yield Field(context, row.name, cell.value, row.rendered([cell]))
