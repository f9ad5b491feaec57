"""Who has written a paper, a post or a book: names below its title, in no sentence.

“Who are the authors of the paper?” ─▶ Ada Lovelace, Charles Babbage and Mary Somerville <source_1>
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile

from search.contexts import Context
from search.generation.extractive.expected import asks_how_many
from search.generation.extractive.wording import cited, fold

LINES_OF_HEAD = 12
CHUNKS_OF_HEAD = 2
"""Names stand in one of so many of the first chunks of a document."""
_WRITES = re.compile(
    r"\b(?:wrote|written|authors?|authored|geschrieben|verfasst|verfasser|autor(?:en|in|es|a|as)?"
    r"|auteure?s?|écrite?|escribi(?:ó|eron)|scritto|autori|autrici|schreef|geschreven|auteurs)\b",
    re.IGNORECASE,
)
_WORK = re.compile(
    r"\b(?:paper|article|study|(?:blog ?)?post|blog|book|report|thesis|essay|document|text|manual"
    r"|aufsatz(?:es)?|artikels?|studie|beitrags?|buch(?:es)?|berichts?|arbeit|dokuments?|texte?s?|étude"
    r"|billet|livre|rapport|thèse|artículo|estudio|entrada|libro|informe|tesis|documento|texto|articolo"
    r"|boek|rapport)\b",
    re.IGNORECASE,
)
MOST_CHARS_OF_LINE = 600
_MARKS = re.compile(r"[\d*∗†‡§¶#⋆♢]+")
"""Of footnotes, behind names."""
_BETWEEN = re.compile(r"[,;·&]|\s(?:and|und|et|y|e|en)\s")
_BY = re.compile(r"\A(?:by|von|par|por|di|door)\s", re.IGNORECASE)
_PARTICLES = "van|von|vom|zu|de|der|den|del|della|di|da|dos|la|le|al|el|bin|ten|ter"
_WORD_OF_NAME = rf"(?:[^\W\d_a-zß-öø-ÿ][\w'’.-]{{0,30}}|{_PARTICLES})"
_NAME = re.compile(rf"{_WORD_OF_NAME}(?: {_WORD_OF_NAME}){{1,4}}")
_AFFILIATION = re.compile(
    r"(?:universit\w*|institut\w*|departments?|school|college|laborator\w*|labs?|research|inc|ltd|llc|gmbh"
    r"|corp\w*|company|group|centre|center|academy|facult\w*|ministry|office|bank|foundation|association)",
    re.IGNORECASE,
)
_OTHER_HEADS = re.compile(
    r"(?:press|review|journal|abstract|introduction|contents|chapter|section|proceedings|conference|working"
    r"|technical|annual|report|version|draft|january|february|march|april|june|july|august|september"
    r"|october|november|december)",
    re.IGNORECASE,
)
"""Words of journals, dates and headings, which are written like names."""
_WORDS = re.compile(r"[^\W\d_]+")
_ABSTRACT = re.compile(
    r"\W{0,10}(?:abstract|summary|zusammenfassung|résumé|resumen|introduction|contents)\b", re.IGNORECASE
)


def asks_for_authors(question: str) -> bool:
    """Tell whether a question asks who has written a text: “Who wrote the report?”."""
    is_of_work = _WRITES.search(question) is not None and _WORK.search(question) is not None
    return is_of_work and not asks_how_many(question)


def authors(question: str, contexts: Sequence[Context]) -> list[str]:
    """Return the lines with the names, as Markdown; nothing if none is asked for, or none is found."""
    if not contexts or not asks_for_authors(question):
        return []
    of_best = [each for each in contexts if each.document_name == contexts[0].document_name]
    for context in sorted(of_best, key=lambda each: each.ordinal):
        if context.ordinal < CHUNKS_OF_HEAD and (lines := _lines_of_names(context)):
            return [" ".join(cited(line, context) for line in lines) + "\n"]
    return []


def _lines_of_names(context: Context) -> list[str]:
    """Return the lines below the title that have nothing but names: all of several, or the only author's.

    A lone name is written like a title: “by” stands before it, or where its owner works below it.
    """
    lines = [fold(line) for line in context.text.splitlines() if line.strip()]
    title = fold(context.headings[0]) if context.headings else ""
    below = lines[lines.index(title) + 1 :] if title in lines else lines
    head = [*takewhile(lambda line: not _ABSTRACT.match(line), below)][:LINES_OF_HEAD]
    if several := [line for line in head if _names_in(line) > 1]:
        return several
    lone = [line for line, after in pairwise([*head, ""]) if _names_in(line) and _is_author(line, after)]
    return lone[:1]


def _is_author(line: str, below: str) -> bool:
    return _BY.match(line) is not None or _has_word(_AFFILIATION, below)


def _names_in(line: str) -> int:
    """Return of how many names a line consists, 0 if there is anything else in it."""
    is_other = _has_word(_AFFILIATION, line) or _has_word(_OTHER_HEADS, line)
    if is_other or len(line) > MOST_CHARS_OF_LINE:
        return 0
    parts = map(fold, _BETWEEN.split(_MARKS.sub(" ", _BY.sub("", line))))
    names = [part for part in parts if part]
    return len(names) if all(map(_NAME.fullmatch, names)) else 0


def _has_word(words: re.Pattern[str], line: str) -> bool:
    return any(map(words.fullmatch, _WORDS.findall(line)))
