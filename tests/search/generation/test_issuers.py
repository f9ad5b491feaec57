"""Who has issued a receipt is told from its head."""

from __future__ import annotations

from dataclasses import replace

import pytest

from search.contexts import Context
from search.generation.extractive.issuers import issuer
from tests.search.contexts import context

RECEIPT = "tan chay yee\n\nABC HO TRADING\n\nNo.2&4, JALAN HARMONI\n\nCash Bill 01-143008\n\nTotal: 31.00"
PLAIN = "180048\n\nThe Lamp & Wick\n\nHarbour Road 5\n\nTotal: 12.00"


def paper(text: str) -> Context:
    return replace(context(1, text, located=False), text=text)


@pytest.mark.parametrize(
    "question",
    [
        "Which shop issued this receipt?",
        "What is the name of the company on the invoice?",
        "Wer hat die Rechnung ausgestellt?",
        "¿De qué tienda es el recibo?",
    ],
)
def test_the_line_with_a_word_of_firms_is_the_issuer(question: str) -> None:
    assert issuer(question, [paper(RECEIPT)]) == ["ABC HO TRADING <source_1>\n"]


def test_without_one_the_first_name_is() -> None:
    assert issuer("Which shop issued this receipt?", [paper(PLAIN)]) == ["The Lamp & Wick <source_1>\n"]


@pytest.mark.parametrize("question", ["What is the total on the receipt?", "Which company sells lamps?"])
def test_other_questions_have_no_issuer(question: str) -> None:
    assert issuer(question, [paper(RECEIPT)]) == []


def test_of_several_papers_none_is_told() -> None:
    other = replace(paper(PLAIN), document_name="other.pdf", rank=2)
    assert issuer("Which shop issued this receipt?", [paper(RECEIPT), other]) == []
