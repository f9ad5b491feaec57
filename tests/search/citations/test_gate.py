"""The gate: what it passes on is checked, can't change any more, and is in the end the whole response."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.embedding.calibration import MINILM
from search.citations.gate import StatementGate
from search.citations.markers import MarkerStream
from search.citations.resolve import JudgedGroup, Resolved, judge_groups, resolve
from search.contexts import Context
from tests.search.citations.test_resolve import MOON, PROFIT, TEA, without_meaning

SOURCES: Sequence[Context] = (TEA, MOON, PROFIT)
CITATION = re.compile(r'<citation id="[^"]+">\[(\d+)\]</citation>')


def judge(raw: str, skip: int) -> Sequence[JudgedGroup]:
    return judge_groups(raw, SOURCES, "What is it?", MINILM, skip, without_meaning)


def passed(said: str, size: int) -> Iterator[tuple[str, str]]:
    """Yield what is passed on of a text that comes in pieces, with what was fed so far."""
    stream, gate, fed = MarkerStream(), StatementGate(judge), ""
    for start in range(0, len(said), size):
        for partial in stream.feed(said[start : start + size]):
            fed += partial
            if gate.feed(partial):
                yield from ((fed, text) for text in gate.release())
    for partial in stream.finish():
        gate.feed(partial)
    rest, resolved = gate.finish()
    yield from ((stream.text, text) for text in rest)
    assert resolved == resolve(stream.text.rstrip(), SOURCES, "What is it?", MINILM, without_meaning)


def with_markers(resolved: Resolved) -> str:
    return CITATION.sub(r"<source_\1>", resolved.response)


def whole(said: str) -> Resolved:
    stream = MarkerStream()
    list(stream.feed(said))
    list(stream.finish())
    return resolve(stream.text.rstrip(), SOURCES, "What is it?", MINILM, without_meaning)


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize(
    "said",
    [
        "Tea roses smell of tea <source_1>. The moon is made of cheese <source_2>. Roses are red. <source_1>",
        "Tea roses smell of tea. <source_1> <source_2> Apollo 11 landed in 1969 <source_2>.\n\nNothing.",
        "According to <source_1>, tea roses smell of tea. The moon is 384,400 km away [2].",
        "<source_1> Roses are red and rare. No more.",
        "- Roses are red <source_1>\n- Net revenue was $3.2 billion in 2023 <source_1>\n- <source_2>\n",
        "A tag \\<source_1> is text. Roses are rare.\n  <source_1>\nThe end.  ",
        "Nothing is cited here. At all.",
        "",
    ],
)
def test_what_is_passed_on_is_the_response(said: str, size: int) -> None:
    assert "".join(text for _, text in passed(said, size)) == with_markers(whole(said))


def test_a_statement_is_held_until_its_markers_are_judged() -> None:
    said = "The moon is made of cheese <source_2>. Roses are red <source_1>. Nothing else."
    parts = list(passed(said, 1))
    first = next(fed for fed, text in parts if text.startswith("The moon"))
    assert first == "The moon is made of cheese <source_2>. R"
    assert not any("<source_2>" in text for _, text in parts)
    assert [text for _, text in parts][1] == "Roses are red <source_1>. "


PIECES = [
    "Roses are red",
    " ",
    "\n",
    ". ",
    "<source_1>",
    "<source_2>",
    "<source_9>",
    "[3]",
    "It is",
    ", ",
    "Tea ",
]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join), st.integers(1, 9))
def test_however_a_text_comes_the_gate_takes_nothing_back(said: str, size: int) -> None:
    assert "".join(text for _, text in passed(said, size)) == with_markers(whole(said))
