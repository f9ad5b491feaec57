"""What is asked of a chat model, what comes back, and what a provider is. No model library is loaded here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar

from pydantic import JsonValue

from core.llm.fencing import FencedText

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model


@dataclass(frozen=True, slots=True)
class ChatFunction:
    """A function that a model may ask to have called."""

    name: str
    description: str
    input_schema: dict[str, JsonValue]
    """JSON schema of its arguments."""


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call that a model asks for."""

    id: str
    name: str
    arguments: object
    """What the model has written: a dict, unless it is no JSON object."""


@dataclass(frozen=True, slots=True)
class FunctionStep:
    """One answer of a model that asked for calls, and what each of them has given."""

    results: Sequence[tuple[FunctionCall, FencedText]]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request to a chat model."""

    instructions: str
    """Our own words and nothing else."""
    parts: Sequence[FencedText | bytes] = field(repr=False)
    """The message: texts that have passed `core.llm.fencing`, and PNGs between them."""
    input_tokens: int
    """So many are likely read, at most: for the estimate, as `output_tokens`."""
    output_tokens: int
    max_tokens: int | None = None
    """Where the model has to stop; None is the provider's limit."""
    temperature: float | None = None
    functions: Sequence[ChatFunction] = ()
    """What the model may ask to have called; only for `ChatModel.ask`."""
    must_call: Sequence[str] = ()
    """Names of functions of which the model has to ask for one. Not every server enforces it."""
    steps: Sequence[FunctionStep] = field(default=(), repr=False)
    """The calls that it has asked for so far, oldest first."""


@dataclass(frozen=True, slots=True)
class ChatUsage:
    """What a request has taken."""

    input_tokens: int
    output_tokens: int
    cost: Decimal | None
    """US dollars; None where nobody knows."""
    is_cut: bool = False
    """Whether the model had to stop at `max_tokens`."""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A whole answer of a chat model."""

    text: str
    usage: ChatUsage
    calls: Sequence[FunctionCall] = ()
    """The functions that the model wants called before it goes on."""


class ChatProvider(ABC):
    """A company, or a wire format, through which chat models are reached."""

    address: ClassVar[str] = ""
    """Where it answers unless the settings say otherwise; empty where the settings must say."""
    key_setting: ClassVar[str] = ""
    """The setting that usually holds its key; empty where none is needed."""
    sees: ClassVar[bool] = True
    """Whether its models can see, as far as anybody knows."""
    has_prices: ClassVar[bool] = True
    """Whether the price list knows it, under the name that the registry has for it."""

    @abstractmethod
    def model(self, name: str, address: str, key: str, client: httpx2.AsyncClient) -> Model:
        """Return pydantic-ai's model of this name, which speaks through `client`."""

    def models_request(self, address: str, key: str) -> tuple[str, dict[str, str]]:
        """Return URL and headers of the request that lists the models, as in OpenAI's API and most others."""
        return f"{address.rstrip('/')}/models", {"Authorization": f"Bearer {key}"} if key else {}
