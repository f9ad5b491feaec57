"""Headings of plain texts, which have no type that tells them: by lines below them, marks, capitals, numbers.

    DISCHARGE SUMMARY          *** Spring cleaning ***       Article 4. Requirements
    =================          Saturday, at the club …       Who wants a plot must be …

    History
    This 63-year-old driver came in with four hours of chest tightness …

A short line that only stands above a paragraph, a list or a table is a heading, too, if nothing says that it
is something else: a label, a greeting, a date, a part of an address.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from core.text.entries import begins_entry

LINE_CHARS = 400
"""A longer line is not looked at."""
TITLE_CHARS, TITLE_WORDS = 90, 14
SHORT_CHARS, SHORT_WORDS = 60, 8
FEWEST_LETTERS, LETTERS_OF_DIGIT = 4, 3
"""Capitals with more digits are a code."""
PROSE_CHARS = 50
"""A line so long below a title is text, and no further line of an address."""
FEWEST_WORDS = 4
"""A shorter sentence below a line may be anything."""
ENDED_EARLY = 0.7
"""A line is no wrapped one if it has at most so much of the length of the next."""
ABOUT_AS_LONG = 3
"""By so many characters what underlines a title may be longer or shorter."""
MOST_INDENT = 8
"""What stands so much further right than the table right below it names some of its columns."""
MOST_LEVELS = 4
FEWEST_NUMBERED = 2
MOST_TITLES = 0.5
"""If more of the lines read like titles, none is one."""
_UNDERLINE = re.compile(r"\A([=\-~*^#_])\1{2,}+\Z")
_FRAMED = re.compile(r"\A(?:([*+=#~_:!-])\1{1,9}|[~*=]) ++(\S.*\S) ++(?:[*+=#~_:!-]{2,10}|[~*=])\Z")
_MARKED = re.compile(r"(?:[■◆▼▲★◇□▶] ?|#{1,6} |>{2,3} )(\w.*)\Z|【([^【】]++)】\Z")
_COLUMNS = re.compile(r"\S {4}")
"""“CITY HOSPITAL        DEPARTMENT OF MEDICINE”: two things beside each other."""
_COUNTED = re.compile(
    r"\A(§+|(?:art(?:icle|ículo|igo|icolo|ikel|\.)|section|sección|chapter|chapitre|capítulo|capitolo|kapitel"
    r"|abschnitt|part|partie|parte|teil|title|titre|título|titolo|annex|annexe|anexo|anhang|anlage|appendix"
    r"|schedule|top|punkt|item|step|lesson|lektion|unit|day|tag|jour|día|giorno|week|woche|semaine|semana|exercise"
    r"|aufgabe|übung|exercice|ejercicio|question|frage))(?: ?\d{1,3}| [ivxlc]{1,6}| [a-z])\b",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,3})[.)]? ++(?=\S)")
_ITEM = re.compile(r"\A\s*+(?:[-*+•~–]|\d{1,3}[.)])\s++\S")
_INITIAL = re.compile(r"[^\W\d_]\. ")
"""“L. Fisk”, “Q. When did you begin?”."""
_GOES_ON = re.compile(r"[^\W\d_]{3}[.!?] [^\W\d_a-zß-öø-ÿ]")
"""A sentence ends within the line: “Sit down. Then”."""
_ENDS = re.compile(r"[.,;:!…。、：]\Z")
_DATED = re.compile(r"\b(?:1[89]|20)\d\d\b|\d[/.]\d++[/.]|\d{4,}|@|https?:")
_GREETING = re.compile(
    r"(?:dear|hi|hello|hey|hallo|liebe[rs]?|sehr geehrte\w*|guten (?:tag|morgen|abend)|bonjour|bonsoir"
    r"|chère?s?|estimad[oa]s?|hola|buen[oa]s (?:días|tardes)|gentil[ei]|ciao|geachte"
    r"|(?:with )?(?:best|kind|warm) \w+s|yours|sincerely|regards|many thanks"
    r"|thank(?:s| you)|cheers|danke|merci|gracias|grazie"
    r"|mit (?:freundlichen|besten|herzlichen)|(?:viele|herzliche|beste) grüße|(?:bien )?cordialement"
    r"|(?:un )?saludos?|atentamente|signed|gez)\b",
    re.IGNORECASE,
)


class Title(NamedTuple):
    """A heading, the indexes of its lines, and its level, 1 being the highest."""

    text: str
    lines: range
    level: int


class _Candidate(NamedTuple):
    """What reads like a title; `style` is how it is set."""

    text: str
    lines: range
    style: str


def titles_of(lines: Sequence[str], tables: Sequence[range]) -> list[Title]:
    """Return the headings of a text in order; none of them is in a table."""
    reader = _Reader(lines, tables)
    found = [candidate for at in range(len(lines)) if (candidate := reader.candidate(at))]
    styles = Counter(candidate.style for candidate in found)
    found = [each for each in found if not _is_numbered(each) or styles[each.style] >= FEWEST_NUMBERED]
    if len(found) > MOST_TITLES * sum(1 for line in lines if line.strip()):
        return []
    # What is used first is the highest.
    order = [*dict.fromkeys(each.style for each in found)]
    return [Title(each.text, each.lines, min(order.index(each.style) + 1, MOST_LEVELS)) for each in found]


def is_counted(line: str) -> bool:
    """Tell whether a line begins with the number of a section: “Article 4”, “TOP 2  Classes”."""
    return _COUNTED.match(line.lstrip()) is not None


def _is_numbered(candidate: _Candidate) -> bool:
    return candidate.style.startswith("number")


class _Reader:
    """Tells which lines of a text read like titles."""

    def __init__(self, lines: Sequence[str], tables: Sequence[range]) -> None:
        self.lines = lines
        self.table_starts = frozenset(table.start for table in tables)
        self.in_tables = frozenset(at for table in tables for at in table)

    def candidate(self, at: int) -> _Candidate | None:
        """Return the title that a line is, if it reads like one."""
        line = self._line(at)
        if not line or len(line) > LINE_CHARS or at in self.in_tables or not self._is_first(at):
            return None
        text = " ".join(line.split())
        if not _may_be_title(text):
            return None
        below = self._line(at + 1)
        rule = _UNDERLINE.match(below)
        if rule and abs(len(below) - len(line)) <= ABOUT_AS_LONG:
            return _Candidate(text, range(at, at + 2), f"underlined {rule[1]}")
        name, style = self._marked(at, text) or (text, self._style(at, line, text))
        return _Candidate(name, range(at, at + 1), style) if style else None

    def _marked(self, at: int, text: str) -> tuple[str, str] | None:
        """Return what stands between or behind marks, and how it is set; None without marks."""
        if framed := _FRAMED.match(text):
            return framed[2], f"framed {text[0]}"
        # Behind these, programs have comments, and mails what they quote.
        is_indented = text[0] in "#>" and self.lines[at][0].isspace()
        marked = _MARKED.match(text)
        if marked and not is_indented and not self._line(at + 1).startswith(text[0]):
            return marked[1] or marked[2], f"marked {text[0]}"
        return None

    def _style(self, at: int, line: str, text: str) -> str:
        """Return how a line without marks is set, if it is a title; else ""."""
        below = self._line(at + 1)
        if _ENDS.search(text) or _COLUMNS.search(line) or not (text[0].isalnum() or text[0] in '§«“"(¿'):
            return ""
        if _is_in_capitals(text) and not _is_in_capitals(below):
            return "capitals behind a number" if _NUMBERED.match(text) else "capitals"
        is_short = len(text) <= SHORT_CHARS and not _GOES_ON.search(text)
        if (counted := _COUNTED.match(text)) and is_short and self._below(at):
            return counted[1].casefold()
        is_parted = "  " in _NUMBERED.sub("", line)
        if is_parted or not is_short or len(text.split()) > SHORT_WORDS or self._is_above_columns(at):
            return ""
        if numbered := _NUMBERED.match(text):
            is_alone = not below and not _ITEM.match(self._below(at))
            name, depth = text[numbered.end() :], numbered[1].count(".") + 1
            return f"number {depth}" if is_alone and name[0].isupper() and not _DATED.search(name) else ""
        is_other = any(other.match(text) for other in (_GREETING, _ITEM, _INITIAL)) or begins_entry(text)
        is_dated = _DATED.search(text) and not (self._next(at) in self.table_starts or _ITEM.match(below))
        is_title = text[0].isupper() and not is_other and not is_dated and self._leads_on(at)
        return "short" if is_title else ""

    def _is_above_columns(self, at: int) -> bool:
        """Tell whether a line names some columns of the table right below it."""
        is_above = at + 1 in self.table_starts
        return is_above and _indent(self.lines[at]) > _indent(self.lines[at + 1]) + MOST_INDENT

    def _leads_on(self, at: int) -> bool:
        """Tell whether a table, a list or text follows."""
        following = self._next(at)
        below = self._line(following)
        if following in self.table_starts or (following <= at + 2 and _ITEM.match(below)):
            return True
        if following > at + 1:
            return self._is_indented(at, following) or _is_text(below) or _is_sentence(below)
        # What is wrapped does not end so early, and goes on with a capital letter by chance only.
        is_ended = len(self._line(at)) <= ENDED_EARLY * len(below) and not below[:1].islower()
        return is_ended and _is_text(below)

    def _is_indented(self, at: int, following: int) -> bool:
        """Tell whether two lines or more follow further right."""
        is_more = bool(self._line(following + 1))
        return is_more and _indent(self.lines[at]) < _indent(self.lines[following])

    def _is_first(self, at: int) -> bool:
        """Tell whether nothing stands in the line above, or no more than a rule."""
        above = self._line(at - 1)
        return not above or _UNDERLINE.match(above) is not None

    def _next(self, at: int) -> int:
        """Return the index of the next line with words."""
        return next((below for below in range(at + 1, len(self.lines)) if self._line(below)), len(self.lines))

    def _below(self, at: int) -> str:
        return self._line(self._next(at))

    def _line(self, at: int) -> str:
        return self.lines[at].strip() if 0 <= at < len(self.lines) else ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _may_be_title(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return len(text) <= TITLE_CHARS and len(text.split()) <= TITLE_WORDS and letters >= 2


def _is_in_capitals(text: str) -> bool:
    letters, digits = (sum(map(kind, _NUMBERED.sub("", text))) for kind in (str.isalpha, str.isdigit))
    is_wordy = letters >= max(FEWEST_LETTERS, LETTERS_OF_DIGIT * digits)
    return is_wordy and text.upper() == text != text.lower() and not begins_entry(text)


def _is_sentence(line: str) -> bool:
    return len(line.split()) >= FEWEST_WORDS and line.endswith((".", "!", "?"))


def _is_text(line: str) -> bool:
    return len(line) >= PROSE_CHARS and not begins_entry(line)
