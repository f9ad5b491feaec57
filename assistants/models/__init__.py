"""The tables of conversations and of assistants."""

from assistants.models.assistants import (
    Assistant,
    AssistantVersion,
    Binding,
    BindingKind,
    SessionAssistant,
    Visibility,
)
from assistants.models.conversations import ChatAnswer, ChatMessage

__all__ = [
    "Assistant",
    "AssistantVersion",
    "Binding",
    "BindingKind",
    "ChatAnswer",
    "ChatMessage",
    "SessionAssistant",
    "Visibility",
]
