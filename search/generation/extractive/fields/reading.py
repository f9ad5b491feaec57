"""Which labels a text has, and what stands behind, below or above them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from core.text.tables import RULE, header_of, is_table, table_end, table_start
from search.contexts import Context
from search.generation.extractive.tables import row_cells
from search.generation.extractive.wording import fold

MOST_CHARS_OF_VALUE = 200
MOST_LINES = 400
"""So many lines of a text are read."""
_BEHIND = re.compile(r"([^\W\d_][^:：|]{0,40}?) ?[:：] ?(?<=[\s：])(\S.{0,199})")
"""“Meeting ID: 869”, but no “https://…” and no “10:30”."""
_BEFORE_FIGURE = re.compile(r"([^\W\d_][^\d:]{0,40}?) ((?:[A-Z]{2,3} ?|[$€£¥] ?)?\d[\d.,:/ -]{0,30}(?: ?[AP]M)?)")
"""“Cash Received 101.00”, “Invoice number 60000053668”."""
_LABEL = re.compile(r"[^\W\d_][\w'’./&-]*(?: [\w'’./&#-]+){0,4} ?[:：]?")
_MARKED = re.compile(r" ?[:：]\Z")
_BELOW = re.compile(r"\(([^\W\d_][^()]{2,100})\)")
"""A form names in brackets, below it, what has been filled in."""
_ENDS = re.compile(r"[.!?…。！？]\Z")
MOST_WORDS_OF_BARE_VALUE = 12


@dataclass(frozen=True, slots=True)
class Field:
    """A value and its label; `told` is what can be quoted: both, where they stand in one line."""

    context: Context
    label: str
    value: str
    told: str
    is_below: bool = False
    """Whether its label stands in brackets below it, and says more than a question does."""

    def may_be_unsaid(self, words: int) -> int:
        """Return how many of the words of its label a question need not say."""
        return words // 2 if self.is_below else int(words > 2)


def fields_of(context: Context) -> Iterator[Field]:
    """Yield the fields of a text, in reading order, and those of its table."""
    text = context.text
    start, end = (table_start(text), table_end(text)) if is_table(text) else (len(text), len(text))
    for part in (text[:start], text[end:]):
        yield from _of_lines(context, [fold(line) for line in part.splitlines() if line.strip()][:MOST_LINES])
    yield from _of_form(context, text[start:end])


def _of_lines(context: Context, lines: list[str]) -> Iterator[Field]:
    headings = {fold(heading) for heading in context.headings}
    for line, below in pairwise([*lines, ""]):
        if line in headings:
            continue
        if match := _BEHIND.fullmatch(line) or _BEFORE_FIGURE.fullmatch(line):
            yield Field(context, match[1], match[2].rstrip(), line)
        elif (match := _BELOW.fullmatch(below)) and _is_value(line):
            yield Field(context, match[1], line, line, is_below=True)
        elif _LABEL.fullmatch(line) and _is_value(below):
            yield Field(context, _MARKED.sub("", line), below, below)


def _is_value(line: str) -> bool:
    """Tell whether a line can be what another one is the label of: no sentence, and no label itself."""
    is_long = len(line) > MOST_CHARS_OF_VALUE or len(line.split()) > MOST_WORDS_OF_BARE_VALUE
    return bool(line) and not is_long and not _MARKED.search(line) and not _ENDS.search(line)


def _of_form(context: Context, table: str) -> Iterator[Field]:
    lines = [line for line in table.splitlines()[:MOST_LINES] if not RULE.fullmatch(line)]
    header = header_of(table)
    for above, below in pairwise(lines):
        for value, label in zip(row_cells(above), row_cells(below), strict=False):
            if (match := _BELOW.fullmatch(label)) and _is_value(value):
                # What is read as the names of columns is quoted with a row below it only.
                told = f"{match[1]}: {value}" if above == header else value
                yield Field(context, match[1], value, told, is_below=True)
