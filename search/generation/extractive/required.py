"""What an answer must hold: money if a question asks for a price, a time of day, a number to call.

A statement without it answers nothing, however well it fits: “Dalvexa comes in bottles of 84” is not what a
bottle costs. Only what surely asks for one of them counts, in seven languages.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_TIME = "time|longer|later|notice|warning|zeit|temps|tiempo|tempo|tijd"
"""How much of it somebody has to pay something is no price."""
_PAYING = (
    (
        "how much",
        r"costs?|pay|pays|paid|paying|charged?|earns?|owes?|price[ds]?|fees?|salary|wages?|rent|fined?",
    ),
    (
        "was|wie ?viel",
        r"kosten(?!-)|kostet|kostete|(?:be)?zahle\w{0,2}|(?:be)?zahlt|verdien\w{1,3}|gehalt|miete|gebühr\w{0,2}",
    ),
    ("combien", r"coût\w{0,6}|payer|paie|paye|vaut|gagne\w{0,2}"),
    ("cu[áa]nto", r"cuestan?|costar\w{0,3}|valen?|pagar?\w{0,3}|ganan?|cobran?"),
    ("quanto", r"costano?|costa|paga|pagare|guadagna\w{0,2}|custam?|custar\w{0,2}|pagam|pagar|ganha\w{0,2}"),
    ("wat|hoeveel", "kost|kosten|betalen|betaalt|betaal|verdient"),
)
"""What asks for an amount, and the words of its language for what is paid: English “was” asks nothing."""
_PRICE = (
    r"price|fee|salary|rent|fine|preis|gehalt|miete|gebühr|prix|tarif|salaire|loyer|precio|salario|alquiler"
)
_ASKS_MONEY = re.compile(
    "|".join(rf"\b(?:{asks})\b(?! (?:{_TIME})\b)[^.?!]{{0,80}}?\b(?:{paying})\b" for asks, paying in _PAYING)
    + r"|\bwhat (?:do|does|did|would|will)\b[^.?!]{0,80}?\b(?:cost|pay)\b"
    r"|\b(?:what (?:is|was) the|wie hoch (?:ist|war) (?:der|die|das)|quel (?:est|était) le|cuál es el)"
    rf" (?:{_PRICE})\b|\bwie teuer\b|\bhoe duur\b|\bhow expensive\b",
    re.IGNORECASE,
)
_MONEY = re.compile(
    r"[$€£¥₹₩₽₺₪₴฿₫₱%]|\d[.,]\d\d\b|(?-i:\b[A-Z]{3} ?\d|\d ?[A-Z]{3}\b)"
    r"|\b(?:euros?|dollars?|dólares|pounds?|pence|cents?|centimes?|céntimos?|centavos?|centesimi|francs?|franken"
    r"|frs?|yen|yuan|pesos?|reais|soles|kr|kron\w{1,3}|crowns?|öre|zł|złot\w{1,3}|groszy|kč|korun\w?|ft|forint\w?"
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
_REQUIRED = ((_ASKS_MONEY, _MONEY), (_ASKS_HOUR, _HOUR), (_ASKS_NUMBER, _NUMBER))


def required_by(question: str) -> Callable[[str], bool]:
    """Return the test whether a text has all that any answer to a question must have."""
    tests = [has for asks, has in _REQUIRED if asks.search(question)]
    return lambda text: all(has.search(text) for has in tests)
