"""Messages in archives of workspaces, and in the export of a person's data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from accounts.access.identity import principal_of_user
from accounts.models import User, Workspace
from accounts.people.export import lines
from assistants.models import ChatAnswer, ChatMessage
from core.http.zip_stream import Member
from runs.archives.layout import MessageLine
from runs.archives.messages import ImportedMessage

AT_ONCE = 500


def archived_messages(workspace: Workspace, user: User) -> Iterator[MessageLine]:
    """Yield the messages of a user's conversations in a workspace, each after its parent."""
    own = ChatMessage.objects.restricted_to(principal_of_user(user)).filter(workspace=workspace)
    for message in own.prefetch_related("answers").order_by("created_at", "id").iterator(AT_ONCE):
        yield MessageLine(
            id=message.pk,
            session_id=message.session_id,
            parent_id=message.parent_id,
            content=message.content,
            document_ids=message.document_ids,
            answers=[answer.execution_id for answer in message.answers.all()],
            created_at=message.created_at,
        )


def import_message(workspace: Workspace, user: User, message: ImportedMessage) -> None:
    """Store a message with its answers, unless an earlier attempt has."""
    row = ChatMessage(
        id=message.id,
        session_id=message.session_id,
        user=user,
        workspace=workspace,
        parent_id=message.parent_id,
        content=message.content,
        document_ids=None if message.document_ids is None else list(message.document_ids),
    )
    ChatMessage.unscoped.bulk_create([row], ignore_conflicts=True)
    ChatMessage.unscoped.filter(pk=message.id).update(created_at=message.created_at)
    links = [ChatAnswer(execution_id=id, message_id=message.id) for id in message.answers]
    ChatAnswer.objects.bulk_create(links, ignore_conflicts=True)


def export_messages(user: User) -> Iterator[Member]:
    """Yield the person's own messages; their answers are among the executions."""

    def shown(row: ChatMessage) -> dict[str, Any]:
        names = ("id", "session_id", "parent_id", "content", "document_ids", "created_at")
        answers = [answer.execution_id for answer in row.answers.all()]
        return {name: getattr(row, name) for name in names} | {"answers": answers}

    own = ChatMessage.objects.restricted_to(principal_of_user(user)).prefetch_related("answers")
    yield "messages.jsonl", lines(own, shown)
