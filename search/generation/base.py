"""What a generator is: a question and its contexts in, Markdown with `<source_N>` markers out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from core.llm.payment import Payment
from runs.context import PLAIN_STYLE, WritingStyle
from search.contexts import Context

MOST_CROPS = 4
"""So many an answer may look at."""


@dataclass(frozen=True, slots=True)
class Crop:
    """How a context looks: a PNG of its picture, or of its place on a scanned page."""

    rank: int
    png: bytes = field(repr=False)


class Corpus(StrEnum):
    """What contexts are taken from, in words that models read."""

    DOCUMENTS = "documents"
    WEB = "web pages"
    DOCUMENTS_AND_WEB = "documents and web pages"


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """What a generator is asked, and what it may use."""

    question: str
    contexts: Sequence[Context]
    reflection: bool = False
    """Whether the response may begin with a `**Reflection:**` block."""
    crops: Sequence[Crop] = ()
    """How some of the contexts look, for generators that can see; others leave them alone."""
    corpus: Corpus = Corpus.DOCUMENTS
    style: WritingStyle = PLAIN_STYLE
    unseen_names: tuple[str, ...] = ()
    """Names in the question that no document searched has (`search.unseen_names`)."""


@dataclass(frozen=True, slots=True)
class FailedModel:
    """A model that has failed before its first word, or that is not there."""

    model: str
    code: str
    """Of its error."""


@dataclass(frozen=True, slots=True)
class GenerationUsage:
    """What an answer has taken, and the model that gave it: with a chain of models it may be another."""

    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = Decimal(0)
    """US dollars; None where the price of the model is unknown."""
    read: frozenset[int] | None = None
    """The ranks of the contexts that the model was shown, and so can cite; None is all of them."""
    seen: frozenset[int] = frozenset()
    """The ranks of the contexts that it was also shown as they look."""
    failed: tuple[FailedModel, ...] = ()
    """The models that were asked before, and wrote nothing."""


TextStream = AsyncGenerator[str | GenerationUsage, None]
"""What generators yield: the response piece by piece, and last what it has taken."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which generator the settings name. The key shows in no `repr`."""

    provider: str
    model: str = ""
    base_url: str = ""
    """Where the provider answers; empty for its usual address."""
    api_key: str = field(default="", repr=False)

    @property
    def name(self) -> str:
        """What results and preferences call it."""
        return self.model or self.provider


class Generator(ABC):
    """Composes an answer from contexts. Any number of answers may be under way at once, in any event loop."""

    name: str
    """The model, as results name it."""

    def __init__(self, choice: Choice) -> None:
        """Take what the settings say; raise `ImproperlyConfigured` naming the setting if that will not do."""
        self.name = choice.provider

    @property
    def can_see(self) -> bool:
        """Whether it takes crops."""
        return False

    def describe(self) -> str:
        """Return what operators read about it, without secrets."""
        return self.name

    @abstractmethod
    def answer(self, asked: GenerationRequest, payment: Payment) -> TextStream:
        """Yield the response piece by piece, none of them empty, and last of all what it has taken.

        `payment` pays for each request to a language model; raise `BudgetExceeded` if that would be too much,
        and `ProviderError`, `Timeout` or `Overloaded` where a model fails: also after some pieces.
        Closing the generator ends the work at once, and with it what a provider asks money for.

        The response is Markdown in which `<source_N>` follows what context N supports. Text taken from
        documents is escaped: it can't pose as markup or as a citation. A response without any marker means
        that the contexts hold no answer.
        """
