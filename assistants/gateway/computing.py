"""What is computed at once, without an execution: who pays for it, whose turn it is, what is counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self
from uuid import UUID

from accounts.principal import Principal
from accounts.quotas.limits import admit_run
from accounts.quotas.request_rates import count_run
from accounts.usage.counting import UsageCount, count_usage
from assistants.gateway.request import GatewayFields
from core.endpoint import EndpointRefusal, EndpointUnavailable
from core.errors import ProviderError
from core.fair_slots import FairSlots
from core.threads import give_connection_back
from runs.lifecycle import paying_workspace

TEXTS_PER_TURN = 16
"""Between two turns of one request, others have theirs."""
PATIENCE_SECS = 30.0
_turns = FairSlots(total=1, per_user=1, most_waiting=8)


@dataclass(frozen=True, slots=True)
class Computation:
    """A request that a model of this process answers; its tokens are counted for a workspace."""

    principal: Principal
    workspace_id: UUID

    @classmethod
    def admit(cls, principal: Principal, fields: GatewayFields) -> Self:
        """Count the request; raise `LocusError` for an invisible workspace, a rate or a quota."""
        principal = fields.asker(principal)
        workspace_id = paying_workspace(principal, fields.workspace_id)
        count_run(principal)
        admit_run(workspace_id)
        return cls(principal, workspace_id)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Compute within the block when it is this user's turn; raise `Overloaded` if that takes too long,
        `ProviderError` if a model behind an address fails."""
        # Other requests can use the view's connection meanwhile.
        give_connection_back()
        with _turns.slot(self.principal.user_id, PATIENCE_SECS):
            try:
                yield
            except (EndpointUnavailable, EndpointRefusal):
                # The message names our settings: it is for the log, and stands there.
                raise ProviderError from None

    def count_tokens(self, tokens: int) -> None:
        """Add the tokens that were read to today's usage."""
        count_usage([UsageCount(self.workspace_id, self.principal.usage_owner, input_tokens=tokens)])
