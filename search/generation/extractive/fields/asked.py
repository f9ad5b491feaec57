"""The words that a question shares with labels, columns and headings."""

from __future__ import annotations

import re
from itertools import takewhile

from core.text.analysis import terms
from core.text.forms_of_address import FORMS_OF_ADDRESS
from search.contexts import Context
from search.generation.extractive.expected import without_quantities

SAME_BEGINNING, MOST_OF_ENDING = 6, 3
"""Letters that words of one family share: “subscribe”, “subscription”."""
FEWEST_OF_COMPOUND = 5
_SAID_ANYWAY = {
    "en": "document file paper page letter mail email message text form receipt invoice bill slip sheet book"
    " article report study post company issuer person give given get got use used pay paid buy bought take"
    " place happen send sent write written wrote took taken make made go goes call called name named number"
    " amount value much many high state stated mention tell say said belong listed list show shown find"
    " meeting appointment event need needed require required necessary today have has speak speaks",
    "de": "dokument datei seite brief mail e-mail nachricht text formular beleg rechnung quittung"
    " kassenzettel buch artikel bericht firma unternehmen person gegeben lautet heißt hoch viel bezahlt"
    " gekauft genannt nennt angegeben steht nummer betrag wert findet statt treffen termin geschickt"
    " gesendet geschrieben verschickt hat wurde ist gültig email brauche brauchen benötige benötigt nötig",
    "fr": "document fichier page lettre mail courriel message texte formulaire reçu facture société personne"
    " donné payé acheté appelle indique envoyé écrit reçu est numéro montant valeur quel quelle quels"
    " quelles combien les il faut qui où quand comment faut livre article rapport",
    "es": "documento archivo página carta correo mensaje texto formulario recibo factura empresa persona dado"
    " pagado pagó comprado compró llama envió escribió mandó recibió es son indica número importe valor"
    " cuál cuáles cuánto cuánta cuántos cuántas quién quiénes dónde cuándo cómo qué necesito necesita libro"
    " artículo informe",
}
SAID_ANYWAY = frozenset(
    term
    for language, words in _SAID_ANYWAY.items()
    for term in terms(" ".join([words, *FORMS_OF_ADDRESS]), language)
)
"""Words of a question that need not be said around what answers it."""

Words = frozenset[str]


_MEANT = (
    (r"when|wann|quand|cuándo", "date time day datum tag zeit heure jour fecha hora día"),
    (r"who|whom|wer|wen|wem|qui|quiénes|quién", "name person nom nombre"),
    (r"where|wo|où|dónde", "place location ort lieu lugar"),
    (r"how much|was kostet|combien|cuánto", "amount price betrag preis montant prix importe precio"),
)
_INVERTED = re.compile(r"-(?:t-)?(?:je|tu|ils?|elles?|on|nous|vous|ce)\b", re.IGNORECASE)
_CUES = tuple((re.compile(rf"\b(?:{asked})\b", re.IGNORECASE), meant) for asked, meant in _MEANT)


def meant_by(question: str, context: Context) -> Words:
    """Return what labels may say for the question word: “when” means a date."""
    return terms_in(" ".join(meant for asked, meant in _CUES if asked.search(question)), context)


def words_asked(question: str, context: Context) -> Words:
    """Return the terms of a question, without adjectives that ask for a quantity: “How tall”.

    “Faut-il” is the word “faut”.
    """
    return terms_in(_INVERTED.sub(" ", without_quantities(question)), context)


def terms_in(text: str, context: Context) -> Words:
    """Return the terms of a text as those of a context are made."""
    return frozenset(terms(text, context.language))


def is_said(words: Words, around: Words) -> bool:
    """Tell whether all of some words are said around, or are what a longer word there ends with: “machine” is
    said by “Kaffeemaschine”."""
    return all(
        word in around or (len(word) >= FEWEST_OF_COMPOUND and any(each.endswith(word) for each in around))
        for word in words
    )


def in_common(words: Words, others: Words) -> Words:
    """Return those of the words that are among the others, or of one family with one of them."""
    return frozenset(
        word for word in words if word in others or any(_are_of_family(word, other) for other in others)
    )


def _are_of_family(one: str, other: str) -> bool:
    """Tell whether two terms differ by no more than an ending: “Rechnungsdatum” is no “Rechnungsbetrag”."""
    same = sum(1 for _ in takewhile(lambda letters: letters[0] == letters[1], zip(one, other, strict=False)))
    return same >= SAME_BEGINNING and max(len(one), len(other)) - same <= MOST_OF_ENDING
