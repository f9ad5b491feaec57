"""What a language model is told and shown: prompts with versions, and sources within a fence.

`prompts/NAME.vN.md` are templates with `$names`. A change of wording that changes answers is a new version.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from string import Template

from kb.embedding import embedding_model
from search.answer.base import Asked, Context
from search.answer.fencing import Fence
from search.answer.packing import pack

ANSWER = "answer.v1"
REFLECTION = "reflection.v1"
NO_REFLECTION = "no_reflection.v1"


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request to a language model."""

    instructions: str
    message: str
    read: frozenset[int]
    """The ranks of the contexts in it."""


def compose(asked: Asked, budget: int) -> Prompt:
    """Write the request; its sources take at most `budget` tokens.

    Tokens are counted by the tokenizer of the resident embedding model. A language model may count a quarter
    more in English, and twice as many in Japanese (ADR 16); no provider tells without being asked.
    """
    fence = Fence.new()
    count = embedding_model().count_tokens

    def size(context: Context, text: str) -> int:
        return count([fence.source(context, text)])[0]

    excerpts = pack(asked.contexts, budget, size)
    sources = [fence.source(excerpt.context, excerpt.text) for excerpt in excerpts]
    return Prompt(
        instructions=render(
            ANSWER,
            fence=fence.secret,
            reflection=render(REFLECTION if asked.reflection else NO_REFLECTION),
        ),
        message="\n\n".join([*sources, fence.question(asked.question)]),
        read=frozenset(excerpt.context.rank for excerpt in excerpts),
    )


def render(name: str, **values: str) -> str:
    """Return a prompt with its names filled in; raise `KeyError` if one is missing."""
    text = (Path(__file__).parent / "prompts" / f"{name}.md").read_text("utf-8")
    return Template(text).substitute(values).strip()
