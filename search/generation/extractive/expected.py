"""What kind of content a question asks for: “when” a time, “how many” a number, “who” a name, “why” a cause.

A light cue, worth a little in the order of what else fits. Words of seven languages tell the kind; questions
in others, and of no kind, are answered by similarity alone. A time, number or name counts only if the
question does not hold it already.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from core.text.months import months
from core.text.number_words import NUMBER_WORDS
from search.generation.extractive.reasons import ASKS_WHY, tells_why

MOST_WORDS_FOR_TOTAL = 8
"""A longer question asks for the total of something in particular."""
Test = Callable[[str, frozenset[str]], bool]
"""Whether a statement holds what is asked for, given the words of the question."""

_WHEN = (
    r"when|(?:what|which) (?:year|date|day|month|century|decade|time)s?|wann|quand|cu[áa]ndo|quando|wanneer"
    r"|welche[mnrs]? (?:jahre?n?|monate?|tage?|datum|jahrhunderts?|jahrzehnte?n?|uhrzeit)"
    r"|quell?e?s? (?:an|années?|dates?|jours?|mois|siècles?|décennies?|heures?)"
    r"|qu[ée] (?:años?|fechas?|días?|mes|meses|siglos?|décadas?|horas?)"
    r"|(?:che|quale|quali) (?:anno|anni|data|giorno|mese|secolo|ora)"
    r"|welke? (?:jaar|jaren|datum|dag|maand|eeuw|tijd)|(?:que|qual) (?:anos?|data|dia|mês|século|hora)"
)
_HOW_MANY = (
    r"how (?:many|much|long|old|far|tall|high|big|large|fast|often)|what (?:percent\w*|share|number|amount)"
    r"|wie ?viele?n?|wie (?:hoch|lange?|alt|groß|oft|weit|schwer|schnell|tief|breit|stark|teuer)"
    r"|welche[nr]? (?:anteil|anzahl|prozentsatz)"
    r"|combien|quelle? (?:part|pourcentage|nombre|montant|hauteur|taille|âge)|cu[áa]nt[oa]s?"
    r"|qu[ée] (?:porcentaje|número|cantidad|altura|edad)|quant[oiae]s?"
    r"|hoeveel|hoe (?:lang|oud|hoog|groot|vaak|ver)"
)
_WHO = r"who|whom|whose|where|wer|wem|wen|wo|qui|où|quién(?:es)?|dónde|chi|dove|wie is|waar|quem|onde"
_WHAT_IS = (
    r"what(?:['’]s| is| are| was| were)|was (?:ist|sind)|qu['’]est-ce|qué (?:es|son)"
    r"|(?:che )?cos['’]è|wat (?:is|zijn)|o que (?:é|são)|define"
)

_STANDS_FOR = (
    r"stands? for|abbreviation|acronym|full form|steht .{1,40} für|bedeutet|heißt|abkürzung"
    r"|signifie|veut dire|sigles?"
    r"|significan?|siglas?"
)
TOTALS = frozenset(
    (
        *("total", "sum", "gesamtbetrag", "gesamtsumme", "summe", "endbetrag", "rechnungsbetrag", "gesamt"),
        *("importe", "suma", "montant", "somme", "totale", "totaal", "合計"),
    )
)
"""What the last line of a receipt or an invoice is called."""
_SMALL_WORDS = frozenset(
    ("of", "the", "and", "for", "in", "on", "to", "und", "der", "die", "das", "de", "la", "et", "y")
)
"""What has no letter in an abbreviation."""
_ABBREVIATION = re.compile(r"(?<!\w)[A-Z][A-Za-z]{0,6}[A-Z](?!\w)")
_MONTHS = "|".join(map(re.escape, months(("de", "fr", "es", "it", "nl", "pt"))))
_ANY_MONTH = "|".join(map(re.escape, months(("en", "de", "fr", "es", "it", "nl", "pt"))))
_TIME = re.compile(
    r"(?<![\d.,])[12]?\d{3}s?(?![\d.,]\d)|\b\d+(?:st|nd|rd|th) century|\b\d{1,2}:\d\d\b"
    r"|\b\d{1,2}\. [^\W\d_]{3,}|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d"
    rf"|\b\d{{1,2}}(?:er|e|º|°)? (?:de )?(?:{_MONTHS})\b|\b(?:{_MONTHS}) (?:de )?\d"
    r"|\b(?:[ivx]{1,5}|\d{1,2})e (?:siècle|eeuw)|\b(?:siglos?|século|secolo) [ivx]{1,5}\b|[ivx]{1,5} secolo",
    re.IGNORECASE,
)
_NUMBER = re.compile(rf"(?<![A-Za-z])\d[\d.,]*|\b(?:one|{NUMBER_WORDS})\b", re.IGNORECASE)
_NAME = re.compile(r"(?<=[\w,:;)(“\"”’–—] )[A-ZÀ-ÖØ-ÞΑ-ΩА-Я]\w+")
_IS = re.compile(
    r"\A(?:\W*+\w++){1,8}?\W++(?:is|are|was|were|means|refers to|denotes|ist|sind|est|sont|es|son|è|sono|zijn"
    r"|é|são)\b",
    re.IGNORECASE,
)


def expected_by(question: str) -> Callable[[str], bool]:
    """Return the test whether a statement holds what a question asks for; without a cue none does."""
    known = frozenset(re.findall(r"\w+", question.casefold()))
    for cue, test in _KINDS:
        if cue.search(question):
            return lambda text: test(text, known)
    return lambda _: False


def is_of_kind(question: str, text: str) -> bool:
    """Tell whether a text may hold what a question asks for: any text may where no cue tells the kind."""
    known = frozenset(re.findall(r"\w+", question.casefold()))
    test = next((test for cue, test in _KINDS_OF_VALUES if cue.search(question)), None)
    return test is None or test(text, known)


def asks_how_many(question: str) -> bool:
    """Tell whether a question asks how many there are of something, or how much."""
    return _CUE_COUNT.search(question) is not None


def lacks_count(question: str, text: str) -> bool:
    """Tell whether a question asks how many there are, or for figures, and a statement has no number but
    those it asks with.

    Numbers in brackets are of references, and those of days and years count nothing.
    """
    wants_count = asks_how_many(question) or any(
        cue.search(question) is not None for cue in (_CUE_FIGURES, _IN_UNIT)
    )
    return wants_count and lacks_figure(question, text)


def lacks_figure(question: str, text: str) -> bool:
    """Tell whether a statement has no number but those that a question has, and those of days and years."""
    known = frozenset(re.findall(r"\w+", question.casefold()))
    said = without_dates(text)
    return not _has_new(_NUMBER)(said, known) and _VAGUE_COUNT.search(said) is None


def without_dates(text: str) -> str:
    """Return a text without the numbers of days, years and references."""
    return _OF_YEAR.sub("", _DAY.sub("", _REFERENCE.sub("", text)))


def lacks_name(question: str, text: str) -> bool:
    """Tell whether a question asks what somebody or something is called, and a sentence has no name but those
    that it asks with."""
    known = frozenset(re.findall(r"\w+", question.casefold()))
    return _CUE_NAME.search(question) is not None and not _has_new(_NAME)(text, known)


def asks_for_total(question: str) -> bool:
    """Tell whether a question asks for the total of what is open: “Wie hoch ist der Gesamtbetrag?”."""
    words = re.findall(r"\w+", question.casefold())
    return len(words) <= MOST_WORDS_FOR_TOTAL and not TOTALS.isdisjoint(words)


def quantities_in(question: str) -> frozenset[str]:
    """Return what records call the quantity that a question asks for: “How tall is she?” wants a height."""
    return frozenset(
        name for match in _HOW.finditer(question) for name in _QUANTITIES[match[1].lower()].split()
    )


def asks_for_measure(question: str) -> bool:
    """Tell whether an adjective asks for what only its quantity answers: “how tall”, unlike “how high”."""
    return any(match[1].lower() not in _OF_AMOUNTS for match in _HOW.finditer(question))


def without_quantities(question: str) -> str:
    """Return a question without what asks for a quantity by an adjective: “How tall”."""
    return _HOW.sub(" ", question)


def abbreviation_of(question: str) -> str | None:
    """Return the abbreviation of which a question asks what it stands for, None if it asks nothing such."""
    short = _ABBREVIATION.search(question)
    return short[0] if short and _CUE_STANDS_FOR.search(question) else None


def spelt_out(question: str) -> Callable[[str], bool]:
    """Return the test whether a text spells out what a question asks: “Technology Acceptance Model (TAM)”."""
    short = abbreviation_of(question)
    if short is None:
        return lambda _: False
    letters = short.casefold()

    def test(text: str) -> bool:
        for found in re.finditer(rf"\(\s?{re.escape(short)}\b", text):
            before = re.findall(r"\w+", text[max(0, found.start() - 200) : found.start()].casefold())
            chief = [word for word in before if word not in _SMALL_WORDS]
            initials = ["".join(word[0] for word in words[-len(letters) :]) for words in (before, chief)]
            if letters in initials:
                return True
        return False

    return test


def _has_new(pattern: re.Pattern[str]) -> Test:
    """Return the test whether something in a statement is of a kind and not in the question."""

    def test(text: str, known: frozenset[str]) -> bool:
        found = (frozenset(re.findall(r"\w+", match[0].casefold())) for match in pattern.finditer(text))
        return any(words - known for words in found)

    return test


_QUANTITIES = {
    "tall": "height",
    "high": "height elevation",
    "long": "length duration",
    "wide": "width",
    "deep": "depth",
    "heavy": "weight mass",
    "old": "age",
    "big": "size area",
    "large": "size area",
    "fast": "speed",
    "groß": "größe fläche",
    "hoch": "höhe",
    "lang": "länge dauer",
    "lange": "dauer",
    "breit": "breite",
    "tief": "tiefe",
    "schwer": "gewicht",
    "alt": "alter",
    "schnell": "geschwindigkeit",
}
"""What records call what questions name by an adjective."""
_OF_AMOUNTS = frozenset(("high", "long", "big", "large", "fast", "hoch", "lang", "lange", "groß", "schnell"))
"""Amounts and times are high and long, too, whatever they are called; what is fast takes little time."""
_HOW = re.compile(rf"\b(?:how|wie) ({'|'.join(_QUANTITIES)})\b", re.IGNORECASE)


def _cue(words: str, *, at_start: bool = False) -> re.Pattern[str]:
    return re.compile(rf"{'^' if at_start else ''}\b(?:{words})\b", re.IGNORECASE)


_CUE_COUNT = _cue(r"how (?:many|much)|wie ?viele?n?|combien|cu[áa]nt[oa]s|quant[ie]|hoeveel")
_CUE_FIGURES = _cue(
    r"what (?:were|are|was|is) (?:the )?(?:[\w'’&-]+ ){0,4}?(?:figures|numbers|amounts)"
    r"|(?:what|which) (?:(?:is|was|were|are) (?:the )?)?(?:[\w'’&/-]+ ){0,5}?"
    r"(?:score|bleu|f1|f-?score|accuracy|precision|recall|perplexity|rouge|auc|exact match"
    r"|error rate|success rate)s?"
    r" (?:is|was|were|are|does|do|did|has|have|had|can|of|on|for|in|at|when|anyone|reached|score)"
    r"|wie (?:waren|sind|lauten) die (?:[\w-]+ ){0,3}?[\w-]*zahlen"
    r"|quels (?:étaient|sont) les (?:[\w-]+ ){0,3}?(?:chiffres|montants)"
    r"|cuáles (?:fueron|son) las (?:[\w-]+ ){0,3}?cifras"
)
_CUE_NAME = _cue(
    r"(?:what|which) (?:is|was|are|were) the (?:[\w-]+ ){0,2}?names? of|what (?:is|was|are"
    r"|were) [^?]{1,60}? called"
    r"|comment s['’]appell\w+|quel est le nom|cómo se llama\w*|cuál es el nombre|come si chiama\w*"
)
_IN_UNIT = re.compile(
    r"\((?:given |expressed )?(?:in|en) (?:\w+ ){0,2}(?:percent\w*|prozent|pour ?cent\w*|porcentaje"
    r"|dollars?|dólares|euros?"
    r"|pounds?|pfund|livres|libras|yen|million\w*|mill[oi]\w*|thousand\w*|tausend|milliers|miles|tonn\w*|meters?|metern?"
    r"|kilomet\w*|hours?|stunden|heures|horas|days|tagen|jours|días|years|jahren)\b",
    re.IGNORECASE,
)
"""What names the unit of its answer asks for a figure: “(in Pfund)”."""
_REFERENCE = re.compile(r"\[\d{1,3}\]")
_OF_YEAR = re.compile(
    r"\b(?:fiscal(?: year)?|fy|year|in|of|for|during|since|until|jahr|im jahr|seit|en|depuis) (?:19|20)\d\d\b"
    r"|\b(?:nel|del|dal) (?:1\d|20)\d\d\b"
    r"|\b(?:first|second|third|fourth) quarter\b",
    re.IGNORECASE,
)
_DAY = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th|er|[.eº°])? (?:de )?(?:{_ANY_MONTH})\b(?:,? (?:de )?\d{{4}}\b)?"
    rf"|\b(?:{_ANY_MONTH}) \d{{1,2}}\b(?:, \d{{4}}\b)?"
    r"|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b\d{1,2}:\d\d\b",
    re.IGNORECASE,
)
_VAGUE_COUNT = _cue(
    r"few|several|none|dozens?|wenige|mehrere|keine|dutzend|quelques|plusieurs|aucun|pocos|varios|ninguno"
)
_CUE_STANDS_FOR = _cue(_STANDS_FOR)
_KINDS: tuple[tuple[re.Pattern[str], Test], ...] = (
    (_cue(_WHEN), _has_new(_TIME)),
    (_cue(_HOW_MANY), _has_new(_NUMBER)),
    (ASKS_WHY, lambda text, _: tells_why(text)),
    (_cue(_WHO), _has_new(_NAME)),
    (_cue(_WHAT_IS, at_start=True), lambda text, _: bool(_IS.match(text))),
)
_IDENTIFIER = (
    r"(?:what|which|wie|was|welche[rs]?|quel(?:le)?|qual|quale|cuál|wat|welke?)\b[^?]{0,20}?"
    r"\b(?:[\w-]+ )?(?:id|identifier|number|nummer|pin|numéro|número|numero)"
)
_KINDS_OF_VALUES: tuple[tuple[re.Pattern[str], Test], ...] = (
    (_cue(_WHEN), lambda text, _: any(map(str.isdigit, text))),
    (_cue(_HOW_MANY), lambda text, _: _NUMBER.search(text) is not None),
    (_cue(_IDENTIFIER, at_start=True), lambda text, _: any(map(str.isdigit, text))),
    (_cue(_WHO), lambda text, _: any(map(str.isalpha, text)) and _TIME.search(text) is None),
)
"""What stands alone behind a label is a value of its kind without words around it."""
