"""Loopback servers that stand for endpoints: JSON in, JSON out, and the faults a test asks for."""

from __future__ import annotations

import base64
import json
import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from kb.embedding.hashing import HashingModel
from tests.testing.loopback import Handler, LoopbackServer

Reply = tuple[int, dict[str, str], Any]


@dataclass
class LoopbackEndpoint(LoopbackServer):
    """Runs while the `with` block does; `requests` are bodies (with their headers) in order of arrival."""

    key: str = ""
    failures: list[Reply] = field(default_factory=list)
    """Replies to give first: status, headers, body."""
    delay_secs: float = 0.0
    requests: list[dict[str, Any]] = field(default_factory=list)

    def handler(self) -> type[Handler]:
        endpoint = self

        class Answering(Handler):
            def do_POST(self) -> None:
                body = self.sent_json()
                endpoint.requests.append(body | {"path": self.path, "headers": dict(self.headers)})
                status, headers, reply = endpoint.reply(self.path, self.headers.get("Authorization"), body)
                time.sleep(endpoint.delay_secs)
                content = json.dumps(reply).encode()
                self.send_response(status)
                for name, value in (headers | {"Content-Length": str(len(content))}).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

        return Answering

    @property
    def url(self) -> str:
        """What the setting PREFIX_BASE_URL is to be."""
        return f"{self.address}/v1"

    def reply(self, path: str, authorization: str | None, body: dict[str, Any]) -> Reply:
        if self.failures:
            return self.failures.pop(0)
        if path != f"/v1{self.path}":
            return 404, {}, {"error": {"message": "no such path"}}
        if self.key and authorization != f"Bearer {self.key}":
            return 401, {}, {"error": {"message": f"Incorrect API key: {authorization}"}}
        return self.answer(body)

    path: ClassVar[str]

    @abstractmethod
    def answer(self, body: dict[str, Any]) -> Reply:
        """Reply to a request that is in order."""


@dataclass
class EmbeddingEndpoint(LoopbackEndpoint):
    """Speaks the wire format of OpenAI's `POST /v1/embeddings`.

    Its vectors are those of the hashing double, so that texts that share words are near each other.
    """

    path: ClassVar[str] = "/embeddings"
    dimensions: int = 48
    takes_base64: bool = True
    alter: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = lambda rows: rows
    """Changes the rows of an answer, to answer wrongly."""

    def answer(self, body: dict[str, Any]) -> Reply:
        model = HashingModel(f"hashing-{body.get('dimensions', self.dimensions)}")
        as_base64 = self.takes_base64 and body.get("encoding_format") == "base64"
        rows = [
            {
                "object": "embedding",
                "index": index,
                "embedding": base64.b64encode(vector.astype("<f4").tobytes()).decode()
                if as_base64
                else vector.tolist(),
            }
            for index, vector in enumerate(model.embed_documents(body["input"]))
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return 200, {}, {"object": "list", "data": self.alter(rows), "model": body["model"], "usage": usage}
