"""Messages of a conversation: stored with the execution that answers them, and read as a thread.

A message holds the question; the answer is in its execution alone. `parent` links make a tree: an edited
question is a sibling, and a question that is answered again has several answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Case, F, Value, When
from django.utils import timezone

from accounts.models import Session
from accounts.principal import Principal
from assistants.configuration.recorded import chosen, stored
from assistants.conversations import assistant_of, session_of, title_of
from assistants.followups import Turn
from assistants.followups.base import MOST_TURNS
from assistants.inputs import ChatInput
from assistants.models import ChatAnswer, ChatMessage
from core.errors import NotFound
from kb.models import Chunk
from runs.explanation import CITATION
from runs.models import Execution, ExecutionStatus
from runs.withholding import shown_result


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """What a run of `chat` answers: the message in its conversation, and what was said before."""

    session: Session
    message: ChatMessage
    history: Sequence[Turn]
    read_before: frozenset[UUID]
    """The documents that earlier answers of this branch have read."""


def begin_answer(principal: Principal, inputs: ChatInput, execution: Execution) -> dict[str, Any]:
    """Store a new message, and link the execution to the message that it answers; return the stored inputs.

    The caller's transaction holds the execution as well.
    """
    message = _message_of(principal, inputs)
    ChatAnswer.objects.create(execution=execution, message=message)
    sessions = Session.objects.restricted_to(principal).filter(pk=message.session_id)
    title = Case(When(title="", then=Value(title_of(message.content))), default=F("title"))
    sessions.update(updated_at=timezone.now(), title=title)
    assistant = chosen(principal, assistant_of(principal, message.session))
    return inputs.model_dump(mode="json") | {"message_id": str(message.pk)} | stored(assistant)


def _message_of(principal: Principal, inputs: ChatInput) -> ChatMessage:
    session = session_of(principal)
    messages = ChatMessage.objects.restricted_to(principal).filter(session=session)
    if inputs.message_id is not None:
        return messages.get(pk=inputs.message_id)
    parent_id = inputs.parent_id
    if "parent_id" not in inputs.model_fields_set:
        parent_id = messages.order_by("-created_at", "-id").values_list("pk", flat=True).first()
    assert inputs.content is not None
    return ChatMessage.unscoped.create(
        session=session,
        user_id=session.user_id,
        workspace_id=session.workspace_id,
        external_user_id=session.external_user_id,
        parent_id=parent_id,
        content=inputs.content,
        document_ids=inputs.document_ids,
    )


def own_message(principal: Principal, session: Session, id: UUID) -> ChatMessage:
    """Return a message of one's own session, or raise `NotFound`."""
    found = ChatMessage.objects.restricted_to(principal).filter(session=session, pk=id).first()
    if found is None:
        raise NotFound
    return found


def load_turn(principal: Principal, execution_id: str) -> ChatTurn:
    """Return what an execution answers."""
    messages = ChatMessage.objects.restricted_to(principal)
    message = messages.select_related("session").get(answers__execution=execution_id)
    before = path_to(principal, message)[:-1][-MOST_TURNS:]
    answers = [_chosen_answer(principal, each) for each in before]
    read = (answer.read_documents for answer in answers if answer is not None)
    turns = [_turn(principal, *pair) for pair in zip(before, answers, strict=True)]
    return ChatTurn(message.session, message, turns, frozenset(id for ids in read for id in ids))


def path_to(principal: Principal, message: ChatMessage) -> list[ChatMessage]:
    """Return the messages from the beginning of the conversation to this one."""
    all_messages = ChatMessage.objects.addressable_by(principal).filter(session=message.session_id)
    by_id = {each.pk: each for each in all_messages}
    path = [message]
    while (parent := path[-1].parent_id) in by_id:
        path.append(by_id[parent])
    return path[::-1]


def _chosen_answer(principal: Principal, message: ChatMessage) -> Execution | None:
    """Return the newest finished answer of a message."""
    answers = Execution.objects.restricted_to(principal).filter(
        chat_answer__message=message, status=ExecutionStatus.COMPLETED
    )
    return answers.first()


def _turn(principal: Principal, message: ChatMessage, answer: Execution | None) -> Turn:
    """Return a turn as its reader may see it now."""
    result = (shown_result(principal, answer) if answer else None) or {}
    contexts = [each for each in result.get("contexts", ()) if each.get("used_in_response")]
    cited = Counter({each["document_id"]: len(each["quotes"] or ()) for each in contexts})
    for each in contexts:
        cited[each["document_id"]] += 1
    names = {each["document_id"]: each["document_name"] for each in contexts}
    documents = [id for id, _ in cited.most_common()]
    return Turn(
        question=message.content,
        asked=result.get("asked") or message.content,
        answer=words_of(result.get("response") or "") if result.get("answered") else "",
        document_ids=tuple(map(UUID, documents)),
        document_names=tuple(names[id] for id in documents),
        headings=_headings_of(principal, [each["chunk_id"] for each in contexts]),
    )


def words_of(response: str) -> str:
    """Return a response without its citations."""
    return " ".join(CITATION.sub("", response).split())


def _headings_of(principal: Principal, chunk_ids: Sequence[str]) -> tuple[str, ...]:
    """Return the headings above chunks, those of the first chunk first, each once."""
    chunks = Chunk.objects.addressable_by(principal).filter(pk__in=chunk_ids)
    headings = dict(chunks.values_list("pk", "headings"))
    return tuple(dict.fromkeys(heading for id in chunk_ids for heading in headings.get(UUID(id), ())))
