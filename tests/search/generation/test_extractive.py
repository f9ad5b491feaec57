"""What the extractive generator chooses, in which order, and how it words what it quotes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from kb.embedding import embedding_model
from kb.embedding.base import Vectors
from kb.embedding.calibration import MINILM
from search.citations.markers import MARKER, MarkerStream
from search.citations.resolve import resolve
from search.contexts import Context
from search.generation.base import Choice, Corpus, GenerationRequest
from search.generation.extractive import ExtractiveGenerator, escape_markdown, extract, nothing_found
from search.generation.extractive.choosing import SURE_ODDS, choose, paragraphs
from search.generation.extractive.expected import expected_by, lacks_count
from search.generation.extractive.reading import ModelReading
from search.generation.extractive.rereading import READ_BEHIND, READ_ONCE_MORE
from search.generation.extractive.shares import can_answer
from search.generation.extractive.statements import Statement, statements
from search.generation.extractive.weighed import WeighedStatement
from search.generation.extractive.weighing import weigh
from search.generation.extractive.wording import (
    NOTHING_FOUND_IN,
    NOTHING_FOUND_ON_THE_WEB,
    in_one_line,
)
from search.question_language import language_of
from tests.search.contexts import context, table_context
from tests.testing.payments import UNRECORDED
from tests.testing.readings import GivenReading

REVENUE = (
    "| (in millions) | 2023 | 2022 |\n| --- | --- | --- |\n"
    "| Cost of sales . . . . . . . | $ 1,900 | $ 1,750 |\n| Net revenue . . . . . . . | $ 3,200 | $ 2,900 |"
)


def table(rank: int, text: str) -> Context:
    """A context that is a table, whose first row is its header."""
    bounds, at = [], 0
    for line in text.split("\n"):
        bounds.append((at, at + len(line)))
        at += len(line) + 1
    return replace(context(rank, text, located=False), text=text, sentence_bounds=tuple(bounds[2:]))


def told(question: str, *contexts: Context) -> list[str]:
    return [each.text for each in statements(question, contexts)]


async def answered(question: str, contexts: Sequence[Context], *, reflection: bool = False) -> str:
    pieces = ExtractiveGenerator(Choice("extractive")).answer(
        GenerationRequest(question, contexts, reflection), UNRECORDED
    )
    return "".join([piece async for piece in pieces if isinstance(piece, str)])


# --- Tables ------------------------------------------------------------------------------------------------


async def test_a_figure_is_told_with_its_row_its_column_and_its_unit() -> None:
    prose = context(2, "The company was founded in a garage.", "Its net revenue is discussed below.")
    response = await answered("What was net revenue in 2023?", [table(1, REVENUE), prose])
    assert response.removeprefix("- ").startswith("Net revenue · 2023: $ 3,200 (in millions) <source_1>")
    assert "2,900" not in response
    resolved = resolve(response, [table(1, REVENUE), prose], "", MINILM, embedding_model().embed_documents)
    assert resolved.removed == 0
    assert resolved.quotes[1][0].text == REVENUE.split("\n")[3]


def test_a_column_is_known_by_its_fiscal_year() -> None:
    assert "Net revenue · 2023: $ 3,200 (in millions)" in told("Net revenue in FY23?", table(1, REVENUE))


def test_where_no_column_is_asked_for_the_row_is_told_whole() -> None:
    expected = "Net revenue · 2023: $ 3,200 · 2022: $ 2,900 (in millions)"
    assert expected in told("How much is net revenue?", table(1, REVENUE))


def test_a_first_row_of_figures_names_no_columns() -> None:
    text = "| Interest expense | 4,094 | — |\n| --- | --- | --- |\n| Interest income | (15,621) | (41,041) |"
    assert told("Interest?", table(1, text)) == ["Interest income · (15,621) · (41,041)"]


def test_rows_without_content_are_not_told() -> None:
    text = "| Assets | 2023 |\n| --- | --- |\n| Current assets: |  |\n| Goodwill, net of impairment | — |"
    assert told("assets", table(1, text)) == []


def test_sentences_around_a_table_are_told_and_those_that_announce_it_are_not() -> None:
    said = "We sold more lamps than in any other year."
    announced = "Our results are as follows:"
    note = "(1) Includes the lamps of the lighthouse."
    text = f"{said} {announced}\n\n{REVENUE}\n\n{note}"
    starts = [text.index(each) for each in (said, announced, "| Cost", "| Net", note)]
    ends = [len(said), starts[1] + len(announced), starts[3] - 1, text.index("\n\n(1)"), len(text)]
    around = replace(table(1, REVENUE), text=text, sentence_bounds=tuple(zip(starts, ends, strict=True)))
    found = list(statements("Which lamps?", [around]))
    assert [each.text for each in found if not each.is_row] == [said, note]
    assert sum(each.is_row for each in found) == 2


# --- Sentences ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [
        "Ask: “Who can delete a workspace?”",
        "Deleting a whole workspace",
        "Rights of Owners and Admins",
        "Figure 3: Owners delete a workspace.",
        "© 2023 Owners of workspaces, Inc.",
        "Copyright 2024 by the owners of the workspace.",
        "Deleting a workspace . . . . . . . . . 17",
        "The following may delete a workspace:",
        "of the workspace that was deleted by its owner.",
        "1.2 3.4 5.6 7.8 9.1 2.3 4.5 (workspace)",
        "See Note 5, Deleted Workspaces.",
        "Who may delete a workspace is described in Part II, Item 7A.",
        "Deleting a workspace as in Item 1A of the Annual Report on Form 10-K may lead to losses.",
    ],
)
def test_what_is_no_statement_is_no_answer(other: str) -> None:
    one = replace(context(1, other, "Owners delete a workspace."), headings=("Deleting a whole workspace",))
    assert told("Who can delete a workspace?", one) == ["Owners delete a workspace."]


@pytest.mark.parametrize(
    "said",
    [
        "Owners delete a workspace (see Note 5).",
        "Deleting a workspace is described as part of the owner's work.",
        "The rights to delete are contained in the notes of owners.",
    ],
)
def test_a_sentence_with_content_may_also_point_elsewhere(said: str) -> None:
    assert told("Who can delete a workspace?", context(1, said)) == [said]


def test_where_all_is_written_small_nothing_is_cut_off() -> None:
    assert (
        len(told("who deletes it?", context(1, "owners delete a workspace.", "admins can not do that."))) == 2
    )


def test_words_parted_at_the_end_of_a_line_are_whole_again_where_they_are_known() -> None:
    parted = "Exper- iments show long- term and signif- icant effects."
    assert in_one_line(parted, "The experiments were long-term.") == (
        "Experiments show long-term and signif- icant effects."
    )


def test_dot_leaders_are_not_told() -> None:
    assert in_one_line("Total\n revenue . . . . . . $ 5 ……… 6 ____ 7") == "Total revenue $ 5 6 7"


# --- Kinds of content --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("When was the tower built?", "It was built in 1893.", "It was built of stone."),
        ("Wann wurde der Turm gebaut?", "Er wurde am 3. März gebaut.", "Er wurde aus Stein gebaut."),
        ("Was 1893 when it was built?", "It was built in the 18th century.", "It was there in 1893."),
        ("How many steps has it?", "It has two hundred steps.", "It has steps."),
        ("Combien de marches ?", "La tour a 200 marches.", "La tour a des marches."),
        ("Who built it?", "It was built by Ada Byron.", "It was built by a mason."),
        ("Why is it red?", "It is red because ships must see it.", "It is red."),
        ("What is a lantern?", "A lantern is the room of the light.", "Many see the lantern from afar."),
    ],
)
def test_a_question_tells_what_kind_of_content_answers_it(question: str, right: str, wrong: str) -> None:
    holds = expected_by(question)
    assert holds(right)
    assert not holds(wrong)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What percentage of the ships were saved?", "80 percent of the ships were saved."),
        ("Welcher Anteil der Schiffe wurde gerettet?", "Zwei Drittel der Schiffe wurden gerettet."),
        ("By how many percent did it rise?", "It rose by half."),
        ("How many ships were saved?", "Twelve ships were saved."),
        ("What part of the tower is red?", "The lantern of the tower is red."),
    ],
)
def test_a_share_answers_who_asks_for_one(question: str, answer: str) -> None:
    assert can_answer(question)(answer)


def test_who_asks_for_a_share_gets_no_other_statement() -> None:
    saved = "In the third quarter many ships were saved by the lighthouse."
    assert not can_answer("What percentage of the ships were saved?")(saved)
    assert not can_answer("What percentage of the ships were saved?")("Rescues were up 12% from a year ago.")
    assert can_answer("What percentage of the ships were saved?")("Up to 30% of the ships were saved.")
    assert can_answer("By what percentage did rescues grow?")("Rescues were up 12% from a year ago.")
    asked = GenerationRequest("What percentage of ships were saved by the lighthouse?", [context(1, saved)])
    assert extract(asked, GivenReading(odds=lambda _: 5.0)) == [nothing_found(asked)]


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("¿Cuántos barcos se salvaron?", "Se salvaron más de 1500 barcos.", False),
        ("Quante navi si salvarono?", "La torre salvò navi nel gennaio del 1896.", True),
        ("Quante navi si salvarono?", "Nel 1896 se ne salvarono trentuno.", False),
    ],
)
def test_a_year_counts_nothing_in_any_language(question: str, text: str, lacks: bool) -> None:
    assert lacks_count(question, text) is lacks


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("How many ships were saved?", "Ships were saved by the lighthouse.", True),
        ("How many ships were saved?", "Ships were saved by the lighthouse [9].", True),
        ("How many of the 9 ships were saved?", "Of the 9 ships some were saved.", True),
        ("How many ships were saved?", "Twelve ships were saved.", False),
        ("How many ships were saved?", "Only a few ships were saved.", False),
        ("Wie viele Schiffe wurden gerettet?", "Der Turm rettete Schiffe.", True),
        ("Which ships were saved?", "Ships were saved by the lighthouse.", False),
        ("What F1 score did the lighthouse reach?", "The best F1 score was reached on ships.", True),
        ("What F1 score did the lighthouse reach?", "Its F1 score on ships was 62.2.", False),
    ],
)
def test_who_asks_how_many_gets_no_statement_without_a_number(question: str, text: str, lacks: bool) -> None:
    assert lacks_count(question, text) is lacks
    asked = GenerationRequest(question, [context(1, text)])
    nothing = extract(asked, GivenReading(odds=lambda _: 5.0)) == [nothing_found(asked)]
    assert nothing is lacks


def test_a_change_of_nothing_in_particular_is_not_told() -> None:
    text = "The balance increased from 2007 to 2009, as the balance of the harbour did."
    asked = GenerationRequest(
        "What percentage did the balance increase from 2007 to 2009?", [context(1, text)]
    )
    assert extract(asked, GivenReading(odds=lambda _: 5.0)) == [nothing_found(asked)]


def test_without_a_cue_nothing_is_preferred() -> None:
    assert not expected_by("Tell me of the tower")("It was built in 1893 by Ada Byron, because ships sank.")


def test_of_two_that_fit_the_one_that_holds_a_year_scores_higher() -> None:
    one = context(1, "The lighthouse was built in the north.", "The lighthouse was built in 1893.")
    vague, exact = weigh("When was the lighthouse built?", [one], GivenReading())
    assert exact.score - exact.fit > vague.score - vague.fit


# --- Reading once more -------------------------------------------------------------------------------------

TOWER = context(1, "The lighthouse is old and known to all.", "A woman of the village designed it in 1893.")


def test_what_answers_is_told_before_what_is_similar() -> None:
    question = "Who designed the lighthouse?"
    reading = GivenReading(
        cosine=lambda text: 0.9 if "old" in text else 0.2, odds=lambda text: 4.0 if "woman" in text else -4.0
    )
    [best] = choose(weigh(question, [TOWER], reading))
    assert best.statement.text == TOWER.sentences[1].text
    assert choose(weigh(question, [TOWER], GivenReading(cosine=lambda _: 0.9, odds=lambda _: -2.1))) == []


def test_beside_what_surely_answers_less_is_told() -> None:
    told = {
        best: len(choose(weigh("Who designed the lighthouse?", [TOWER], GivenReading(odds=odds_of(best)))))
        for best in (SURE_ODDS - 1, SURE_ODDS)
    }
    assert told == {SURE_ODDS - 1: 2, SURE_ODDS: 1}


VENUE = ("The game's media day is called Opening Night.", "The event was held at the SAP Center in San Jose.")


def test_a_statement_is_read_behind_the_one_before_it_too() -> None:
    """Alone it does not say of which event it is; the one before it does not say where that was."""
    reading = GivenReading(odds=lambda text: 4.0 * ("Opening Night" in text) + 5.0 * ("SAP" in text) - 5.0)
    best = choose(weigh("Where was the Opening Night held?", [context(1, *VENUE)], reading))[0]
    assert (best.statement.text, best.odds) == (VENUE[1], 2.0)


def test_in_another_language_its_meaning_is_that_behind_the_one_before_it() -> None:
    said = ("Der Medientag heißt jetzt Eröffnungsabend.", "Er fand im Januar in der großen Halle statt.")
    reading = GivenReading(cosine=lambda text: 0.3 * ("abend" in text) + 0.3 * ("Halle" in text))
    german = replace(context(1, *said), language="de")
    first, second = weigh("In welcher Halle fand der Eröffnungsabend statt?", [german], reading)
    assert second.fit - second.cosine > first.fit - first.cosine
    assert choose([first, second])[0].statement.text == said[1]


def test_rows_of_a_table_are_read_alone() -> None:
    ages = table_context("| Name | Age |\n|---|---|\n| Ada Byron | 36 |\n| Charles Babbage | 79 |")
    read: list[str] = []

    def odds(text: str) -> float:
        read.append(text)
        return 1.0

    weigh("How old was Charles Babbage?", [ages], GivenReading(odds=odds))
    assert any("Charles" in text for text in read)
    assert not any("Ada" in text and "Charles" in text for text in read)


def odds_of(best: float) -> Callable[[str], float]:
    return lambda text: best if "woman" in text else best - 2


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("coast_guide.pdf", "coast guide. The lighthouse: "),
        ("The lighthouse.html", "The lighthouse: "),
        ("119.html", "The lighthouse: "),
        ("Report v2.1", "Report v2.1. The lighthouse: "),
    ],
    ids=["words", "said by the heading", "a number", "a version"],
)
def test_the_best_are_read_once_more_with_where_they_stand(name: str, place: str) -> None:
    read: list[str] = []

    def odds(text: str) -> float:
        read.append(text)
        return 1.0

    many = context(1, *(f"The lighthouse has {number} steps." for number in range(100, 140)))
    placed = replace(many, document_name=name, headings=("The coast", "The lighthouse"))
    evidence = weigh("How many steps has the lighthouse?", [placed], GivenReading(odds=odds))
    # Before the first stands none.
    assert len(read) == READ_ONCE_MORE + READ_BEHIND - 1 < len(evidence)
    assert all(text.startswith(f"{place}The lighthouse has") for text in read)
    told_of = {each.statement.text for each in choose(evidence)}
    assert told_of <= {text.split(": ", 1)[1] for text in read}


@pytest.mark.parametrize(
    ("odds", "next_odds", "is_told"),
    [(-1.0, -6.0, True), (-1.0, -2.0, False), (-5.0, -11.0, False), (1.0, 0.9, True)],
    ids=["far ahead", "hardly ahead", "too unsure", "likely"],
)
def test_a_doubtful_statement_is_told_if_it_is_far_ahead(
    odds: float, next_odds: float, is_told: bool
) -> None:
    reading = GivenReading(odds=lambda text: odds if "woman" in text else next_odds)
    chosen = choose(weigh("Who designed the lighthouse?", [TOWER], reading))
    assert bool(chosen) is is_told
    assert chosen == [] or chosen[0].statement.text == TOWER.sentences[1].text


@pytest.mark.parametrize(("cosines", "is_told"), [((0.55, 0.3), True), ((0.55, 0.54), False)])
def test_in_another_language_what_is_far_ahead_is_told(cosines: tuple[float, float], is_told: bool) -> None:
    said = ("Beim Turm steht ein Haus aus Holz.", "Seine Mauern sind aus Granit.")
    german = replace(context(1, *said), language="de")
    reading = GivenReading(cosine=lambda text: cosines[0] if "Granit" in text else cosines[1])
    chosen = choose(weigh("Woraus besteht das Bauwerk?", [german], reading))
    assert [each.statement.text for each in chosen] == ([said[1]] if is_told else [])


def test_what_has_not_what_is_asked_for_is_not_told() -> None:
    bottles = context(1, "A bottle has 84 tablets.", "The price of it is £12.")
    reading = GivenReading(odds=lambda text: 4.0 if "tablets" in text else 1.0)
    [answer] = extract(GenerationRequest("How much does a bottle cost?", [bottles]), reading)
    assert answer == "The price of it is £12. <source_1>\n"


@pytest.mark.parametrize(
    ("answers", "odds", "is_told"),
    [(None, -1.0, False), (0.5, -1.0, False), (0.95, -1.0, True), (0.95, -4.0, False), (None, 1.0, True)],
)
def test_of_a_passage_that_surely_answers_a_doubtful_statement_is_told(
    answers: float | None, odds: float, is_told: bool
) -> None:
    passage = replace(context(1, "Its exterior is a blue police box."), answers=answers)
    evidence = weigh("What does the time machine look like?", [passage], GivenReading(odds=lambda _: odds))
    assert bool(choose(evidence)) is is_told


@pytest.mark.parametrize(
    ("question", "language"),
    [("Wer hat den Leuchtturm entworfen?", "en"), ("Who designed the lighthouse?", "de")],
)
def test_only_english_is_read_once_more(question: str, language: str) -> None:
    reading = GivenReading(cosine=lambda _: 0.9, odds=lambda _: pytest.fail("it reads English alone"))
    found = weigh(question, [replace(TOWER, language=language)], reading)
    assert all(each.odds is None for each in found)
    assert choose(found)


def test_what_is_not_in_english_is_told_if_nothing_in_english_answers() -> None:
    german = replace(context(2, "Eine Frau aus dem Dorf hat ihn 1893 entworfen."), language="de")
    for odds, told in ((4.0, 1), (-4.0, 2)):
        reading = GivenReading(cosine=lambda _: 0.9, odds=lambda _, odds=odds: odds)
        best, *_ = choose(weigh("Who designed the lighthouse?", [TOWER, german], reading))
        assert best.statement.context.rank == told


# --- Choosing ----------------------------------------------------------------------------------------------


def evidence(of: Context, at: int, fit: float) -> WeighedStatement:
    text = of.sentences[at].text
    return WeighedStatement(Statement(of, at, text), frozenset(text.split()), fit, fit, fit)


def test_nothing_below_the_floor_is_told() -> None:
    assert choose([evidence(context(1, "The weather was fine."), 0, 0.2)]) == []


def test_the_same_is_told_once_and_no_context_talks_alone() -> None:
    one, two = context(1, "A a a.", "B b b.", "C c c."), context(2, "A a a.")
    chosen = choose([*(evidence(one, at, 0.9) for at in range(3)), evidence(two, 0, 0.9)])
    assert [each.statement.text for each in chosen] == ["A a a.", "B b b."]


def test_another_figure_is_another_statement() -> None:
    one, two = context(1, "Sales of the whole group were 5."), context(2, "Sales of the whole group were 6.")
    assert len(choose([evidence(one, 0, 0.9), evidence(two, 0, 0.9)])) == 2


def test_what_follows_each_other_is_told_together_in_its_order_behind_the_best() -> None:
    one, two = context(1, "A a a.", "B b b."), context(2, "C c c.")
    chosen = [evidence(one, 1, 0.9), evidence(two, 0, 0.8), evidence(one, 0, 0.8)]
    texts = [[each.statement.text for each in paragraph] for paragraph in paragraphs(chosen)]
    assert texts == [["A a a.", "B b b."], ["C c c."]]


def test_weighing_takes_one_batch_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    model = embedding_model()
    batches: list[Sequence[str]] = []

    def embed(texts: Sequence[str]) -> Vectors:
        batches.append(texts)
        return type(model).embed_documents(model, texts)

    monkeypatch.setattr(model, "embed_documents", embed)
    question = "Who?"
    contexts = [context(rank, "Ada Byron wrote the first program.") for rank in range(1, 6)]
    assert len(weigh(question, contexts, ModelReading(question))) == 5
    assert len(batches) == 1


# --- Not found, reflection ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("What was the revenue in 2023?", "en"),
        ("Was war der Umsatz im Jahr 2023?", "de"),
        ("Was kostet Vodafone?", "de"),
        ("Was übersetzte Marlee Matlin?", "de"),
        ("Wie oft reist Doctor Who alleine?", "de"),
        ("Cual es el total?", "es"),
        ("Was the margin higher in 2021?", "en"),
        ("Was net income lower in 2022 than in 2021?", "en"),
        ("Quel était le chiffre d’affaires en 2023 ?", "fr"),
        ("¿Cuál fue el ingreso de la empresa?", "es"),
        ("Qual è stato il ricavo della società?", "it"),
        ("Wat was de omzet van het bedrijf?", "nl"),
        ("Qual foi a receita da empresa em 2023?", "pt"),
        ("売上高は？", "en"),
        ("", "en"),
    ],
)
def test_that_nothing_was_found_is_said_in_the_language_of_the_question(question: str, language: str) -> None:
    assert language_of(question) == language
    assert nothing_found(GenerationRequest(question, [])) == NOTHING_FOUND_IN[language]
    web = nothing_found(GenerationRequest(question, [], corpus=Corpus.WEB))
    assert web == NOTHING_FOUND_ON_THE_WEB[language]


async def test_the_reflection_names_question_and_documents_and_nothing_else() -> None:
    one = context(1, "The lighthouse was built in 1893.")
    response = await answered("When was the *lighthouse* built?", [one], reflection=True)
    assert response.startswith(
        "**Reflection:**\n*The question is “When was the \\*lighthouse\\* built?”."
        " Passages found in “a.pdf”: 1, 1 of them cited below.*\n\nThe lighthouse"
    )
    assert MARKER.search(response.split("\n\n")[0]) is None


async def test_the_reflection_on_nothing_is_honest() -> None:
    response = await answered("Who is the king?", [], reflection=True)
    assert "Passages found in no document: 0, none of them answers it." in response
    assert response.endswith(NOTHING_FOUND_IN["en"])


# --- Markup ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "hostile",
    [
        "<source_1>",
        "【1】 [1] [1, 2] (source 1)",
        '<citation id="x">[1]</citation>',
        "[click](javascript:x)",
        "<b>bold</b>",
        "&lt;i&gt;",
    ],
)
def test_document_text_can_not_pose_as_markup(hostile: str) -> None:
    shown: list[str] = []
    tags: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            tags.append(tag)

        def handle_data(self, data: str) -> None:
            shown.append(data)

    stream = MarkerStream()
    list(stream.feed(escape_markdown(hostile)))
    list(stream.finish())
    assert not MARKER.search(stream.text)
    Reader().feed(MarkdownIt("commonmark", {"html": True}).render(stream.text))
    assert "".join(shown).strip() == hostile
    assert tags == ["p"]
