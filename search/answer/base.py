"""What an answerer is: a question and its contexts in, Markdown with `<source_N>` markers out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from kb.locations import LocatedText
from kb.models import Chunk


@dataclass(frozen=True)
class Sentence:
    """`start` and `end` are offsets into the chunk's text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Context:
    """A chunk handed to the answerer; `rank` counts from 1 and is what `<source_N>` names."""

    rank: int
    chunk: Chunk
    document_name: str
    score: float

    @cached_property
    def located(self) -> LocatedText:
        """The chunk's text with its places."""
        return self.chunk.located

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The chunk's sentences, or its whole text if none are known."""
        text = self.chunk.text
        bounds = self.chunk.sentences or [[0, len(text)]]
        return [Sentence(text[start:end], start, end) for start, end in bounds]


class Answerer(ABC):
    """Composes an answer from contexts. `model` is the name that results carry."""

    model: str

    @abstractmethod
    def answer(self, question: str, contexts: Sequence[Context]) -> AsyncIterator[str]:
        """Yield the response piece by piece: Markdown in which `<source_N>` follows what context N supports.

        Text taken from documents is escaped: it can't pose as markup or as a citation. A response without
        any marker means that the contexts hold no answer.
        """
