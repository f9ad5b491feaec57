"""How well does a statement answer a question? By meaning, words, where it stands and what it holds.

    fit   = cosine + w coverage + 0.2 coverage of the passage − 0.1 rank penalty   is compared with a floor
    score = fit + 0.1 if it holds what is asked for − 0.1 if it is unfinished    decides the order

The best are then read once more (`rereading.py`).

*Cosine* is that of statement and question. *Coverage* is the share of the question's terms that the statement
has, or its passage with headings and the name of the document, weighted by how few statements have them.
*w* is 0.5 in English and 0.3 in other languages. *Rank penalty* is 0 for the best context and 1 for
the last. Where the weights come from: docs/adr/0018-extractive-answers.md and 0090.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from math import log

from core.text.analysis import terms
from search.contexts import Context
from search.generation.extractive.expected import asks_for_total, expected_by, spelt_out
from search.generation.extractive.periods import words_of
from search.generation.extractive.reading import Languages, QuestionReading, languages_of
from search.generation.extractive.rereading import read_once_more, with_its_place
from search.generation.extractive.statements import Statement, statements
from search.generation.extractive.weighed import Terms, WeighedStatement

WORD_WEIGHT, WORD_WEIGHT_ELSEWHERE = 0.5, 0.3
"""In English, where the statements are read once more, and in other languages: there a near miss has the
words, and the model for many languages tells more."""
WORDS_ACROSS = 0.1
"""What the words of a statement in another language count as: they can't be compared."""
PASSAGE_WEIGHT = 0.2
CONTEXT_WEIGHT = 0.1
EXPECTED_WEIGHT = 0.1
UNFINISHED_WEIGHT = 0.1

CERTAIN_WEIGHT = 0.6
"""No other statement says what an abbreviation stands for, or what the total is."""

_PRONOUN = re.compile(
    r"(?:it|he|she|they|this|these|its|his|her|their|er|sie|es|dies\w{0,2}|sein\w{0,2}|ihr\w{0,2}|il|elle|ils"
    r"|elles|ce|cette|él|ella|ellos|este|esta|su)\b",
    re.IGNORECASE,
)
"""What a sentence begins with that goes on about the one before it."""


def weigh(question: str, contexts: Sequence[Context], reading: QuestionReading) -> list[WeighedStatement]:
    """Weigh all that the contexts state: all of it in one batch, the best once more."""
    found = list(statements(question, contexts))
    if not found:
        return []
    similarity = _similarities(question, found, reading)
    said = [_terms(each.meaning, each.context) for each in found]
    scale = _Scale(question, contexts, said)
    holds, spells = expected_by(question), spelt_out(question)
    wants_total = asks_for_total(question)
    evidence = []
    for each, has, cosine in zip(found, _with_subjects(found, said), similarity, strict=True):
        fit = cosine + scale.words(each.context, has)
        bonus = EXPECTED_WEIGHT * (each.is_named or bool(each.items) or holds(each.text))
        is_certain = spells(each.text) or (each.is_total and wants_total)
        score = fit + bonus + CERTAIN_WEIGHT * is_certain - UNFINISHED_WEIGHT * (not each.is_whole)
        evidence.append(WeighedStatement(each, has, cosine, fit, score, is_certain))
    return read_once_more(question, evidence, reading)


def _similarities(question: str, found: Sequence[Statement], reading: QuestionReading) -> Sequence[float]:
    """Return how similar each statement is to the question; of a list, it or what announces it.

    A model for many languages tells more of what stands behind the name of its document and its heading.
    """
    languages = [languages_of(question, each.context.language) for each in found]
    said = [
        each.meaning if kind is Languages.ENGLISH else with_its_place(each)
        for each, kind in zip(found, languages, strict=True)
    ]
    lists = [number for number, each in enumerate(found) if each.items]
    texts = [*said, *(found[number].text for number in lists)]
    of_all = reading.similarity(texts, [*languages, *(languages[number] for number in lists)])
    similar = of_all[: len(found)].tolist()
    for number, alone in zip(lists, of_all[len(found) :].tolist(), strict=True):
        similar[number] = max(similar[number], alone)
    return list(map(float, similar))


def _with_subjects(found: Sequence[Statement], said: Sequence[Terms]) -> Iterator[Terms]:
    """Yield the terms of each statement, of “It is 1,800 m high.” with those of the sentence before it."""
    before: tuple[Statement, Terms] | None = None
    for each, has in zip(found, said, strict=True):
        follows = before and before[0].context is each.context and before[0].at == each.at - 1
        yield has | before[1] if before and follows and _PRONOUN.match(each.text) else has
        before = each, has


class _Scale:
    """What all statements of an answer are measured by: the worth of terms and of contexts."""

    def __init__(self, question: str, contexts: Sequence[Context], said: Sequence[Terms]) -> None:
        self._languages = {each.language: languages_of(question, each.language) for each in contexts}
        self._question = " ".join([question, *filter(str.isdigit, words_of(question))])
        self._count, self._statements_with = len(said), Counter(term for has in said for term in has)
        self._of_context = {
            context.rank: PASSAGE_WEIGHT * self._coverage(context, _passage(context))
            - CONTEXT_WEIGHT * penalty
            for context, penalty in zip(contexts, _rank_penalties(contexts), strict=True)
        }

    def words(self, context: Context, has: Terms) -> float:
        """Return what a statement's terms, and those of its passage, add to the cosine.

        In another language than the question's it has no words of it but names, which tell what it is about,
        and not whether it answers.
        """
        match self._languages[context.language]:
            case Languages.TWO:
                own = WORDS_ACROSS
            case Languages.SAME:
                own = WORD_WEIGHT_ELSEWHERE * self._coverage(context, has)
            case Languages.ENGLISH:
                own = WORD_WEIGHT * self._coverage(context, has)
        return own + self._of_context[context.rank]

    def _coverage(self, context: Context, has: Terms) -> float:
        weights = {term: self._weight(term) for term in _terms(self._question, context)}
        return sum(weights[term] for term in weights.keys() & has) / (sum(weights.values()) or 1.0)

    def _weight(self, term: str) -> float:
        """Return the inverse document frequency as in BM25, the statements being the documents."""
        having = self._statements_with[term]
        return log(1 + (self._count - having + 0.5) / (having + 0.5))


def _terms(text: str, context: Context) -> Terms:
    return frozenset(terms(text, context.language))


def _passage(context: Context) -> Terms:
    return _terms(" ".join([context.document_name, *context.headings, context.text]), context)


def _rank_penalties(contexts: Sequence[Context]) -> list[float]:
    """Return how far each context is behind the best one: 0 for that, 1 for the last."""
    best, worst = max(c.score for c in contexts), min(c.score for c in contexts)
    spread = best - worst or 1.0
    return [(best - c.score) / spread for c in contexts]
