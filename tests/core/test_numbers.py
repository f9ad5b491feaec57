"""Numbers and sizes as their reader writes them: by the language of the page, or as the profile says."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.utils import translation

from core.languages.numbers import (
    grouped,
    has_formats,
    number_formats,
    percentage,
    price,
    size_in_words,
    us_dollars,
)

NARROW_SPACE, SPACE = "\u202f", "\xa0"


@pytest.mark.parametrize(
    ("language", "formats", "whole", "fraction"),
    [
        ("en", "", "1,234,567", "1,234.5"),
        ("de", "", "1.234.567", "1.234,5"),
        ("fr", "", f"1{NARROW_SPACE}234{NARROW_SPACE}567", f"1{NARROW_SPACE}234,5"),
        ("en", "de-CH", "1’234’567", "1’234.5"),
        ("de", "en-GB", "1,234,567", "1,234.5"),
        ("en", "sv-SE", f"1{SPACE}234{SPACE}567", f"1{SPACE}234,5"),
    ],
)
def test_thousands_and_fractions(language: str, formats: str, whole: str, fraction: str) -> None:
    with translation.override(language), number_formats(formats):
        assert (grouped(1234567), grouped(Decimal("1234.5"), 1)) == (whole, fraction)


@pytest.mark.parametrize(
    ("amount", "english", "german", "french"),
    [
        (1, "1 byte", "1 Byte", "1 octet"),
        (999, "999 bytes", "999 Bytes", "999 octets"),
        (1000, "1 kB", "1 kB", "1 ko"),
        (1_540_000, "1.5 MB", "1,5 MB", "1,5 Mo"),
        (15_400_000, "15 MB", "15 MB", "15 Mo"),
        (2 * 10**9, "2 GB", "2 GB", "2 Go"),
        (5 * 10**15, "5,000 TB", "5.000 TB", f"5{NARROW_SPACE}000 To"),
    ],
)
def test_sizes(amount: int, english: str, german: str, french: str) -> None:
    for language, words in (("en", english), ("de", german), ("fr", french)):
        with translation.override(language):
            assert size_in_words(amount) == words


def test_a_reader_with_other_formats_is_alone_with_them() -> None:
    with translation.override("en"):
        with number_formats("de-DE"):
            assert grouped(1234) == "1.234"
        assert grouped(1234) == "1,234"


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "$1,234.50"), ("de", f"1.234,50{SPACE}$"), ("fr", f"1{NARROW_SPACE}234,50{SPACE}$")],
)
def test_dollars(language: str, words: str) -> None:
    with translation.override(language):
        assert us_dollars(Decimal("1234.5")) == words


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        ("0", "$0.00"),
        ("12.5", "$12.50"),
        ("1234.567", "$1,234.57"),
        ("0.5", "$0.50"),
        ("0.005", "$0.005"),
        ("0.01234", "$0.0123"),
        ("0.000001", "<$0.0001"),
    ],
)
def test_prices(amount: str, told: str) -> None:
    assert price(Decimal(amount)) == told


@pytest.mark.parametrize(
    ("language", "words"), [("en", "72.4%"), ("de", f"72,4{SPACE}%"), ("fr", f"72,4{SPACE}%")]
)
def test_percentages(language: str, words: str) -> None:
    with translation.override(language):
        assert percentage(Decimal("0.7241")) == words


def test_only_tags_with_formats_are_taken() -> None:
    tags = ["en-gb", "de-CH", "xx-yy", "en-/../de", "de-", "en-x-private-use", ""]
    assert [tag for tag in tags if has_formats(tag)] == ["en-gb", "de-CH"]
