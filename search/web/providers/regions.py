"""DuckDuckGo's regions: a country and a language in one word, in DuckDuckGo's own spelling."""

from __future__ import annotations

_SAME_TWICE = "bg de fi fr hr hu is it lt lv nl pl pt ro ru sk tr"
_ENGLISH = "in id ie il my nz ph pk sg th vn za au"
_SPANISH = "ar cl co mx pe"
_ODD = {
    ("US", "en"): "us-en",
    ("US", "es"): "us-es",
    ("GB", "en"): "uk-en",
    ("ES", "es"): "es-es",
    ("ES", "ca"): "es-ca",
    ("CA", "en"): "ca-en",
    ("CA", "fr"): "ca-fr",
    ("BE", "fr"): "be-fr",
    ("BE", "nl"): "be-nl",
    ("CH", "de"): "ch-de",
    ("CH", "fr"): "ch-fr",
    ("AT", "de"): "at-de",
    ("BR", "pt"): "br-pt",
    ("CN", "zh"): "cn-zh",
    ("TW", "zh"): "tw-tzh",
    ("HK", "zh"): "hk-tzh",
    ("JP", "ja"): "jp-jp",
    ("KR", "ko"): "kr-kr",
    ("SA", "ar"): "xa-ar",
    ("UA", "uk"): "ua-uk",
    ("SI", "sl"): "sl-sl",
    ("CZ", "cs"): "cz-cs",
    ("DK", "da"): "dk-da",
    ("SE", "sv"): "se-sv",
    ("GR", "el"): "gr-el",
    ("EE", "et"): "ee-et",
    ("NO", "no"): "no-no",
    ("NO", "nb"): "no-no",
}
# In the order in which a language or a country alone is looked for.
REGIONS: dict[tuple[str, str], str] = {
    **{(code.upper(), code): f"{code}-{code}" for code in _SAME_TWICE.split()},
    **_ODD,
    **{(code.upper(), "en"): f"{code}-en" for code in _ENGLISH.split()},
    **{(code.upper(), "es"): f"{code}-es" for code in _SPANISH.split()},
}


def region(country: str | None, language: str | None) -> tuple[str, frozenset[str]]:
    """Return the region nearest to a country and a language, and which of the two it honours.

    Empty, which is all regions, if there is none. A country goes before a language.
    """
    wanted = {"country": country, "language": language}
    for fields in ({"country", "language"}, {"country"}, {"language"}):
        if any(wanted[field] is None for field in fields):
            continue
        for (its_country, its_language), name in REGIONS.items():
            of = {"country": its_country, "language": its_language}
            if all(of[field] == wanted[field] for field in fields):
                return name, frozenset(fields)
    return "", frozenset()
