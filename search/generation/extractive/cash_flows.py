"""Which activities bring in most: “Among operations, investing and financing, which lost the least cash?”.

The three lines of a statement of cash flows are told, the one that is asked for first and emphasised.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from search.contexts import Context
from search.generation.extractive.figures import rows_behind
from search.generation.extractive.measures import Measure
from search.generation.extractive.measuring import of_documents, of_whole, worked_out
from search.generation.extractive.outstanding.superlatives import superlatives_of
from search.generation.extractive.subjects import is_about

ACTIVITIES = ("operating_cash", "investing_cash", "financing_cash")
"""The keys of their lines."""
_NAMED = re.compile(r"\boperati\w+\W.{0,40}?\binvest\w+\W.{0,40}?\bfinanc\w+(?:\sactivities)?", re.IGNORECASE)
_FIRST = re.compile(r"\b(\w++)(?: in| up)? the (?:most|least)\b", re.IGNORECASE)
_LOSING = re.compile(r"los(?:e|es|t)|use[sd]?|consumed?|cost|spent", re.IGNORECASE)
_TALK = re.compile(r"\b(?:among|lose|lost|use[ds]?|consumed?|provided?)\b", re.IGNORECASE)
_CASH = re.compile(r"\bcash(?: ?flows?)?\b|\((?:or )?lost the least\)", re.IGNORECASE)


def compares_activities(question: str) -> bool:
    """Tell whether a question asks which of the activities has the most, or the least."""
    return bool(_NAMED.search(question) and _CASH.search(question)) and bool(superlatives_of(question))


def most_cash(question: str, contexts: Sequence[Context]) -> list[str]:
    """Return the line that is asked for and the other two, as Markdown; nothing if one is not sure."""
    if not compares_activities(question):
        return []
    asked = superlatives_of(question)[-1]
    about = _TALK.sub(" ", _CASH.sub(" ", _NAMED.sub(" ", asked.rest)))
    for of_one, facts in of_documents(question, contexts):
        if not is_about(about, of_one):
            continue
        lines = [Measure("", (f"{{{key}}}",), is_amount=True, is_line=True) for key in ACTIVITIES]
        found = [worked_out(line, question, of_whole(question, facts)) for line in lines]
        if all(found):
            latest = [next(iter(of_line[-1].operands.values())) for of_line in found]
            ranked = sorted(latest, key=lambda fact: fact.figure.value)
            verb = _FIRST.search(question)
            loses = verb is not None and _LOSING.fullmatch(verb[1]) is not None
            best, *others = rows_behind(ranked if loses is asked.is_most else ranked[::-1])
            text, marker = best.removeprefix("- ").rstrip().rsplit(" ", 1)
            return [f"- **{text}** {marker}\n", *others]
    return []
