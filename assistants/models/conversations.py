"""The messages of conversations, and which executions answer them."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from accounts.models import Session, User, Workspace
from accounts.principal import Principal
from accounts.row_policies import ROWS_OF_CONVERSATION, RowPolicy, same_as
from accounts.scope import ScopedModel, owned_or_in_shared_session
from runs.models import Execution


class ChatMessage(ScopedModel):
    """A question in a conversation. Its answers are executions, which hold the words of the answers.

    Messages form a tree: an edited question has the same parent as the question before.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="messages")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    external_user_id = models.CharField(max_length=255, null=True, blank=True)
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="children"
    )
    content = models.TextField()
    document_ids = ArrayField(
        models.UUIDField(),
        null=True,
        help_text="only these documents are searched; null: as the session says",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    row_policy: ClassVar[RowPolicy | None] = ROWS_OF_CONVERSATION

    class Meta(ScopedModel.Meta):
        ordering = ["created_at", "id"]
        indexes = [models.Index(fields=["session", "created_at"], name="message_thread")]

    def __str__(self) -> str:
        return str(self.id)

    @classmethod
    def scope_by_id(cls, principal: Principal) -> Q:
        """Return the rule for messages of a session named by its id: one's own, or shared."""
        return owned_or_in_shared_session(principal)


class ChatAnswer(models.Model):
    """Links an execution to the message that it answers. Accessed only through a scoped message."""

    execution = models.OneToOneField(
        Execution, primary_key=True, on_delete=models.CASCADE, related_name="chat_answer"
    )
    message = models.ForeignKey(ChatMessage, on_delete=models.CASCADE, related_name="answers")

    row_policy: ClassVar[RowPolicy | None] = same_as(
        "search_execution", "execution_id", only_user_writes=True
    )

    def __str__(self) -> str:
        return self.execution_id
