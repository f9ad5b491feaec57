"""An assistant's fallbacks: asked in order where a model writes nothing, named by the trace, and paid."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pytest_django import Settings

from accounts.models.ledger import Charge
from core.llm.gateway import ATTEMPTS
from tests.assistants.agent.asking import DONE, SOLAR, ask, calls, execution_of, make_assistant, says
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.search.web.calling import post
from tests.testing.chat_models import OpenAiProvider, Turn

pytestmark = pytest.mark.django_db(transaction=True)
ANSWER = says("The farm produced 42 gigawatt hours. ", "<source_1>")
SEARCH = calls(("rag_search", {"query": "solar farm"}))
FAILS = [Turn(status=503, error="server_error")] * ATTEMPTS
MINI, NANO, LARGE = "gpt-5-mini", "gpt-5-nano", "gpt-5"


@pytest.fixture
async def solar(people: Cast) -> Any:
    return await sync_to_async(indexed_document)(people.team, SOLAR, name="solar.pdf")


@pytest.fixture
def model(model: OpenAiProvider, settings: Settings) -> OpenAiProvider:
    """Offer three models of one provider, whose prices are known."""
    settings.GENERATION_PROVIDER, settings.GENERATION_API_KEY = "openai", "key"
    settings.GENERATION_MODEL = LARGE
    settings.GENERATION_FALLBACKS = [f"openai:{MINI}", f"openai:{NANO}"]
    return model


async def steps_of(result: dict[str, Any]) -> dict[str, Any]:
    trace = (await execution_of(result)).trace
    assert trace is not None
    steps: dict[str, Any] = trace["steps"]
    return steps


async def charges_of(result: dict[str, Any]) -> list[tuple[str, Decimal]]:
    charges = Charge.unscoped.filter(execution_id=result["execution_id"])
    return [(charge.provider, charge.amount) async for charge in charges]


async def test_the_next_model_plans_and_writes(people: Cast, model: OpenAiProvider, solar: Any) -> None:
    guide = await make_assistant(people, model=MINI, fallbacks=[NANO])
    model.turns = [*FAILS, SEARCH, DONE, *FAILS, ANSWER]
    result = await ask(people, assistant_id=str(guide.pk))
    assert (result["answered"], result["model"]) == (True, NANO)
    # Neither the deployment's first model, nor rules.
    assert {request["model"] for request in model.requests} == {MINI, NANO}
    steps = await steps_of(result)
    failed = [{"model": MINI, "code": "overloaded"}]
    assert (steps["planned_by"], steps["failed_planners"], steps["failed_models"]) == (
        "model",
        failed,
        failed,
    )
    # What failed has cost nothing; each of the three others is one charge.
    charges = await charges_of(result)
    assert [provider for provider, _ in charges] == [NANO] * 3
    assert float(sum(amount for _, amount in charges)) == (await execution_of(result)).cost


async def test_they_step_in_for_the_workspaces_model(people: Cast, model: OpenAiProvider, solar: Any) -> None:
    guide = await make_assistant(people, fallbacks=[NANO])
    model.turns = [*FAILS, SEARCH, DONE, *FAILS, ANSWER]
    result = await ask(people, assistant_id=str(guide.pk))
    assert (result["answered"], result["model"]) == (True, NANO)
    assert {request["model"] for request in model.requests} == {LARGE, NANO}


async def test_a_model_that_has_begun_is_not_replaced(
    people: Cast, model: OpenAiProvider, solar: Any
) -> None:
    guide = await make_assistant(people, model=MINI, fallbacks=[NANO])
    model.turns = [SEARCH, DONE, Turn(words=("The farm",), ends="cut")]
    reply = await post(people, "tools/agent", {"query": "How much?", "assistant_id": str(guide.pk)})
    assert reply.status_code == 502
    assert {request["model"] for request in model.requests} == {MINI}


async def test_a_model_that_is_not_offered_any_more(people: Cast, model: OpenAiProvider, solar: Any) -> None:
    guide = await make_assistant(people, model="gone-1", fallbacks=["gone-2", NANO])
    model.turns = [SEARCH, DONE, ANSWER]
    result = await ask(people, assistant_id=str(guide.pk))
    assert result["model"] == NANO
    gone = [{"model": name, "code": "not_offered"} for name in ("gone-1", "gone-2")]
    assert (await steps_of(result))["failed_models"] == gone


async def test_rules_plan_where_every_model_fails(
    people: Cast, model: OpenAiProvider, solar: Any, settings: Settings
) -> None:
    settings.GENERATION_FALLBACKS = [f"openai:{MINI}", "extractive"]
    guide = await make_assistant(people, model=MINI)
    # Two models that plan and two that write.
    model.turns = [*FAILS, *FAILS, *FAILS, *FAILS]
    result = await ask(people, assistant_id=str(guide.pk))
    assert (result["answered"], result["model"]) == (True, "extractive")
    steps = await steps_of(result)
    assert steps["planned_by"] == "rules"
    assert [each["model"] for each in steps["failed_models"]] == [MINI, LARGE]
    assert await charges_of(result) == []
