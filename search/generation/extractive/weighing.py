"""How well does a statement answer a question? By meaning, words, where it stands and what it holds.

    fit   = cosine + 0.5 coverage + 0.2 coverage of the passage − 0.1 rank penalty   is compared with a floor
    score = fit + 0.1 if it holds what is asked for − 0.1 if it is unfinished    decides the order

In English the best are read once more, each beside the question, by a model that was made for this:

    score = 0.1 log odds that it answers + 0.2 fit + 0.2 probability that its passage does ± 0.1 as above

The log odds are then compared with the floor.

*Cosine* is that of statement and question. *Coverage* is the share of the question's terms that the statement
has, or its passage with headings and the name of the document, weighted by how few statements have them.
*Handicap* is 0 for the best context and 1 for the last. Where the weights come from:
docs/adr/0018-extractive-answers.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log

from core.text.analysis import terms
from core.text.tables import is_table
from search.contexts import Context
from search.generation.extractive.expected import asks_for_total, expected_by, spelt_out
from search.generation.extractive.periods import words_of
from search.generation.extractive.reading import QuestionReading
from search.generation.extractive.statements import Statement, statements
from search.question_language import is_english, is_in_another_language

WORD_WEIGHT = 0.5
PASSAGE_WEIGHT = 0.2
CONTEXT_WEIGHT = 0.1
EXPECTED_WEIGHT = 0.1
UNFINISHED_WEIGHT = 0.1

READ_ONCE_MORE = 12
"""So many statements; more change nothing."""
READ_BEHIND = 8
"""So many of them are read behind the statement before them, too: “It was held at the SAP Center”."""
BEHIND_PENALTY = 2.0
"""Of their log odds then: the statement before may be what answers."""
ODDS_WEIGHT = 0.1
MOST_ODDS = 9.0
"""Of what surely answers, the fit tells which answers best."""
FIT_WEIGHT = 0.2
ANSWERS_WEIGHT = 0.2
MOST_CHARS = 700
"""Of a statement, as the model reads it."""

CERTAIN_WEIGHT = 0.6
"""No other statement says what an abbreviation stands for, or what the total is."""

_PRONOUN = re.compile(
    r"(?:it|he|she|they|this|these|its|his|her|their|er|sie|es|dies\w{0,2}|sein\w{0,2}|ihr\w{0,2}|il|elle|ils"
    r"|elles|ce|cette|él|ella|ellos|este|esta|su)\b",
    re.IGNORECASE,
)
"""What a sentence begins with that goes on about the one before it."""
_ENDING = re.compile(r"\.(?!\d+\Z)\w{1,5}\Z")
_WORD = re.compile(r"[^\W\d_]{3}")

Terms = frozenset[str]
Place = tuple[int, int]
"""The rank of a context, and the number of a statement in it."""
Languages = frozenset[str | None]


@dataclass(frozen=True, slots=True)
class WeighedStatement:
    """A statement and its terms; `fit` is compared with the floor, `score` orders.

    What is certain needs no fit: it says in so many words what is asked.
    """

    statement: Statement
    terms: Terms
    fit: float
    score: float
    is_certain: bool = False
    odds: float | None = None
    """The logarithm of the odds that it answers the question, None where no model has read it for that."""

    @property
    def place(self) -> Place:
        """Where it stands."""
        return self.statement.context.rank, self.statement.at

    @property
    def may_be_english(self) -> bool:
        """Whether the model that reads English can read it; names and figures are of no language."""
        return self.statement.context.language in (None, "en")


def weigh(question: str, contexts: Sequence[Context], reading: QuestionReading) -> list[WeighedStatement]:
    """Weigh all that the contexts state; each model reads it in one batch.

    What is in English, a second model reads, too, for a question in English.
    """
    found = list(statements(question, contexts))
    if not found:
        return []
    languages = {each.language for each in contexts}
    foreign = frozenset(each for each in languages if is_in_another_language(question, each))
    similarity = _similarities(found, foreign, reading)
    said = [_terms(each.meaning, each.context) for each in found]
    scale = _Scale(question, contexts, foreign, said)
    holds, spells = expected_by(question), spelt_out(question)
    wants_total = asks_for_total(question)
    evidence = []
    for each, has, cosine in zip(found, _with_subjects(found, said), similarity, strict=True):
        fit = cosine + scale.words(each.context, has)
        bonus = EXPECTED_WEIGHT * (each.is_named or bool(each.items) or holds(each.text))
        is_certain = spells(each.text) or (each.is_total and wants_total)
        score = fit + bonus + CERTAIN_WEIGHT * is_certain - UNFINISHED_WEIGHT * (not each.is_whole)
        evidence.append(WeighedStatement(each, has, fit, score, is_certain))
    return _read_once_more(evidence, reading) if is_english(question) else evidence


def _read_once_more(evidence: Sequence[WeighedStatement], reading: QuestionReading) -> list[WeighedStatement]:
    """Weigh the best statements by whether they answer the question, each with where it stands."""
    in_english = [each for each in evidence if each.may_be_english]
    best = sorted(in_english, key=lambda each: -each.score)[:READ_ONCE_MORE]
    if not best:
        return list(evidence)
    odds = _odds(best, {each.place: each.statement for each in evidence}, reading)
    most: dict[int, float] = {}
    for each, found in zip(best, odds, strict=True):
        rank = each.statement.context.rank
        most[rank] = max(found, most.get(rank, found))
    read = {id(each): _with_odds(each, found, most) for each, found in zip(best, odds, strict=True)}
    return [read.get(id(each), each) for each in evidence]


def _odds(
    best: Sequence[WeighedStatement], known: Mapping[Place, Statement], reading: QuestionReading
) -> list[float]:
    """Return the log odds that each of the best statements answers, alone or behind the one before it."""
    alone = [_with_its_place(each.statement) for each in best]
    behind = {}
    for number, each in enumerate(best[:READ_BEHIND]):
        rank, at = each.place
        if (rank, at - 1) in known and not is_table(each.statement.context.text):
            behind[number] = _with_its_place(each.statement, known[rank, at - 1])
    found = list(map(float, reading.answers([*alone, *behind.values()])))
    odds = found[: len(alone)]
    for number, together in zip(behind, found[len(alone) :], strict=True):
        odds[number] = max(odds[number], together - BEHIND_PENALTY)
    return odds


def _with_odds(each: WeighedStatement, odds: float, most: Mapping[int, float]) -> WeighedStatement:
    """Score a statement by its odds; a passage that no model has read answers as well as its best statement.

    Web pages are not reranked, and must not stand behind documents for it.
    """
    context = each.statement.context
    answers = _probability(most[context.rank]) if context.answers is None else context.answers
    bonus = each.score - each.fit + ANSWERS_WEIGHT * answers
    score = ODDS_WEIGHT * min(odds, MOST_ODDS) + FIT_WEIGHT * each.fit + bonus
    return replace(each, odds=odds, score=score)


def _probability(odds: float) -> float:
    return 1 / (1 + exp(-odds))


def _with_its_place(statement: Statement, before: Statement | None = None) -> str:
    """Return a statement behind the name of its document and its heading: “Adobe 2022. Cash Flows: …”.

    What stands `before` it comes before it.
    """
    context = statement.context
    place = ". ".join(dict.fromkeys([*_name_in_words(context.document_name), *context.headings[-1:]]))
    said = " ".join(each.meaning[:MOST_CHARS] for each in (before, statement) if each)
    return f"{place}: {said}" if place else said


def _name_in_words(name: str) -> list[str]:
    """Return the name of a document as somebody would say it; nothing for “119.html”, which says nothing.

    What says nothing makes the model doubt the statement behind it.
    """
    said = _ENDING.sub("", name).replace("_", " ").strip()
    return [said] if _WORD.search(said) else []


def _similarities(
    found: Sequence[Statement], foreign: Languages, reading: QuestionReading
) -> Sequence[float]:
    """Return how similar each statement is to the question; of a list, it or what announces it."""
    lists = [number for number, each in enumerate(found) if each.items]
    texts = [*(each.meaning for each in found), *(found[number].text for number in lists)]
    languages = [found[number].context.language for number in [*range(len(found)), *lists]]
    of_all = reading.similarity(texts, [language in foreign for language in languages])
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

    def __init__(
        self, question: str, contexts: Sequence[Context], foreign: Languages, said: Sequence[Terms]
    ) -> None:
        self._foreign = foreign
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
        own = 0.0 if context.language in self._foreign else self._coverage(context, has)
        return WORD_WEIGHT * own + self._of_context[context.rank]

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
