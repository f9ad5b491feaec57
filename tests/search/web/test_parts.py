"""Of a long text the parts nearest to a question are read: wherever they stand, within the budget."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
from pytest_django import Settings

from search.web.base import Hit, WebQuery
from search.web.pages import LongPage
from search.web.parts import PART_CHARS, RankedText, cut, ranked_by_meaning, ranked_by_words, tokens_of
from search.web.sources import PageSource, within_budget
from tests.conftest import Cast
from tests.search.web.calling import CITATION, ask, change
from tests.testing.search_engines import ProviderDouble, WebPage
from tests.testing.web import Web

QUESTION = "In which year did the Ardnacross ferry begin to carry bicycles?"
ANSWER = "Bicycles have been carried by the Ardnacross ferry since the year 1927."
PARAPHRASE = "The old boat took its first passengers with two wheels on board in 1927."
SUBJECTS = ["The harbour master", "A baker", "The council", "An old miller", "The school", "A surveyor"]
VERBS = ["counted", "painted", "sold", "repaired", "described", "measured", "forgot", "rented"]
THINGS = ["eleven barrels", "the northern wall", "a row of elms", "three ledgers", "the market cross"]
TIMES = ["in spring", "before the war", "on a Tuesday", "every autumn", "without haste", "at low tide"]
WHOLE = 10**9


def paragraphs(count: int) -> list[str]:
    """Return paragraphs that have nothing to do with the question; the same in each run."""
    chance = random.Random(7)

    def sentence() -> str:
        return " ".join(map(chance.choice, (SUBJECTS, VERBS, THINGS, TIMES))) + "."

    return [" ".join(sentence() for _ in range(6)) for _ in range(count)]


def text_with(answer: str, share: float, count: int = 800) -> str:
    """Return a text in which the answer stands after a share of all paragraphs."""
    said = paragraphs(count)
    said.insert(int(share * count), answer)
    return "\n\n".join(said)


def ranked(question: str, text: str) -> RankedText:
    return ranked_by_meaning(question, [ranked_by_words(question, text, "en")])[0]


# --- Parts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.9, 1])
def test_the_answer_is_found_wherever_it_stands(share: float) -> None:
    found = ranked(QUESTION, text_with(ANSWER, share))
    for budget in (25, 60, 300, 1000):
        read, tokens = found.nearest(budget)
        assert ANSWER in read
        assert budget / 2 < tokens <= budget
        assert tokens_of([read])[0] <= budget


def test_meaning_finds_what_words_do_not() -> None:
    question = "When could cyclists first travel on the vessel?"
    text = text_with(PARAPHRASE, 0.6, count=90)
    assert PARAPHRASE in ranked(question, text).nearest(200)[0]


def test_parts_are_the_text_s_own_words_in_its_order() -> None:
    text = text_with(ANSWER, 0.5, count=60)
    for budget in (1, 50, 400, WHOLE):
        read, _ = ranked(QUESTION, text).nearest(budget)
        at = 0
        for stretch in read.split("\n\n"):
            found = text.find(stretch, at)
            assert found >= at, "words that are not there, or in another order"
            at = found + len(stretch)
    assert ranked(QUESTION, text).nearest(WHOLE)[0] == text


def test_a_text_without_words_has_no_parts() -> None:
    for nothing in ("", "\n\n", "   "):
        assert ranked(QUESTION, nothing).nearest(100) == ("", 0)


def test_two_texts_share_the_time() -> None:
    first, second = (ranked_by_words(QUESTION, text_with(ANSWER, share), "en") for share in (0.2, 0.8))
    for each in ranked_by_meaning(QUESTION, [first, second]):
        assert any(cosine is not None for cosine in each.meaning)


HOSTILE = {
    "digits": "9" * 200_000,
    "fences": "=" * 200_000,
    "brackets": "[(" * 100_000,
    "abbreviations": "A." * 100_000,
    "ends": ".)" * 100_000,
    "sentences": "a. " * 70_000,
    "no spaces": "水門" * 100_000,
    "one line": "word " * 40_000,
    "lines": "x\n" * 100_000,
    "nothing": " \n" * 100_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_text_of_any_kind_is_parted_and_cut_in_time(text: str) -> None:
    """An unbroken run is one token to a tokenizer: neither parts nor budgets may go by that alone."""
    begun = time.monotonic()
    found = ranked_by_words(QUESTION, text, "en")
    assert all(end - start <= PART_CHARS for start, end in found.parts)
    for read, tokens in (found.nearest(100), cut(text, 100)):
        assert tokens <= 100
        assert len(read) <= 1200
    assert time.monotonic() - begun < 20


def test_no_more_is_read_of_a_page_than_a_language_model_is_shown(settings: Settings) -> None:
    """What does not fit into its context is cut off at the end, which may be what matters."""
    found = ranked(QUESTION, text_with(ANSWER, 1))
    source = PageSource(
        Hit("Notes", "https://a.example/", ""), LongPage("https://a.example/", "Notes", found)
    )
    ((_, read),) = within_budget([source], WebQuery(QUESTION, 5, max_tokens_per_page=20_000))
    assert ANSWER in read
    assert tokens_of([read])[0] <= settings.GENERATION_CONTEXT_TOKENS


# --- In answers and results --------------------------------------------------------------------------------


def page(text: str) -> bytes:
    body = "".join(f"<p>{paragraph}</p>" for paragraph in text.split("\n\n"))
    return f"<html><head><title>Notes</title></head><body><article>{body}</article></body></html>".encode()


@pytest.mark.django_db(transaction=True)
class TestPages:
    @pytest.mark.parametrize(
        "share", [*(pytest.param(share, marks=pytest.mark.slow("model")) for share in (0, 0.5)), 1]
    )
    async def test_answers_come_from_anywhere_in_a_long_page(
        self, people: Cast, brave: ProviderDouble, site: Web, share: float
    ) -> None:
        """Only the beginning of a page was read, so that what stood further down was never found."""
        await change(people, scraping=True)
        brave.pages = [WebPage("Notes", site.page("/notes", page(text_with(ANSWER, share))), "Old notes.")]
        more: list[dict[str, Any]] = [{}, {"search_context_size": "low"}, {"max_tokens_per_page": 20_000}]
        for inputs in more:
            result = (await ask(people, query=QUESTION, **inputs)).json()
            assert result["sources"][0]["quote"] == ANSWER
            assert [url for url, _, _ in CITATION.findall(result["response"])] == [site.url("/notes")]

    async def test_bodies_are_the_nearest_parts(self, people: Cast, brave: ProviderDouble, site: Web) -> None:
        brave.pages = [WebPage("Notes", site.page("/notes", page(text_with(ANSWER, 0.7))), "Old notes.")]
        result = (await ask(people, query=QUESTION, mode="results", expand=True)).json()
        body = result["results"][0]["body"]
        assert ANSWER in body
        assert tokens_of([body])[0] <= 1000
