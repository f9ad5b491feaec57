"""The tables of conversations, of assistants and of the servers whose tools they use."""

from assistants.models.assistants import (
    Assistant,
    AssistantVersion,
    Binding,
    BindingKind,
    SessionAssistant,
    Visibility,
)
from assistants.models.conversations import ChatAnswer, ChatMessage
from assistants.models.tool_servers import ToolServer

__all__ = [
    "Assistant",
    "AssistantVersion",
    "Binding",
    "BindingKind",
    "ChatAnswer",
    "ChatMessage",
    "SessionAssistant",
    "ToolServer",
    "Visibility",
]
