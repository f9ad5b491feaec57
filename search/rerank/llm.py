"""A chat model as judge: one call to any endpoint that speaks OpenAI's `POST /chat/completions`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from accounts.ledger.base import Order, Payer
from accounts.ledger.paying import paying_in_thread
from accounts.models.ledger import Purpose
from core.endpoint import Endpoint, EndpointRefusal
from core.llm.fencing import Fence
from core.llm.prices import price_at
from search.rerank.base import Reranker

PROMPT = Path(__file__).with_name("judge.md").read_text("utf-8")
LONGEST_PASSAGE = 2000
"""Characters of a passage that the judge reads."""
BEST = 10.0
CHARS_PER_TOKEN, TOKENS_PER_MARK = 3, 4
"""For an estimate rather too high: English has four characters a token."""

Judgement = tuple[list[float], tuple[int, int] | None]
"""The marks, and the tokens that were read and written, if the endpoint tells."""


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
        self.is_paid = self._price(1000, 1000) > 0
        self._judge("What?", ["That."], None)

    def paid_score(
        self, question: str, passages: Sequence[str], *, within: float, payer: Callable[[], Payer] | None
    ) -> Sequence[float]:
        """Return the judge's marks, paid for from the ledger."""
        if payer is None or not self.is_paid:
            return self.score(question, passages, within=within)
        order = Order(payer(), Purpose.MODEL, self.name, self._likely_cost(question, passages))
        with paying_in_thread(order) as bill:
            try:
                marks, tokens = self._judge(question, passages, within)
            except EndpointRefusal:
                # Nobody bills what was refused.
                bill.cost = Decimal(0)
                raise
            bill.cost = self._price(*tokens) if tokens else None
            return marks

    def score(self, question: str, passages: Sequence[str], *, within: float) -> Sequence[float]:
        """Return the judge's marks, 0 to 10."""
        return self._judge(question, passages, within)[0]

    def describe(self) -> str:
        """Return the model and the address without secrets."""
        return f"{self.name} as judge at {self._endpoint.address}"

    def _price(self, input_tokens: int, output_tokens: int) -> Decimal:
        return price_at(settings.RERANKER_BASE_URL, self.name, input_tokens, output_tokens)

    def _likely_cost(self, question: str, passages: Sequence[str]) -> Decimal:
        read = len(PROMPT) + len(question) + sum(len(each[:LONGEST_PASSAGE]) for each in passages)
        return self._price(read // CHARS_PER_TOKEN, TOKENS_PER_MARK * (len(passages) + 2))

    def _judge(self, question: str, passages: Sequence[str], within: float | None) -> Judgement:
        body = {
            "model": self.name,
            "temperature": 0,
            "messages": _messages(Fence.new(), question, passages),
        }
        reply = self._endpoint.post(body, within=within)
        try:
            return _marks(reply, len(passages)), _tokens(reply)
        except (ValueError, LookupError, TypeError) as error:
            raise self._endpoint.misunderstood("a judge", error) from error


def _messages(fence: Fence, question: str, passages: Sequence[str]) -> list[dict[str, str]]:
    line = f"----- {fence.secret} -----"
    parts = [f"Question:\n{line}\n{fence.harmless(question)}\n{line}"]
    for number, passage in enumerate(passages, 1):
        parts.append(f"Passage {number}:\n{line}\n{fence.harmless(passage[:LONGEST_PASSAGE])}\n{line}")
    return [
        {"role": "system", "content": PROMPT.format(fence=line, count=len(passages))},
        {"role": "user", "content": "\n\n".join(parts)},
    ]


def _tokens(reply: Any) -> tuple[int, int] | None:
    """Return how many tokens were read and written, if the endpoint tells."""
    try:
        usage = reply["usage"]
        return int(usage["prompt_tokens"]), int(usage["completion_tokens"])
    except (LookupError, TypeError, ValueError):
        return None


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
