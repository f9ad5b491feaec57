"""From a language to the text-search configuration that knows its word forms."""

from __future__ import annotations

# ISO 639-1 -> a configuration that every PostgreSQL ships (https://www.postgresql.org/docs/current/textsearch-dictionaries.html).
_CONFIGS = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}


def text_search_config(language: str | None) -> str:
    """Return the PostgreSQL configuration for an ISO 639-1 language; `simple` where there is none."""
    return _CONFIGS.get(language or "", "simple")
