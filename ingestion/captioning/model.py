"""A model that can see, asked for a sentence or two about one picture."""

from __future__ import annotations

import asyncio
from pathlib import Path
from string import Template

from django.conf import settings

from core.errors import Overloaded, ProviderError, Timeout
from core.llm.base import ChatRequest
from core.llm.fencing import Fence, harmless
from core.llm.gateway import ChatModel
from core.llm.payment import Payment
from core.llm.prices import TOKENS_A_PICTURE
from extract.cleaning import clean
from ingestion.captioning.base import PROMPT

# Models that think first spend some of it on that.
MAX_TOKENS = 1500
# The picture, and what it is shown with.
INPUT_TOKENS = TOKENS_A_PICTURE + 400
LONGEST_DESCRIPTION = 600
NOTHING = "nothing"


class Captioner:
    """Describes pictures. Thread-safe; each picture is a request of its own."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat
        self.name = chat.name

    def description(self, png: bytes, language: str | None, payment: Payment) -> str | None:
        """Return what the picture shows, "" if nothing can be made out, None if the model failed.

        Raise `BudgetExceeded` where the workspace or the deployment has spent what it may.
        """
        request = _request(png, language or "en")
        try:
            asked = self._chat.ask(request, payment, within=settings.VISION_TIMEOUT_SECS)
            return _plain(asyncio.run(asked).text)
        except (ProviderError, Timeout, Overloaded):
            # The gateway's log says why.
            return None


def _request(png: bytes, language: str) -> ChatRequest:
    fence = Fence.new()
    return ChatRequest(
        _instructions(fence=fence.secret, language=language),
        [fence.begin("picture"), png, fence.end],
        input_tokens=INPUT_TOKENS,
        output_tokens=MAX_TOKENS,
        max_tokens=MAX_TOKENS,
    )


def _instructions(**values: str) -> str:
    text = (Path(__file__).parent / f"{PROMPT}.md").read_text("utf-8")
    return Template(text).substitute(values).strip()


def _plain(said: str) -> str:
    """Return what was said as one harmless line of bounded length, cut behind a sentence if it can be."""
    line = " ".join(harmless(clean(said)).split())
    if line.strip(" .“”\"'").casefold() == NOTHING:
        return ""
    if len(line) <= LONGEST_DESCRIPTION:
        return line
    cut = line[:LONGEST_DESCRIPTION]
    end = max(cut.rfind(mark) for mark in (". ", "! ", "? ", "。"))
    return cut[: end + 1] if end > LONGEST_DESCRIPTION // 2 else f"{cut.rsplit(' ', 1)[0]} …"
