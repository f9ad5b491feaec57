"""What may leave for the web: addresses and words that do not come from documents.

Documents are hostile, and confidential. One that makes a model search for its words, or fetch an address with
them in it, would carry them out. So an address has to be one that the person wrote or that a search of the
web gave; and no word of a query may be known from documents alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Set

from core.errors import ValidationError
from core.fetch import InvalidUrl, web_url
from core.text.analysis import terms

LANGUAGES = ("en", "de", "fr", "es")
"""Whose stop words say nothing about a document."""
MOST_ADDRESSES = 10
_ADDRESS = re.compile(r"https?://[^\s<>\"]{1,2000}")
_ENDS = ".,;:!?)]}'"


class TextFromDocuments(ValidationError):
    """A call would carry words of documents to the web."""


class OutboundGuard:
    """Judges the calls of one run; learns what may go out, and what only documents say."""

    def __init__(self, typed: str) -> None:
        self._typed = typed
        self._public = _words(typed)
        self._private: set[str] = set()
        self._addresses = set(addresses_in(typed))
        self._of_server: defaultdict[str, set[str]] = defaultdict(set)

    def learn_documents(self, texts: Iterable[str]) -> None:
        """Remember what documents say."""
        for text in texts:
            self._private |= _words(text)

    def learn_pages(self, texts: Iterable[str], urls: Iterable[str]) -> None:
        """Remember what the web says, and where."""
        for text in texts:
            self._public |= _words(text)
        self._addresses |= {normal for url in urls if (normal := _normal(url))}

    def learn_server(self, server: str, texts: Iterable[str]) -> None:
        """Remember what a tool server says: it may be asked in its own words, and nobody else may."""
        for text in texts:
            words = _words(text)
            self._private |= words
            self._of_server[server] |= words

    def check_query(self, query: str) -> None:
        """Raise `TextFromDocuments` for a query with words that only documents have."""
        if self._is_private(query):
            # Which ones is not said: errors are stored where the words of documents are not.
            raise TextFromDocuments(
                "The query has words that only documents hold. Use words of the question alone.",
                param="query",
            )

    def check_argument(self, server: str, text: str) -> None:
        """Raise `TextFromDocuments` for words that only documents, or other tool servers, have."""
        if self._is_private(text, self._of_server[server]):
            raise TextFromDocuments("Use words of the question, or of this server, alone.", param="arguments")

    def _is_private(self, text: str, allowed: Set[str] = frozenset()) -> bool:
        if not self._private:
            return False
        secret = _words(text) & self._private - self._public - allowed
        return any(not _is_stop_word(word) for word in secret)

    def check_address(self, url: str) -> None:
        """Raise `TextFromDocuments` for an address that neither the person nor the web has given."""
        if _normal(url) not in self._addresses:
            raise TextFromDocuments(
                "Only addresses that the person wrote or that web_search has found can be fetched.",
                param="url",
            )


def addresses_in(text: str) -> list[str]:
    """Return the addresses of pages in a text, in their normal form, each once."""
    found = (_normal(each.group().rstrip(_ENDS)) for each in _ADDRESS.finditer(text))
    return list(dict.fromkeys(url for url in found if url))[:MOST_ADDRESSES]


def _normal(url: str) -> str:
    """Return an address as the fetcher has it; empty for what is none."""
    try:
        return str(web_url(url))
    except InvalidUrl:
        return ""


def _words(text: str) -> set[str]:
    return set(terms(text, None))


def _is_stop_word(word: str) -> bool:
    return any(not terms(word, language) for language in LANGUAGES)
