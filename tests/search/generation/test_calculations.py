"""What questions want computed, by their words in four languages."""

from __future__ import annotations

import pytest

from core.text.figures import figure_of
from search.generation.extractive.calculations import CalculationKind, calculation_of
from search.generation.extractive.formulas import Operand, formula
from search.generation.extractive.lines import lines_named
from search.generation.extractive.measures import measure_of
from search.generation.extractive.outstanding.superlatives import superlatives_of
from search.generation.extractive.shares import wants_share

GROWTH, DIFFERENCE, RATIO, SUM = (
    CalculationKind.GROWTH,
    CalculationKind.DIFFERENCE,
    CalculationKind.RATIO,
    CalculationKind.SUM,
)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("By what percentage did revenue shrink between 2019 and 2021?", GROWTH),
        ("By how many percent did sales climb from 2021 to 2022?", GROWTH),
        ("Um wie viel Prozent schrumpfte der Umsatz von 2021 auf 2022?", GROWTH),
        ("By how many percent was the expense higher than in the same quarter a year before?", GROWTH),
        ("How many percent higher was the expense in 2022 than in 2021?", GROWTH),
        ("By how many square feet did the space grow?", DIFFERENCE),
        ("What do Abatrel and Bexavol add up to?", SUM),
        ("How many square kilometres larger is Finland than Austria?", DIFFERENCE),
        ("How many more checks are there in total in Kentucky than in Texas?", DIFFERENCE),
        ("Combien de contrôles de plus le Kentucky compte-t-il au total par rapport au Texas ?", DIFFERENCE),
        ("¿Cuántos empleados más tiene Lima que Quito?", DIFFERENCE),
        ("Quel est le rapport entre les dettes et le capital ?", RATIO),
        ("How much did Lima and Quito spend in total?", SUM),
        ("How much of the compensation fell on research?", None),
    ],
)
def test_what_is_to_be_computed(question: str, kind: CalculationKind | None) -> None:
    asked = calculation_of(question)
    assert (asked.kind if asked else None) is kind


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("How much R&D spending was there in 2022?", "research"),
        ("Wie viel hat die Firma 2019 als Bardividende ausgezahlt?", "dividends"),
        ("Combien a-t-elle versé en dividendes en 2021 ?", "dividends"),
        ("How much was paid out in dividends in 2022?", "dividends"),
        ("Welche Bardividende zahlte sie 2019?", "dividends"),
        ("What did it spend on repurchases of its common stock?", "repurchases"),
        ("How much went into buying back own shares?", "repurchases"),
        ("What were selling, marketing, general and administrative expenses?", "administration"),
        ("What are purchases of property, equipment and intangible assets?", "capital_expenditure"),
        ("How much did it owe its suppliers?", "payables"),
        ("Wie hoch war das Ergebnis vor Steuern?", "pretax"),
        ("¿Cuáles fueron las recompras de acciones?", "repurchases"),
    ],
)
def test_lines_have_names_in_other_words(question: str, line: str) -> None:
    assert [key for key, _ in lines_named(question)] == [line]


@pytest.mark.parametrize(
    "question",
    [
        "Welchen Wert hatten die Warenvorräte am 29. Juli 2023?",
        "Auf welchen Betrag beliefen sich die Vorräte?",
        "¿Qué valor tenían los inventarios?",
        "How many millions of inventories were there?",
    ],
)
def test_an_amount_is_asked_for_in_other_words(question: str) -> None:
    named = measure_of(question)
    assert named is not None
    assert named[0].ways == ("{inventories}",)


def test_a_share_is_not_divided_by_an_amount() -> None:
    asked, revenue = calculation_of("What share of revenue are lamps?"), figure_of("17,691", "en")
    assert asked and revenue
    for lamps, written in (("16 %", None), ("1,769", "Lamps ÷ Revenue: 1,769 ÷ 17,691 = 10.0 %")):
        part = figure_of(lamps, "en")
        assert part
        operands = [Operand("Lamps", "", part, "", "en"), Operand("Revenue", "", revenue, "", "en")]
        assert formula(asked, operands) == written


def test_a_dividend_of_each_share_is_no_line() -> None:
    assert not lines_named("Combien touche-t-on en dividende par action ?")


def test_when_may_be_said_before_what_is_asked() -> None:
    named = measure_of("In the first six months of fiscal 2024, what were total sales?")
    assert named is not None
    assert named[0].is_line


@pytest.mark.parametrize(
    ("question", "wants"),
    [
        ("How big a stake does it still own?", True),
        ("How large is the share of women?", True),
        ("How big is the plant?", False),
    ],
)
def test_a_stake_is_a_share(question: str, wants: bool) -> None:
    assert wants_share(question) is wants


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Which lamp was sold first?", True),
        ("What was revenue in the first nine months of 2024?", False),
        ("What was revenue in the last quarter?", False),
    ],
)
def test_a_part_of_a_year_is_no_first_one(question: str, asks: bool) -> None:
    assert bool(superlatives_of(question)) is asks
