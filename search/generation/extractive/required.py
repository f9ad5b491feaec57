"""What an answer must hold: money if a question asks for a price, a year, a time of day, a number to call.

A statement without it answers nothing, however well it fits: “Dalvexa comes in bottles of 84” is not what a
bottle costs. Only what surely asks for one of them counts, in seven languages.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from core.text.number_words import NUMBER_WORDS

_TIME = "time|longer|later|notice|warning|zeit|temps|tiempo|tempo|tijd"
"""How much of it somebody has to pay something is no price."""
_PAYING = (
    (
        "how much",
        r"costs?|pay|pays|paid|paying|charged?|earns?|owes?|price[ds]?|fees?|salary|wages?|rent|fined?",
    ),
    (
        "was|wie ?viel",
        r"kosten(?!-)|(?:ge)?kostet|kostete|(?:be)?zahle\w{0,2}|(?:be)?zahlt|überweis\w{1,4}|verdien\w{1,3}|gehalt|miete"
        r"|gebühr\w{0,2}",
    ),
    ("combien", r"coût\w{0,6}|payer|paie|payée?|paye|vaut|gagne\w{0,2}"),
    ("cu[áa]nto", r"cuestan?|cost(?:ó|ado|ar\w{0,3})|valen?|pagar?\w{0,3}|ganan?|cobran?"),
    (
        "quanto",
        r"costano?|costa(?:to|va)?|paga|pagare|guadagna\w{0,2}|cust(?:am?|ou|ar\w{0,2})|pagam|pagar|ganha\w{0,2}",
    ),
    ("wat|hoeveel", "(?:ge)?kost|kosten|kostte|betalen|betaalt|betaal|verdient"),
)
"""What asks for an amount, and the words of its language for what is paid: English “was” asks nothing."""
_PRICE = (
    r"price|fee|salary|rent|fine|dividend|preis|gehalt|miete|gebühr|dividende|prix|tarif|salaire|loyer|precio"
    r"|salario|alquiler|dividendo"
)
_ASKS_MONEY = re.compile(
    "|".join(rf"\b(?:{asks})\b(?! (?:{_TIME})\b)[^.?!]{{0,80}}?\b(?:{paying})\b" for asks, paying in _PAYING)
    + r"|\bwhat (?:do|does|did|would|will)\b[^.?!]{0,80}?\b(?:cost|pay)\b"
    r"|\b(?:what (?:is|was) the|wie hoch (?:ist|war) (?:der|die|das)|quel (?:est|était) le|cuál es el)"
    rf" (?:{_PRICE})\b|\bwie teuer\b|\bhoe duur\b|\bhow expensive\b|\bc['’]est combien\b|\bça fait combien\b"
    r"|\ba cuánto (?:está|sale)\b|いくら(?!でも)|何円|多少[钱錢]",
    re.IGNORECASE,
)
_MONEY = re.compile(
    r"[$€£¥₹₩₽₺₪₴฿₫₱%]"
    r"|(?-i:\b(?:USD|EUR|GBP|CHF|JPY|CNY|CAD|AUD|SEK|NOK|DKK|PLN|CZK|HUF|INR|BRL|MXN)\b)"
    r"|\d[.,]\d\d\b|(?-i:\b[A-Z]{3} ?\d|\d ?[A-Z]{3}\b)"
    r"|\b(?:euros?|dollars?|dólares|pounds?|pence|cents?|centimes?|céntimos?|centavos?|centesimi|francs?"
    r"|franken"
    r"|frs?|yen|yuan|pesos?|reais|soles|kr|kron\w{1,3}|crowns?|öre|zł|złot\w{1,3}|groszy|kč|korun\w?|ft"
    r"|forint\w?"
    r"|lei|lev[as]?|lir[ae]s?|tl|roubles?|rubles?|rubel|руб\w{0,4}|грн|rupees?|rupien|rand|won|baht|dong"
    r"|dinars?|dirhams?|ri[ya]als?|shekels?|florins?|guilders?|gulden|marks?|schillings?|shillings?|ducats?"
    r"|credits?|tokens?|free|gratis|kostenlos|kostenfrei|gratuite?|gratuito|bezpłat\w{1,4}|darmo\w{0,3}"
    r"|included|inclu[sí]\w{0,5}|inbegriffen|nothing)\b|円|元|원",
    re.IGNORECASE,
)
"""What costs nothing has its price said, too."""
_ASKS_HOUR = re.compile(
    r"\bwhat time\b(?! (?:period|frame|span|zone|series|of year))|\b(?:um wie ?viel uhr|um welche uhrzeit"
    r"|(?:à|a) quelle heure|a qué hora|a che ora|hoe laat|a que horas)\b",
    re.IGNORECASE,
)
_HOUR = re.compile(
    r"\b\d{1,2}[:.h]\d{2}\b|\b\d{1,2} ?(?:[ap]\.? ?m\b|h\b|uhr\b|o['’]clock)|\b(?:noon|midnight|mittags?"
    r"|mitternacht|midi|minuit|mediodía|medianoche|mezzogiorno|mezzanotte|meio-dia|middag|middernacht)\b",
    re.IGNORECASE,
)
_ASKS_NUMBER = re.compile(
    r"\bnumber\b[^.?!]{0,40}?\b(?:call|ring|dial|phone|telephone|fax|hotline)\b"
    r"|\b(?:phone|telephone|fax) number\b|\btelefonnummer\b|\btelefoonnummer\b"
    r"|\bnummer\b[^.?!]{0,40}?\b(?:wähl\w{1,3}|an(?:rufen|rufe)|bel(?:len|t)?)\b"
    r"|\bnum[eé]ro\b[^.?!]{0,40}?\b(?:appel\w{1,4}|téléphone|chiam\w{2,4}|telefono)\b"
    r"|\bnúmero\b[^.?!]{0,40}?\b(?:llam\w{1,3}|teléfono|telefone|lig(?:ar|o))\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d(?:[ ()/.-]{0,3}\d){2,30}")
_ASKS_YEAR = re.compile(
    r"\b(?:(?:what|which) (?:calendar |financial |fiscal |school )?year|welche[ms] (?:\w{1,12})?jahr"
    r"|quelle année"
    r"|qué año|(?:che|quale) anno|welk jaar|(?:que|qual) ano|którym roku|vilket år|hvilket år)\b(?! (?:of"
    r"|group)\b)"
    r"|何年(?![間前目生も])|哪一?年",
    re.IGNORECASE,
)
_YEAR = re.compile(
    r"(?<![\d.,])\d{3,4}s?(?![\d]|[.,]\d)|(?<=\d[/–-])\d\d\b|['’]\d\ds?\b|\bcentur|[\d〇一二三四五六七八九十元]年"
)
_ASKS_PERCENT = re.compile(
    r"\b(?:what|which|how many) per ?cent(?:age)?\b|\bwie ?viel prozent\b"
    r"|\bwelche[rn]? (?:prozentsatz|anteil)\b"
    r"|\bwie hoch (?:ist|war) der (?:\w{1,20}anteil|anteil|prozentsatz)\b"
    r"|\bquel(?:le)? (?:pourcentage|part)\b"
    r"|\bqué (?:porcentaje|proporción)\b|\bche percentuale\b|\bwelk percentage\b|\bque percentagem\b",
    re.IGNORECASE,
)
_PERCENT = re.compile(
    r"[%‰]|\bper ?cent|\bprozent|\bpour ?cent|\bpor ?c[ei]ento?|\bper cento|\bprocent|\bpoints?\b"
    r"|\b(?:half|halve|third|quarter|fifth|tenth|majority|most|all|none|hälfte|drittel|viertel|mehrheit|moitié"
    r"|tiers|quart|mitad|tercio|cuarto|metà|terzo|helft|derde|kwart|metade|terço)",
    re.IGNORECASE,
)
_ASKS_HOW_LONG = re.compile(
    r"\bhow long (?:do|does|did|will|would|can|could|may|must|should|have|has|had)\b"
    r"(?![^.?!]{0,60}\b(?:be|get|grow)\b)"
    r"|\b(?:how many (?:(?:seconds|minutes|hours|days|weeks|months|years|decades)\b(?! old\b))"
    r"|wie ?lange|wie ?viele (?:sekunden|minuten|stunden|tage|wochen|monate|jahre)"
    r"|(?:pendant|depuis) combien|combien (?:dure\w{0,4}|de (?:temps|secondes|minutes|heures|jours"
    r"|semaines|mois|ann[ée]es|ans))"
    r"|cuánto (?:tiempo|dur\w{1,4}|tard\w{1,4})|cuánt[oa]s (?:segundos|minutos|horas|días|semanas|meses|años)"
    r"|quanto (?:tempo|dur\w{1,4})|quant[ie] (?:secondi|minuti|ore|giorni|settimane|mesi|anni)"
    r"|quant[oa]s (?:segundos|minutos|horas|dias|semanas|meses|anos)"
    r"|hoe ?lang|hoeveel (?:seconden|minuten|uur|uren|dagen|weken|maanden|jaar|jaren)"
    r"|jak długo|ile (?:minut|godzin|dni|tygodni|miesięcy|lat))\b|何(?:[年日週分秒]間|時間|[かヶカケ]月)",
    re.IGNORECASE,
)
_HOW_LONG = re.compile(
    r"(?:seconds?|minutes?|\bmins?|hours?|\bhrs?|days?|nights?|weeks?|fortnights?|months?|quarters?"
    r"|seasons?|years?"
    r"|decades?|centur(?:y|ies)|lifetimes?|semesters?|sekunden?|minuten?|stunden?|tage?n?|nächten?"
    r"|wochen?|monate?n?|jahre?n?"
    r"|jahrzehnten?|jahrhunderten?|secondes?|heures?|jours?|journées?|nuits?|semaines?|mois|\bans?"
    r"|années?|siècles?"
    r"|segundos?|minutos?|horas?|d[íi]as?|noches?|semanas?|mes(?:es)?|años?|siglos?|secondi|minut[oi]"
    r"|\bor[ae]|giorn[oi]"
    r"|nott[ei]|settiman[ae]|mes[ei]|\bann[oi]|secol[oi]|noites?|mês|\banos?|séculos?|seconden?|\buur"
    r"|\buren|dag(?:en)?"
    r"|nachten|weken|maanden?|jaar|jaren|eeuw(?:en)?|minut[ay]?|godzin[ay]?|\bdni|tygodni\w{0,2}"
    r"|miesi[ąę]c\w{0,2}|\blat[a]?)\b"
    r"|\b(?:until|till|throughout|forever|always|indefinite|permanent|temporar|since|instant|immediate"
    r"|overnight|unlimited"
    r"|whole|entire|bis\b|dauerhaft|unbefristet|seit\b|ständig|jusqu|depuis|toujours|indéfini|hasta|desde"
    r"|siempre|indefinid"
    r"|fino|sempre|até\b|tot\b|altijd)|\d ?(?:h|min|s|d|j|a)\b|[年月日週分秒]|時間",
    re.IGNORECASE,
)
_ASKS_AGE = re.compile(
    r"\b(?:how old|wie alt|quel âge|qué edad|cuántos años (?:tiene|tenía|tenían)|quanti anni (?:ha|aveva"
    r"|avevano)|hoe oud)\b|何歳"
    r"|\b(?:what|which) age\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(rf"\d|[〇一二三四五六七八九十百]|\b(?:one|{NUMBER_WORDS})\b", re.IGNORECASE)
_ASKS_SIZE = re.compile(
    r"\bhow (?:tall|heavy|fast|deep|wide|high|hot|cold|thick) (?:is|are|was|were|can|may|must|should|does"
    r"|do|did|will)\b"
    r"|\b(?:what|which) (?:(?:is|was|are|were) the )?(?:[\w-]+ ){0,2}?(?:temperature|pressure|speed"
    r"|weight|height|width|length"
    r"|depth|distance|voltage|percentage|diameter|altitude|population|salary|magnification)s?"
    r" (?:is|are|was|were|of|at|in|for|do|does|did|can|may|must|should|will|has|have|had)\b"
    r"|\bwie (?:schwer|schnell|tief|breit|warm|dick) (?:ist|sind|war|waren|darf|dürfen|kann|muss|wird)\b"
    r"|(?:\b(?:quelle est|quelle était) la|\bà quelle|\bde quelle) (?:altitude|hauteur|profondeur"
    r"|vitesse|largeur|longueur"
    r"|distance|température|pression|taille|population)\b"
    r"|\b(?:a qué|cuál (?:es|era) la|qué) (?:altitud|altura|profundidad|velocidad|anchura|longitud"
    r"|distancia|temperatura"
    r"|presión|población)\b"
    r"|\b(?:a (?:quale|che)|qual (?:è|era) la) (?:altitudine|altezza|profondità|velocità|larghezza"
    r"|lunghezza|distanza"
    r"|temperatura|pressione|popolazione)\b"
    r"|\b(?:in|auf|bei) welche[rm] (?:höhe|tiefe|geschwindigkeit|temperatur|entfernung)\b"
    r"|\b(?:a que|qual (?:é|era) a) (?:altitude|altura|profundidade|velocidade|largura|distância"
    r"|temperatura|pressão)\b"
    r"|\b(?:op|met|bij) welke (?:hoogte|diepte|snelheid|afstand|temperatuur)\b",
    re.IGNORECASE,
)
_TELLING = (
    (_ASKS_MONEY, _MONEY),
    (_ASKS_HOUR, _HOUR),
    (_ASKS_NUMBER, _NUMBER),
    (_ASKS_YEAR, _YEAR),
    (_ASKS_HOW_LONG, _HOW_LONG),
)
"""What is known by itself, unlike the figure of an age or a size."""
_REQUIRED = (*_TELLING, (_ASKS_AGE, _FIGURE), (_ASKS_SIZE, _FIGURE))


def asks_for_kind(question: str) -> bool:
    """Tell whether a question asks for something that is known by itself, such as money or a time of day."""
    return any(asks.search(question) for asks, _ in _TELLING)


def required_by(question: str) -> Callable[[str], bool]:
    """Return the test whether a text has all that any answer to a question must have."""
    tests = [has for asks, has in _REQUIRED if asks.search(question)]
    return lambda text: all(has.search(text) for has in tests)


def lacks_percentage(question: str, text: str) -> bool:
    """Tell whether a question asks for a percentage, and a text has none, and no half or third."""
    return _ASKS_PERCENT.search(question) is not None and _PERCENT.search(text) is None


def asks_for_price(question: str) -> bool:
    """Tell whether a question asks what somebody has to pay."""
    return _ASKS_MONEY.search(question) is not None


def required_of_row_by(question: str) -> Callable[[str], bool]:
    """Return the same test for a row: what its figures are, only the names of its columns may tell."""
    has_it = required_by(question)
    return lambda text: has_it(text) or _FIGURE.search(text) is not None
