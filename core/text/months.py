"""What months are called, in small letters."""

from __future__ import annotations

from collections.abc import Iterable

from babel import Locale


def months(languages: Iterable[str]) -> list[str]:
    """Return the whole names of all months in these languages (ISO 639-1), each once."""
    return _names(languages, "wide")


def short_months(languages: Iterable[str]) -> list[str]:
    """Return the same as they are cut short, without a full stop: “okt”."""
    return [name.strip(".") for name in _names(languages, "abbreviated")]


def _names(languages: Iterable[str], width: str) -> list[str]:
    names = (name for each in languages for name in Locale(each).months["format"][width].values())
    return list(dict.fromkeys(name.casefold() for name in names))
