"""Who asks for a figure of a country is told none of a passage that does not speak of that country.

“How high were net sales in Brazil?” names one, and so does “Combien de salariés en Allemagne ?”: the Common
Locale Data Repository has the names of countries in all languages, so question and passage may be in two.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from babel import Locale, UnknownLocaleError
from babel.languages import get_official_languages

from search.contexts import Context
from search.question_language import language_of

_NO_COUNTRIES = frozenset(("EU", "EZ", "UN", "XA", "XB", "ZZ", "QO"))
_WITH_OTHER_NAMES = frozenset(("US", "GB"))
"""“U.S.”, “America”, “domestic”: reports call them by too many names."""
_SHORTEST = 4
_BEHIND = re.compile(
    r"\b(?:in|from|to|of|for|within|outside|aus|nach|für|en|au|aux|du|de|des|del|desde|para|nel|nella|em|no|na|do|da"
    r"|uit|naar|van) (?:the |die |den |der |la |le |les |el |los |l['’])?$"
)
"""What stands before a country: “Jordan” and “Chad” are people, too."""


def lacks_country(question: str, context: Context) -> bool:
    """Tell whether a question names countries, and a passage, with what stands above it, none of them."""
    asked = _asked(question)
    if not asked:
        return False
    said = " ".join([context.document_name, *context.headings, context.introduction, context.text]).casefold()
    return not any(name in said for code in asked for name in _called(code, context.language or "en"))


def _asked(question: str) -> frozenset[str]:
    """Return the countries that a question names, by their codes (ISO 3166-1)."""
    said = question.casefold()
    countries = _countries(language_of(question))
    return frozenset(code for name, code in countries.items() if _stands(name, said))


def _stands(name: str, said: str) -> bool:
    """Tell whether a text has a name as a whole word behind what stands before places."""
    at = said.find(name)
    return at >= 0 and not said[at + len(name) :][:1].isalpha() and _BEHIND.search(said[:at]) is not None


@cache
def _countries(language: str) -> Mapping[str, str]:
    """Return the code of each country by its name in small letters."""
    return {
        name.casefold(): code
        for code, name in _locale(language).territories.items()
        if len(code) == 2 and code not in _NO_COUNTRIES | _WITH_OTHER_NAMES and len(name) >= _SHORTEST
    }


@cache
def _called(code: str, language: str) -> frozenset[str]:
    """Return beginnings of what texts in a language call a country and what is of it, in small letters."""
    locale = _locale(language)
    names = [locale.territories.get(code, code)]
    names += [locale.languages.get(spoken, "") for spoken in get_official_languages(code, de_facto=True)]
    return frozenset(name.casefold()[: max(_SHORTEST, len(name) - 2)] for name in names if name)


@cache
def _locale(language: str) -> Locale:
    try:
        return Locale.parse(language)
    except (UnknownLocaleError, ValueError):
        return Locale("en")
