"""A loopback server that sees: OpenAI's `POST /chat/completions` with image input, as documented.

https://platform.openai.com/docs/guides/images-vision
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.testing.loopback import Handler, LoopbackServer

KEY = "key-77ab-nobody-may-read-this"
MODEL = "seer-1"
Says = Callable[["Look"], str | int]
"""What the server answers: words, or the status of an error."""


@dataclass(frozen=True)
class Look:
    """One request, taken apart: what the model is told, the text around the picture, and the picture."""

    system: str
    texts: list[str]
    image: bytes
    headers: dict[str, str]


@dataclass
class Seer(LoopbackServer):
    """Runs while the `with` block does."""

    says: Says = lambda look: "A white sign on a quay."
    looks: list[Look] = field(default_factory=list)
    model: str = MODEL

    def handler(self) -> type[Handler]:
        seer = self

        class Looking(Handler):
            def do_POST(self) -> None:
                body = self.sent_json()
                assert (self.path, body["model"]) == ("/v1/chat/completions", seer.model)
                look = _read(body, {name.lower(): value for name, value in self.headers.items()})
                seer.looks.append(look)
                said = seer.says(look)
                status = said if isinstance(said, int) else 200
                reply = _refusal(look) if isinstance(said, int) else _completion(seer.model, said)
                content = json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        return Looking

    @property
    def url(self) -> str:
        """What VISION_BASE_URL is to be."""
        return f"{self.address}/v1"


def _read(body: dict[str, Any], headers: dict[str, str]) -> Look:
    system, user = body["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    texts = [part["text"] for part in user["content"] if part["type"] == "text"]
    [url] = [part["image_url"]["url"] for part in user["content"] if part["type"] == "image_url"]
    prefix, _, data = url.partition(",")
    assert prefix == "data:image/png;base64"
    # The picture stands between the lines of the fence.
    assert [part["type"] for part in user["content"]] == ["text", "image_url", "text"]
    return Look(system["content"], texts, base64.b64decode(data), headers)


def _completion(model: str, said: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": said, "refusal": None}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1790000000,
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1100, "completion_tokens": 12, "total_tokens": 1112},
    }


def _refusal(look: Look) -> dict[str, Any]:
    # Some servers tell what they were sent.
    sent = look.headers.get("authorization", "")
    return {"error": {"message": f"That failed for {sent}", "type": "server_error", "code": None}}
