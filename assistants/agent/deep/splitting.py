"""A question becomes parts: by rule, or by a chat model where there is one.

The rules know three forms. Several sentences; clauses that begin with a question word (“what … and when …”);
and names in a row (“when were A, B and C built”), of which each gets the question of its own.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, Literal

from assistants.agent.request import AgentRequest
from assistants.followups import Turn
from assistants.followups.carrying import by_rules
from core.errors import BudgetExceeded, Overloaded, ProviderError, Timeout
from core.llm.base import ChatRequest
from core.llm.fencing import Fence, joined_texts

if TYPE_CHECKING:
    from core.llm.gateway import ChatModel

MOST_PARTS = 6
LONGEST_PART = 500
WITHIN_SECS = 20.0
MOST_TOKENS = 600
WORDS: dict[str, Any] = json.loads(Path(__file__).with_name("words.json").read_text("utf-8"))
PROMPT = Path(__file__).parent.parent / "prompts" / "split.v1.md"
_EDGES = "\"'“”„«»()[],;:?!."
_LIST_MARK = re.compile(r"^\s*+(?:[-*•]|\d{1,2}[.)])\s++")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SplitQuestion:
    """The parts of a question, 1 to `MOST_PARTS`; one that can't be split is its only part."""

    parts: Sequence[str]
    by: Literal["model", "rules"]


async def split(asked: AgentRequest, chats: Sequence[ChatModel]) -> SplitQuestion:
    """Return the parts of a question, by the first chat model that can, else by rule."""
    question = asked.question.question
    for chat in chats:
        try:
            reply = await chat.ask(_request(question), asked.payment, within=WITHIN_SECS)
        except (ProviderError, Timeout, Overloaded) as error:
            logger.warning("%s does not split a question: %s", chat.name, error.code)
            continue
        except BudgetExceeded:
            break
        if parts := _parts_of(reply.text):
            return SplitQuestion(parts, "model")
    return SplitQuestion(parts_by_rule(question), "rules")


# --- By a chat model -------------------------------------------------------------------------------------


def _request(question: str) -> ChatRequest:
    fence = Fence.new()
    instructions = Template(PROMPT.read_text("utf-8")).substitute(fence=fence.secret, most=MOST_PARTS)
    message = joined_texts([fence.around("question", question)])
    return ChatRequest(
        instructions,
        [message],
        # A token has three characters or more.
        input_tokens=(len(instructions) + len(message)) // 3,
        output_tokens=MOST_TOKENS,
        max_tokens=MOST_TOKENS,
    )


def _parts_of(text: str) -> list[str]:
    """Return the questions of a model's reply, each once and in one line."""
    lines = (" ".join(_LIST_MARK.sub("", line).split()) for line in text.splitlines())
    return list(dict.fromkeys(line[:LONGEST_PART] for line in lines if line))[:MOST_PARTS]


# --- By rule ---------------------------------------------------------------------------------------------


def parts_by_rule(question: str) -> list[str]:
    """Return the parts that the form of a question shows; each can be searched alone."""
    clauses: list[str] = []
    turns: list[Turn] = []
    for clause in _clauses(question.split()):
        # “When was it built?” after a part about a lighthouse.
        alone = by_rules(clause, turns).question if turns else clause
        turns.append(Turn(clause, alone, ""))
        clauses.append(alone)
    parts = [_as_sentence(part, question) for clause in clauses for part in _by_names(clause)]
    return list(dict.fromkeys(part[:LONGEST_PART] for part in parts))[:MOST_PARTS] or [question]


def _as_sentence(part: str, question: str) -> str:
    """Return a part with a capital letter, and with the mark that its question ends with."""
    mark = "?" if question.rstrip().endswith("?") and part[-1] not in "?!.)" else ""
    return part[0].upper() + part[1:] + mark


def _clauses(words: Sequence[str]) -> list[str]:
    """Return the clauses of a text: each sentence, and each that begins with a question word of its own."""
    clauses: list[list[str]] = [[]]
    for index, word in enumerate(words):
        if clauses[-1] and (words[index - 1][-1] in "?;" or _begins_clause(words, index)):
            if _plain(clauses[-1][-1]) in _known("coordinators"):
                clauses[-1].pop()
            clauses.append([])
        clauses[-1].append(word)
    whole = (" ".join(clause).rstrip(",;") for clause in clauses)
    return [clause for clause in whole if any(map(str.isalnum, clause))]


def _begins_clause(words: Sequence[str], index: int) -> bool:
    """Tell whether a question word follows a comma or an “and” here, perhaps after a preposition."""
    before = words[index - 1]
    if not (before.endswith(",") or _plain(before) in _known("coordinators")):
        return False
    if _plain(words[index]) in _known("before_questions") and index + 1 < len(words):
        index += 1
    # “…, which was built in 1893” says more of what stands before.
    is_relative = before.endswith(",") and _plain(words[index]) in _known("relatives")
    return _plain(words[index]) in _known("questions") and not is_relative


def _by_names(clause: str) -> list[str]:
    """Return the clause for each of several names in a row; as it is without them."""
    words = clause.split()
    for place, word in enumerate(words):
        if _plain(word) in _known("coordinators") and place:
            row = _row_of_names(words, place)
            if row is not None:
                start, end, names = row
                before, tail = words[:start], words[end:]
                if before and _plain(before[-1]) in _known("both"):
                    before = before[:-1]
                mark = "" if tail else clause[len(clause.rstrip("?!.")) :]
                return [" ".join([*before, name, *tail]) + mark for name in names]
    return [clause]


def _row_of_names(words: Sequence[str], coordinator: int) -> tuple[int, int, list[str]] | None:
    """Return where the names around an “and” start and end, and the names; None where there are none."""
    end = _end_of_name(words, coordinator + 1)
    start = coordinator
    names: list[str] = []
    while start:
        first = _start_of_name(words, start)
        if first == start:
            break
        names.insert(0, " ".join(words[first:start]).strip(_EDGES))
        start = first
        if not start or not words[start - 1].endswith(","):
            break
    if not names or end == coordinator + 1:
        return None
    last = " ".join(words[coordinator + 1 : end]).strip(_EDGES)
    return start, end, [*names, last]


def _start_of_name(words: Sequence[str], end: int) -> int:
    """Return where the name starts that ends before `end`; `end` where there is none."""
    start = end
    while start and (_is_of_name(words[start - 1]) or _is_inside(words, start - 1, start < end)):
        # A comma ends the name before it.
        if start < end and words[start - 1].endswith(","):
            break
        start -= 1
    # The first word of a sentence is written large, whatever it is.
    if start == 0 and end > 1 and _plain(words[0]) in _known("questions") | _known("before_questions"):
        start = 1
    while start < end and not _is_of_name(words[start]):
        start += 1
    return start


def _end_of_name(words: Sequence[str], start: int) -> int:
    end = start
    while end < len(words) and (_is_of_name(words[end]) or _is_inside(words, end, end > start)):
        end += 1
        if words[end - 1][-1] in ",;?!":
            break
    while end > start and not _is_of_name(words[end - 1]):
        end -= 1
    return end


def _is_of_name(word: str) -> bool:
    plain = word.strip(_EDGES)
    return bool(plain) and (plain[0].isupper() or plain[0].isdigit())


def _is_inside(words: Sequence[str], place: int, is_within: bool) -> bool:
    """Tell whether a small word stands within a name, as in “Bank of England”, or begins it: “the Alps”."""
    return _plain(words[place]) in _known("inside_names") and (
        is_within or (place + 1 < len(words) and _is_of_name(words[place + 1]))
    )


def _plain(word: str) -> str:
    return word.strip(_EDGES).casefold()


@cache
def _known(kind: str) -> frozenset[str]:
    return frozenset(WORDS[kind])
