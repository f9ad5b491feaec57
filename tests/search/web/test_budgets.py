"""How much of the web a request may read: in every mode, and for models."""

from __future__ import annotations

from typing import Any

import pytest
from django.test.utils import override_settings

from search.web.function_tools import MODEL_TOOLS
from search.web.inputs import MOST_TOKENS, MOST_TOKENS_PER_PAGE
from search.web.parts import tokens_of
from tests.conftest import Cast
from tests.search.web.calling import ask, change, code_of
from tests.search.web.test_for_models import speaking
from tests.search.web.test_web_pages_in_answers import article
from tests.testing.search_engines import ProviderDouble, WebPage
from tests.testing.web import Web

pytestmark = pytest.mark.django_db(transaction=True)

LONG = "The lighthouse of the harbour shines at night. " * 30
BUDGETS: list[tuple[dict[str, Any], int, int]] = [
    ({"max_tokens": 5}, 5, 5),
    ({"max_tokens": 100}, 100, 100),
    ({"max_tokens": 100, "max_tokens_per_page": 40}, 100, 40),
    ({"max_tokens_per_page": 30}, 4 * 30, 30),
    ({"search_context_size": "low"}, 300, 300),
    ({"search_context_size": "low", "max_tokens_per_page": 50}, 200, 50),
]
"""Inputs, and how many tokens they leave to four hits together and to each."""


def sizes(texts: list[str]) -> list[int]:
    return tokens_of(texts)


def long_hits() -> list[WebPage]:
    return [WebPage(f"Light {n}", f"https://l{n}.example/", f"Light {n}. {LONG}") for n in range(4)]


async def test_snippets_keep_to_the_budget(people: Cast, brave: ProviderDouble) -> None:
    """In mode `results`, and for models, budgets did nothing and were not reported as ignored."""
    brave.pages = long_hits()
    principal, run = await speaking(people)
    free = (await ask(people, mode="results")).json()["results"]
    assert sum(sizes([each["snippet"] for each in free])) > 1000
    for inputs, together, each_page in BUDGETS:
        result = (await ask(people, mode="results", **inputs)).json()
        told = await MODEL_TOOLS["web_search"](principal, run, {"query": "lights"}, inputs)
        assert result["ignored_filters"] == []
        assert isinstance(told, list)
        for snippets in (
            [each["snippet"] for each in result["results"]],
            [str(each["snippet"]) for each in told if isinstance(each, dict)],
        ):
            assert len(snippets) == 4
            assert max(sizes(snippets)) <= each_page
            assert together / 2 <= sum(sizes(snippets)) <= together


async def test_snippets_and_bodies_keep_to_it_together(
    people: Cast, brave: ProviderDouble, site: Web
) -> None:
    paths = [f"/{number}" for number in range(4)]
    brave.pages = [WebPage("Light", site.page(path, article(LONG)), LONG[:180]) for path in paths]
    for inputs, together, each_page in BUDGETS:
        result = (await ask(people, mode="results", expand=True, **inputs)).json()["results"]
        whole = [f"{each['snippet']} {each['body'] or ''}".strip() for each in result]
        assert sum(sizes(whole)) <= together
        assert max(sizes(whole)) <= each_page


async def test_a_model_s_page_keeps_to_it_too(people: Cast, site: Web) -> None:
    principal, run = await speaking(people)
    url = site.page("/light", article(LONG))
    for fixed, most in (({"max_tokens": 20}, 20), ({"max_tokens_per_page": 9}, 9), ({}, 12)):
        page = await MODEL_TOOLS["web_fetch"](principal, run, {"url": url, "max_tokens": 12}, fixed)
        assert isinstance(page, dict)
        assert 0 < sizes([str(page["text"])])[0] <= min(most, 12)


@pytest.mark.parametrize(
    ("name", "most"), [("max_tokens", MOST_TOKENS), ("max_tokens_per_page", MOST_TOKENS_PER_PAGE)]
)
async def test_a_budget_has_an_upper_bound(people: Cast, brave: ProviderDouble, name: str, most: int) -> None:
    """A million tokens of a page were taken, and worked on."""
    assert (await ask(people, mode="results", **{name: most})).status_code == 200
    for more in (most + 1, 1_000_000):
        refused = await ask(people, **{name: more})
        assert code_of(refused) == (400, "validation_error")
        assert refused.json()["error"]["param"] == name


async def test_the_message_of_a_limit_tells_exact_sums(people: Cast, brave: ProviderDouble) -> None:
    """It said that the whole limit was spent where only a part was."""
    with override_settings(WEB_PRICES=["brave=5"]):
        await change(people, max_cost=0.027)
        for number in range(5):
            assert (await ask(people, query=f"light {number}", mode="results")).status_code == 200
        refused = await ask(people, query="one more", mode="results")
    assert code_of(refused) == (402, "budget_exceeded")
    message = refused.json()["error"]["message"]
    assert "0.027 US dollars" in message
    assert "0.025 are spent or reserved" in message
    assert "this call may cost 0.005" in message
