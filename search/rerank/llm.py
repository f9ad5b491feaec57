"""A chat model as judge: one call to any endpoint that speaks OpenAI's `POST /chat/completions`."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from kb.endpoint import Endpoint
from search.rerank.base import Reranker

PROMPT = Path(__file__).with_name("judge.md").read_text("utf-8")
LONGEST_PASSAGE = 2000
"""Characters of a passage that the judge reads."""
BEST = 10.0


class LlmReranker(Reranker):
    """Passages are fenced by a line nobody can have foreseen, because documents are hostile."""

    passages = 10
    budget_secs = 10.0
    passages_per_step = 10

    def __init__(self, model: str) -> None:
        """Ask once; raise `ImproperlyConfigured` naming the setting if there is no useful answer."""
        if not settings.RERANKER_BASE_URL:
            raise ImproperlyConfigured(
                "RERANKER llm needs RERANKER_BASE_URL, e.g. http://127.0.0.1:11434/v1."
            )
        if not model:
            raise ImproperlyConfigured("RERANKER llm needs RERANKER_MODEL, a chat model of its endpoint.")
        self._endpoint = Endpoint("RERANKER", "/chat/completions", model)
        self.name = model
        self._judge("What?", ["That."], None)

    def score(self, question: str, passages: Sequence[str], *, within: float) -> Sequence[float]:
        """Return the judge's marks, 0 to 10."""
        return self._judge(question, passages, within)

    def describe(self) -> str:
        """Return the model and the address without secrets."""
        return f"{self.name} as judge at {self._endpoint.address}"

    def _judge(self, question: str, passages: Sequence[str], within: float | None) -> list[float]:
        fence = f"----- {secrets.token_hex(16)} -----"
        body = {
            "model": self.name,
            "temperature": 0,
            "messages": [
                {"role": "system", "content": PROMPT.format(fence=fence, count=len(passages))},
                {"role": "user", "content": _fenced(fence, question, passages)},
            ],
        }
        reply = self._endpoint.post(body, within=within)
        try:
            return _marks(reply, len(passages))
        except (ValueError, LookupError, TypeError) as error:
            raise self._endpoint.misunderstood("a judge", error) from error


def _fenced(fence: str, question: str, passages: Sequence[str]) -> str:
    parts = [f"Question:\n{fence}\n{question}\n{fence}"]
    for number, passage in enumerate(passages, 1):
        parts.append(f"Passage {number}:\n{fence}\n{passage[:LONGEST_PASSAGE]}\n{fence}")
    return "\n\n".join(parts)


def _marks(reply: Any, count: int) -> list[float]:
    """Read the JSON object of the answer; models like to put words or a code block around it."""
    said: str = reply["choices"][0]["message"]["content"]
    marks = json.loads(said[said.index("{") : said.rindex("}") + 1])["scores"]
    if len(marks) != count:
        raise ValueError(f"{count} passages sent, {len(marks)} scores received")
    scores = [float(mark) for mark in marks]
    if not all(math.isfinite(score) and 0.0 <= score <= BEST for score in scores):
        raise ValueError(f"scores that are not from 0 to {BEST:.0f}")
    return scores
