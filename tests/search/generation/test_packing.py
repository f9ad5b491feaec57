"""What of the contexts fits into a budget."""

from __future__ import annotations

import pytest

from search.contexts import Context
from search.generation.packing import pack
from tests.search.contexts import context

CONTEXTS = [
    context(1, "One two three.", "Four five six."),
    context(2, "Seven.", "Eight."),
    context(3, "Nine."),
]


def words(context: Context, text: str) -> int:
    """A label of one word, and the text's words."""
    return 1 + len(text.split())


@pytest.mark.parametrize(
    ("budget", "texts"),
    [
        (100, ["One two three. Four five six.", "Seven. Eight.", "Nine."]),
        (12, ["One two three. Four five six.", "Seven. Eight.", "Nine."]),
        (11, ["One two three. Four five six.", "Seven. Eight."]),
        (9, ["One two three. Four five six.", "Seven."]),
        (8, ["One two three. Four five six."]),
        (6, ["One two three."]),
        (3, ["One two"]),
        (1, []),
    ],
)
def test_the_best_come_first_and_the_last_is_cut_at_a_sentence(budget: int, texts: list[str]) -> None:
    assert [excerpt.text for excerpt in pack(CONTEXTS, budget, words)] == texts


def test_rank_decides_and_not_the_order_given() -> None:
    assert [excerpt.context.rank for excerpt in pack(CONTEXTS[::-1], 9, words)] == [1, 2]


def test_what_comes_after_the_cut_is_left_out_though_it_would_fit() -> None:
    assert [excerpt.context.rank for excerpt in pack(CONTEXTS, 8 + 1, words)] == [1, 2]
    assert pack([], 100, words) == []


@pytest.mark.parametrize("budget", range(1, 60))
def test_the_budget_holds(budget: int) -> None:
    packed = pack(CONTEXTS, budget, lambda context, text: 3 + len(text))
    assert sum(3 + len(excerpt.text) for excerpt in packed) <= budget
    assert all(excerpt.context.text.startswith(excerpt.text) for excerpt in packed)
