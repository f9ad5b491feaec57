"""A model that can see, asked for a sentence or two about one picture."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from string import Template

import httpx2
from django.conf import settings
from django.utils.module_loading import import_string
from pydantic_ai.direct import model_request
from pydantic_ai.messages import BinaryContent, ModelRequest, TextPart, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from ingestion.describing.registry import PROMPT
from ingestion.extract.cleaning import clean
from kb.chat.failures import KNOWN
from kb.fencing import Fence, harmless

# Models that think first spend some of it on that.
MAX_TOKENS = 1500
ATTEMPTS = 3
LONGEST_DESCRIPTION = 600
NOTHING = "nothing"
LONGEST_CAUSE = 300

logger = logging.getLogger(__name__)
MakeModel = Callable[[str, str, str, httpx2.AsyncClient], Model]


class Describer:
    """Describes pictures. Thread-safe; each picture is a request of its own."""

    def __init__(self, make_model: str, name: str, address: str, key: str) -> None:
        """Take a dotted path from `registry.MODELS`, and what the settings say."""
        self.name = name
        self._make: MakeModel = import_string(make_model)
        self._address, self._key = address, key
        self._certificates = httpx2.create_ssl_context()

    def describe(self) -> str:
        """Return what operators read about it, without secrets."""
        where = httpx2.URL(self._address).copy_with(userinfo=b"", query=None) if self._address else ""
        return f"{self.name} at {where}" if where else self.name

    def description(self, png: bytes, language: str | None) -> str | None:
        """Return what the picture shows, "" if nothing can be made out, None if the model failed."""
        try:
            return _plain(asyncio.run(self._asked(png, language or "en")))
        except KNOWN as error:
            cause = f"{type(error).__name__}: {error}".replace(self._key or "\0", "…")
            logger.warning("%s did not describe a picture: %s", self.describe(), cause[:LONGEST_CAUSE])
            return None

    async def _asked(self, png: bytes, language: str) -> str:
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
            response = await model_request(model, [request], model_settings=options)
        return "".join(part.content for part in response.parts if isinstance(part, TextPart))


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
