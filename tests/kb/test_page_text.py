"""`documents/{id}/pages/{n}/text`: the words of a page, with their boxes."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from core.locations import Box, LocatedText, OnPage, Page, Span
from kb.models import Chunk, Document, Modality
from tests.conftest import Cast
from tests.factories import indexed_document, stored_document

pytestmark = pytest.mark.django_db(transaction=True)


def lines_on(*placed: tuple[str, int, int]) -> LocatedText:
    """A text of lines `(words, page, top)`."""
    text, spans = "", []
    for line, (words, number, top) in enumerate(placed):
        at = len(text)
        place = OnPage(Page(number, 600, 800), line, Box(50, top, 300, top + 12))
        spans.append(Span(at, at + len(words), place))
        text += words + "\n"
    return LocatedText.of_spans(text, spans)


def read(client: Client, document: Document, number: int) -> Any:
    reply = client.get(f"/api/v1/documents/{document.pk}/pages/{number}/text")
    assert reply.status_code == 200, reply.content
    return reply.json()


def texts(client: Client, document: Document, number: int) -> list[str]:
    return [line["text"] for line in read(client, document, number)["lines"]]


def test_lines_come_in_order_from_every_chunk_that_touches_the_page(cast: Cast) -> None:
    first = lines_on(("Harbour report", 1, 40), ("It begins here", 1, 60), ("and goes on", 2, 40))
    second = lines_on(("Ferries", 2, 90))
    document = stored_document(cast.team, "a.pdf", b"x", [first, second], page_count=3)
    client = Client()
    client.force_login(cast.alice)
    assert texts(client, document, 1) == ["Harbour report", "It begins here"]
    assert texts(client, document, 2) == ["and goes on", "Ferries"]
    assert read(client, document, 3) == {
        "page_number": 3,
        "layout_width": None,
        "layout_height": None,
        "lines": [],
    }
    page = read(client, document, 2)
    chunk = Chunk.unscoped.get(document=document, ordinal=1)
    assert page["lines"][1] == {"text": "Ferries", "bbox": [50, 90, 300, 102], "chunk_id": str(chunk.pk)}
    assert (page["layout_width"], page["layout_height"]) == (600, 800)


def test_parts_of_a_table_far_from_its_header_are_found_and_the_header_comes_once(cast: Cast) -> None:
    rows = [("Almería", 1, 90), ("Bari", 5, 40), ("Cork", 5, 60)]
    parts = [lines_on(("Town", 1, 40), row) for row in rows]
    document = stored_document(cast.team, "t.pdf", b"x", parts, page_count=5)
    Chunk.unscoped.filter(document=document).update(modality=Modality.TABLE)
    client = Client()
    client.force_login(cast.alice)
    assert texts(client, document, 1) == ["Town", "Almería"]
    assert texts(client, document, 5) == ["Bari", "Cork"]


def test_who_may_not_see_the_document_sees_no_words(cast: Cast) -> None:
    document = indexed_document(cast.team)
    client = Client()
    for user, status in ((cast.alice, 200), (cast.bob, 200), (cast.charlie, 404)):
        client.force_login(user)
        assert client.get(f"/api/v1/documents/{document.pk}/pages/1/text").status_code == status
    client.force_login(cast.alice)
    for number in ("0", "2", "x", "99999999999999999999"):
        reply = client.get(f"/api/v1/documents/{document.pk}/pages/{number}/text")
        assert reply.status_code == 404, number
