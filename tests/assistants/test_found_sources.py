"""What the called tools have found together, documents and pages of the web."""

from __future__ import annotations

from typing import Any

from assistants.called_tools import FoundPages, FoundSources
from search.contexts import PageContext
from search.rag import RetrievedContexts
from search.web.pipeline import KeptSources

NOTHING: Any = None


def test_what_a_page_of_the_web_has_is_not_misspelt() -> None:
    """Documents have a Kerrigan; who asks both about Kerigan may mean the one of the page."""
    spelling = {"Kerigan": "Kerrigan", "proces": "process"}
    documents = RetrievedContexts(NOTHING, [], spelling=spelling)
    url, title = "https://pilots.example/", "Pilots"
    page = PageContext(rank=1, text="Ada Kerigan flies.", document_name=title, score=1, url=url, title=title)
    pages = FoundPages(NOTHING, NOTHING, KeptSources([], [page], ""))
    assert FoundSources(documents).spelling == spelling
    assert FoundSources(documents, pages).spelling == {"proces": "process"}
    assert FoundSources(pages=pages).spelling == {}
