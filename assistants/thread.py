"""A conversation as one reader may see it: its messages with their answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Prefetch, QuerySet
from django.utils import timezone

from accounts.models import Session
from accounts.principal import Principal
from assistants.models import ChatAnswer, ChatMessage
from assistants.schemas import MessageAnswer, message_of
from runs.journal import end_abandoned
from runs.models import LIVE, Execution
from runs.withholding import hidden_documents, may_see_inputs


def messages_of(principal: Principal, session: Session) -> QuerySet[ChatMessage]:
    """Return the messages of a session that the principal may read, with their answers, oldest first."""
    answers = ChatAnswer.objects.select_related("execution").order_by("execution__created_at", "execution")
    found = ChatMessage.objects.addressable_by(principal).filter(session=session)
    return found.prefetch_related(Prefetch("answers", answers)).order_by("created_at", "id")


@dataclass(frozen=True, slots=True)
class ThreadView:
    """Shows messages to one reader; what the reader may see is looked up once for all of them."""

    principal: Principal
    session: Session
    siblings: Mapping[UUID | None, Sequence[UUID]]
    hidden: frozenset[str]

    @classmethod
    def of(cls, principal: Principal, session: Session) -> ThreadView:
        """Look up what the reader may see of a session."""
        siblings: defaultdict[UUID | None, list[UUID]] = defaultdict(list)
        all_messages = ChatMessage.objects.addressable_by(principal).filter(session=session)
        for id, parent in all_messages.order_by("created_at", "id").values_list("pk", "parent_id"):
            siblings[parent].append(id)
        answers = Execution.objects.addressable_by(principal).filter(chat_answer__message__session=session)
        read = {id for ids in answers.values_list("read_documents", flat=True) for id in ids}
        abandoned = answers.filter(status__in=LIVE, lease_until__lt=timezone.now())
        if ids := list(abandoned.values_list("pk", flat=True)):
            end_abandoned(ids)
        return cls(principal, session, siblings, hidden_documents(principal, read))

    def shown(self, message: ChatMessage) -> dict[str, Any]:
        """Return a message as JSON."""
        executions = [answer.execution for answer in message.answers.all()]
        is_own = self.session.user_id == self.principal.user_id
        answers = [MessageAnswer.of(run, self._hidden_from(run), is_own=is_own) for run in executions]
        is_shown = all(may_see_inputs(self.principal, run) for run in executions)
        return message_of(message, self.siblings[message.parent_id], answers, is_shown=is_shown)

    def _hidden_from(self, execution: Execution) -> frozenset[str]:
        return self.hidden & set(map(str, execution.read_documents))
