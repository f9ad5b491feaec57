"""Markers while streaming, citations and quotes in the result."""

from __future__ import annotations

import json
import random
from uuid import uuid4

import pytest

from kb.locations import Box, LocatedText, OnPage, Page
from kb.models import Chunk
from search.answer.base import Context
from search.answer.citations import MAX_PARTIAL_BYTES, MarkerSafeSplitter, resolve
from search.answer.extractive import Evidence, choose, escape_markdown, weigh

PAGE = Page(3, 600, 800)


def context(rank: int, *sentences: str, located: bool = True) -> Context:
    """A context whose sentence i stands on line i of page 3, each word 10 points wide."""
    words = [
        (word, OnPage(PAGE, line, Box(10.0 * i, 20.0 * line, 10.0 * i + 9, 20.0 * line + 12)))
        for line, sentence in enumerate(sentences)
        for i, word in enumerate(sentence.split())
    ]
    text = LocatedText.of_words(words)
    bounds, at = [], 0
    for sentence in sentences:
        bounds.append([at, at + len(sentence)])
        at += len(sentence) + 1
    spans = text.dump() if located else []
    chunk = Chunk(id=uuid4(), document_id=uuid4(), text=text.text, sentences=bounds, spans=spans)
    return Context(rank, chunk, "a.pdf", 1.0)


def partials(pieces: list[str]) -> list[str]:
    splitter = MarkerSafeSplitter()
    sent = [partial for piece in pieces for partial in splitter.feed(piece)]
    return sent + list(splitter.finish())


class TestPartials:
    @pytest.mark.parametrize("seed", range(20))
    def test_however_the_text_arrives_nothing_is_lost_and_no_marker_is_cut(self, seed: int) -> None:
        rng = random.Random(seed)
        words = [
            "tea",
            "<source_1>",
            "<source_12>",
            "<",
            "<sour",
            "\n",
            "é" * 90,
            "😀" * 40,
            '"quoted"',
            "<source_x>",
        ]
        text = " ".join(rng.choices(words, k=120))
        cuts = sorted(rng.sample(range(len(text)), 60))
        pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        sent = partials(pieces)
        assert "".join(sent) == text
        assert sum(p.count("<source_1>") + p.count("<source_12>") for p in sent) == text.count(
            "<source_1>"
        ) + text.count("<source_12>")
        assert all(len(json.dumps(p)) - 2 <= MAX_PARTIAL_BYTES for p in sent)

    def test_a_marker_that_arrives_in_letters_is_sent_whole(self) -> None:
        assert partials(list("Yes <source_7>."))[-2:] == ["<source_7>", "."]


class TestResolve:
    def test_markers_become_citations_with_the_sentence_behind_them(self) -> None:
        tea = context(1, "Roses are red and rare.", "Tea roses smell of tea.")
        resolved = resolve("Tea roses smell of tea <source_1>.", [tea])
        assert resolved.response == f'Tea roses smell of tea <citation id="{tea.chunk.pk}">[1]</citation>.'
        [quote] = resolved.quotes[1]
        assert quote.text == "Tea roses smell of tea."
        assert quote.bbox is not None
        assert [(b.page_number, b.bbox[1]) for b in quote.bbox] == [(3, 20.0)]
        assert resolved.response[quote.response_start : quote.response_end] == "Tea roses smell of tea"
        assert (resolved.sources_used, resolved.removed) == ([1], 0)

    def test_invented_sources_are_removed_and_counted(self) -> None:
        resolved = resolve("One <source_1>. Two <source_9><source_0>.", [context(1, "One.")])
        assert (resolved.removed, resolved.sources_used) == (2, [1])
        assert resolved.response.endswith("Two .")

    def test_two_citations_of_one_statement_both_support_it(self) -> None:
        contexts = [context(1, "The moon is far away."), context(2, "Far away is the moon.")]
        resolved = resolve("- The moon is far <source_1> <source_2>\n- Else <source_1>", contexts)
        first, second = resolved.quotes[1][0], resolved.quotes[2][0]
        assert (first.response_start, first.response_end) == (second.response_start, second.response_end)
        assert resolved.response[first.response_start : first.response_end] == "The moon is far"
        assert len(resolved.quotes[1]) == 2

    def test_a_place_nobody_can_be_sure_of_is_not_given(self) -> None:
        [quote] = resolve(
            "Completely different words here <source_1>", [context(1, "Roses are red.")]
        ).quotes[1]
        assert quote.bbox is None

    def test_text_without_coordinates_is_quoted_without_boxes(self) -> None:
        [quote] = resolve("Roses are red <source_1>", [context(1, "Roses are red.", located=False)]).quotes[1]
        assert (quote.text, quote.bbox) == ("Roses are red.", None)

    def test_offsets_count_code_points(self) -> None:
        resolved = resolve("😀😀 Ça. Roses are red <source_1>", [context(1, "Roses are red.")])
        [quote] = resolved.quotes[1]
        assert resolved.response[quote.response_start : quote.response_end] == "Roses are red"


class TestExtractive:
    @pytest.mark.parametrize(
        "hostile",
        [
            "<source_1>",
            '<citation id="x">[1]</citation>',
            "[click](javascript:x)",
            "<b>bold</b>",
            "&lt;i&gt;",
        ],
    )
    def test_document_text_can_not_pose_as_markup(self, hostile: str) -> None:
        from html.parser import HTMLParser

        from markdown_it import MarkdownIt

        shown: list[str] = []
        tags: list[str] = []

        class Reader(HTMLParser):
            def handle_starttag(self, tag: str, attrs: object) -> None:
                tags.append(tag)

            def handle_data(self, data: str) -> None:
                shown.append(data)

        Reader().feed(MarkdownIt("commonmark", {"html": True}).render(escape_markdown(hostile)))
        assert "".join(shown).strip() == hostile
        assert tags == ["p"]
        assert resolve(escape_markdown(hostile), [context(1, "One.")]).sources_used == []

    def test_nothing_below_the_floor_is_told(self) -> None:
        one = context(1, "The weather was fine.")
        assert choose([Evidence(one, one.sentences[0], 0.2)]) == []

    def test_neither_headings_nor_questions_are_answers(self) -> None:
        asked = context(
            1,
            "Ask: “Who can delete a workspace?”",
            "Deleting a whole workspace",
            "Owners delete a workspace.",
        )
        asked.chunk.headings = ["Deleting a whole workspace"]
        told = [e.sentence.text for e in weigh("Who can delete a workspace?", [asked])]
        assert told == ["Owners delete a workspace."]

    def test_the_same_sentence_is_told_once_and_no_context_talks_alone(self) -> None:
        one, two = context(1, "A a a.", "B b b.", "C c c."), context(2, "A a a.")
        evidence = [Evidence(one, s, 0.9) for s in one.sentences] + [Evidence(two, two.sentences[0], 0.9)]
        assert [e.sentence.text for e in choose(evidence)] == ["A a a.", "B b b."]
