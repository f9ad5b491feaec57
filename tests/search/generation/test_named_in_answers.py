"""What a quoted statement must name: what is counted, the country, the quarter, and the change or average."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from kb.embedding.base import Vectors
from search.contexts import Context
from search.generation.base import GenerationRequest
from search.generation.extractive import extract
from search.generation.extractive.calculations import lacks_calculation
from search.generation.extractive.counted import counts_other_things, lacks_counted
from search.generation.extractive.expected import lacks_count, lacks_name
from search.generation.extractive.periods import parts_in
from search.generation.extractive.places import lacks_country
from search.generation.extractive.reading import Languages
from search.generation.extractive.statements import Statement, statements
from tests.search.contexts import context
from tests.search.generation.test_computing import table


def stated(text: str, *headings: str) -> Statement:
    return Statement(replace(context(1, text), headings=headings), 0, text)


@dataclass(frozen=True)
class SureReading:
    """Gives every statement the same similarity, and the log odds `odds`, whatever is asked."""

    question: str
    odds: float

    def similarity(self, texts: Sequence[str], languages: Sequence[Languages]) -> Vectors:
        return np.full(len(texts), 0.7, np.float32)

    def answers(self, asked: Sequence[tuple[str, str]]) -> Vectors:
        return np.full(len(asked), self.odds, np.float32)


def told(question: str, of: Context, odds: float) -> str:
    asked = GenerationRequest(question=question, contexts=[of])
    return "".join(extract(asked, SureReading(question, odds)))


# --- What is counted ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("How many trainable parameters does it have?", "We keep 4 paraphrases for each question.", True),
        ("How many trainable parameters does it have?", "It has 60 million parameters.", False),
        ("How many concerts did the tour have?", "The tour began in May 2019.", True),
        ("How many people does it employ?", "It has 41,000 employees.", False),
        ("How many residents died?", "It killed half of the population, 30,000.", False),
        ("How many production and support sites are there?", "There are 166 support facilities.", False),
        ("On how many GPUs was it trained?", "It was trained for 12 hours.", True),
        ("How long is the tour?", "The tour began in May 2019.", False),
        ("How many were killed?", "The plague killed 300.", False),
    ],
)
def test_a_statement_names_what_is_counted(question: str, text: str, lacks: bool) -> None:
    assert lacks_counted(question, stated(text)) is lacks


def test_a_heading_may_name_what_is_counted() -> None:
    assert not lacks_counted("How many employees are there?", stated("We have 500 worldwide.", "Employees"))
    assert lacks_counted("How many employees are there?", stated("We have 500 worldwide.", "Stores"))


@pytest.mark.parametrize(
    ("question", "text", "counts_others"),
    [
        (
            "How many people work there?",
            "Of the 6 million shares some go to its officers and employees, who get them over four years.",
            True,
        ),
        ("How many people work there?", "As of May 5, 2023 it had approximately 41,000 employees.", False),
        ("How many stores are there?", "The number of stores rose to 1,355.", False),
        ("How many stores are there?", "There are 1,355 in all.", False),
        ("How many stores are there?", "On May 5 the stores were open.", False),
    ],
)
def test_a_number_stands_near_what_it_counts(question: str, text: str, counts_others: bool) -> None:
    assert counts_other_things(question, text) is counts_others


def test_a_number_of_other_things_is_not_told() -> None:
    of = context(
        1, "6 million more units will be granted to its chief executive and to all of the employees."
    )
    assert "million" not in told("How many people work at Figma?", of, odds=8.0)
    assert "million" in told("How many units will be granted?", of, odds=8.0)


# --- Names -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        (
            "What are the names of her older brother and sister?",
            "She has an older brother and a sister.",
            True,
        ),
        ("What is the name of the largest customer?", "The largest customer is Apple.", False),
        ("What was the name of the castle?", "They gave their name to the castle: Afranji.", False),
        ("What is the firm from Prague called?", "A firm from Prague was bought.", True),
        ("Comment s'appelle sa sœur ?", "Il a une sœur.", True),
        ("Who is her brother?", "She has an older brother.", False),
    ],
)
def test_who_asks_for_a_name_is_told_one(question: str, text: str, lacks: bool) -> None:
    assert lacks_name(question, text) is lacks


def test_only_where_the_model_is_sure_it_may_be_called_otherwise() -> None:
    of = context(1, "The firm ran 51 canteens in the north of the country.")
    question = "How many restaurants did the firm run?"
    assert "51" not in told(question, of, odds=3.0)
    assert "51" in told(question, of, odds=6.0)


# --- Countries ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("How many employees work in Germany?", "41,000 people work in North America and Europe.", True),
        ("How many employees work in Germany?", "Of 41,000 people 900 work in Germany.", False),
        ("How high were sales in Brazil?", "Brazilian sales were 5 million.", False),
        ("How high were sales in France?", "Sales of the French shops were 5 million.", False),
        ("Combien de salariés en Allemagne ?", "41,000 people work in North America.", True),
        ("Combien de salariés en Allemagne ?", "900 people work in Germany.", False),
        ("Wie viele Menschen arbeiten in Japan?", "900 people work in Mexico.", True),
        ("¿Cuánto vendió en Alemania?", "Sales in Germany were 5 million.", False),
        ("How many games did Jordan win?", "He won 51 games.", False),
        ("How many shops are in the United States?", "There are 51 domestic shops.", False),
        ("How many shops are there?", "There are 51 shops in Spain.", False),
    ],
)
def test_a_passage_speaks_of_the_country(question: str, text: str, lacks: bool) -> None:
    assert lacks_country(question, context(1, text)) is lacks


def test_the_country_may_stand_in_a_heading_and_in_a_language_nobody_lists() -> None:
    under = replace(context(1, "900 people work here."), headings=("Germany",))
    assert not lacks_country("How many work in Germany?", under)
    klingon = replace(context(1, "900 people work in Germany."), language="tlh")
    assert not lacks_country("How many work in Germany?", klingon)


def test_no_figure_is_told_of_a_country_that_nothing_is_said_of() -> None:
    of = context(1, "Net sales increased by 150 million in fiscal year 2023.")
    assert "150" not in told("How high were net sales in Brazil in fiscal 2023?", of, odds=8.0)
    assert "150" in told("By how much did net sales increase in fiscal 2023?", of, odds=8.0)


# --- Changes, averages, units, quarters --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("By how much did the liability rise?", "The liability was $609 million and $386 million.", True),
        ("By how much did the liability rise?", "The liability increased by $223 million.", False),
        ("By how many points does it beat the baseline?", "It outperforms it by 2.4 points.", False),
        ("By what percentage did sales drop?", "Sales were down 12 %.", False),
        ("Um wie viel Prozent sank der Umsatz?", "Japan · Fiscal Year 2009: 17%", True),
        ("Um wie viel Prozent sank der Umsatz?", "Der Umsatz ging um 12 % zurück, ein Rückgang.", False),
        ("On average, what did each store sell?", "Net sales increased 18.3% to $10.2 billion.", True),
        ("On average, what did each store sell?", "Sales per store were $7 million.", False),
        ("What is the average price?", "It outsells others by 2 points averagely.", False),
        ("How much did it sell?", "It sold 5 million.", False),
    ],
)
def test_a_statement_speaks_of_the_change_or_the_average(question: str, text: str, lacks: bool) -> None:
    assert lacks_calculation(question, text) is lacks


@pytest.mark.parametrize(
    ("question", "lacks"),
    [
        ("Welche Ablösesumme (in Pfund) zahlte Norwich City 1997?", True),
        ("What was the fee (in million dollars)?", True),
        ("What did the club pay (in the end)?", False),
    ],
)
def test_who_names_a_unit_wants_a_figure(question: str, lacks: bool) -> None:
    assert lacks_count(question, "Roberts came to the club in 1997.") is lacks


def test_parts_of_a_year_are_quarters_and_nine_months() -> None:
    assert parts_in("the first nine months of 2023") == {"M9"}
    assert parts_in("the third quarter and first nine months") == {"Q3", "M9"}
    assert parts_in("the first quarter") == {"Q1"}
    assert parts_in("almost half of it") == frozenset()


def test_a_sentence_of_another_quarter_does_not_answer() -> None:
    of = context(1, "Automotive revenue for the first quarter was $296 million.")
    assert "296" not in told("What was automotive revenue in the first nine months?", of, odds=8.0)
    assert "296" in told("What was automotive revenue in the first quarter?", of, odds=8.0)


# --- Across languages --------------------------------------------------------------------------------------


def test_a_row_of_bare_figures_tells_nothing_in_another_language() -> None:
    bare = table(
        "|  |  |  |\n| --- | --- | --- |\n| International | 1,106 | 675 |\n| Domestic | 2,106 | 975 |"
    )
    named = table("|  | 2021 |\n| --- | --- |\n| Women worldwide | 49 % |\n| Men worldwide | 51 % |")
    question = "Wie hoch ist der Frauenanteil weltweit?"
    assert "1,106" not in told("Wie viele sind es international?", bare, odds=8.0)
    assert "49 %" in told(question, named, odds=8.0)
    assert "1,106" in told("How many are there international?", bare, odds=8.0)


# --- Totals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "is_named"),
    [
        ("Wie hoch ist der Gesamtbetrag?", True),
        ("Combien ai-je payé ?", True),
        ("How much was it?", True),
        ("Welches Kennzeichen hatte das Auto?", False),
        ("¿Qué número de factura figura en el recibo?", False),
    ],
)
def test_the_total_is_named_by_who_asks_for_an_amount(question: str, is_named: bool) -> None:
    receipt = context(1, "Total: 86.00", between="\n")
    assert any(each.is_named for each in statements(question, [receipt])) is is_named
