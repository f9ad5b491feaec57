"""What a component is, and what a test of one found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from core.last_errors import LastError
from core.llm.payment import Payment


@dataclass(frozen=True, slots=True)
class ComponentSetting:
    """A setting that chooses or configures a component; a secret's value is never part of it."""

    name: str
    shown: str
    """Its value, or “set” for a secret; empty if it is not set."""


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What a test found."""

    words: str
    """One sentence."""
    cost: Decimal | None = Decimal(0)
    """US dollars; None where nobody knows."""


class TrialFailed(Exception):
    """The component does not work; the message says why."""


class ComponentTrial(Protocol):
    """One real small call of a component."""

    def __call__(self, payment: Payment) -> TrialResult:
        """Return what it found; raise `TrialFailed`, or what the component raises."""
        ...


@dataclass(frozen=True, slots=True)
class Component:
    """A model or service that Locus calls, as the settings choose it."""

    code: str
    """Names it in addresses, such as `engine-brave`."""
    title: str
    """What it does for Locus, such as “Embedding”."""
    name: str
    """The model or the service; empty if there is none."""
    version: str = ""
    settings: tuple[ComponentSetting, ...] = ()
    problem: str = ""
    """Why it can't be used, or what is wrong now."""
    note: str = ""
    """One sentence about what is used instead, or about its state."""
    error_name: str = ""
    """Under which its last error is kept (`core.last_errors`)."""
    trial: ComponentTrial | None = None
    """None if there is nothing to test."""

    @property
    def can_be_tested(self) -> bool:
        """Whether there is a test. Templates ask this: they would call `trial`."""
        return self.trial is not None

    @property
    def is_configured(self) -> bool:
        """Whether there is one."""
        return bool(self.name)


@dataclass(frozen=True, slots=True)
class ComponentGroup:
    """Components of one kind, each with its last error if it had any."""

    title: str
    components: tuple[tuple[Component, LastError | None], ...]


Listing = Callable[[], list[Component]]
