"""Messages in OpenAI's forms become a question and the turns before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assistants.answer import MOST_ANSWER_CHARS, MOST_TURNS
from assistants.gateway.errors import UnsupportedParameter, UnsupportedTool
from core.errors import ValidationError
from search.inputs import MOST_QUERY_CHARS

TEXTS = ("text", "input_text", "output_text")
"""Parts of a message that are text."""
REPLAYED = ("search_results", "fetch_url_results", "web_search_call", "file_search_call", "reasoning")
"""Items of an earlier response that a client sends back; only its message counts."""
FUNCTIONS = ("function_call", "function_call_output")
INSTRUCTIONS = ("system", "developer")
_MARK = re.compile(r" ?\[\d{1,4}\]")


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is asked now, and what was asked and answered before, oldest first, as `answer` takes it."""

    question: str
    history: list[dict[str, str]]
    instructions: str = ""
    """What messages of the system or developer say."""


@dataclass(frozen=True, slots=True)
class _Message:
    role: str
    text: str


def conversation_of(items: str | Sequence[Any], param: str) -> Conversation:
    """Read `input` or `messages`, which `param` names; raise `ValidationError` where that fails."""
    if isinstance(items, str):
        return Conversation(items, [])
    found = [_message(item, f"{param}[{index}]") for index, item in enumerate(items)]
    turns: list[list[str]] = []
    instructions: list[str] = []
    last = ""
    for message in filter(None, found):
        if message.role in INSTRUCTIONS:
            instructions.append(message.text)
            continue
        if message.role == "user" and last == "user":
            turns[-1][0] += f"\n{message.text}"
        elif message.role == "user":
            turns.append([message.text, ""])
        elif message.role == "assistant" and turns:
            turns[-1][1] += _MARK.sub("", message.text)
        last = message.role
    if last != "user":
        raise ValidationError("The last message must be one of the user: the question.", param=param)
    *before, (question, _) = turns
    history = [_turn(*each) for each in before if each[0].strip()][-MOST_TURNS:]
    return Conversation(question, history, "\n\n".join(instructions))


def _turn(question: str, answer: str) -> dict[str, str]:
    return {"question": question[:MOST_QUERY_CHARS], "answer": answer[:MOST_ANSWER_CHARS]}


def _message(item: Any, param: str) -> _Message | None:
    """Return a message; None for what is no part of what was said."""
    if not isinstance(item, dict):
        raise ValidationError(f"{param} must be an object.", param=param)
    kind, role = item.get("type") or "message", item.get("role")
    if kind in FUNCTIONS or role in ("tool", "function") or item.get("tool_calls"):
        raise UnsupportedTool("Functions are not supported: this server runs its own tools.", param=param)
    if kind in REPLAYED:
        return None
    if kind != "message":
        raise ValidationError(f"Items of type “{kind}” are not known.", param=f"{param}.type")
    if role not in ("user", "assistant", *INSTRUCTIONS):
        raise ValidationError("role must be user, assistant, system or developer.", param=f"{param}.role")
    return _Message(role, _text(item.get("content"), f"{param}.content"))


def _text(content: Any, param: str) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise ValidationError(f"{param} must be text or a list of parts.", param=param)
    return "\n".join(_text_of_part(part, f"{param}[{index}]") for index, part in enumerate(content))


def _text_of_part(part: Any, param: str) -> str:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "refusal":
        return ""
    if kind not in TEXTS:
        raise UnsupportedParameter(
            "Questions are text. Upload files and pictures as documents, then ask about them.",
            param=f"{param}.type",
        )
    if not isinstance(part.get("text"), str):
        raise ValidationError(f"{param}.text must be text.", param=f"{param}.text")
    text: str = part["text"]
    return text
