"""Lists, labelled lines, totals, abbreviations and rows: what is told whole, and what is certain."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.text.sentences import sentence_bounds
from search.contexts import Context
from search.generation.base import GenerationRequest
from search.generation.extractive import extract
from search.generation.extractive.antecedents import points_back
from search.generation.extractive.choosing import choose, completed, paragraphs
from search.generation.extractive.expected import abbreviation_of, asks_for_total, spelt_out
from search.generation.extractive.statements import Statement, statements
from search.generation.extractive.weighed import WeighedStatement
from search.generation.extractive.weighing import weigh
from search.question_language import language_of
from tests.search.contexts import context, table_context
from tests.testing.readings import GivenReading


def told(question: str, *contexts: Context) -> list[Statement]:
    return list(statements(question, contexts))


def test_a_list_is_told_with_what_announces_it() -> None:
    found = context(
        1,
        *("This is a test of mails.", "Important points:", "- Roses are red", "- Violets are blue"),
        between="\n",
    )
    [answer] = extract(
        GenerationRequest("Tell me the points that matter.", [found]),
        GivenReading(odds=lambda text: 5.0 if "Important" in text else -5.0),
    )
    assert answer == (
        "Important points: <source_1>\n  - Roses are red <source_1>\n  - Violets are blue <source_1>\n"
    )


@pytest.mark.parametrize("last", ["What follows is no item.", "12:30"])
def test_what_is_no_item_of_a_list_is_not_told_with_it(last: str) -> None:
    found = told("What else?", context(1, "Don't forget this:", "- Use sun cream", last, between="\n"))
    assert found[0].items == (("- Use sun cream",),)


def test_an_item_of_several_sentences_is_told_whole_and_each_is_cited() -> None:
    text = "To enter:\n• Ring the bell. Wait at the gate.\n• Show your card.\nThe guard is friendly."
    found = replace(context(1, "x", located=False), text=text)
    found = replace(found, sentence_bounds=tuple(sentence_bounds(text, "en")), spans=())
    [answer] = extract(
        GenerationRequest("What must I do to enter?", [found]),
        GivenReading(odds=lambda text: 5.0 if "bell" in text else -5.0),
    )
    assert answer == (
        "To enter: <source_1>\n  - Ring the bell. <source_1> Wait at the gate. <source_1>"
        "\n  - Show your card. <source_1>\n"
    )


def test_an_announcement_of_nothing_is_no_statement() -> None:
    assert told("What is it?", context(1, "The following holds for all cases:", "It is so.")) == []


RECEIPT = context(1, "ABC HO TRADING", "Total: 31.00", "Cash Received 101.00", "Change : 70.00")


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("What is the total on the receipt?", "Total: 31.00"),
        ("Wie hoch ist der Gesamtbetrag?", "Total: 31.00"),
        ("¿Cuál es el importe?", "Total: 31.00"),
    ],
)
def test_the_total_is_certain_however_it_is_called(question: str, line: str) -> None:
    [best, *_] = choose(weigh(question, [RECEIPT], GivenReading(odds=lambda _: -5.0)))
    assert best.statement.text == line
    assert best.is_certain


def test_the_total_of_something_in_particular_is_not_that_of_the_receipt() -> None:
    question = "What is the total number of lighthouses that stand on the coast of Norway?"
    assert not asks_for_total(question)
    assert choose(weigh(question, [RECEIPT], GivenReading(odds=lambda _: -5.0))) == []


def test_a_labelled_line_is_told_if_its_label_is_asked_for() -> None:
    assert [each.text for each in told("How much change was given?", RECEIPT) if each.is_named] == [
        "Total: 31.00",
        "Change : 70.00",
    ]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What does TAM stand for?", "He proposed the Technology Acceptance Model (TAM) in his thesis."),
        ("What does TRA mean as an abbreviation?", "It follows the Theory of Reasoned Action (TRA)."),
        ("Wofür steht die Abkürzung NER?", "Named entity recognition (NER) is a task."),
    ],
)
def test_an_abbreviation_is_spelt_out_before_parentheses(question: str, text: str) -> None:
    assert spelt_out(question)(text)


def test_other_parentheses_spell_out_nothing() -> None:
    holds = spelt_out("What does TAM stand for?")
    assert not holds("Others have studied this at length (TAM).")
    assert not holds("TAM is popular.")
    assert abbreviation_of("How popular is TAM?") is None


def test_a_row_is_told_with_its_name_and_the_cells_that_the_question_names() -> None:
    people = table_context(
        "| Id | First Name | Last Name | City |\n| --- | --- | --- | --- |\n"
        "| 4 | Linda | Olsen | Bensonview |\n| 5 | Joanna | Bender | West Priscilla |"
    )
    first, second = told("In which city does Linda Olsen live?", people)
    assert first.text == "4 · First Name: Linda · Last Name: Olsen · City: Bensonview"
    assert second.text == "5 · First Name: Joanna · City: West Priscilla"


def test_the_names_of_many_columns_may_be_long_together() -> None:
    names = [
        f"Fiscal {year} Total Stores at {end} of Second Quarter"
        for year in range(2017, 2025)
        for end in ("Beginning", "End")
    ]
    text = f"|  | {' | '.join(names)} |\n|{' --- |' * 17}\n| Total |{' 9 |' * 16}"
    [row] = told("How many stores at the end of the second quarter of fiscal 2024?", table_context(text))
    assert row.text == "Total · Fiscal 2024 Total Stores at End of Second Quarter: 9"


@pytest.mark.parametrize(
    "text",
    [
        '"Hannah John-Kamen Biography" (http://example.org/hannah).',
        "Archived from the original on 26 September 2013 by someone.",
        "Roberts, Iwan (12 May 2020).",
        "Foster, Richard (2015).",
        "Foster, Richard; Kim, J. (2015a).",
    ],
)
def test_where_a_text_has_something_from_is_no_answer(text: str) -> None:
    assert told("When was she born?", context(1, text)) == []


@pytest.mark.parametrize(
    "text", ["Leeds, a town in the north (1968).", "Born in Leeds, Ada Kim moved to Rome (1968)."]
)
def test_a_year_in_parentheses_makes_no_reference(text: str) -> None:
    assert [each.text for each in told("When was she born?", context(1, text))] == [text]


def test_the_sentence_between_two_that_are_told_is_told() -> None:
    found = context(1, "The first says something.", "The second says something.", "The third says something.")
    evidence = [WeighedStatement(each, frozenset(), 1.0, 1.0, 1.0) for each in told("Who?", found)]
    [whole] = paragraphs(completed("Who?", [evidence[2], evidence[0]], evidence))
    assert [each.statement.at for each in whole] == [0, 1, 2]


@pytest.mark.parametrize(
    ("question", "text", "points"),
    [
        ("In what episode does it happen?", "The same episode depicts it.", True),
        ("X.25 uses what type of network?", "X.25 uses this type of network.", True),
        ("What set the stage for the harbour?", "All of this set the stage for the harbour.", True),
        ("Welche Stadt hat sie gebaut?", "Der Turm steht in dieser Stadt.", True),
        ("Welche Dateien liest er?", "Er liest diese Dateien: Briefe, Karten und Listen.", False),
        ("Which day did they open?", "They opened on this day at 10:30.", True),
        ("Who lit the lamp?", "This lamp was lit by Ada.", False),
        ("What is the height of the tower?", "This lamp is in the tower.", False),
        ("What is the height of the tower?", "The height of the tower is 40 m.", False),
    ],
)
def test_what_points_back_at_what_is_asked_for(question: str, text: str, points: bool) -> None:
    assert points_back(question, text, language_of(question)) is points


def test_what_the_best_points_back_at_is_told_before_it() -> None:
    found = context(1, "In the tower the heroes meet.", "The same place sees the end.", "It rains.")
    evidence = [WeighedStatement(each, frozenset(), 1.0, 1.0, 1.0) for each in told("Who?", found)]
    [whole] = paragraphs(completed("What place sees the end?", [evidence[1]], evidence))
    assert [each.statement.at for each in whole] == [0, 1]
    [alone] = paragraphs(completed("Who sees the end?", [evidence[1]], evidence))
    assert [each.statement.at for each in alone] == [1]


def test_it_is_said_of_the_sentence_before() -> None:
    found = context(
        1, "The Matterhorn is a mountain.", "It is 4478 metres high.", "A hut is 2000 metres high."
    )
    of_mountain, height, of_hut = weigh("How high is the Matterhorn?", [found], GivenReading())
    assert height.fit > of_hut.fit
    assert of_mountain.statement.at == 0


@pytest.mark.parametrize(
    "line",
    [
        "빅포인트의 유효기간은 5년으로, 월 단위로 자동 소멸",
        "東京は日本の首都である。",
        "يمكن للمستخدمين الاستفادة من هذه المكتبات",
        "Chair: Ada Lovelace, London",
        "2009 - 2013 Statistics, Ege University",
        "Kick-off on 5 May 2025",
    ],
)
def test_a_line_that_looks_like_a_title_and_is_none_is_told(line: str) -> None:
    assert [each.text for each in told("What is said?", context(1, line))] == [line]


@pytest.mark.parametrize(
    "line", ["Note 5 Income Taxes of the Year", "Results of Operations", "2. Budget and Other Plans"]
)
def test_a_title_is_not_told(line: str) -> None:
    assert told("What is said?", context(1, line)) == []


def test_behind_a_salutation_a_sentence_begins_low() -> None:
    letter = context(
        1, "Dear all,", "the fair takes place in May.", "The fair is held in Milan.", "and so on it goes."
    )
    assert [each.text for each in told("When is the fair?", letter)] == [
        "the fair takes place in May.",
        "The fair is held in Milan.",
    ]


def test_a_heading_announces_its_list_and_marks_may_stand_alone() -> None:
    found = replace(
        context(
            1,
            *("My favorite things:", "• Parrots", "•", "Hockey", "This is another thought."),
            between="\n",
        ),
        headings=("My favorite things:",),
    )
    [first, *_] = told("What are my favorite things?", found)
    assert (first.text, first.items) == ("My favorite things:", (("• Parrots",), ("• Hockey",)))


def test_a_labelled_line_is_told_only_to_who_asks_for_its_kind() -> None:
    card = context(1, "Holder: Lucia Ferrer Gomez", "She was born in Zaragoza in 1980.")
    assert [each.text for each in told("When was Lucia Ferrer born?", card)] == [
        "She was born in Zaragoza in 1980."
    ]


@pytest.mark.parametrize(("odds", "is_told"), [(-1.5, True), (-2.5, False)])
def test_a_sentence_in_the_words_of_the_question_is_doubted_less(odds: float, is_told: bool) -> None:
    found = context(1, "The hotel is the Albergo Centrale.")
    answer = extract(
        GenerationRequest("Which hotel is it?", [found]),
        GivenReading(cosine=lambda _: 0.5, odds=lambda _: odds),
    )
    assert ("Albergo" in "".join(answer)) is is_told


@pytest.mark.parametrize(("year", "is_told"), [("2026", True), ("2027", False)])
def test_a_passage_about_other_years_answers_nothing(year: str, is_told: bool) -> None:
    found = replace(
        context(1, "The board approved a budget of 1.4 million euros."), headings=("Budget for 2026",)
    )
    answer = extract(
        GenerationRequest(f"How high was the approved budget for {year}?", [found]),
        GivenReading(cosine=lambda _: 0.5, odds=lambda _: 2.0),
    )
    assert ("1.4 million" in "".join(answer)) is is_told


def test_a_row_of_units_says_what_its_columns_are_measured_in() -> None:
    steel = table_context(
        "| Assortment | Tensile strength | Elongation |\n| --- | --- | --- |\n| - | N/mm² | % |\n"
        "| Bars | 1000 | 12 |"
    )
    assert [each.text for each in told("What is the tensile strength?", steel)] == [
        "Bars · Tensile strength (N/mm²): 1000"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "I, Ada Byron, certify that the report names all acquisitions and debts of the company. The other"
        " certifying officer and I have evaluated its controls.",
        "A signed original of this statement, required by 18 U.S.C. § 1350, names all acquisitions.",
    ],
)
def test_what_officers_certify_tells_only_who_asks_for_it(text: str) -> None:
    certificate = context(1, text)
    assert told("Were any acquisitions disclosed?", certificate) == []
    assert told("Did the company disclose significant acquisitions?", certificate) == []
    assert told("Who certified the report of the company?", certificate)
