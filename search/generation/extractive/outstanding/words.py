"""What such a question says, and what is said around a table."""

from __future__ import annotations

import re

from core.text.analysis import terms
from core.text.tables import header_of, table_start
from search.contexts import Context
from search.generation.extractive.outstanding.superlatives import Superlative
from search.question_language import language_of

Words = frozenset[str]

_TALK = (
    "what which who kind type sort item thing worth name value number"
    " amount count figure total overall list table file data among year"
    " was reporting reportable fiscal saw seen make makes made up account accounts accounted contribute"
    " contributed bring brings brought generate generated compared relative terms basis use uses used need"
    " needs needed drew draws attract attracts attracted get gets got receive receives received consume"
    " consumes consumed reach reaches reached hold holds held score scores scored record recorded produce"
    " produces produced show shows showed per"
    " welche welcher welches wer art wert"
    " anzahl zahl menge insgesamt liste tabelle datei daten unter hoch jahr wurde wurden werden hat hatte"
    " hatten braucht brauchte verbraucht verbrauchte erreicht erreichte erzielt erzielte bekam pro"
    " quel quelle quels quelles qui a plus moins nombre valeur tableau fichier données parmi année contient"
    " consomme consommé obtient obtenu reçu eu par"
    " cuál qué quién tiene más menos número valor lista tabla archivo datos entre año tuvo consume consumió"
    " recibió obtuvo por"
    " welk welke wie heeft had meest minst aantal per jaar werd verbruikt kreeg"
    " quale quali chi ha hanno ebbe più meno numero valore elenco tabella dati tra anno costa consuma"
    " qual quais quem tem têm teve mais menos valor lista tabela arquivo dados entre ano custa consome"
)
"""What such a question may say besides."""
_PERIOD = re.compile(
    r"\bfy ?['’]?\d{2,4}\b|\bq[1-4]\b|\b(?:first|second|third|fourth) (?:quarter|half)\b"
    r"|\b(?:three|six|nine|twelve) months?\b|\byear[- ](?:over|on)[- ]year\b|\byoy\b",
    re.IGNORECASE,
)
TOTAL = re.compile(
    r"\A\W*+(?:sub|grand |net )?+(?:totaa?le?s?|sum|all|overall|average|mean|insgesamt|gesamt\w*+|summe"
    r"|zusammen|durchschnitt|ensemble|moyenne|suma|promedio|gemiddelde|somma|soma|média)\b",
    re.IGNORECASE,
)
_PROPER = re.compile(r"(?<=\s)[A-ZÀ-ÖØ-Þ][\w&-]+")
"""A word with a capital, not the first one; in German any noun has one."""
_ALIKE = [
    frozenset(terms(words, "en"))
    for words in (
        "geographic geography geographical region area country territory",
        "segment division unit",
        "product category line offering",
        "domestic us usa market",
    )
]
"""Words for the same kind of parts: tables of “geographical information” are of regions."""


def said_by(asked: Superlative, context: Context) -> Words:
    """Return what the question says besides, but for its periods and for who has issued the report."""
    said = words_of_question(asked, context)
    names = [] if language_of(asked.question) == "de" else _PROPER.findall(asked.rest)
    said -= terms_of(" ".join(names), context) & terms_of(context.opening, context)
    return frozenset(term for term in said if term not in asked.years)


def words_of_question(asked: Superlative, context: Context) -> Words:
    """Return what the question says besides, with the names in it: a column may be called like the issuer."""
    return terms_of(_PERIOD.sub(" ", asked.rest), context) - terms_of(_TALK, context)


def known_around(context: Context) -> Words:
    """Return the words around a table: headings, caption, columns, and the document's name."""
    return terms_of(f"{context.document_name} {_above(context)} {header_of(context.text)}", context)


def with_alike(context: Context, also: str = "") -> Words:
    """Return the words around a table, and others for the kind of parts that headings and caption name.

    So does `also`, which is said around some of its rows.
    """
    above = terms_of(f"{_above(context)} {also}", context)
    return known_around(context).union(above, *(alike for alike in _ALIKE if above & alike))


def are_of_one_kind(one: Words, other: Words) -> bool:
    """Tell whether words may be about the same kind of parts: what is by segment is not by product."""
    kinds = [{number for number, alike in enumerate(_ALIKE) if words & alike} for words in (one, other)]
    return not (kinds[0] and kinds[1]) or bool(kinds[0] & kinds[1])


def _above(context: Context) -> str:
    return " ".join([*context.headings, context.text[: table_start(context.text)]])


def terms_of(text: str, context: Context) -> Words:
    """Return the terms of a text in the language of a context."""
    return frozenset(terms(text, context.language))
