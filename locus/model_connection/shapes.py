"""What the addresses of the model connection take and answer."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import httpx2
from django.utils.translation import gettext
from pydantic import Field, StringConstraints

from core.api.validation import ABSENT, ApiModel
from core.llm.registry import provider_named
from locus.model_connection.privacy import leaving_words
from search.generation.base import Choice
from search.generation.connection import LOST_KEY, connected_choice, connection, key_of
from search.generation.registry import EXTRACTIVE, environment_choice
from search.models import ModelConnection

Provider = Literal["anthropic", "openai", "openai-compatible"]
Source = Literal["environment", "page", "default"]
Line = StringConstraints(strip_whitespace=True)
Address = Annotated[str, Line, StringConstraints(max_length=500)]
# What is not printable ASCII can't be sent in a header.
Key = Annotated[str, Line, StringConstraints(max_length=500, pattern=r"^[!-~]*$")]
ModelName = Annotated[str, Line, StringConstraints(min_length=1, max_length=200)]


class ServerOfModels(ApiModel):
    """Where models are asked."""

    provider: Provider
    address: Address = Field(
        "", description="Needed for `openai-compatible`, e.g. http://127.0.0.1:11434/v1."
    )
    api_key: Key | None = Field(
        None, description="Left out or null: the stored one, if provider and address are those connected."
    )

    def choice(self, model: str) -> Choice:
        """Return the choice that this stands for, with the stored key where none is given."""
        key = self.api_key
        if key is None:
            key = _stored_key(self.provider, self.address)
        return Choice(self.provider, model, self.address, key)


class ModelChoice(ServerOfModels):
    """A model to test or to connect."""

    model: ModelName


class ModelNames(ApiModel):
    """The models that a server offers."""

    models: list[str]


class LocalServerShape(ApiModel):
    """A server of models on this machine."""

    name: str
    provider: Provider
    address: str
    models: list[str]


class LocalServerList(ApiModel):
    """The servers of models that answer on this machine."""

    servers: list[LocalServerShape]


class ModelTestResult(ApiModel):
    """What came of a short question."""

    is_good: bool
    words: str = Field(description="The answer, or why there is none and what to do.")
    secs: float
    cost: float | None = Field(description="US dollars; null if nobody knows.")


class ConnectionShape(ApiModel):
    """Which model writes answers, who says so, and what leaves this machine. The key is never shown."""

    source: Source
    provider: str
    model: str | None
    address: str | None = Field(description="Without password and query.")
    has_key: bool
    answers_with: str = Field(description="In words.")
    leaves_machine: str = Field(description="One sentence.")
    problem: str | None
    changed_at: datetime | None = ABSENT
    changed_by: str | None = ABSENT

    @classmethod
    def of(cls) -> ConnectionShape:
        """Return what counts now."""
        stored, named = connection(), environment_choice()
        choice = named or connected_choice() or Choice(EXTRACTIVE)
        source: Source = "environment" if named else "page" if stored else "default"
        shape = cls(
            source=source,
            provider=choice.provider,
            model=choice.model or None,
            address=_shown_address(choice),
            has_key=bool(choice.api_key),
            answers_with=_answers_with(choice),
            leaves_machine=leaving_words(choice),
            problem=_problem(stored) if source == "page" and stored else None,
        )
        if source == "page" and stored:
            shape.changed_at = stored.changed_at
            shape.changed_by = stored.changed_by.email if stored.changed_by else None
        return shape


def _stored_key(provider: str, address: str) -> str:
    stored = connection()
    same = stored is not None and (stored.provider, stored.address) == (provider, address)
    return (key_of(stored) or "") if same and stored else ""


def _problem(stored: ModelConnection) -> str | None:
    return LOST_KEY if key_of(stored) is None else None


def _answers_with(choice: Choice) -> str:
    if choice.provider == EXTRACTIVE:
        return gettext("Quoted sentences, without a language model")
    return gettext("%(model)s by %(provider)s") % {"model": choice.model, "provider": choice.provider}


def _shown_address(choice: Choice) -> str | None:
    if choice.provider == EXTRACTIVE:
        return None
    address = choice.base_url or provider_named(choice.provider).address
    try:
        return str(httpx2.URL(address).copy_with(userinfo=b"", query=None))
    except httpx2.InvalidURL:
        return None
