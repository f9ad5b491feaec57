"""One search: from the cache, or from the first provider that answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from accounts.ledger.base import Payer
from accounts.ledger.paying import require_room
from accounts.principal import Principal
from core.errors import LocusError, ProviderError, Timeout
from search.web import metrics
from search.web.base import Outcome, Provider, ProviderFailed, SearchHits, WebQuery
from search.web.cache import Answer, is_kept, keep, key_of, look_up
from search.web.inputs import WebSearchInput
from search.web.preferences import WebSearchSettings, enabled_settings
from search.web.prices import estimate_of
from search.web.provider_call import call_provider
from search.web.providers.registry import AUTO, candidates


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The hits, the provider that returned them, and the outcome of each provider that was called."""

    provider: str
    found: SearchHits
    from_cache: bool = False
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search: what for, of which provider (or `auto`), who pays, and under which key it is kept."""

    query: WebQuery
    provider: str
    payer: Payer
    ttl_secs: int
    key: str

    @classmethod
    def of(
        cls, principal: Principal, inputs: WebSearchInput, settings: WebSearchSettings, payer: Payer
    ) -> SearchRequest:
        """Return what a request comes to in a workspace; raise `ValidationError` for an unknown provider."""
        query = inputs.web_query(settings.default_count)
        provider = inputs.provider or settings.provider
        first = candidates(provider)[0].name
        key = key_of(first, query, payer.workspace_id, principal.external_user_id)
        return cls(query, provider, payer, settings.cache_ttl_secs, key)

    @property
    def asked(self) -> Sequence[Provider]:
        """The providers to call, one after the other."""
        return candidates(self.provider)

    @property
    def from_whom(self) -> str | None:
        """The only provider whose answers are accepted; None accepts all."""
        return None if self.provider == AUTO else self.provider

    async def cached(self) -> Answer | None:
        """Return the cached answer of the same search."""
        return await look_up(self.key, only=self.from_whom) if self.ttl_secs else None

    def is_cached(self) -> bool:
        """Tell whether there is such an answer, in the thread of a view."""
        return bool(self.ttl_secs) and is_kept(self.key, only=self.from_whom)


def admit(principal: Principal, inputs: WebSearchInput, workspace_id: UUID) -> None:
    """Raise the reason why a search can't be made: it is switched off, or the budget is spent.

    A cached search costs nothing. Called before a stream starts.
    """
    settings = enabled_settings(principal, workspace_id)
    payer = Payer(workspace_id, settings.max_cost, owner=principal.usage_owner)
    wanted = SearchRequest.of(principal, inputs, settings, payer)
    estimate = estimate_of(wanted.asked[0], wanted.query)
    if estimate and wanted.payer.is_limited and not wanted.is_cached():
        require_room(wanted.payer, estimate)


async def search(wanted: SearchRequest) -> SearchOutcome:
    """Return the outcome of a search; raise `ProviderError` or `Timeout` if no provider answers, or
    `BudgetExceeded`."""
    first, kept = wanted.asked[0].name, await wanted.cached()
    if wanted.ttl_secs:
        metrics.count_look_up(first, hit=kept is not None)
    if kept:
        return SearchOutcome(kept.provider, kept.found, from_cache=True)
    outcomes: dict[str, Outcome] = {}
    for provider in wanted.asked:
        try:
            found = await call_provider(provider, wanted.query, wanted.payer)
        except ProviderFailed as failure:
            outcomes[provider.name] = failure.outcome
            continue
        outcomes[provider.name] = Outcome.OK if found.hits else Outcome.EMPTY
        await keep(wanted.key, Answer(provider.name, found), wanted.ttl_secs)
        return SearchOutcome(provider.name, found, outcomes=outcomes)
    raise _no_answer_error(outcomes)


def _no_answer_error(outcomes: Mapping[str, Outcome]) -> LocusError:
    summary = ", ".join(f"{provider}: {outcome}" for provider, outcome in outcomes.items())
    error = Timeout if set(outcomes.values()) == {Outcome.TIMEOUT} else ProviderError
    message = f"No search engine answered ({summary}). Try again later, or choose another."
    # A list, since PostgreSQL keeps the fields of a JSON object in an order of its own.
    providers = [{"provider": name, "outcome": each.value} for name, each in outcomes.items()]
    return error(message, details={"providers": providers})
