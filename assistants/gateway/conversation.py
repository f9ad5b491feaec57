"""Messages in OpenAI's forms become a question and the turns before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from assistants.answer import MOST_ANSWER_CHARS, MOST_TURNS
from assistants.gateway.errors import UnsupportedParameter
from core.errors import ValidationError
from search.inputs import MOST_QUERY_CHARS

TEXTS = ("text", "input_text", "output_text")
"""Parts of a message that are text."""
REPLAYED = ("search_results", "fetch_url_results", "web_search_call", "file_search_call", "reasoning")
"""Items of an earlier response that a client sends back; only its message counts."""
CALL, OUTPUT = "function_call", "function_call_output"
INSTRUCTIONS = ("system", "developer")
_MARK = re.compile(r" ?\[\d{1,4}\]")


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is asked now, and what was asked and answered before, oldest first, as `answer` takes it."""

    question: str
    history: list[dict[str, str]]
    instructions: str = ""
    """What messages of the system or developer say."""
    function_results: list[dict[str, str]] = field(default_factory=list)
    """What the caller's functions gave for this question, as `agent` takes it."""


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
    functions = _Functions()
    for index, message in enumerate(found):
        functions.read(items[index], f"{param}[{index}]")
        if message is None:
            continue
        if message.role in INSTRUCTIONS:
            instructions.append(message.text)
            continue
        if message.role == "user":
            # What functions gave before is part of an earlier answer.
            functions = _Functions()
        if message.role == "user" and last == "user":
            turns[-1][0] += f"\n{message.text}"
        elif message.role == "user":
            turns.append([message.text, ""])
        elif message.role == "assistant" and turns:
            turns[-1][1] += _MARK.sub("", message.text)
        last = message.role
    results = functions.results(param)
    if last != "user" and not (results and turns):
        raise ValidationError("The last message must be one of the user: the question.", param=param)
    *before, (question, _) = turns
    history = [_turn(*each) for each in before if each[0].strip()][-MOST_TURNS:]
    return Conversation(question, history, "\n\n".join(instructions), results)


class _Functions:
    """The calls of one turn, and what they gave."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[str, str]] = {}
        self._outputs: dict[str, str] = {}

    def read(self, item: Any, param: str) -> None:
        """Take what an item says of functions: of either protocol."""
        if item.get("type") == CALL:
            self._add_call(item.get("call_id"), item, param)
        for call in item.get("tool_calls") or () if isinstance(item.get("tool_calls"), list) else ():
            inner = call.get("function") if isinstance(call, dict) else None
            self._add_call(call.get("id") if isinstance(call, dict) else None, inner, f"{param}.tool_calls")
        if item.get("type") == OUTPUT:
            self._add_output(item.get("call_id"), item.get("output"), param, "output")
        elif item.get("role") == "tool":
            self._add_output(item.get("tool_call_id"), item.get("content"), param, "content")

    def results(self, param: str) -> list[dict[str, str]]:
        """Return the results; raise `ValidationError` for a call without an output."""
        for id, (name, _) in self._calls.items():
            if id not in self._outputs:
                raise ValidationError(f"The call {id[:100]} of “{name[:64]}” has no output.", param=param)
        return [
            {"call_id": id, "name": name, "arguments": arguments, "output": self._outputs[id]}
            for id, (name, arguments) in self._calls.items()
        ]

    def _add_call(self, id: Any, call: Any, param: str) -> None:
        name = call.get("name") if isinstance(call, dict) else None
        arguments = call.get("arguments") if isinstance(call, dict) else None
        if not all(isinstance(each, str) for each in (id, name, arguments)):
            raise ValidationError("A call has an id, a name, and arguments as text.", param=param)
        self._calls[str(id)] = (str(name), str(arguments))

    def _add_output(self, id: Any, output: Any, param: str, name: str) -> None:
        if not isinstance(id, str) or id not in self._calls:
            raise ValidationError("There is no call that this is the output of.", param=param)
        self._outputs[id] = _text(output, f"{param}.{name}")


def _turn(question: str, answer: str) -> dict[str, str]:
    return {"question": question[:MOST_QUERY_CHARS], "answer": answer[:MOST_ANSWER_CHARS]}


def _message(item: Any, param: str) -> _Message | None:
    """Return a message; None for what is no part of what was said."""
    if not isinstance(item, dict):
        raise ValidationError(f"{param} must be an object.", param=param)
    kind, role = item.get("type") or "message", item.get("role")
    if kind in (CALL, OUTPUT) or role == "tool":
        return None
    if kind in REPLAYED:
        return None
    if kind != "message":
        raise ValidationError(f"Items of type “{kind}” are not known.", param=f"{param}.type")
    if role not in ("user", "assistant", *INSTRUCTIONS):
        raise ValidationError("role must be user, assistant, system or developer.", param=f"{param}.role")
    if item.get("tool_calls") and not item.get("content"):
        return None
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
