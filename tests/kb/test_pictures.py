"""A picture chunk as the API tells of it: its box, its words, and which of them a machine has written."""

from __future__ import annotations

import pytest
from django.test import Client

from core.locations import Box, LocatedText, OnPage, Page, PageBox, Span
from kb.models import Chunk, Modality
from kb.pictures import Picture
from tests.conftest import Cast
from tests.factories import add_chunk, indexed_document

PAGE = Page(1, 400, 300)
AREA = PageBox(Box(50, 40, 350, 200), PAGE)
CAPTION, LABEL, DESCRIPTION = "Figure 1. Ships a year.", "Harbour 42.", "Bars that grow from left to right."


def picture_text(*, described: bool) -> LocatedText:
    """Return a caption below the picture, a label in it, and perhaps what a model says of it."""
    parts = [(CAPTION, Box(50, 205, 300, 217)), (LABEL, Box(60, 60, 120, 70))]
    parts += [(DESCRIPTION, AREA.box)] if described else []
    located = [
        LocatedText.of_spans(text, [Span(0, len(text), OnPage(PAGE, line, box))])
        for line, (text, box) in enumerate(parts)
    ]
    return LocatedText.join(located, "\n\n")


def picture_chunk(cast: Cast, *, described: bool) -> Chunk:
    """Store a picture chunk in the team workspace."""
    located = picture_text(described=described)
    chunk = add_chunk(indexed_document(cast.team), located, 1)
    start = located.text.index(DESCRIPTION) if described else None
    chunk.picture = Picture(AREA, start, "seer-1" if described else None).dump()
    chunk.modality = Modality.IMAGE
    chunk.save()
    return chunk


@pytest.mark.parametrize("described", [False, True])
def test_a_picture_leads_its_boxes_and_tells_what_a_machine_has_written(cast: Cast, described: bool) -> None:
    chunk = picture_chunk(cast, described=described)
    told = Client().get(f"/chunks/{chunk.pk}", headers=cast.headers("bob")).json()
    assert told["page_number"] == 1
    # The label stands in the picture, so that its box would mark nothing more.
    assert [box["bbox"] for box in told["bbox"]] == [[50, 40, 350, 200], [50, 205, 300, 217]]
    metadata = told["metadata"]
    assert metadata["modality"] == "image"
    assert metadata["picture"] == told["bbox"][0]
    if described:
        [[start, end]] = metadata["machine_made"]
        assert told["text"][start:end] == DESCRIPTION
        assert metadata["described_by"] == "seer-1"
    else:
        assert "machine_made" not in metadata
        assert "described_by" not in metadata


def test_other_chunks_tell_of_no_picture(cast: Cast) -> None:
    chunk = Chunk.unscoped.get(document=indexed_document(cast.team))
    told = Client().get(f"/chunks/{chunk.pk}", headers=cast.headers("bob")).json()
    assert "picture" not in told["metadata"]


def test_a_picture_without_a_place_is_stored_as_such() -> None:
    assert Picture.load(Picture(None).dump()) == Picture(None)
    assert Picture.load(Picture(AREA, 7, "seer-1").dump()) == Picture(AREA, 7, "seer-1")
