"""What contexts state: their sentences and rows of tables, without what never answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, takewhile

from core.text.analysis import UNSPACED
from core.text.entries import begins_entry
from core.text.tables import MOST_ROW_WORDS, is_table, table_end, table_start
from search.contexts import Context
from search.generation.extractive.expected import (
    TOTALS,
    asks_for_total,
    asks_how_many,
    is_of_kind,
    quantities_in,
)
from search.generation.extractive.measures import wants_line
from search.generation.extractive.periods import (
    PeriodReading,
    periods_in,
    periods_of,
    reading_of,
    words_of,
    words_of_column,
    years_in,
)
from search.generation.extractive.required import asks_for_price
from search.generation.extractive.tables import FactCell, FactRow, naming_column, rows_of
from search.generation.extractive.wording import LEADERS, fold, in_one_line, words_in

CHARS = range(20, 1000)
"""How long a statement may be, in letters."""
LETTERS_OF_SIGN = 3
"""A sign of a script without an alphabet says as much."""
FEWEST_LETTERS = 0.4
"""Text with a smaller share of letters is a formula, a row of figures or what layout left over."""
YEAR_WEIGHT = 3
"""A year tells columns apart better than other words do."""
_BEHIND_WORDS = re.compile(r"(?<!\W)\W++\Z")
_QUESTION_MARKS = frozenset("?？")
"""A question resembles another question more than its answer does, and answers nothing."""
_ANNOUNCES = re.compile(r"[:：;,]$")
_CAPTION = re.compile(
    r"(?:fig(?:ure|ura|uur)?\.?|tab(?:le|elle|leau|ella|ela|el|la)?\.?|abb(?:ildung|\.))\s*(?:\d[\d.]*|[IVXLC]+)\s*[.:–—-]",
    re.IGNORECASE,
)
_CONTENTS = re.compile(rf"{LEADERS.pattern}(?:\d{{1,4}}+|[ivxlc]++)\s*+$", re.IGNORECASE)
_NOTICE = re.compile(r"\A\W*(?:©|\(c\)\s|copyright\s+(?:©|\(c\)|\d{4}))", re.IGNORECASE)
"""Whose a text is stands on every page, and answers nothing."""
_REFERENCE = re.compile(
    r"\((?:https?:|www\.)|\{\{|\A(?:Retrieved|Abgerufen) (?:from|via|von)\b"
    r"|\b(?:Archived from|Retrieved \d|Abgerufen am|Consultado el|Consulté le)\b"
    r"|\A[^.()]{3,60}\(\d{1,2} \w{3,9} \d{4}\)\.\Z"
    # “Foster, Richard (2015).”
    r"|\A[A-ZÀ-ÖØ-Þ][\w'’-]{1,30}, (?:[A-ZÀ-ÖØ-Þ][\w'’.-]{0,30}[ ,;&]{1,3}){1,6}\((?:1\d|20)\d\d[a-z]?\)\.?\Z"
)
"""Where a text has something from answers nothing."""
_POINTS = re.compile(
    r"(?i:\A(?:see|refer to|siehe|vgl\.|voir|véase)|\b(?:see|refer to)(?=.{0,40}\Z)"
    r"|\b(?:is|are|was|were)\s(?:described|discussed|included|presented|set forth|incorporated|contained))"
    r"\b[^.]{0,60}?\b(?:(?i:items?|notes?|parts?|sections?|chapters?|exhibits?|appendix|anhang|abschnitt|kapitel"
    r"|anmerkung|chapitre|annexe|sección|capítulo|anexo|nota)\s[\dA-Z]|Annual Report|(?i:by reference))",
)
_CERTIFICATION = re.compile(
    r"certifying officers?\b|\b1350\b.{0,40}\bUnited States Code|\b18 U\.S\.C\.?\s(?:(?:§|section)\s?)?1350\b"
    r"|\bRule\s13a-14\b",
    re.IGNORECASE,
)
"""What officers sign below a report names all that it has, and tells nothing of it."""
_CERTIFICATION_ASKED = re.compile(r"\bcertif|\bsign(?:s|ed|atur\w*)?\b", re.IGNORECASE)
_ASIDE = re.compile(r"\([^()]*+\)")
_SIGNPOST = re.compile(r"\b(?:Items?|Notes?|Part|Section|Exhibit|Annual Report|Quarterly Reports?|Form)\b")
MOST_SIGNPOSTS = 2
"""A sentence with more of them, or that only points elsewhere, says not what stands there."""
_BEHIND_LETTERS = re.compile(r"(?<![\W\d])[\W\d]++\Z")
_END_MARKS = frozenset(".!…。！।؟۔")
_LIST_MARK = re.compile(r"\A(?:[-–—•·▪*+]|\(?\w{1,2}[.)])\s+")
_NUMBERED_TITLE = re.compile(r"[\W\d]{0,10}\d|(?:[^\W\d_]{1,30} ){0,3}[\dIVXL]{1,8}[.:]?(?: |\Z)")
_BARE_MARK = re.compile(r"[-–—•·▪*+]")
_LABELLED = re.compile(
    r"([^\W\d][^\d:]{0,40}?)(?: ?: ?| )(?:[A-Z]{2,3} ?|[$€£¥] ?)?\d[\d.,:/ -]{0,30}"
    r"(?: ?(?:[AP]M|%|°[CF]?|[a-zA-Zµ]{1,3}[²³]?))?(?: ?\([^()]{1,30}\))?"
)
"""A label and a figure, perhaps with a unit, a date or a time, and nothing else."""
MOST_ITEMS = 12
WORDS_OF_SALUTATION = 6


@dataclass(frozen=True, slots=True)
class Statement:
    """`text` is what can be told of the `at`th sentence of a context, from 0."""

    context: Context
    at: int
    text: str
    is_named: bool = False
    """Whether it is the figure of a row or line whose name the question has word for word."""
    items: tuple[tuple[str, ...], ...] = ()
    """The items of the list that it announces, each in its sentences."""
    is_row: bool = False
    """Whether it is a row of a table."""

    @property
    def is_total(self) -> bool:
        """Whether it is a line such as “Total: 31.00”."""
        line = _LABELLED.fullmatch(self.text)
        return line is not None and line[1].casefold().strip() in TOTALS

    @property
    def meaning(self) -> str:
        """What is compared with the question: the text, and the list if it announces one."""
        return " ".join([self.text, *chain.from_iterable(self.items)])

    @property
    def is_sentence(self) -> bool:
        """Whether it is said in words, in no row of a table and behind no label."""
        return not self.is_row and not begins_entry(self.text)

    @property
    def is_whole(self) -> bool:
        """Whether it ends as sentences do, is a row of a table, a labelled figure, or has a list below it."""
        return self.is_row or self.is_named or bool(self.items) or _ends(self.text)


def statements(question: str, contexts: Sequence[Context]) -> Iterator[Statement]:
    """Yield all that may be told, in reading order."""
    asked, reading = words_of(question) | quantities_in(question), reading_of(question)
    years = frozenset(period[:4] for period in periods_in(question)) if wants_line(question) else frozenset()
    known = words_in(context.text for context in contexts)
    wants_total = asks_for_total(question) or asks_for_price(question) or asks_how_many(question)
    labels = asked | TOTALS if wants_total else asked
    for context in contexts:
        if _CERTIFICATION.search(context.text) and not _CERTIFICATION_ASKED.search(question):
            continue
        of_years = (each for each in _sentences(context, known, labels) if _is_of_years(each, years))
        found = chain(_rows(context, asked, reading, years), of_years) if is_table(context.text) else of_years
        yield from (
            each
            for each in found
            if (_length(each.meaning) in CHARS or each.is_named) and _is_of_kind(question, each)
        )


def _is_of_kind(question: str, each: Statement) -> bool:
    """Tell whether a statement may answer; a line that is nothing but a label and a value is of one kind."""
    return each.is_row or not begins_entry(each.text) or is_of_kind(question, each.text)


def _length(text: str) -> int:
    return len(text) + (LETTERS_OF_SIGN - 1) * sum(map(len, UNSPACED.findall(text)))


def _sentences(context: Context, known: frozenset[str], labels: frozenset[str]) -> Iterator[Statement]:
    table = _table_in(context)
    texts = [fold(sentence.text) for sentence in context.sentences]
    headings = {fold(heading) for heading in context.headings}
    # What begins with a small letter is the rest of a sentence that was cut, unless here all do.
    may_begin_low = sum(map(_begins_low, texts)) > max(1, len(texts) / 2)
    for at, text in enumerate(texts):
        items = _items_below(context, texts, at)
        if (text in headings and not items) or context.sentences[at].start in table:
            continue
        line = in_one_line(text, known)
        if _has_asked_label(text, labels):
            yield Statement(context, at, line, is_named=True)
        elif items:
            yield Statement(context, at, line, items=_in_one_line(items, known))
        elif (may_begin_low or not _begins_low(text) or _is_addressed(texts[:at])) and _says_something(text):
            yield Statement(context, at, line)


def _table_in(context: Context) -> range:
    """Return where a context's table stands in its text, between what introduces it and its footnotes."""
    text = context.text
    return range(table_start(text), table_end(text)) if is_table(text) else range(0)


def _is_of_years(statement: Statement, years: frozenset[str]) -> bool:
    """Tell whether a sentence, or its heading, is of one of these years; always if there are none."""
    context = statement.context
    around = " ".join([context.document_name, *context.headings]).replace("_", " ")
    return not years or bool(years & years_in(f"{statement.meaning} {around}"))


def _has_asked_label(text: str, asked: frozenset[str]) -> bool:
    """Tell whether a line is “Total: 31.00” or “Date 09/01/2019”, and the question has all of the label."""
    line = _LABELLED.fullmatch(text)
    words = frozenset(re.findall(r"\w+", line[1].casefold())) if line else frozenset()
    return bool(words) and words <= asked


def _items_below(context: Context, texts: Sequence[str], at: int) -> list[tuple[str, ...]]:
    """Return the items of the list that the text at `at` announces, none if it announces none."""
    if not texts[at].endswith((":", "：")) or not any(map(str.isalpha, texts[at])):
        return []
    below = _with_marks(_lines(context, texts, at + 1))
    return [*islice(takewhile(lambda line: _LIST_MARK.match(line[0]), below), MOST_ITEMS)]


def _lines(context: Context, texts: Sequence[str], at: int) -> Iterator[tuple[str, ...]]:
    """Yield the texts from `at` on, those of a line together; a mark begins another one."""
    sentences = context.sentences
    while at < len(texts):
        end = at + 1
        while (
            end < len(texts)
            and "\n" not in context.text[sentences[end - 1].end : sentences[end].start]
            and not _LIST_MARK.match(texts[end])
        ):
            end += 1
        yield tuple(texts[at:end])
        at = end


def _in_one_line(items: Sequence[Sequence[str]], known: frozenset[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(in_one_line(text, known) for text in item) for item in items)


def _with_marks(lines: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield lines, those that their layout has put below their mark behind it."""
    mark = ""
    for first, *others in lines:
        if _BARE_MARK.fullmatch(first) and not others:
            mark = first
        else:
            yield f"{mark} {first}".lstrip(), *others
            mark = ""


def without_mark(text: str) -> str:
    """Return a text without the mark that makes it an item of a list."""
    return _LIST_MARK.sub("", text, count=1)


def _is_addressed(before: Sequence[str]) -> bool:
    """Tell whether a salutation is before a sentence, which then begins with a small letter: “Dear all,”."""
    return bool(before) and before[-1].endswith(",") and len(before[-1].split()) <= WORDS_OF_SALUTATION


def _begins_low(text: str) -> bool:
    return without_mark(text)[:1].islower()


def _says_something(text: str) -> bool:
    """Tell whether a text is no question, announcement, caption, title, notice, contents or figures."""
    has_letters = sum(map(str.isalpha, text)) >= FEWEST_LETTERS * len(text)
    is_other = _asks(text) or _ANNOUNCES.search(text) or _CONTENTS.search(text)
    is_about_text = _CAPTION.match(text) or _NOTICE.match(text)
    return (
        has_letters
        and not is_other
        and not is_about_text
        and not _REFERENCE.search(text)
        and not _is_signpost(text)
        and not _is_title(text)
    )


def _is_signpost(text: str) -> bool:
    """Tell whether a text sends its reader to other places, rather than say something."""
    chief = _ASIDE.sub(" ", text).strip()
    return _POINTS.search(chief) is not None or len(_SIGNPOST.findall(chief)) > MOST_SIGNPOSTS


def _asks(text: str) -> bool:
    """Tell whether a question mark stands behind the last word."""
    behind = _BEHIND_WORDS.search(text)
    return behind is not None and not _QUESTION_MARKS.isdisjoint(behind[0])


def _ends(text: str) -> bool:
    """Tell whether what ends a sentence stands behind the last letter."""
    behind = _BEHIND_LETTERS.search(text)
    return behind is not None and not _END_MARKS.isdisjoint(behind[0])


def _is_title(text: str) -> bool:
    """Tell whether a text ends unlike a sentence, and all its longer words begin with a capital or digit.

    In a script without capitals nothing tells a title. “Chair: Ada Lovelace” is none.
    """
    if begins_entry(text) or (any(map(str.isdigit, text)) and not _NUMBERED_TITLE.match(text)):
        return False
    with_case = sum(letter.lower() != letter.upper() for letter in text)
    has_capitals = with_case * 2 > sum(map(str.isalpha, text))
    begins_low = any(word[0].islower() for word in text.split() if len(word) > 3)
    return has_capitals and not begins_low and not _ends(text)


def _rows(
    context: Context, asked: frozenset[str], reading: PeriodReading, years: frozenset[str]
) -> Iterator[Statement]:
    at = {sentence.start: number for number, sentence in enumerate(context.sentences)}
    # The header repeated above each part of a table is no sentence of the chunk and could not be quoted.
    rows = [row for row in rows_of(context.text) if row.start in at]
    naming = naming_column(rows, context.language)
    for row in rows:
        of_columns = {
            period[:4] for cell in row.cells for period in periods_of(cell.column, reading, context.calendar)
        }
        if years and of_columns and not years & of_columns:
            continue
        columns = [words_of_column(cell.column, reading, context.calendar) for cell in row.cells]
        chosen = _asked_cells(row, columns, asked)
        cells = [cell for cell in row.cells if cell in chosen or (naming and cell.column == naming)]
        if len(row.rendered(cells).split()) <= MOST_ROW_WORDS:
            is_named = _is_asked(row, chosen, asked)
            yield Statement(context, at[row.start], row.rendered(cells), is_named, is_row=True)


def _is_asked(row: FactRow, cells: Sequence[FactCell], asked: frozenset[str]) -> bool:
    words = frozenset(re.findall(r"\w+", row.name.casefold()))
    return bool(words) and words <= asked and any(map(str.isdigit, cells[0].value))


def _asked_cells(
    row: FactRow, columns: Sequence[frozenset[str]], asked: frozenset[str]
) -> Sequence[FactCell]:
    """Return the cells whose columns, given by their words, a question names best, or whose value it names.

    All cells if it names no column, or all alike, or what it names says nothing that it does not.
    """
    named = [_named(column, asked) for column in columns]
    found = [
        cell
        for cell, share in zip(row.cells, named, strict=True)
        if share == max(named) or _is_in(cell.value, asked)
    ]
    return row.cells if all(_is_in(cell.value, asked) for cell in found) else found


def _is_in(value: str, asked: frozenset[str]) -> bool:
    """Tell whether a question has all words of a value, which is no mere number."""
    words = frozenset(re.findall(r"\w+", value.casefold()))
    return words <= asked and any(map(str.isalpha, value))


def _named(column: frozenset[str], asked: frozenset[str]) -> int:
    """Return how many of a column's words are in the question."""
    return sum(YEAR_WEIGHT if word.isdigit() else 1 for word in column & asked)
