"""Words for numbers are known in seven languages, and other words are not taken for them."""

from __future__ import annotations

import re

import pytest

from core.text.number_words import NUMBER_WORDS

_WORD = re.compile(rf"(?:{NUMBER_WORDS})", re.IGNORECASE)


@pytest.mark.parametrize(
    "words",
    [
        "two twelve fifteen forty hundred thousands dozen",
        "zwölf einundzwanzig dreißig fünfhundert zweitausend Hälfte",
        "douze seize vingt soixante mille moitié",
        "doce veintiuno treinta doscientos quinientas mil mitad",
        "trentuno ventotto quarantadue trecento diecimila sedici",
        "vinte dezesseis trezentos milhões",
        "twaalf eenentwintig zeventig vijfhonderd",
    ],
)
def test_numbers_are_known(words: str) -> None:
    assert all(map(_WORD.fullmatch, words.split()))


@pytest.mark.parametrize(
    "word", ["once", "due", "sei", "Trent", "sept", "trip", "accent", "percent", "family"]
)
def test_other_words_are_none(word: str) -> None:
    assert _WORD.fullmatch(word) is None
