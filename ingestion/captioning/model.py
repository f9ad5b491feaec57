"""A model that can see, asked for a sentence or two about one picture."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from string import Template

import httpx2
from django.conf import settings
from django.utils.module_loading import import_string
from pydantic_ai.direct import model_request
from pydantic_ai.messages import BinaryContent, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from accounts.ledger.base import Order, Payer
from accounts.ledger.paying import paying
from accounts.models.ledger import Purpose
from core.llm.failures import KNOWN
from core.llm.fencing import Fence, harmless
from core.llm.prices import TOKENS_A_PICTURE, cost_of, price_of
from extract.cleaning import clean
from ingestion.captioning.base import MODELS, PROMPT

# Models that think first spend some of it on that.
MAX_TOKENS = 1500
# The picture, and what it is shown with.
INPUT_TOKENS = TOKENS_A_PICTURE + 400
ATTEMPTS = 3
LONGEST_DESCRIPTION = 600
NOTHING = "nothing"
LONGEST_CAUSE = 300

logger = logging.getLogger(__name__)
MakeModel = Callable[[str, str, str, httpx2.AsyncClient], Model]


class Captioner:
    """Describes pictures. Thread-safe; each picture is a request of its own."""

    def __init__(self, provider: str, name: str, address: str, key: str) -> None:
        """Take a name from `registry.MODELS`, and what the settings say."""
        self.name = name
        self._provider = provider
        self._make: MakeModel = import_string(MODELS[provider])
        self._address, self._key = address, key
        self._certificates = httpx2.create_ssl_context()

    def describe(self) -> str:
        """Return what operators read about it, without secrets."""
        where = httpx2.URL(self._address).copy_with(userinfo=b"", query=None) if self._address else ""
        return f"{self.name} at {where}" if where else self.name

    def likely_cost(self) -> Decimal:
        """Return what a description may cost, in US dollars; 0 if nothing, or nobody knows."""
        return price_of(self._provider, self.name, INPUT_TOKENS, MAX_TOKENS)

    def description(self, png: bytes, language: str | None, payer: Payer) -> str | None:
        """Return what the picture shows, "" if nothing can be made out, None if the model failed.

        Raise `BudgetExceeded` where the workspace or the deployment has spent what it may.
        """
        try:
            return _plain(asyncio.run(self._paid(png, language or "en", payer)))
        except KNOWN as error:
            cause = f"{type(error).__name__}: {error}".replace(self._key or "\0", "…")
            logger.warning("%s did not describe a picture: %s", self.describe(), cause[:LONGEST_CAUSE])
            return None

    async def _paid(self, png: bytes, language: str, payer: Payer) -> str:
        async with paying(Order(payer, Purpose.MODEL, self.name, self.likely_cost())) as bill:
            try:
                response = await self._asked(png, language)
            except TimeoutError:
                # Nobody knows whether it is billed: the estimate counts.
                raise
            except KNOWN:
                bill.cost = Decimal(0)
                raise
            bill.cost = cost_of(response)
        return "".join(part.content for part in response.parts if isinstance(part, TextPart))

    async def _asked(self, png: bytes, language: str) -> ModelResponse:
        fence = Fence.new()
        image = BinaryContent(png, media_type="image/png")
        picture: list[str | BinaryContent] = [fence.begin("picture"), image, fence.end]
        instructions = _instructions(fence=fence.secret, language=language)
        request = ModelRequest([UserPromptPart(picture)], instructions=instructions)
        options = ModelSettings(max_tokens=MAX_TOKENS, max_retries=ATTEMPTS - 1)
        async with (
            asyncio.timeout(settings.VISION_TIMEOUT_SECS),
            httpx2.AsyncClient(verify=self._certificates) as client,
        ):
            model = self._make(self.name, self._address, self._key, client)
            return await model_request(model, [request], model_settings=options)


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
