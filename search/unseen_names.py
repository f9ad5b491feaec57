"""Names in a question that stand nowhere in what was searched: what was found is about somebody else.

“Who is the CEO of Volkswagen?” finds the CEO of whichever company there is. Its words and its meaning fit;
only the name tells. It counts as seen if any document that was searched has it, or a word like it: it may be
misspelt, or written as two words (“Super Bowl”). What is computed, such as “EBITDA”, need not be said. Names
are told by their capitals, so there are none in languages that have no capitals, or, as German, give them to
every noun.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from babel import Locale

from core.text.analysis import terms
from core.text.forms_of_address import FORMS_OF_ADDRESS
from kb.index.words import QueryWord
from search.generation.extractive.measures import words_of_measures
from search.question_language import LANGUAGES, language_of
from search.retrieval import RankedChunk

_WORD = re.compile(r"\w++")
_NAME = re.compile(r"(?![A-Z]{1,5}s?\b)[^\W\d_]++")
"""No figures: “FY2022”. No short word in capitals, such as “CEO” or “PDFs”: documents may spell it out."""
_SENTENCE_ENDS = frozenset(".?!:")
_LEAST_SIMILAR = 0.5
"""A name is read as a word that shares so many of its trigrams; other words may share fewer."""
_NOT_OF_NAMES = {"de"}
_DAYS_AND_MONTHS = frozenset(
    name.casefold()
    for language in LANGUAGES
    for names in (Locale(language).months, Locale(language).days)
    for name in names["format"]["wide"].values()
)
_NO_NAMES = _DAYS_AND_MONTHS | FORMS_OF_ADDRESS
_ORDERS = frozenset(
    [
        "calculate",
        "compare",
        "compute",
        "define",
        "describe",
        "explain",
        "find",
        "give",
        "list",
        "name",
        "show",
    ]
)
"""What begins a question without being a name: “Compare revenue”."""


def unseen_names(question: str, words: Sequence[QueryWord], found: Sequence[RankedChunk]) -> tuple[str, ...]:
    """Return the names in a question that nothing searched has; `words` are its words as they were searched.

    Empty, too, where the documents found are in another language than the question: there names differ.
    """
    language = language_of(question)
    languages = {each.chunk.language or None for each in found}
    if language in _NOT_OF_NAMES or language not in languages:
        return ()
    seen = _terms_seen(words)
    written_apart = set()
    for each in found:
        seen |= _terms_of(each.chunk.document.name, languages)
        written_apart |= {one + other for one, other in pairwise(_WORD.findall(each.chunk.text.casefold()))}
    measures = words_of_measures(question)
    searched = frozenset().union(*(word.expansions for word in words))
    return tuple(
        dict.fromkeys(
            name
            for name in _names(question, language)
            if name.casefold() not in measures | written_apart
            and (own := _terms_of(name, languages) & searched)
            and own.isdisjoint(seen)
        )
    )


def _terms_seen(words: Sequence[QueryWord]) -> set[str]:
    return {
        term
        for word in words
        if word.occurs and (word.read_as is None or word.similarity >= _LEAST_SIMILAR)
        for term in word.expansions
    }


def _terms_of(text: str, languages: set[str | None]) -> set[str]:
    return {term for language in languages for term in terms(text, language)}


def _names(question: str, language: str) -> Iterator[str]:
    """Yield the words with a capital that begin no sentence; of a mere list of words the first one, too."""
    words = list(_WORD.finditer(question))
    if len(words) > 1 and all(word[0][0].isupper() for word in words):
        # A Heading Has Capitals Everywhere.
        return
    is_list_of_words = len(terms(question, None)) == len(terms(question, language))
    end = 0
    for word in words:
        begins = end == 0 or not _SENTENCE_ENDS.isdisjoint(question[end : word.start()])
        end = word.end()
        name = word[0]
        if not name[0].isupper() or not _NAME.fullmatch(name) or name.casefold() in _NO_NAMES:
            continue
        if not begins or (is_list_of_words and name.casefold() not in _ORDERS):
            yield name
