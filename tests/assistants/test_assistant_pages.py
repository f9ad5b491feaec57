"""The forms of assistants and of the ways in which they are reached: what they show is what they store."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from accounts.access.identity import principal_of_user
from assistants.configuration.schemas import BindingDetails
from assistants.configuration.settings import AssistantSettings, AssistantWeb, read_settings
from assistants.models import Assistant, AssistantVersion, Binding, Visibility
from assistants.pages.fields import shown_fields
from assistants.pages.words import setting_in_words
from assistants.search_scope import SearchScope
from core.llm.registry import PROVIDERS
from kb.models import DocumentCollection
from tests.conftest import Cast
from tests.factories import indexed_document

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("plain_static_files")]
LIMITS = {"max_steps": "4", "max_seconds": "30", "max_cost": ""}
PLAIN = {"name": "Guide", "visibility": "workspace", "tools": ["rag_search"], "web_enabled": "yes", **LIMITS}


@pytest.fixture
def alice(people: Cast, client: Client) -> Client:
    client.force_login(people.alice)
    return client


@pytest.fixture
def guide(people: Cast) -> Assistant:
    made = Assistant.unscoped.create(
        workspace=people.team, user=people.alice, name="Guide", visibility=Visibility.WORKSPACE
    )
    AssistantVersion.objects.create(
        assistant=made, number=1, name=made.name, settings=AssistantSettings().as_stored()
    )
    return made


def newest(made: Assistant) -> AssistantSettings:
    made.refresh_from_db()
    return AssistantSettings.model_validate(made.versions.get(number=made.version).settings)


def send(client: Client, made: Assistant, **fields: Any) -> int:
    return client.post(reverse("assistant", args=[made.pk]), PLAIN | fields).status_code


def test_every_setting_has_its_field(alice: Client, people: Cast, guide: Assistant) -> None:
    document = indexed_document(people.team, "Solar power.")
    fields = {
        "instructions": "Be short.",
        "starters": "One?\n\nTwo?",
        "documents": [str(document.pk)],
        "tags": "a, b",
        "allowed": "example.org, .gov",
        "blocked": "spam.example",
        "count": "3",
        "expand": "no",
        "country": "de",
        "temperature": "0,5",
        "max_output_tokens": "500",
        "reflection": "yes",
        "max_cost": "0.10",
    }
    assert send(alice, guide, **fields) == 302
    found = newest(guide)
    assert (found.instructions, found.starters) == ("Be short.", ["One?", "Two?"])
    assert (found.scope.document_ids, found.scope.tags) == ([document.pk], ["a", "b"])
    web = found.web
    assert (web.whitelisted_domains, web.search_domain_filter) == (["example.org", ".gov"], ["-spam.example"])
    assert (web.count, web.expand, web.country, web.enabled) == (3, False, "DE", True)
    assert (found.style.temperature, found.style.max_output_tokens, found.style.reflection) == (
        0.5,
        500,
        True,
    )
    assert (found.limits.max_steps, found.limits.max_cost) == (4, 0.1)
    # What the form shows of it, it stores again.
    page = alice.get(reverse("assistant", args=[guide.pk])).content.decode()
    for text in ("Be short.", "example.org, .gov", 'value="spam.example"', 'value="0.5"', document.name):
        assert text in page
    assert send(alice, guide, **fields) == 302
    assert newest(guide) == found
    assert guide.version == 2


def test_what_is_refused_is_shown_again_with_the_rest(alice: Client, guide: Assistant) -> None:
    reply = alice.post(
        reverse("assistant", args=[guide.pk]), PLAIN | {"instructions": "Long work", "temperature": "9"}
    )
    assert reply.status_code == 400
    assert "Long work" in reply.content.decode()
    assert guide.version == 1


def test_what_the_reader_cannot_see_is_neither_shown_nor_dropped(
    alice: Client, people: Cast, guide: Assistant
) -> None:
    """Somebody who sees more has chosen it; without it the scope would be wider."""
    theirs = people.charlie.personal_workspace
    document = indexed_document(theirs, "Wind power.", name="charlies-plan.pdf")
    collection = DocumentCollection.unscoped.create(workspace=theirs, name="Charlie's plans")
    scope = {"document_ids": [str(document.pk)], "collection_ids": [str(collection.pk)]}
    guide.versions.update(settings=AssistantSettings.model_validate({"scope": scope}).as_stored())
    page = alice.get(reverse("assistant", args=[guide.pk])).content.decode()
    assert "charlies-plan.pdf" not in page
    assert "Charlie&#x27;s plans" not in page
    assert send(alice, guide, documents=[str(document.pk)], instructions="New") == 302
    found = newest(guide)
    assert (found.instructions, found.scope) == ("New", SearchScope.model_validate(scope))


def test_what_the_reader_cannot_see_is_not_put_in(alice: Client, people: Cast, guide: Assistant) -> None:
    theirs = people.charlie.personal_workspace
    document = indexed_document(theirs, "Wind power.")
    collection = DocumentCollection.unscoped.create(workspace=theirs, name="Charlie's plans")
    assert send(alice, guide, documents=[str(document.pk)]) == 400
    assert send(alice, guide, collections=[str(collection.pk)]) == 400
    assert send(alice, guide, workspaces=[str(theirs.pk)]) == 400
    assert guide.version == 1


def test_a_document_that_is_gone_is_not_dropped_in_silence(
    alice: Client, people: Cast, guide: Assistant
) -> None:
    """Without it the scope would be all documents."""
    document = indexed_document(people.team, "Solar power.")
    document_id = document.pk
    send(alice, guide, documents=[str(document_id)])
    document.delete()
    page = alice.get(reverse("assistant", args=[guide.pk])).content.decode()
    assert "A document that is gone" in page
    assert send(alice, guide, documents=[str(document_id)], instructions="New") == 302
    assert newest(guide).scope.document_ids == [document_id]
    assert send(alice, guide, instructions="New") == 302
    assert newest(guide).scope.document_ids is None


def test_settings_are_told_in_the_words_of_their_fields() -> None:
    settings = AssistantSettings.model_validate(
        {
            "scope": {"workspace_ids": [uuid4(), uuid4()], "tags": ["a", "b"]},
            "web": {"search_domain_filter": ["-spam.example"], "expand": False},
            "style": {"temperature": 0.5},
            "limits": {"max_steps": 4},
        }
    )
    told = {name: setting_in_words(settings, name) for name in ("scope", "web", "style", "limits", "model")}
    assert told == {
        "scope": "Workspaces: 2; Tags: a, b",
        "web": "Never pages of these sites: spam.example; Read the three best pages whole: No",
        "style": "Temperature: 0.5",
        "limits": "Searches for one question, at most: 4; Seconds for searching, at most: 60",
        "model": "",
    }
    assert setting_in_words(AssistantSettings(), "web") == ""
    assert setting_in_words(AssistantSettings(web=AssistantWeb(enabled=False)), "web") == "Search the web: No"


def test_fallbacks_are_chosen_in_order(alice: Client, people: Cast, guide: Assistant, settings: Any) -> None:
    assert "openai" in PROVIDERS
    settings.GENERATION_FALLBACKS = ["openai:one", "openai:two"]
    assert send(alice, guide, model="two", fallbacks=["one", "", "one"]) == 302
    found = newest(guide)
    assert (found.model, found.fallbacks) == ("two", ["one"])
    shown = shown_fields(principal_of_user(people.alice), found)
    assert shown["fallbacks"] == [(1, "one"), (2, "")]
    assert shown["models"] == ["extractive", "one", "two"]


# --- Ways ------------------------------------------------------------------------------------------------


def test_a_way_is_made_set_shown_and_ended(alice: Client, guide: Assistant) -> None:
    ways = reverse("assistant_bindings", args=[guide.pk])
    made = alice.post(ways, {"kind": "widget", "origins": "https://a.example\nhttps://b.example"})
    bound = Binding.objects.get(assistant=guide)
    page = reverse("assistant_binding", args=[bound.pk])
    assert (made.status_code, made["Location"]) == (302, page)
    assert bound.origins == ["https://a.example", "https://b.example"]

    fields = PLAIN | {"own": ["instructions", "limits"], "instructions": "Be kind.", "starters": "Not own"}
    assert alice.post(page, fields | {"origins": "https://a.example"}).status_code == 302
    bound.refresh_from_db()
    assert bound.overrides == {
        "instructions": "Be kind.",
        "limits": {"max_steps": 4, "max_seconds": 30},
    }
    assert bound.origins == ["https://a.example"]
    shown = alice.get(page).content.decode()
    assert "Be kind." in shown
    counted = alice.get(reverse("resolved_assistant", args=[guide.pk])).content.decode()
    assert '<mark class="marked">Be kind.</mark>' in counted

    assert alice.post(page, PLAIN | {"origins": "https://a.example"}).status_code == 302
    bound.refresh_from_db()
    assert bound.overrides == {}
    assert alice.post(reverse("end_binding", args=[bound.pk])).status_code == 302
    assert not Binding.objects.filter(assistant=guide).exists()


def test_a_way_has_fallbacks_alone(alice: Client, guide: Assistant, settings: Any) -> None:
    settings.GENERATION_FALLBACKS = ["openai:one", "openai:two"]
    bound = Binding.objects.create(assistant=guide, kind="page")
    page = reverse("assistant_binding", args=[bound.pk])
    assert alice.post(page, PLAIN | {"own": ["fallbacks"], "fallbacks": ["two"]}).status_code == 302
    bound.refresh_from_db()
    assert bound.overrides == {"fallbacks": ["two"]}
    # Neither of them becomes the model.
    assert BindingDetails.of(bound).overrides.fallbacks == ["two"]
    found = read_settings(AssistantSettings().as_stored(), bound.overrides)
    assert (found.model, found.fallbacks) == (None, ["two"])


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "widget", "origins": ""},
        {"kind": "widget", "origins": "https://a.example/path"},
        {"kind": "carrier pigeon"},
        {"kind": "api_key", "key": "00000000-0000-4000-8000-000000000000"},
    ],
)
def test_ways_that_are_refused(alice: Client, guide: Assistant, fields: dict[str, str]) -> None:
    reply = alice.post(reverse("assistant_bindings", args=[guide.pk]), fields)
    assert reply.status_code == 400
    assert b'role="alert"' in reply.content
    assert not Binding.objects.filter(assistant=guide).exists()


def test_ways_are_for_those_who_may_change_the_assistant(
    people: Cast, client: Client, guide: Assistant
) -> None:
    bound = Binding.objects.create(assistant=guide, kind="page")
    client.force_login(people.bob)
    for name, ids in (
        ("assistant_bindings", [guide.pk]),
        ("assistant_binding", [bound.pk]),
    ):
        assert client.get(reverse(name, args=ids)).status_code == 404
        assert client.post(reverse(name, args=ids), {"kind": "mcp"}).status_code == 404
    assert client.post(reverse("end_binding", args=[bound.pk])).status_code == 404
    assert Binding.objects.filter(pk=bound.pk).exists()
