"""Which statements are told, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from search.generation.extractive.antecedents import points_back
from search.generation.extractive.weighed import Terms, WeighedStatement

FLOOR, FLOOR_BESIDE = 0.65, 0.6
"""What fits less is no answer where no model has read whether it is one; the best statement fits by as much
more as it is ahead of the others: of statements about the same thing the right one is far ahead. The second
is for what is told beside the best. Where they come from:
docs/adr/0090-other-languages-and-other-words.md."""
LEAD_OF_ONE = 0.1
"""How far ahead the only statement there is counts to be."""
FLOOR_OF_NAMED = 0.5
"""For a figure whose name is in the question word for word."""
FLOOR_OF_ODDS = 0.0
"""The same where a model has read whether it answers: it is as likely as not."""
FITTING, FLOOR_WHERE_FITTING = 0.85, -2.0
"""The floor for a sentence with so much of the question's meaning and words: the model doubts short ones. A
row and a label have the words of what is asked about, whatever is asked of it."""
SURE, FLOOR_WHERE_SURE = 0.9, -3.0
"""The floor for a statement of a passage that so probably answers: some statement in it does. “Its exterior
is a police box” is doubted alone, without what stands before it."""
AHEAD, MEANING_WEIGHT = 3.0, 16.0
"""A sentence of which the model is unsure answers if it is ahead of all others: if its log odds, its distance
to the next in log odds, and its weighed distance in similarity are as much together."""
NEAR_BEST, NEAR_UNSURE_BEST = 0.12, 0.3
"""How far below the best another may score and still be told: further where a model read the best, and is
not sure that it answers."""
SURE_ODDS = 7.0
MAX_STATEMENTS = 4
MAX_PER_CONTEXT = 2
SAME = 0.8
"""Two statements that share so many of their terms say the same."""


def choose(
    evidence: Sequence[WeighedStatement], may_answer: Callable[[WeighedStatement], bool] = lambda _: True
) -> list[WeighedStatement]:
    """Return the few statements worth telling, best first, nothing twice; none if none passes the floor.

    What may not answer is not told. Of sentences in English it still counts how far the best is ahead of it.
    """
    possible = list(filter(may_answer, evidence))
    read = [each for each in possible if each.odds is not None]
    # What was not read once more scores on another scale. In English it was no better than what was.
    unread = [each for each in possible if not each.may_be_english] if read else possible
    worth = (
        [each for each in read if _passes(each)] or _far_ahead(read, evidence) or _worth_by_meaning(unread)
    )
    ranked = sorted(worth, key=lambda each: (-each.score, each.statement.context.rank, each.statement.at))
    chosen: list[WeighedStatement] = []
    for each in ranked:
        beside = sum(other.statement.context.rank == each.statement.context.rank for other in chosen)
        is_near = each.score >= ranked[0].score - _distance_to(ranked[0])
        if is_near and beside < MAX_PER_CONTEXT and not any(_is_said_by(other, each) for other in chosen):
            chosen.append(each)
    return chosen[:MAX_STATEMENTS]


def _far_ahead(read: Sequence[WeighedStatement], among: Sequence[WeighedStatement]) -> list[WeighedStatement]:
    """Return the best of those that a model has read, if it is a sentence and far ahead of all others."""
    best = max(read, key=lambda each: each.score, default=None)
    if best is None or best.statement.is_row:
        return []
    others = [each for each in among if each.statement.text != best.statement.text]
    odds, next_odds = best.odds or 0.0, [each.odds for each in others if each.odds is not None]
    lead = odds - max(next_odds, default=odds)
    meaning = best.cosine - max((each.cosine for each in others), default=best.cosine)
    return [best] if odds + lead + MEANING_WEIGHT * meaning >= AHEAD else []


def _worth_by_meaning(unread: Sequence[WeighedStatement]) -> list[WeighedStatement]:
    """Return those that no model has read, and that fit."""
    certain = [each for each in unread if each.is_certain or _is_named(each)]
    if not unread or fit_and_lead(unread) < FLOOR:
        return certain
    best = _best(unread)
    return [each for each in unread if each is best or each in certain or each.fit >= FLOOR_BESIDE]


def fit_and_lead(among: Sequence[WeighedStatement]) -> float:
    """Return how well the best statement fits, plus its distance in score to the next that says other words.

    Of statements that no model has read; there must be one.
    """
    best = _best(among)
    others = (each.score for each in among if each.statement.text != best.statement.text)
    return best.fit + best.score - max(others, default=best.score - LEAD_OF_ONE)


def _best(among: Sequence[WeighedStatement]) -> WeighedStatement:
    return max(among, key=lambda each: each.score)


def _distance_to(best: WeighedStatement) -> float:
    is_unsure = best.odds is not None and best.odds < SURE_ODDS
    return NEAR_UNSURE_BEST if is_unsure else NEAR_BEST


def _passes(each: WeighedStatement) -> bool:
    """Tell whether a statement that a model has read may be told."""
    if each.is_certain or each.odds is None:
        return each.is_certain
    is_sure = (each.statement.context.answers or 0.0) >= SURE
    is_fitting = each.fit >= FITTING and each.statement.is_sentence
    floor = FLOOR_WHERE_FITTING if is_fitting else FLOOR_OF_ODDS
    return each.odds >= (FLOOR_WHERE_SURE if is_sure else floor)


def _is_named(each: WeighedStatement) -> bool:
    return each.statement.is_named and each.fit >= FLOOR_OF_NAMED


def completed(
    question: str, chosen: Sequence[WeighedStatement], evidence: Sequence[WeighedStatement]
) -> list[WeighedStatement]:
    """Add the statement between two that are told: without it the second follows nothing.

    So is the one before the best, where that only points back at what is asked for.
    """
    of_place = {each.place: each for each in evidence}
    known = {each.place for each in chosen}
    added = {(rank, at + 1) for rank, at in known if (rank, at + 2) in known}
    for best in chosen[:1]:
        (rank, at), statement = best.place, best.statement
        if not statement.is_row and points_back(question, statement.text, statement.context.language):
            added.add((rank, at - 1))
    return [*chosen, *(of_place[place] for place in sorted(added - known) if place in of_place)]


def paragraphs(chosen: Sequence[WeighedStatement]) -> list[list[WeighedStatement]]:
    """Join what follows each other in a context, in its order; the paragraph with the best comes first."""
    order = {each.place: number for number, each in enumerate(chosen)}
    joined: list[list[WeighedStatement]] = []
    for each in sorted(chosen, key=lambda each: each.place):
        rank, at = each.place
        if joined and joined[-1][-1].place == (rank, at - 1):
            joined[-1].append(each)
        else:
            joined.append([each])
    return sorted(joined, key=lambda part: min(order[each.place] for each in part))


def _is_said_by(other: WeighedStatement, each: WeighedStatement) -> bool:
    """Tell whether one statement says hardly more than another: in the same words, and no other figure."""
    if other.statement.text == each.statement.text:
        return True
    common, both = other.terms & each.terms, other.terms | each.terms
    return len(common) >= SAME * len(both) and not _figures(each.terms) - _figures(other.terms)


def _figures(of: Terms) -> Terms:
    return frozenset(term for term in of if any(map(str.isdigit, term)))
