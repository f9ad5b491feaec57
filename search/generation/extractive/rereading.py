"""The best statements are read once more: each behind the sentence before it, too.

“The event was held at the SAP Center” answers a question about the Opening Night only behind the sentence
that names it. There its cosine may be higher:

    fit and score + what its cosine behind that sentence, less 0.05, is more than alone

In English each is read beside the question by a model that was made for this, alone and behind the sentence:

    odds  = the higher of log odds alone, and log odds behind it − 2
    score = 0.1 odds + 0.2 fit + 0.2 probability that its passage answers ± 0.1 as `weighing.py` has it

The log odds are then compared with the floor. Where the constants come from: docs/adr/0085-read-once-more.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import exp

from search.generation.extractive.reading import QuestionReading, languages_of
from search.generation.extractive.statements import Statement
from search.generation.extractive.weighed import Place, WeighedStatement
from search.question_language import is_english

READ_ONCE_MORE = 12
"""So many statements; more change nothing."""
READ_BEHIND = 8
"""So many of them are read behind the statement before them, too."""
COSINE_PENALTY, ODDS_PENALTY = 0.05, 2.0
"""Of what is read so: the statement before may be what answers."""
ODDS_WEIGHT = 0.1
MOST_ODDS = 9.0
"""Of what surely answers, the fit tells which answers best."""
FIT_WEIGHT = 0.2
ANSWERS_WEIGHT = 0.2
MOST_CHARS = 700
"""Of a statement, as the model reads it."""

_ENDING = re.compile(r"\.(?!\d+\Z)\w{1,5}\Z")
_WORD = re.compile(r"[^\W\d_]{3}")


Known = Mapping[Place, Statement]


def read_once_more(
    question: str, evidence: Sequence[WeighedStatement], reading: QuestionReading
) -> list[WeighedStatement]:
    """Weigh the best statements anew."""
    known = {each.place: each.statement for each in evidence}
    in_english = [each for each in evidence if is_english(question) and each.may_be_english]
    others = [each for each in evidence if not in_english or not each.may_be_english]
    best = [*_with_odds(in_english, known, reading), *_with_cosines(question, others, known, reading)]
    anew = {id(each): read for each, read in best}
    return [anew.get(id(each), each) for each in evidence]


def _best(evidence: Sequence[WeighedStatement], count: int) -> list[WeighedStatement]:
    return sorted(evidence, key=lambda each: -each.score)[:count]


def _before(each: WeighedStatement, known: Known) -> Statement | None:
    """Return what stands before a statement; a row of a table does not go on about the one before it."""
    rank, at = each.place
    return None if each.statement.is_row else known.get((rank, at - 1))


# --- By meaning --------------------------------------------------------------------------------------------


def _with_cosines(
    question: str, evidence: Sequence[WeighedStatement], known: Known, reading: QuestionReading
) -> Iterator[tuple[WeighedStatement, WeighedStatement]]:
    """Yield the statements that answer better behind the one before them, each as it is and as it is then."""
    best = [(each, before) for each in _best(evidence, READ_BEHIND) if (before := _before(each, known))]
    if not best:
        return
    texts = [with_its_place(each.statement, before) for each, before in best]
    languages = [languages_of(question, each.statement.context.language) for each, _ in best]
    for (each, _), cosine in zip(best, reading.similarity(texts, languages).tolist(), strict=True):
        more = cosine - COSINE_PENALTY - each.cosine
        if more > 0:
            yield each, replace(each, fit=each.fit + more, score=each.score + more)


# --- Beside the question -----------------------------------------------------------------------------------


def _with_odds(
    evidence: Sequence[WeighedStatement], known: Known, reading: QuestionReading
) -> Iterator[tuple[WeighedStatement, WeighedStatement]]:
    """Yield the best statements, each as it is and with its odds.

    A passage that no model has read answers as well as its best statement: web pages are not reranked, and
    must not stand behind documents for it.
    """
    best = _best(evidence, READ_ONCE_MORE)
    odds = _odds(best, known, reading) if best else []
    most = {rank: found for found, rank in sorted(zip(odds, [each.place[0] for each in best], strict=True))}
    for each, found in zip(best, odds, strict=True):
        context = each.statement.context
        answers = probability(most[context.rank]) if context.answers is None else context.answers
        bonus = each.score - each.fit + ANSWERS_WEIGHT * answers
        score = ODDS_WEIGHT * min(found, MOST_ODDS) + FIT_WEIGHT * each.fit + bonus
        yield each, replace(each, odds=found, score=score)


def _odds(best: Sequence[WeighedStatement], known: Known, reading: QuestionReading) -> list[float]:
    """Return the log odds that each of the best statements answers, alone or behind the one before it."""
    alone = [with_its_place(each.statement) for each in best]
    behind = {
        number: with_its_place(each.statement, before)
        for number, each in enumerate(best[:READ_BEHIND])
        if (before := _before(each, known))
    }
    read = [(reading.question, text) for text in (*alone, *behind.values())]
    found = list(map(float, reading.answers(read)))
    odds = found[: len(alone)]
    for number, together in zip(behind, found[len(alone) :], strict=True):
        odds[number] = max(odds[number], together - ODDS_PENALTY)
    return odds


def probability(odds: float) -> float:
    """Return the probability that has these log odds."""
    return 1 / (1 + exp(-odds))


def with_its_place(statement: Statement, before: Statement | None = None) -> str:
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
