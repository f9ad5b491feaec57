"""What a language model is told and shown: prompts with versions, and sources within a fence.

`prompts/NAME.vN.md` are templates with `$names`. A change of wording that changes answers is a new version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from core.llm.fencing import FencedText, joined_texts
from kb.embedding import embedding_model
from runs.context import PLAIN_STYLE, WritingStyle
from search.contexts import Context
from search.generation.base import Crop, GenerationRequest
from search.generation.fencing import ContextFence
from search.generation.packing import ContextExcerpt, pack

ANSWER = "answer.v1"
REFLECTION = "reflection.v1"
NO_REFLECTION = "no_reflection.v1"
CROPS = "crops.v1"
STYLE = "style.v1"
MOST_BYTES_PER_TOKEN = 6
"""Of UTF-8. Running text has four or five; so the budget bounds the request in characters, too."""
_RUN = re.compile(r"\S{50}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request to a language model."""

    instructions: str
    parts: Sequence[FencedText | Crop]
    """The message: text, and between texts how a source looks."""
    read: frozenset[int]
    """The ranks of the contexts in it."""
    style: WritingStyle = PLAIN_STYLE

    @property
    def message(self) -> str:
        """The text of the message."""
        return "\n".join(part for part in self.parts if isinstance(part, str))

    @property
    def seen(self) -> frozenset[int]:
        """The ranks of the contexts that are shown as they look."""
        return frozenset(part.rank for part in self.parts if isinstance(part, Crop))


def compose(asked: GenerationRequest, budget: int) -> Prompt:
    """Write the request; the text of its sources takes at most `budget` tokens, crops come on top of that.

    Tokens are counted by the tokenizer of the resident embedding model. A language model may count a quarter
    more in English, and twice as many in Japanese (ADR 16); no provider tells without being asked.
    """
    fence = ContextFence.new()

    def size(context: Context, text: str) -> int:
        return tokens_of(fence.source(context, text))

    excerpts = pack(asked.contexts, budget, size)
    style = asked.style.instructions.strip()
    parts = [
        *_sources(fence, excerpts, asked.crops),
        *([fence.around("style", style)] if style else []),
        fence.question(asked.question),
    ]
    instructions = render(
        ANSWER,
        fence=fence.secret,
        corpus=asked.corpus,
        reflection=render(REFLECTION if asked.reflection else NO_REFLECTION),
    )
    if any(isinstance(part, Crop) for part in parts):
        instructions = f"{instructions}\n\n{render(CROPS)}"
    if style:
        instructions = f"{instructions}\n\n{render(STYLE, fence=fence.secret)}"
    read = frozenset(excerpt.context.rank for excerpt in excerpts)
    return Prompt(instructions, _with_texts_joined(parts), read, asked.style)


def tokens_of(text: str) -> int:
    """Return how many tokens a text has, long runs without blanks as language models count them.

    Our tokenizer makes one token of any run of more than a hundred characters, and of emoji; who is paid by
    the token does not.
    """
    (count,) = embedding_model().count_tokens([_RUN.sub(r"\g<0> ", text)])
    return max(count, len(text.encode("utf-8", "replace")) // MOST_BYTES_PER_TOKEN)


def _sources(
    fence: ContextFence, excerpts: Sequence[ContextExcerpt], crops: Sequence[Crop]
) -> Iterator[FencedText | Crop]:
    by_rank = {crop.rank: crop for crop in crops}
    for excerpt in excerpts:
        crop = by_rank.get(excerpt.context.rank)
        if crop is None:
            yield fence.source(excerpt.context, excerpt.text)
        else:
            before, behind = fence.source_beside(excerpt.context, excerpt.text)
            yield from (before, crop, behind)


def _with_texts_joined(parts: Iterable[FencedText | Crop]) -> list[FencedText | Crop]:
    """Return the parts with neighbouring texts as one."""
    fewer: list[FencedText | Crop] = []
    for part in parts:
        if fewer and not isinstance(part, Crop) and not isinstance(fewer[-1], Crop):
            fewer[-1] = joined_texts([fewer[-1], part])
        else:
            fewer.append(part)
    return fewer


def render(name: str, **values: str) -> str:
    """Return a prompt with its names filled in; raise `KeyError` if one is missing."""
    text = (Path(__file__).parent / "prompts" / f"{name}.md").read_text("utf-8")
    return Template(text).substitute(values).strip()
