"""What a question wants computed between things: how much more one is than another, a sum, a share."""

from __future__ import annotations

import re
from collections.abc import Callable

from core.text.analysis import terms
from search.generation.extractive.calculations import (
    Calculation,
    CalculationKind,
    asks_for_change,
    asks_for_mean,
    calculation_of,
)

_MUCH_THAN = (
    (r"how (?:much|many)|(?:by )?what per ?cent(?:age)?", "than"),
    (r"wie ?viele?", "als"),
    (r"combien", "qu(?:e\\b|['’])"),
    (r"cu[áa]nt[oa]s?|qu[ée] porcentaje", "que"),
    (r"quant[oiae]", "(?:di|che)"),
    (r"hoeveel", "dan"),
)
_MORE = (
    r"more|less|fewer|\w{2,12}er|better|worse|mehr|weniger|besser|plus|moins|más|menos|mejor|peor|più|meno|meer"
    r"|minder|beter|slechter"
)
_COMPARES = re.compile(
    "|".join(
        rf"\b(?:{much})\b(?=[^?]{{0,160}}?\b(?:{_MORE})\b)[^?]{{0,160}}?\b{than}" for much, than in _MUCH_THAN
    )
    + r"|\bby how (?:much|many)\b[^?]{0,160}?"
    r"\b(?:beats?|exceed\w*|outperform\w*|surpass\w*|ahead of|behind)\b",
    re.IGNORECASE,
)
_THAN = re.compile(r"\b(?:than|als|que|dan|di|che)\s|\bqu['’]", re.IGNORECASE)
_SHARE_OF = re.compile(
    r"\b(?:per ?cent(?:age)?|share|proportion|prozent(?:satz)?|anteil|pourcentage|part|porcentaje|proporción"
    r"|percentage|aandeel)\s(?:of|von|des?|der|du|del?|van)\s",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|came|comes?|did|do|does|has|have|had|got|gets?|went|goes|belongs?|made|makes?"
    r"|sind|ist|war|waren|kam|kamen|kommen|stammt|stammen|entfällt|entfallen|hat|hatte|est|sont|vient|viennent|ont"
    r"|es|son|fue|fueron|viene|vienen|zijn|kwam|kwamen|komt)\b",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    r"\b(?:than|from|between|versus|vs|compared|against|beats?|exceed\w*|outperform\w*|surpass\w*|ahead|behind"
    r"|als|von|vom|zwischen|gegenüber|verglichen|que|qu|entre|par rapport|frente|comparado|che|rispetto|dan"
    r"|tussen)\b",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"\b(?:percentage points?|prozentpunkte?n?|points? de pourcentage|puntos porcentuales|procentpunten)\b",
    re.IGNORECASE,
)
_PERCENT = re.compile(
    r"\b(?:per ?cent|percentage|prozent|pour ?cent|por ciento|porcentaje|procent|percento)\b|%", re.IGNORECASE
)
_TOGETHER = re.compile(
    r"\b(?:together|altogether|combined|add up|zusammen|ensemble|en tout|junt[oa]s|samen|insieme)\b",
    re.IGNORECASE,
)
_IS_CHANGE = re.compile(
    r"\b(?:change|difference|growth|increase|decrease|lead|margin|veränderung|differenz|abstand|écart|variation"
    r"|hausse|baisse|diferencia|variación|verschil)\b|%",
    re.IGNORECASE,
)
_IS_SUM = re.compile(r"\b(?:totaa?le?s?|sum|gesamt\w*|summe|insgesamt|ensemble|suma)\b", re.IGNORECASE)
_IS_MEAN = re.compile(
    r"\b(?:average|mean|median|durchschnitt\w*|mittel\w*|moyenne|media|promedio|gemiddelde?)\b|⌀|ø",
    re.IGNORECASE,
)
_OF_ADJECTIVES = {
    "heavier|lighter|schwerer|leichter|lourde?|légère?|pesad[oa]|zwaarder|lichter": (
        "weight mass gewicht masse poids peso"
    ),
    "dearer|cheaper|more expensive|pay|cost|costs|teurer|billiger|günstiger|kosten|kostet|chère?|coûte"
    "|car[oa]|barat[oa]|cuesta|duurder|goedkoper|kost": "price cost preis kosten prix precio prijs",
    "taller|higher|höher|hoger": "height höhe hauteur altura hoogte",
    "longer|shorter|länger|kürzer|long(?:ue)?|larg[oa]|langer|korter": (
        "length duration länge dauer longueur longitud lengte"
    ),
    "older|younger|älter|jünger|ouder|jonger": "age alter âge edad leeftijd",
    "faster|slower|schneller|langsamer|rapides?|rápid[oa]|sneller": (
        "speed time geschwindigkeit zeit vitesse snelheid"
    ),
    "bigger|larger|smaller|größer|kleiner|grande?|petite?|groter": "size area größe fläche surface tamaño",
    "louder|quieter|lauter|leiser|bruyante?": "noise lärm lautstärke bruit ruido geluid",
}
OF_ADJECTIVES = {
    re.compile(rf"\b(?:{words})\b", re.IGNORECASE): names for words, names in _OF_ADJECTIVES.items()
}
"""What rows and columns are called of which adjectives and verbs speak."""
COUNTS = {
    word: number
    for number, words in {
        2: "two both zwei beide beiden beider deux dos ambos ambas twee due",
        3: "three drei trois tres drie tre",
        4: "four vier quatre cuatro quattro",
        5: "five fünf cinq cinco vijf cinque",
        6: "six sechs seis zes sei",
        7: "seven sieben sept siete zeven sette",
        8: "eight acht huit ocho otto",
    }.items()
    for word in words.split()
}
_SAID_BESIDES = (
    "better worse more less fewer higher lower larger smaller bigger longer shorter faster slower heavier"
    " lighter cheaper expensive dearer older younger greater taller louder quieter points point go goes"
    " went gone down up drop dropped rise rose average mean total together altogether combined have has"
    " had does do did reach cost costs add large small version model per thousand million billion euro"
    " euros dollar dollars pound pounds use uses used need needs needed get gets got make makes made give"
    " gives take takes beat beats come came number amount content rate year years month months found receive"
    " received consume consumed produce produced would",
    "besser schlechter mehr weniger höher niedriger größer kleiner länger kürzer schneller langsamer"
    " schwerer leichter teurer billiger günstiger älter jünger punkte kostet kosten tausend million gibt"
    " gab hatte hat wurde wurden verbraucht gebraucht braucht erzeugt jahr jahre jahren monat durchschnitt"
    " durchschnittlich schnitt pro zusammen insgesamt anzahl viel viele gemacht machen haben",
    "plus moins cher chère lourd léger coûte coûtent tout en combien moyenne moyen ensemble total fait"
    " font ça an mois nombre quantité teneur atil a",
    "mejor peor más menos caro barato cuesta cuestan costó costaron gastó gastaron medio media promedio"
    " juntos juntas total año mes número",
    "meer minder duurder goedkoper zwaarder lichter kost kosten samen totaal gemiddeld gemiddelde jaar"
    " maand aantal zijn werd werden hoeveel procent gewone gewoon",
)
SAID_BESIDES = frozenset(
    term
    for words, language in zip(_SAID_BESIDES, ("en", "de", "fr", "es", "nl"), strict=True)
    for term in terms(words, language)
)
"""What compares, units, and what such a question says besides."""


def calculation_between_things(question: str) -> Calculation | None:
    """Return what is to be computed between two things or more, or of a thing and all of them."""
    found = calculation_of(question)
    if _POINTS.search(question):
        kind = CalculationKind.DIFFERENCE
    elif _COMPARES.search(question):
        kind = CalculationKind.GROWTH if _PERCENT.search(question) else CalculationKind.DIFFERENCE
    elif found is not None and not found.is_ratio:
        kind = found.kind
    else:
        return None
    cues = found.cues if found else ""
    is_mere_difference = kind is CalculationKind.DIFFERENCE
    return Calculation(
        kind,
        (),
        question,
        cues,
        is_yearly=found is not None and found.is_yearly,
        before_whole=found.before_whole if found else None,
        is_mere_difference=is_mere_difference,
    )


def is_answered_by_row(question: str) -> Callable[[str], bool]:
    """Return the test whether a row of a table may answer a question by itself.

    Who asks how much more one thing is than another, or what some come to, is not told the figures of each. A
    row may hold what is asked for: a total, an average, a change.
    """
    is_change = asks_for_change(question) and calculation_of(question) is not None
    wanted = [
        has
        for is_asked, has in (
            (is_change or _COMPARES.search(question) or _POINTS.search(question), _IS_CHANGE),
            (_TOGETHER.search(question), _IS_SUM),
            (asks_for_mean(question), _IS_MEAN),
        )
        if is_asked
    ]
    return lambda text: all(has.search(text) for has in wanted)


def is_within_whole(question: str, named: str) -> bool:
    """Tell whether a word of a name stands in what the share is of.

    “What percentage of the Osprin replies came late?” asks for no share of Osprin.
    """
    of = _SHARE_OF.search(question)
    if of is None:
        return False
    verb = _VERB.search(question, of.end())
    whole = question[of.end() : verb.start() if verb else len(question)]
    return named in re.findall(r"\w+", whole.casefold())


def sets_against(question: str) -> bool:
    """Tell whether a question sets two things against each other, or says from where to where one went."""
    return _AGAINST.search(question) is not None


def is_behind_than(question: str) -> bool:
    """Tell whether the second thing is what the first is compared with, and not what it becomes."""
    return _THAN.search(question) is not None
