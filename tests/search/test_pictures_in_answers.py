"""Pictures among the contexts of an answer: told of, shown to models that can see, cited by their words."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pymupdf
import pytest
import stamina
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from PIL import Image
from pytest_django import Settings

from accounts.models import Workspace
from core.llm.gateway import ATTEMPTS
from core.locations import Box, LocatedText, OnPage, Page, PageBox
from kb.models import Chunk, Modality
from kb.pictures import Picture
from runs.models import Execution
from runs.withholding import hidden_documents, withhold
from search.continuations import runs_on
from search.generation.base import MOST_CROPS
from tests.conformance.streaming import validator
from tests.conftest import Cast, make_cast
from tests.factories import add_chunk, stored_document
from tests.search.generation.test_crops import content_of
from tests.testing.chat_models import AnthropicProvider, Turn

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = Page(1, 400, 600)
AREA = PageBox(Box(100, 100, 300, 200), PAGE)
CAPTION = "Figure 1. Ships a year at Punta Brava."
DESCRIPTION = "A chart of ships with bars that grow every year."
QUESTION = "How many ships call at Punta Brava a year?"


def black_box() -> bytes:
    """Return a page that is black where the picture stands, and white elsewhere."""
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=400, height=600)
        page.draw_rect(pymupdf.Rect(AREA.box), fill=(0, 0, 0))
        return bytes(pdf.tobytes())


def line(text: str, box: Box, number: int = 0) -> LocatedText:
    return LocatedText.of_words((word, OnPage(PAGE, number, box)) for word in text.split())


def pictured(workspace: Workspace, *, described: bool = False, caption: str = CAPTION) -> Chunk:
    """Store a document with a picture chunk."""
    document = stored_document(workspace, "ships.pdf", black_box(), file_type="pdf", page_count=1)
    parts = [line(caption, Box(100, 205, 300, 217))]
    parts += [line(DESCRIPTION, AREA.box, 1)] if described else []
    chunk = add_chunk(document, LocatedText.join(parts, "\n\n"))
    start = len(caption) + 2
    chunk.picture = Picture(AREA, start if described else None, "seer-1" if described else None).dump()
    chunk.modality = Modality.IMAGE
    chunk.sentences = [[0, len(caption)], *([[start, len(chunk.text)]] if described else [])]
    chunk.save()
    return chunk


def scanned(workspace: Workspace, *, is_recognised: bool = True) -> Chunk:
    """Store a page whose words were recognised, or are its own."""
    recognised = [{"number": 1, "confidence": 0.9}] if is_recognised else []
    document = stored_document(
        workspace, "log.pdf", black_box(), file_type="pdf", page_count=1, quality={"recognised": recognised}
    )
    return add_chunk(
        document, line("The log counts 42 ships a year at Punta Brava.", Box(120, 120, 280, 132))
    )


def want_pictures(*workspaces: Workspace) -> None:
    for workspace in workspaces:
        workspace.settings = {"rag": {"multimodal": True}}
        workspace.save()


@pytest.fixture
def provider(settings: Settings) -> Iterator[AnthropicProvider]:
    with AnthropicProvider() as running, stamina.set_testing(True, attempts=ATTEMPTS):
        settings.GENERATION_PROVIDER, settings.GENERATION_MODEL = "anthropic", "claude-haiku-4-5"
        settings.GENERATION_API_KEY, settings.GENERATION_BASE_URL = "key", running.url
        yield running


@pytest.fixture
async def people() -> Cast:
    cast = await sync_to_async(make_cast)()
    await sync_to_async(want_pictures)(cast.team)
    return cast


async def ask(people: Cast, workspace: Workspace | None = None) -> Any:
    """Return the result, of the documented shape."""
    body = {"query": QUESTION, "workspace_id": str((workspace or people.team).pk)}
    reply = await AsyncClient().post(
        "/api/v1/tools/rag_search",
        json.dumps(body),
        content_type="application/json",
        headers=people.headers("alice"),
    )
    assert reply.status_code == 200, reply.content
    validator("rag_search_result").validate(reply.json())
    return reply.json()


def images_in(provider: AnthropicProvider) -> list[Image.Image]:
    content = content_of(provider.requests[-1])
    return [Image.open(io.BytesIO(part)) for part in content if isinstance(part, bytes)]


def share_of_ink(image: Image.Image) -> float:
    grey = image.convert("L")
    return 1 - sum(grey.get_flattened_data()) / (255 * grey.width * grey.height)


# --- What is shown -----------------------------------------------------------------------------------------


async def test_a_model_is_shown_the_picture_and_nothing_else_of_its_page(
    people: Cast, provider: AnthropicProvider
) -> None:
    chunk = await sync_to_async(pictured)(people.team)
    result = await ask(people)
    [image] = images_in(provider)
    assert image.size == (1024, 512)
    assert share_of_ink(image) > 0.98
    execution = await Execution.unscoped.aget(pk=result["execution_id"])
    assert execution.trace and execution.trace["steps"]["seen"] == [1]
    assert result["contexts"][0]["chunk_id"] == str(chunk.pk)


async def test_of_a_scanned_page_the_place_is_shown(people: Cast, provider: AnthropicProvider) -> None:
    await sync_to_async(scanned)(people.team)
    await ask(people)
    [image] = images_in(provider)
    # Its words, 160 points wide, and a margin around them.
    assert image.width == 1024
    assert image.height == pytest.approx(1024 * (12 + 24) / (160 + 24), abs=3)


async def test_of_a_page_with_its_own_text_nothing_is_shown(
    people: Cast, provider: AnthropicProvider
) -> None:
    await sync_to_async(scanned)(people.team, is_recognised=False)
    await ask(people)
    assert images_in(provider) == []


async def test_pictures_go_before_scanned_pages_and_there_are_not_many(
    people: Cast, provider: AnthropicProvider, settings: Settings
) -> None:
    settings.RAG_CONTEXTS = 10
    await sync_to_async(scanned)(people.team)
    for quay in ("northern", "southern", "old", "new", "fishing"):
        caption = f"Figure. Ships a year at Punta Brava that called at the {quay} quay of the town."
        await sync_to_async(pictured)(people.team, caption=caption)
    result = await ask(people)
    assert len(result["contexts"]) == 6
    images = images_in(provider)
    assert len(images) == MOST_CROPS
    assert {image.size for image in images} == {(1024, 512)}


@pytest.mark.parametrize("asked_in", ["where it is not wanted", "where it is"])
async def test_both_workspaces_must_want_it(people: Cast, provider: AnthropicProvider, asked_in: str) -> None:
    own = await sync_to_async(lambda: people.alice.personal_workspace)()
    if asked_in == "where it is":
        await sync_to_async(want_pictures)(own)
        people.team.settings = {}
        await people.team.asave()
    await sync_to_async(pictured)(people.team)
    await ask(people, own)
    assert images_in(provider) == []


async def test_a_lost_file_costs_the_crop_and_not_the_answer(
    people: Cast, provider: AnthropicProvider
) -> None:
    chunk = await sync_to_async(pictured)(people.team)
    chunk.document.file.storage.delete(chunk.document.file.name)
    result = await ask(people)
    assert images_in(provider) == []
    assert len(result["contexts"]) == 1


# --- What is told and cited --------------------------------------------------------------------------------


@pytest.mark.parametrize("described", [False, True])
async def test_a_context_tells_of_its_picture(
    people: Cast, provider: AnthropicProvider, described: bool
) -> None:
    await sync_to_async(pictured)(people.team, described=described)
    [context] = (await ask(people))["contexts"]
    assert context["picture"] == AREA.as_json()
    assert context["bbox"][0] == context["picture"]
    made = [context["text_preview"][start:end] for start, end in context.get("machine_made", [])]
    assert made == ([DESCRIPTION] if described else [])


async def test_a_quote_of_what_a_machine_has_written_says_so(
    people: Cast, provider: AnthropicProvider
) -> None:
    await sync_to_async(pictured)(people.team, described=True)
    words = (
        "The chart shows ships with bars that grow every year. <source_1> ",
        "Figure 1 is about ships a year at Punta Brava. <source_1>",
    )
    provider.turns = [Turn(words=words)]
    [context] = (await ask(people))["contexts"]
    of_machine, of_document = context["quotes"]
    assert (of_machine["text"], of_machine["machine_made"]) == (DESCRIPTION, True)
    assert of_machine["bbox"] == [AREA.as_json()]
    assert of_document["text"] == CAPTION and "machine_made" not in of_document


async def test_what_is_read_off_the_picture_alone_is_not_cited(
    people: Cast, provider: AnthropicProvider
) -> None:
    await sync_to_async(pictured)(people.team)
    provider.turns = [Turn(words=("In 2021 there were 317 ships. ", "<source_1>"))]
    result = await ask(people)
    assert (result["sources_used"], result["citations_removed"]) == ([], 1)
    assert result["response"] == "In 2021 there were 317 ships."


async def test_who_no_longer_sees_the_document_sees_no_picture_of_it(
    people: Cast, provider: AnthropicProvider
) -> None:
    chunk = await sync_to_async(pictured)(people.team, described=True)
    result = await ask(people)
    charlie = await sync_to_async(_principal)(people)
    hidden = await sync_to_async(hidden_documents)(charlie, [chunk.document_id])
    [context] = withhold(result, hidden)["contexts"]
    assert str(chunk.pk) not in json.dumps(context)
    assert not {"picture", "machine_made"} & {key for key, value in context.items() if value}


def _principal(people: Cast) -> Any:
    from accounts.access.identity import principal_of_user

    return principal_of_user(people.charlie)


def test_a_picture_does_not_go_on_in_the_text_behind_it() -> None:
    picture = Chunk(text="Ships a year", picture=Picture(AREA).dump())
    text = Chunk(text="and so it went on.")
    assert runs_on(Chunk(text="Ships a year"), text)
    assert not runs_on(picture, text) and not runs_on(text, picture)
