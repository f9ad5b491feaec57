"""Loopback servers that answer and stream as providers of chat models do, and fail as they do.

Frames after Anthropic's “Streaming messages” and OpenAI's “Chat completions, streaming” as documented.
"""

from __future__ import annotations

import json
import socket
import threading
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar

from tests.testing.loopback import Handler, LoopbackServer

KEY = "key-4f1c-nobody-may-read-this"


@dataclass
class Turn:
    """What the server does with one request."""

    words: tuple[str, ...] = ("The lighthouse ", "was built in 1893. ", "<sour", "ce_1>")
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: str = ""
    """The provider's name of an error; with status 200 an event after the words."""
    ends: str = "well"
    """Or “cut” (the connection), “silent” (never), “early” (without a last word), “garbled” (no JSON),
    “full” (the limit of tokens) or “refused” (by the provider's filter)."""
    calls: tuple[tuple[str, Any], ...] = ()
    """The functions that it asks to have called, with their arguments: JSON, or a text that is none."""
    waits: threading.Event | None = None
    """What to wait for before the first word."""


@dataclass
class ScriptedProvider(LoopbackServer):
    """Runs while the `with` block does; takes one of `turns` for each request, then good ones."""

    turns: list[Turn] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    left: threading.Event = field(default_factory=threading.Event)
    """Set when a client has closed its connection before the end."""
    models: list[str] = field(default_factory=lambda: ["llama3.2:3b", "nomic-embed-text", "qwen3:8b"])
    """What `GET /v1/models` lists: to everybody, or to who sends `key`."""
    key: str = ""
    listing: bytes | None = None
    """Listed instead, whatever it is."""
    path: ClassVar[str]

    def handler(self) -> type[Handler]:
        provider = self

        class Streaming(Handler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.close_connection = True
                if self.path.partition("?")[0] != "/v1/models":
                    self.send_error(404)
                elif provider.key not in f"{self.headers['Authorization']} {self.headers['x-api-key']}":
                    self.send_error(401)
                else:
                    provider._send_list(self)

            def do_POST(self) -> None:
                body = self.sent_json()
                provider.requests.append(body | {"path": self.path, "headers": dict(self.headers)})
                assert self.path.partition("?")[0] == provider.path
                turn = provider.turns.pop(0) if provider.turns else Turn()
                provider._serve(self, turn, streams=body.get("stream", False))

        return Streaming

    @property
    @abstractmethod
    def url(self) -> str:
        """What GENERATION_BASE_URL is to be."""

    @abstractmethod
    def begin(self) -> Iterator[str]: ...

    @abstractmethod
    def say(self, words: str) -> str: ...

    @abstractmethod
    def fail(self, error: str) -> str: ...

    @abstractmethod
    def end(self, reason: str) -> Iterator[str]: ...

    @abstractmethod
    def failure(self, error: str) -> dict[str, Any]: ...

    @abstractmethod
    def whole(self, words: str, reason: str) -> dict[str, Any]:
        """Return the reply to a request that does not ask for a stream."""

    @abstractmethod
    def calling(self, calls: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
        """Return the reply that asks for calls of functions."""

    def _serve(self, handler: BaseHTTPRequestHandler, turn: Turn, *, streams: bool) -> None:
        handler.close_connection = True
        if turn.status != 200:
            self._refuse(handler, turn)
            return
        if not streams:
            if turn.waits:
                turn.waits.wait(60)
            whole = self.calling(turn.calls) if turn.calls else self.whole("".join(turn.words), turn.ends)
            self._send_json(handler, 200, {}, whole)
            return
        handler.send_response(200)
        for name, value in {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"}.items():
            handler.send_header(name, value)
        handler.end_headers()
        try:
            for frame in self._frames(turn):
                content = frame.encode()
                handler.wfile.write(b"%x\r\n%b\r\n" % (len(content), content))
                handler.wfile.flush()
            if turn.ends == "silent":
                # Blocks until the client leaves.
                handler.rfile.read(1)
                self.left.set()
            elif turn.ends == "cut":
                handler.connection.shutdown(socket.SHUT_RDWR)
            else:
                handler.wfile.write(b"0\r\n\r\n")
        except ConnectionError:
            self.left.set()

    def _refuse(self, handler: BaseHTTPRequestHandler, turn: Turn) -> None:
        # Some servers tell what they were sent.
        sent = {name: value for name, value in handler.headers.items() if KEY in value}
        self._send_json(handler, turn.status, turn.headers, self.failure(turn.error) | {"sent": sent})

    def _send_list(self, handler: BaseHTTPRequestHandler) -> None:
        listed = {"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]}
        content = json.dumps(listed).encode() if self.listing is None else self.listing
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    def _send_json(
        self, handler: BaseHTTPRequestHandler, status: int, headers: dict[str, str], body: dict[str, Any]
    ) -> None:
        content = json.dumps(body).encode()
        handler.send_response(status)
        for name, value in (headers | {"Content-Type": "application/json"}).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    def _frames(self, turn: Turn) -> Iterator[str]:
        if turn.waits:
            turn.waits.wait(60)
        yield from self.begin()
        yield from map(self.say, turn.words)
        if turn.error:
            yield self.fail(turn.error)
        elif turn.ends == "garbled":
            yield "event: content_block_delta\ndata: {not json\n\n"
        elif turn.ends in ENDS:
            yield from self.end(turn.ends)


ENDS = {"well", "full", "refused"}


@dataclass
class AnthropicProvider(ScriptedProvider):
    """Speaks `POST /v1/messages`."""

    path: ClassVar[str] = "/v1/messages"
    reasons: ClassVar[dict[str, str]] = {"well": "end_turn", "full": "max_tokens", "refused": "refusal"}

    @property
    def url(self) -> str:
        return self.address

    def whole(self, words: str, reason: str) -> dict[str, Any]:
        return self._message() | {
            "content": [{"type": "text", "text": words}],
            "stop_reason": self.reasons[reason],
            "usage": {"input_tokens": 1000, "output_tokens": 100},
        }

    def calling(self, calls: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
        number = len(self.requests)
        asked = [
            {"type": "tool_use", "id": f"toolu_{number}_{index}", "name": name, "input": arguments}
            for index, (name, arguments) in enumerate(calls)
        ]
        usage = {"input_tokens": 1000, "output_tokens": 100}
        return self._message() | {"content": asked, "stop_reason": "tool_use", "usage": usage}

    def _message(self) -> dict[str, Any]:
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-haiku-4-5",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 1000, "output_tokens": 1},
        }

    def begin(self) -> Iterator[str]:
        yield _named({"type": "message_start", "message": self._message()})
        yield _named(
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        )
        yield _named({"type": "ping"})

    def say(self, words: str) -> str:
        delta = {"type": "text_delta", "text": words}
        return _named({"type": "content_block_delta", "index": 0, "delta": delta})

    def fail(self, error: str) -> str:
        return _named(self.failure(error))

    def failure(self, error: str) -> dict[str, Any]:
        return {"type": "error", "error": {"type": error or "api_error", "message": "Overloaded"}}

    def end(self, reason: str) -> Iterator[str]:
        yield _named({"type": "content_block_stop", "index": 0})
        delta = {"stop_reason": self.reasons[reason], "stop_sequence": None}
        yield _named({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 100}})
        yield _named({"type": "message_stop"})


USAGE = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}


@dataclass
class OpenAiProvider(ScriptedProvider):
    """Speaks `POST /v1/chat/completions`."""

    path: ClassVar[str] = "/v1/chat/completions"
    reasons: ClassVar[dict[str, str]] = {"well": "stop", "full": "length", "refused": "content_filter"}

    @property
    def url(self) -> str:
        return f"{self.address}/v1"

    def begin(self) -> Iterator[str]:
        yield self._chunk({"role": "assistant", "content": ""})

    def say(self, words: str) -> str:
        return self._chunk({"content": words})

    def fail(self, error: str) -> str:
        return _data(self.failure(error))

    def failure(self, error: str) -> dict[str, Any]:
        return {"error": {"message": "That failed", "type": error or "server_error", "code": error or None}}

    def whole(self, words: str, reason: str) -> dict[str, Any]:
        message = {"role": "assistant", "content": words, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self.reasons[reason]}
        return self._envelope() | {"object": "chat.completion", "choices": [choice], "usage": USAGE}

    def calling(self, calls: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
        number = len(self.requests)
        asked = [
            {
                "id": f"call_{number}_{index}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
                },
            }
            for index, (name, arguments) in enumerate(calls)
        ]
        message = {"role": "assistant", "content": None, "refusal": None, "tool_calls": asked}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls"}
        return self._envelope() | {"object": "chat.completion", "choices": [choice], "usage": USAGE}

    def end(self, reason: str) -> Iterator[str]:
        yield self._chunk({}, self.reasons[reason])
        yield _data(self._envelope() | {"choices": [], "usage": USAGE})
        yield "data: [DONE]\n\n"

    def _chunk(self, delta: dict[str, Any], reason: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return _data(self._envelope() | {"choices": [choice], "usage": None})

    def _envelope(self) -> dict[str, Any]:
        model = self.requests[-1]["model"]
        return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1790000000, "model": model}


DOUBLES: dict[str, type[AnthropicProvider | OpenAiProvider]] = {
    "anthropic": AnthropicProvider,
    "openai": OpenAiProvider,
    "openai-compatible": OpenAiProvider,
}
"""What stands for each provider of `core.llm.registry`."""
MODELS = {"anthropic": "claude-haiku-4-5", "openai": "gpt-5-mini", "openai-compatible": "gpt-5-mini"}


def _named(event: dict[str, Any]) -> str:
    return f"event: {event['type']}\n{_data(event)}"


def _data(event: dict[str, Any]) -> str:
    return f"data: {json.dumps(event)}\n\n"
