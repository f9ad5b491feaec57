"""Questions that want a yes or a no: “Did net income increase?”, “Hat Adobe eine höhere Marge?”.

A yes or no stands before its evidence. It is told only if it is sure: figures of two years show the change, a
sentence says in which direction something went, or it says all that is asked, or denies it. Else the evidence
is told alone.
"""

from __future__ import annotations

import re
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING

from core.text.analysis import terms
from search.citations.polarity import NEGATORS, UNSURE
from search.generation.extractive.periods import periods_named
from search.question_language import language_of

if TYPE_CHECKING:
    from search.generation.extractive.statements import Statement

ENOUGH_TERMS = 0.8
"""So much of a question about a change a sentence has to say that tells the direction; of any other all."""
_STARTS = {
    language: re.compile(rf"\A\W*(?:{words})\b", re.IGNORECASE)
    for language, words in {
        "en": r"is|are|was|were|do|does|did|has|have|had|can|will|must",
        "de": r"ist|sind|war|waren|hat|haben|hatten?|kann|können|darf|dürfen|muss|müssen|wird|werden|wurden?"
        r"|gibt es|stieg|sank|gilt|gehört",
        "fr": r"est[- ]ce qu['’e]|y a[- ]t[- ]il",
        "es": r"es|está|están|son|hay|ha|han|fue|fueron|tiene|tienen|puede|pueden|aumentó|disminuyó",
    }.items()
}
"""How such a question begins, by its language."""
_EITHER = re.compile(r"\b(?:or|oder|ou|o|whether)\b", re.IGNORECASE)
_DIRECTIONS = {
    language: tuple(re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for words in both)
    for language, both in {
        "en": (
            r"increas\w*|gr[eo]w(?:n|s|th|ing)?|ris(?:e|es|en|ing)|rose|improv\w*|higher|gain\w*",
            r"decreas\w*|declin\w*|drop\w*|fell|fall(?:s|en|ing)?|reduc\w*|lower\w*|shr[aiu]nk\w*",
        ),
        "de": (
            r"gestiegen|stieg\w*|steig\w*|wuchs\w*|gewachsen|zugenommen|verbessert\w*|höher\w*",
            r"gesunken|sank\w*|sinken|gefallen|fiel\w*|abgenommen|verringert\w*|niedriger\w*",
        ),
        "fr": (r"augment\w*|hausse|amélior\w*", r"baiss\w*|diminu\w*|recul\w*"),
        "es": (r"aument\w*|creci\w*|subi\w*|mejor\w*", r"disminu\w*|baj[aóo]\w*|reduj\w*"),
    }.items()
}
"""What says that something rises, and that it falls, by language: “im Fall” is nothing that falls."""
_CHANGE = re.compile(
    r"\b(?:chang\w*|veränder\w*|geändert|änder\w*|changement\w*|évolu\w*|cambi\w*|variación)\b", re.IGNORECASE
)
_NEGATED = re.compile(
    rf"\b(?:{'|'.join(NEGATORS.values())}|ne|pas|aucune?|sans|ningun[oa]?|nunca|sin)\b", re.IGNORECASE
)
_HOW_MUCH = re.compile(
    r"[$€£¥]\s?\d|\d\s?(?:%|per ?cent|prozent|pour ?cent|por ciento|points?\b|thousand|[mb]illion|tausend|mio"
    r"|milliarden|mrd|milliards?|millones)|\b(?:more|less|faster|slower|mehr|weniger|stärker|plus|moins|más|menos)\b",
    re.IGNORECASE,
)
"""“Did it grow by more than 10 %?”: that it grew does not answer this."""
_MAY_BE = re.compile(
    r"\b(?:may|might|could|would|should|expect\w*|will|könnten?|dürften?|erwarte\w*|pourrai\w*|podrían?)\b",
    re.IGNORECASE,
)
"""What a sentence about a change says that has not happened."""
_THAN = re.compile(
    r"\b(?:higher|lower|larger|smaller|greater|more|less)\b.{0,80}?\bthan\b"
    r"|\b(?:höher|niedriger|größer|kleiner)\w{0,3}\b.{0,80}?\bals\b|\b(?:plus|moins)\b.{0,80}?\bqu['’e]"
    r"|\b(?:mayor|menor|más|menos)\b.{0,80}?\bque\b",
    re.IGNORECASE,
)
"""What compares two things."""
_DENIES = re.compile(r"\b(?:not|never|nicht|kein\w{0,2}|nie|pas|nunca)\b|n['’]t\b", re.IGNORECASE)
_WORDS = {
    "en": ("Yes", "No"),
    "de": ("Ja", "Nein"),
    "fr": ("Oui", "Non"),
    "es": ("Sí", "No"),
}


class Direction(Enum):
    """In which direction something goes that a question asks about."""

    UP = "up"
    DOWN = "down"
    EITHER = "either"


def wants_yes_or_no(question: str) -> bool:
    """Tell whether a question wants a yes or a no, and not a choice: “Did it rise or fall?”."""
    starts = _STARTS.get(language_of(question))
    begins = starts is not None and starts.search(question) is not None
    return begins and _EITHER.search(_first_sentence(question)) is None


def direction_of(text: str, language: str | None = None) -> Direction | None:
    """Return the direction of a change that a text tells; None for no change, or for both directions."""
    up, down = (words.search(text) is not None for words in _directions_in(text, language))
    if up is not down:
        return Direction.UP if up else Direction.DOWN
    return Direction.EITHER if not up and _CHANGE.search(text) else None


def _directions_in(text: str, language: str | None) -> tuple[re.Pattern[str], ...]:
    return _DIRECTIONS.get(language or language_of(text), _DIRECTIONS["en"])


def answer_by_change(question: str, before: Decimal, after: Decimal) -> bool | None:
    """Return the answer that two figures give to “Did it increase?”; None if that is not what is asked."""
    first = _first_sentence(question)
    asked = direction_of(first) if wants_yes_or_no(question) else None
    if asked is None or _HOW_MUCH.search(first) or _DENIES.search(first):
        return None
    if asked is Direction.EITHER:
        return after != before
    return after > before if asked is Direction.UP else after < before


def compares_earlier(question: str) -> bool:
    """Tell whether a question compares an earlier period with a later one: “higher in 2021 than in 2022?”."""
    named = periods_named(_first_sentence(question))
    return _THAN.search(question) is not None and len(named) > 1 and named[0] < named[1]


def answer_by_statement(question: str, statement: Statement) -> bool | None:
    """Return the answer that a sentence gives; None if it gives none for sure."""
    asked, text = _first_sentence(question), statement.meaning
    is_row = statement.is_row
    if not wants_yes_or_no(question) or not statement.is_whole or is_row or _DENIES.search(asked):
        return None
    wanted, found = direction_of(asked), direction_of(text, statement.context.language)
    is_negated = _NEGATED.search(text) is not None
    about = without_change(asked) if wanted else asked
    if not _says(about, statement, ENOUGH_TERMS if wanted else 1.0):
        return None
    if wanted is None:
        return None if UNSURE.search(text) else not is_negated
    if found in (None, Direction.EITHER) or is_negated or _MAY_BE.search(text):
        return None
    return wanted is Direction.EITHER or wanted is found


def without_change(asked: str) -> str:
    """Return a question without the words that say in which direction something goes."""
    for words in (*_directions_in(asked, None), _CHANGE):
        asked = words.sub(" ", asked)
    return asked


def with_answer(question: str, answer: bool | None, text: str) -> str:
    """Return a text behind the yes or no that it is evidence for, in the language of the question."""
    if answer is None:
        return text
    return f"**{_WORDS[language_of(question)][not answer]}** – {text}"


def _says(about: str, statement: Statement, share: float) -> bool:
    """Tell whether a sentence says such a share of what is asked, and all figures of it.

    What the sentence is about may stand in its headings or in the name of the document.
    """
    context = statement.context
    around = " ".join([context.document_name, *context.headings])
    wanted, said, above = (
        frozenset(terms(text, context.language)) for text in (about, statement.meaning, around)
    )
    own = wanted - (above - said)
    missing = own - said
    has_figures = not any(any(map(str.isdigit, term)) for term in missing)
    return bool(own & said) and has_figures and len(missing) <= (1 - share) * len(own)


def _first_sentence(question: str) -> str:
    return question.partition("?")[0]
