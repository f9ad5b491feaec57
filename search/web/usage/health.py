"""The state of the search engines in this deployment; contains no key and no engine's message."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.utils.timesince import timeuntil
from django.utils.translation import gettext

from search.models import Breaker
from search.web.base import Provider
from search.web.breaker import State, configuration_of, name_of, state_of
from search.web.prices import price_of
from search.web.providers.registry import PROVIDERS, configured_providers, kind_of


@dataclass(frozen=True, slots=True)
class Health:
    """A search engine that is configured: whether it is asked, and if not for how long."""

    name: str
    label: str
    price: Decimal
    """US dollars for a thousand calls."""
    state: State = State.CLOSED
    failures: int = 0
    """How often it has failed in a row."""
    is_refused: bool = False
    """Whether its key is not accepted: it is not asked until the configuration changes."""
    wait: str = ""
    """For how long it is not asked, in words; empty if nobody knows."""

    @property
    def tone(self) -> str:
        """How it is shown: good, warning or bad."""
        if self.state is State.OPEN:
            return "bad"
        return "warning" if self.failures or self.state is State.HALF_OPEN else "good"


def engine_healths(now: datetime) -> list[Health]:
    """Return the engines in the order in which they are asked."""
    rows = {row.name: row for row in Breaker.objects.all()}
    return [_health(each, rows.get(name_of(each.name)), now) for each in configured_providers()]


def label_of(provider: str) -> str:
    """Return what people call an engine; the name of what is none stays as it is."""
    return kind_of(provider).label if provider in PROVIDERS else provider


def unconfigured_names() -> list[str]:
    """Return what engines are called that could be asked if the settings held their key or address."""
    known = {each.name for each in configured_providers()}
    return [label_of(name) for name in PROVIDERS if name not in known]


def _health(provider: Provider, row: Breaker | None, now: datetime) -> Health:
    label, price = provider.label, price_of(provider) * 1000
    if row is None:
        return Health(provider.name, label, price)
    return Health(
        provider.name,
        label,
        price,
        state_of(row, now),
        row.failures,
        is_refused=bool(row.refused) and row.refused == configuration_of(provider.name),
        wait=_in_words(row.open_until, now) if row.open_until and row.open_until > now else "",
    )


def _in_words(until: datetime, now: datetime) -> str:
    return (
        timeuntil(until, now, depth=1)
        if until - now >= timedelta(minutes=1)
        else gettext("less than a minute")
    )
