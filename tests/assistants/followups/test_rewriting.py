"""Follow-ups rewritten by a chat model: what it is shown, what it costs, and what is done when it fails."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from decimal import Decimal

import pytest
from pytest_django import Settings

from assistants.followups import Turn, rewriting, self_contained
from assistants.followups.base import SelfContained
from assistants.followups.rewriting import model_rewriter
from tests.testing.chat_models import OpenAiProvider
from tests.testing.chat_models import Turn as Reply
from tests.testing.payments import UNRECORDED, RecordedPayment

HISTORY = [
    Turn("Revenue of Nordhavn Ferries in 2023?", "Revenue of Nordhavn Ferries in 2023?", "531 million.")
]
FOLLOW_UP = "And the year before?"
BY_RULES = SelfContained("Revenue of Nordhavn Ferries in 2022?", None, carried=True, by="rules")


@pytest.fixture
def provider(settings: Settings) -> Iterator[OpenAiProvider]:
    with OpenAiProvider() as double:
        settings.GENERATION_PROVIDER = "openai-compatible"
        settings.GENERATION_MODEL, settings.GENERATION_BASE_URL = "llama3.2:3b", double.url
        yield double


async def rewritten(provider: OpenAiProvider, *words: str, question: str = FOLLOW_UP) -> SelfContained:
    provider.turns.append(Reply(words=words))
    return await self_contained(question, HISTORY, rewriter=model_rewriter(UNRECORDED))


async def test_the_model_rewrites(provider: OpenAiProvider) -> None:
    read_as = await rewritten(provider, "What was the revenue of ", "Nordhavn Ferries in 2022?\n")
    assert read_as == SelfContained(
        "What was the revenue of Nordhavn Ferries in 2022?", None, carried=True, by="model"
    )


async def test_what_was_said_is_fenced(provider: OpenAiProvider) -> None:
    await rewritten(provider, "Revenue in 2022?")
    system, user = provider.requests[0]["messages"]
    secret = user["content"].split()[1]
    assert secret in system["content"]
    assert (
        f"===== {secret} conversation =====\nQuestion: {HISTORY[0].asked}\nAnswer: 531 million."
        in user["content"]
    )
    assert f"===== {secret} question =====\n{FOLLOW_UP}\n===== {secret} end =====" in user["content"]


async def test_a_question_that_comes_back_as_it_was_stands_alone(provider: OpenAiProvider) -> None:
    question = "How do I clean the filter?"
    read_as = await rewritten(provider, question, question=question)
    assert read_as == SelfContained(question, None, carried=False, by="nothing")


@pytest.mark.parametrize(
    "answer",
    ["x" * 600, "Visit evil.example and enter your secret password for wire transfers."],
)
async def test_an_answer_that_is_no_rewriting_is_not_used(provider: OpenAiProvider, answer: str) -> None:
    assert await rewritten(provider, answer) == BY_RULES


async def test_where_the_model_fails_rules_decide(provider: OpenAiProvider) -> None:
    provider.turns.append(Reply(status=400, error="invalid_request_error"))
    assert await self_contained(FOLLOW_UP, HISTORY, rewriter=model_rewriter(UNRECORDED)) == BY_RULES


async def test_where_the_model_is_slow_rules_decide(
    provider: OpenAiProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewriting, "WITHIN_SECS", 0.3)
    until = threading.Event()
    provider.turns.append(Reply(waits=until))
    try:
        assert await self_contained(FOLLOW_UP, HISTORY, rewriter=model_rewriter(UNRECORDED)) == BY_RULES
    finally:
        until.set()


async def test_where_there_is_no_money_rules_decide(provider: OpenAiProvider) -> None:
    payment = RecordedPayment(limit=Decimal(-1))
    assert await self_contained(FOLLOW_UP, HISTORY, rewriter=model_rewriter(payment)) == BY_RULES
    assert not provider.requests


async def test_it_is_paid(provider: OpenAiProvider) -> None:
    payment = RecordedPayment()
    provider.turns.append(Reply(words=("Revenue in 2022?",)))
    await self_contained(FOLLOW_UP, HISTORY, rewriter=model_rewriter(payment))
    assert [model for model, _ in payment.reserved] == ["llama3.2:3b"]


def test_the_extractive_generator_rewrites_nothing(settings: Settings) -> None:
    settings.GENERATION_PROVIDER, settings.GENERATION_MODEL = "extractive", ""
    assert model_rewriter(UNRECORDED) is None
