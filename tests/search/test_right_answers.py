"""When an answer is right: the rule that all benchmarks of answers share."""

from __future__ import annotations

import pytest

from search.evaluation.right_answers import begins_with_yes, is_right

RIGHT = [
    ("Total revenue · 2022: $ 17,606 (in millions)", "17,606"),
    ("Revenue was $17.6 billion.", "17,606"),
    ("Revenue was 17,606 million dollars.", "$17.6 billion"),
    ("Der Umsatz lag bei 17,6 Milliarden Euro.", "17.606"),
    ("15,441 ÷ 17,606 = 87.7 %", "88"),
    ("The rate is 0.2043.", "20.4%"),
    ("(5,425 − 7,400) ÷ 7,400 = −26.7 %", "-0.26689"),
    ("Amortization declined by 27.0 %.", "-27.0%"),
    ("Growth · 2010: (27.0)%", "-27.0%"),
    ("It cost $ 3.8 million", "3.8"),
    ("Founded in 1911 in Endicott.", "1911"),
    ("They use spaCy 2.0 and the Stanford NER.", "Stanford NER, spaCy 2.0"),
    ("An Élan vital", "the elan VITAL"),
    ("유효기간은 5년으로 한다.", "5년"),
    ("**Yes** – net income increased.", "Yes"),
    ("No: it fell from 36.8 % to 34.6 %.", "no, 36.8, 34.6"),
    ("Nein – er sank.", "no"),
    ("Total: 31.00", "31.00"),
    ("Date 09/01/2019", "09/01/2019"),
    ("680", "$ 680 million"),
]
WRONG = [
    ("Revenue was $17.4 billion.", "17,606"),
    ("About 20 billion", "17.6 billion"),
    ("In 1911.", "1912"),
    ("2.004 billion", "2004"),
    ("13,000 cups", "13"),
    ("It grew by 27.0 %.", "-27.0%"),
    ("It changed by −27.0 %.", "27.0%"),
    ("17.6 million", "17.6 billion"),
    ("The quick ratio is 0.69.", "0.67"),
    ("spaCy 2.0", "Stanford NER, spaCy 2.0"),
    ("Yes, it did.", "No"),
    ("Nobody knows whether yes or no.", "yes"),
    ("airplane", "plane"),
    ("12 months", "12.4%"),
    ("", "5"),
]


@pytest.mark.parametrize(("response", "accepted"), RIGHT)
def test_what_agrees_is_right(response: str, accepted: str) -> None:
    assert is_right(response, [accepted])


@pytest.mark.parametrize(("response", "accepted"), WRONG)
def test_what_differs_is_not(response: str, accepted: str) -> None:
    assert not is_right(response, [accepted])


def test_one_of_the_accepted_answers_is_enough() -> None:
    assert is_right("It was 88 %.", ["0.5", "87.7"])
    assert not is_right("It was 88 %.", [])


def test_yes_and_no_are_what_a_response_begins_with() -> None:
    assert begins_with_yes("**Oui** : il a augmenté.") is True
    assert begins_with_yes("Nein.") is False
    assert begins_with_yes("It said no.") is None
    assert begins_with_yes("…") is None
