"""Does a question depend on what was said before?

elliptic   “And the year before?”, “What about F7?”, “Why?”: it has no statement of its own
anaphoric  “How many passengers did they carry?”: a word points at something that is not in the question
scoped     “What does that report say about dividends?”: it is whole, but for the document
vague      “When is a ruling expected?”: a question of two words that names nothing
"""

from __future__ import annotations

from enum import Enum

from assistants.followups.reading import Reading

MOST_WORDS = 40
"""A longer question says itself what it is about."""
SHORT = 4
VAGUE = 2


class Dependence(Enum):
    """How a question depends on what was said."""

    NONE = "none"
    ELLIPTIC = "elliptic"
    ANAPHORIC = "anaphoric"
    SCOPED = "scoped"
    VAGUE = "vague"


def dependence(read: Reading) -> Dependence:
    """Return how a question depends on what was said before."""
    if not read.words or len(read.words) > MOST_WORDS:
        return Dependence.NONE
    if _is_elliptic(read):
        return Dependence.ELLIPTIC
    if points_back(read) or read.shift:
        return Dependence.ANAPHORIC
    if points_at_document(read):
        return Dependence.SCOPED
    return Dependence.VAGUE if _is_vague(read) else Dependence.NONE


def asks(read: Reading) -> bool:
    """Tell whether a question has a word that asks, apart from “what about”."""
    return any(word in read.lexicon.words("interrogatives") for word in read.lows[read.opener :])


def points_at_document(read: Reading) -> bool:
    """Tell whether a question names the document as the one that was spoken of."""
    return read.find(read.lexicon.phrases("this_document")) is not None


def is_about_person(read: Reading) -> bool:
    """Tell whether a question has “he” or “she”, and no “it”."""
    lists = read.lexicon.words
    return any(word in lists("persons") for word in read.lows) and not any(
        word in lists("pronouns") for word in read.lows
    )


def _is_elliptic(read: Reading) -> bool:
    rest = len(read.words) - read.opener
    says_something = bool(read.informative)
    if not rest:
        return False
    if read.opener and not asks(read):
        return not _has_statement(read)
    if not says_something and (read.opener or read.periods or _asks_for_more(read)):
        return True
    # “In 2021?”, “The Heron D60?”
    only_names = all(
        any(name.first <= place < name.last for name in read.names) for place in read.informative
    )
    return _is_question(read) and rest <= SHORT and not asks(read) and says_something and only_names


def _asks_for_more(read: Reading) -> bool:
    """Tell whether a question without words of its own asks: “Why?”, “Tell me more.”."""
    return _is_question(read) or any(word in read.lexicon.words("light") for word in read.lows[1:])


def is_in_names(read: Reading, place: int) -> bool:
    """Tell whether a word belongs to a name."""
    return any(name.first <= place < name.last for name in read.names)


def _has_statement(read: Reading) -> bool:
    """“And do I have to clean the filter of the Kestrel V8?” is whole, and so is any long sentence."""
    return len(read.informative) > SHORT or (bool(read.names) and len(read.informative) > SHORT - 1)


def _is_question(read: Reading) -> bool:
    return read.text.rstrip().endswith("?")


def _is_vague(read: Reading) -> bool:
    if read.names or read.periods or not asks(read) or not _is_question(read):
        return False
    if any(read.is_at(phrase, 0) for phrase in read.lexicon.phrases("definitions")):
        return False
    # One German word may be two of another language.
    return len(read.informative) <= (1 if read.lexicon.language == "de" else VAGUE)


def points_back(read: Reading) -> bool:
    """Tell whether a word points at something that the question itself does not hold."""
    return any(_points_back(read, place) for place in range(read.opener, len(read.words)))


def _points_back(read: Reading, place: int) -> bool:
    word, lists = read.lows[place], read.lexicon.words
    if _is_in(read, place, "expletives") or _is_in(read, place, "this_document") or _is_resolved(read, place):
        return False
    if word in lists("pronouns", "persons"):
        announces = place + 1 < len(read.words) and read.between(place + 1).startswith(",")
        return not announces and not _inverts_noun(read, place)
    if word in lists("possessives"):
        return not _has_candidate(read, place)
    if word in lists("demonstratives"):
        return (place == 0 or not read.is_informative(place - 1)) and not _has_candidate(read, place)
    if place == len(read.words) - 1 and word in lists("at_end"):
        return True
    # German “Wer muss dem zustimmen?”: a noun would have a capital letter.
    is_last_but_one = place == len(read.words) - 2
    return word in lists("articles_alone") and is_last_but_one and read.words[-1].text[0].islower()


def _is_in(read: Reading, place: int, phrases: str) -> bool:
    """Tell whether a word belongs to a phrase, such as “is there”, in which it points at nothing."""
    return any(
        read.is_at(phrase, start)
        for phrase in read.lexicon.phrases(phrases)
        for start in range(max(0, place - len(phrase) + 1), place + 1)
    )


def _is_resolved(read: Reading, place: int) -> bool:
    """Tell whether a clause before names what is pointed at: “When a colony grows, does it need …”."""
    border = max(
        (
            at
            for at in range(read.opener, place)
            if read.lows[at] in read.lexicon.words("clauses")
            or read.between(at + 1).startswith((",", ";", ".", "?"))
        ),
        default=None,
    )
    return border is not None and any(at <= border for at in read.informative if at != border)


def _has_candidate(read: Reading, place: int) -> bool:
    """Tell whether what stands before, a name or a few words, may be what is pointed at."""
    return any(name.last <= place for name in read.names) or sum(at < place for at in read.informative) > 1


def _inverts_noun(read: Reading, place: int) -> bool:
    """French “Le bonnet est-il obligatoire ?” names its subject; “Combien coûtent-ils ?” does not."""
    return (
        place > 1 and read.between(place) in {"-", "-t-"} and any(at < place - 1 for at in read.informative)
    )
