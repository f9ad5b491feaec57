"""Follow-ups rewritten by a chat model: it is shown the last turns, within a fence, and answers one line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from assistants.followups.base import Turn
from core.errors import ProviderError
from core.llm.base import ChatRequest
from core.llm.fencing import Fence, FencedText, joined_texts
from core.llm.payment import Payment
from core.llm.registry import PROVIDERS, chat_model
from core.text.analysis import terms
from search.generation.registry import choices

if TYPE_CHECKING:
    from core.llm.gateway import ChatModel

PROMPT = Path(__file__).with_name("rewrite.v1.md")
WITHIN_SECS = 10.0
MOST_CHARS = 500
"""Of what the model may answer, and of each earlier question and answer that it is shown."""
MOST_TOKENS = 400
LEAST_KNOWN = 0.6
"""So much of what a model adds has to stand in the turns, 0 to 1; years may be counted."""


class ModelRewriter:
    """Asks a chat model, which is paid as every other request."""

    def __init__(self, chat: ChatModel, payment: Payment) -> None:
        self._chat, self._payment = chat, payment

    async def rewrite(self, question: str, history: Sequence[Turn]) -> str:
        """Return the self-contained question; raise `ProviderError` also for an answer that is none."""
        fence = Fence.new()
        parts = [fence.around("conversation", _conversation(history)), fence.around("question", question)]
        request = _request(fence, joined_texts(parts))
        reply = await self._chat.ask(request, self._payment, within=WITHIN_SECS)
        return _checked(reply.text, question, history)


def model_rewriter(payment: Payment, preferred: str | None = None) -> ModelRewriter | None:
    """Return a rewriter by the model that would answer, `preferred` first; None where none is configured."""
    first = min(choices(), key=lambda choice: preferred is not None and choice.name != preferred)
    if first.provider not in PROVIDERS:
        return None
    chat = chat_model(first.provider, first.model, first.base_url, first.api_key, prefix="GENERATION")
    return ModelRewriter(chat, payment)


def _request(fence: Fence, message: FencedText) -> ChatRequest:
    instructions = Template(PROMPT.read_text("utf-8")).substitute(fence=fence.secret).strip()
    return ChatRequest(
        instructions,
        [message],
        # A token has three characters or more.
        input_tokens=(len(instructions) + len(message)) // 3,
        output_tokens=MOST_TOKENS,
        max_tokens=MOST_TOKENS,
    )


def _conversation(history: Sequence[Turn]) -> str:
    return "\n".join(
        line
        for turn in history
        for line in (f"Question: {turn.asked[:MOST_CHARS]}", f"Answer: {turn.answer[:MOST_CHARS]}")
    )


def _checked(answer: str, question: str, history: Sequence[Turn]) -> str:
    """Return the model's question; raise `ProviderError` if it is not one, or about something else.

    Answers quote documents, and documents are hostile: what a model adds has to come from the conversation.
    """
    rewritten = " ".join(answer.split()).strip('"“”„« »')
    said = [question, *(f"{turn.asked} {turn.answer} {' '.join(turn.document_names)}" for turn in history)]
    beginnings = {term[:4] for term in terms(" ".join(said), None)}
    added = set(terms(rewritten, "en")) - set(terms(question, None))
    foreign = {term for term in added if not term.isdigit() and term[:4] not in beginnings}
    if not rewritten or len(rewritten) > max(MOST_CHARS, len(question)):
        raise ProviderError("The model rewrote a question into none.")
    if added and len(foreign) > (1 - LEAST_KNOWN) * len(added):
        raise ProviderError("The model rewrote a question into one about something else.")
    return rewritten
