"""Which citations hold, where the others go, and the place each points at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.embedding.base import Vectors
from kb.embedding.calibration import MINILM
from search.citations.markers import MARKER
from search.citations.resolve import Resolved, boundaries, resolve
from search.contexts import Context
from tests.search.contexts import context

CITATION = re.compile(r'<citation id="[^"]+">\[\d+\]</citation>')


def without_meaning(texts: Sequence[str]) -> Vectors:
    """Vectors of which no two are alike: only words can show that one text says what another does."""
    vectors = np.zeros((len(texts), 384), np.float32)
    for row, text in zip(vectors, texts, strict=True):
        row[:] = np.random.default_rng(crc32(text.encode())).standard_normal(384) / np.sqrt(384)
    return vectors


def resolved(raw: str, *contexts: Context, question: str = "What is it?") -> Resolved:
    return resolve(raw, contexts, question, MINILM, without_meaning)


def outcomes(result: Resolved) -> list[tuple[int, int | None, str]]:
    return [(verdict.asked, verdict.cited, verdict.outcome) for verdict in result.verdicts]


TEA = context(1, "Roses are red and rare.", "Tea roses smell of tea.")
MOON = context(2, "The moon is 384,400 km away.", "Apollo 11 landed there in 1969.")
PROFIT = context(3, "Net revenue was $ 3.2 billion in 2023.", "Adobe grew by 12.5 percent.")


# --- The response ------------------------------------------------------------------------------------------


def test_markers_become_citations_with_the_sentence_behind_them() -> None:
    result = resolved("Tea roses smell of tea <source_1>.", TEA)
    assert result.response == f'Tea roses smell of tea <citation id="{TEA.chunk_id}">[1]</citation>.'
    [quote] = result.quotes[1]
    assert quote.text == "Tea roses smell of tea."
    assert quote.bbox is not None
    assert [(b.page_number, b.bbox[1]) for b in quote.bbox] == [(3, 20.0)]
    assert result.response[quote.response_start : quote.response_end] == "Tea roses smell of tea"
    assert (result.sources_used, result.removed) == ([1], 0)


def test_a_heading_that_the_text_repeats_is_not_what_is_quoted() -> None:
    segment = context(1, "Harbour Lights Segment.", "Sales were 300 in 2023, 340 in 2022 and 310 in 2021.")
    segment = replace(segment, headings=("Report", "Harbour Lights Segment"))
    result = resolved("Harbour Lights Segment · Sales · 2023: 300 <source_1>", segment)
    assert [quote.text for quote in result.quotes[1]] == [
        "Sales were 300 in 2023, 340 in 2022 and 310 in 2021."
    ]
    # Where it is all there is, it is quoted.
    alone = replace(context(1, "Harbour Lights Segment."), headings=segment.headings)
    assert resolved("It is the Harbour Lights Segment <source_1>.", alone).quotes[1]


def test_invented_sources_are_removed_and_counted() -> None:
    result = resolved("Roses are red <source_1>. They are rare <source_9><source_0>.", TEA)
    assert (result.removed, result.sources_used) == (2, [1])
    assert result.response.endswith("They are rare.")


def test_what_is_removed_joins_nothing_to_a_citation() -> None:
    result = resolved('Roses <cita <source_9>tion id="9b-de">[1]</cita<source_9>tion>', TEA)
    assert result.response == 'Roses <cita tion id="9b-de">[1]</cita tion>'


def test_a_marker_amid_a_sentence_is_about_the_clause_before_it() -> None:
    result = resolved(
        "Roses are red and rare <source_1>, while the moon is 384,400 km away <source_2>.", TEA, MOON
    )
    said = [
        result.response[q.response_start : q.response_end] for rank in (1, 2) for q in result.quotes[rank]
    ]
    assert said == ["Roses are red and rare", "while the moon is 384,400 km away"]


def test_a_marker_before_what_it_says_is_about_what_follows() -> None:
    result = resolved("According to <source_2>, Apollo 11 landed there in 1969.", MOON)
    [quote] = result.quotes[2]
    assert quote.text == "Apollo 11 landed there in 1969."
    assert result.response[quote.response_start : quote.response_end] == "Apollo 11 landed there in 1969."


def test_a_sentence_goes_on_behind_an_abbreviation() -> None:
    pfizer = context(1, "These statements are about Pfizer Inc. and its subsidiaries.")
    result = resolved(
        "It is audited. The statements are about Pfizer Inc. and its subsidiaries <source_1>.", pfizer
    )
    [quote] = result.quotes[1]
    said = result.response[quote.response_start : quote.response_end]
    assert said == "The statements are about Pfizer Inc. and its subsidiaries"


@pytest.mark.parametrize(
    "said",
    [
        "Bitte teilen Sie uns den Stand bis zum 5. Oktober mit.",
        "The crown was made by Dr. Amelia Stone in Bristol.",
        "Die Brücke wurde im 19. Jahrhundert gebaut.",
    ],
)
def test_a_sentence_goes_on_behind_an_ordinal_and_a_title(said: str) -> None:
    result = resolved(f"- {said} <source_1>", context(1, said))
    [quote] = result.quotes[1]
    assert result.response[quote.response_start : quote.response_end] == said


@pytest.mark.parametrize(
    ("written", "count"), [("Am 5. Ok", 0), ("Am 5. Oktober", 0), ("Es sind 5. Otto ging.", 1), ("Ja. Ok", 1)]
)
def test_a_statement_ends_behind_a_number_only_when_the_next_word_is_known(written: str, count: int) -> None:
    assert len(boundaries(written, 0)) == count


def test_a_value_that_is_told_alone_is_quoted_where_it_stands() -> None:
    found = context(1, "Meeting ID", "Berlin", "Please note the meeting ID.")
    [quote] = resolved("Berlin <source_1>", found, question="Where is the meeting?").quotes[1]
    assert quote.text == "Berlin"


def test_offsets_count_code_points() -> None:
    result = resolved("😀😀 Ça <source_7>. Roses are red <source_1>", TEA)
    [quote] = result.quotes[1]
    assert result.response[quote.response_start : quote.response_end] == "Roses are red"


def test_a_place_nobody_can_be_sure_of_is_not_given() -> None:
    strewn = context(
        1,
        "Red kites circle above quiet northern valleys.",
        "Rare stamps fetch absurd prices everywhere.",
        "Roses need plenty of water.",
        "Gardens close before sunset on weekdays.",
        "Summers became shorter every decade.",
    )
    raw = "Red rare roses, gardens, summers <source_1>"
    result = resolve(raw, [strewn], "", MINILM, without_meaning)
    assert [quote.bbox for quote in result.quotes[1]] == [None]


def test_text_without_coordinates_is_quoted_without_boxes() -> None:
    plain = context(1, "Roses are red.", located=False)
    [quote] = resolved("Roses are red <source_1>", plain).quotes[1]
    assert (quote.text, quote.bbox) == ("Roses are red.", None)


SALES = (
    "| (in millions) | 2023 | 2022 |\n| --- | --- | --- |\n"
    "| Net revenue | 3,200 | 2,900 |\n| Net income | 310 | 280 |"
)


def test_a_row_of_a_table_is_quoted_with_the_row_that_names_its_columns() -> None:
    rows = context(1, *SALES.split("\n"), between="\n")
    [quote] = resolved("Net income · 2023: 310 (in millions) <source_1>", rows).quotes[1]
    assert quote.text == "| Net income | 310 | 280 |"
    assert quote.header is not None
    assert quote.header.text == "| (in millions) | 2023 | 2022 |"
    assert [[box.bbox[1] for box in boxes or []] for boxes in (quote.header.bbox, quote.bbox)] == [
        [0.0],
        [60.0],
    ]


def test_each_operand_of_a_formula_is_quoted_where_it_stands() -> None:
    rows = context(1, *SALES.split("\n"), between="\n")
    result = resolved("Net margin of 2023: 310 ÷ 3,200 = 9.7 % <source_1>", rows)
    assert result.response.endswith(f" {2 * rows.citation}")
    assert [quote.text for quote in result.quotes[1]] == [
        "| Net revenue | 3,200 | 2,900 |",
        "| Net income | 310 | 280 |",
    ]


def test_a_year_or_a_figure_that_another_source_shows_is_quoted_nowhere_else() -> None:
    """A year stands in many rows, and what one source was cited for is no reason to quote another."""
    one = context(1, "Revenue was 3,200.", "In 2023 the office moved.", "It closed at 2,900 points.")
    other = context(2, "Costs were 2,900.")
    result = resolved("Revenue was 3,200 and costs were 2,900 in 2023 <source_1><source_2>.", one, other)
    assert {rank: [quote.text for quote in quotes] for rank, quotes in result.quotes.items()} == {
        1: ["Revenue was 3,200."],
        2: ["Costs were 2,900."],
    }


def test_the_row_that_names_the_columns_has_none_above_it() -> None:
    rows = context(1, *SALES.split("\n"), between="\n")
    [quote] = resolved("The columns are 2023 and 2022, in millions <source_1>", rows).quotes[1]
    assert (quote.text, quote.header) == ("| (in millions) | 2023 | 2022 |", None)


def test_a_row_whose_columns_have_no_names_stands_alone() -> None:
    headless = ["| Net revenue | 3,200 | 2,900 |", "| --- | --- | --- |", "| Net income | 310 | 280 |"]
    rows = context(1, *headless, between="\n")
    [quote] = resolved("Net income · 310 · 280 <source_1>", rows).quotes[1]
    assert (quote.text, quote.header) == ("| Net income | 310 | 280 |", None)


RAW = st.sampled_from(
    [
        *("Roses are red", "The moon", ". ", "\n- ", " ", "| a |", "1969", ", "),
        *("<source_1>", "<source_2>", "<source_9>"),
    ]
)


@given(st.lists(RAW, max_size=20).map("".join))
def test_only_markers_change(raw: str) -> None:
    def bare(text: str) -> str:
        return "".join(CITATION.sub("", MARKER.sub("", text)).split())

    result = resolved(raw, TEA, MOON)
    assert bare(result.response) == bare(raw)
    assert len(CITATION.findall(result.response)) == sum(map(len, result.quotes.values()))
    assert len(result.verdicts) == len(MARKER.findall(raw))


# --- What holds --------------------------------------------------------------------------------------------


def test_a_citation_moves_to_the_source_that_bears_it_out() -> None:
    result = resolved("The moon is 384,400 km away <source_1>.", TEA, MOON)
    assert outcomes(result) == [(1, 2, "moved")]
    assert str(MOON.chunk_id) in result.response


@pytest.mark.parametrize(
    "lie",
    [
        "The moon is 484,400 km away",
        "Apollo 12 landed there in 1969",
        "Apollo 11 landed there in 1970",
        "Net revenue was $ 3.3 billion in 2023",
        "Last year Microsoft grew by 12.5 percent",
        "Elephants never forget anything",
    ],
)
def test_what_no_source_says_is_not_cited(lie: str) -> None:
    result = resolved(f"{lie} <source_2>.", TEA, MOON, PROFIT)
    assert outcomes(result) == [(2, None, "unsupported")]
    assert (result.response, result.removed) == (f"{lie}.", 1)


@pytest.mark.parametrize(
    "said",
    [
        "In 2023 net revenues were $3.2bn",
        "Net revenue was 3,200 million in 2023",
        "Revenue (net) of 3.2 billion was reported for 2023",
        "Growth at Adobe was 12.5%",
    ],
)
def test_numbers_may_be_written_in_another_way(said: str) -> None:
    assert outcomes(resolved(f"{said} <source_3>.", PROFIT)) == [(3, 3, "held")]


def test_a_table_below_in_millions_bears_out_billions() -> None:
    table = context(1, "| in millions | 2023 | 2022 |", "| Total net revenue | 3,200 | 2,900 |")
    assert outcomes(resolved("Total net revenue in 2023 was 3.2 billion <source_1>.", table))[0][2] == "held"
    assert outcomes(resolved("Total net revenue in 2023 was 3.4 billion <source_1>.", table))[0][2] != "held"


def test_two_sources_may_bear_out_a_sentence_together() -> None:
    raw = "Roses are red and rare, and the moon is 384,400 km away <source_1><source_2>."
    assert outcomes(resolved(raw, TEA, MOON)) == [(1, 1, "held"), (2, 2, "held")]


def test_a_source_that_adds_nothing_is_dropped_beside_one_that_holds() -> None:
    raw = "The moon is 384,400 km away <source_1><source_2>."
    assert outcomes(resolved(raw, TEA, MOON)) == [(1, None, "repeated"), (2, 2, "held")]


def test_a_marker_behind_nothing_says_nothing() -> None:
    result = resolved("<source_1>\n\n", TEA, question="Are roses red and rare?")
    assert outcomes(result) == [(1, None, "unsupported")]


def test_yes_says_what_was_asked() -> None:
    assert outcomes(resolved("Yes <source_1>.", TEA, question="Are roses red?"))[0][2] == "held"
    assert outcomes(resolved("Yes <source_1>.", TEA, question="Is the moon made of cheese?"))[0][2] != "held"


def test_the_contrary_of_a_sentence_is_not_cited() -> None:
    def alike(texts: Sequence[str]) -> Vectors:
        return np.ones((len(texts), 1), np.float32)

    denied = resolve("Tea roses do not smell of tea <source_1>.", [TEA], "", MINILM, alike)
    assert outcomes(denied) == [(1, None, "unsupported")]
    elsewhere = context(2, "Tea roses do not smell of tea.")
    moved = resolved("Tea roses do not smell of tea <source_1>.", TEA, elsewhere)
    assert outcomes(moved) == [(1, 2, "moved")]


def test_a_word_of_denial_answers_the_question_and_denies_nothing_else() -> None:
    closed = context(1, "The museum is not open on Mondays.")
    asked = "Is the museum open on Mondays?"
    assert outcomes(resolved("No <source_1>.", closed, question=asked)) == [(1, 1, "held")]


def test_other_words_for_the_same_hold_by_their_meaning() -> None:
    def alike(texts: Sequence[str]) -> Vectors:
        return np.ones((len(texts), 1), np.float32)

    raw = "Fragrance resembling a hot beverage <source_1>."
    assert resolved(raw, TEA).sources_used == []
    result = resolve(raw, [TEA], "What is it?", MINILM, alike)
    assert outcomes(result) == [(1, 1, "held")]


def test_words_decide_without_the_model() -> None:
    def never(texts: Sequence[str]) -> Vectors:
        raise AssertionError("The model was asked.")

    assert resolve("Tea roses smell of tea <source_1>.", [TEA], "", MINILM, never).sources_used == [1]
