"""A chat model as judge: one request for the marks of all passages."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Sequence
from pathlib import Path
from string import Template

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from core.errors import LocusError, ProviderError
from core.llm.base import ChatRequest
from core.llm.fencing import Fence, joined_texts
from core.llm.payment import NoCharge, Payment
from core.llm.registry import chat_model
from core.threads import give_connection_back
from search.rerank.base import Reranker

PROMPT = Path(__file__).with_name("judge.v2.md").read_text("utf-8")
LONGEST_PASSAGE = 2000
"""Characters of a passage that the judge reads."""
BEST = 10.0
CHARS_PER_TOKEN, TOKENS_PER_MARK = 3, 4
"""For an estimate rather too high: English has four characters a token."""
CHECK_SECS = 60.0


class LlmReranker(Reranker):
    """Passages are fenced and made harmless, because documents are hostile."""

    passages = 10
    budget_secs = 10.0
    passages_per_step = 10

    def __init__(self, model: str) -> None:
        """Ask once; raise `ImproperlyConfigured` naming the setting if there is no useful answer."""
        self._chat = chat_model(
            "openai-compatible",
            model,
            settings.RERANKER_BASE_URL,
            settings.RERANKER_API_KEY,
            prefix="RERANKER",
            priced_by_address=True,
        )
        self.name = model
        self.is_paid = self._chat.price(1000, 1000) > 0
        try:
            self.score("What?", ["That."], within=CHECK_SECS, payment=NoCharge("the check at the start"))
        except LocusError as error:
            cause = error.__cause__ or error
            raise ImproperlyConfigured(f"RERANKER_BASE_URL: {self.describe()}: {cause}") from None

    def score(
        self, question: str, passages: Sequence[str], *, within: float, payment: Payment
    ) -> Sequence[float]:
        """Return the judge's marks, 0 to 10. For a thread: it waits."""
        give_connection_back()
        reply = asyncio.run(self._chat.ask(_request(question, passages), payment, within=within))
        try:
            return _marks(reply.text, len(passages))
        except (ValueError, LookupError, TypeError) as error:
            raise ProviderError(f"{self.name} does not answer as a judge does: {error}") from None

    def describe(self) -> str:
        """Return the model and the address without secrets."""
        return f"{self.name} as judge at {self._chat.address}"


def _request(question: str, passages: Sequence[str]) -> ChatRequest:
    fence = Fence.new()
    shown = [
        fence.around(f"passage_{number}", passage[:LONGEST_PASSAGE])
        for number, passage in enumerate(passages, 1)
    ]
    message = joined_texts([fence.around("question", question), *shown])
    instructions = Template(PROMPT).substitute(fence=fence.secret, count=len(passages)).strip()
    return ChatRequest(
        instructions,
        [message],
        input_tokens=(len(instructions) + len(message)) // CHARS_PER_TOKEN,
        output_tokens=TOKENS_PER_MARK * (len(passages) + 2),
        temperature=0,
    )


def _marks(said: str, count: int) -> list[float]:
    """Read the JSON object of the answer; models like to put words or a code block around it."""
    marks = json.loads(said[said.index("{") : said.rindex("}") + 1])["scores"]
    if len(marks) != count:
        raise ValueError(f"{count} passages sent, {len(marks)} scores received")
    scores = [float(mark) for mark in marks]
    if not all(math.isfinite(score) and 0.0 <= score <= BEST for score in scores):
        raise ValueError(f"scores that are not from 0 to {BEST:.0f}")
    return scores
