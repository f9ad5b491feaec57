"""Section `web_search`: off until an admin of the workspace switches it on, and what may be set."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.access.identity import principal_of_user
from accounts.preferences import SettingSource, sections_of
from core.errors import NotFound, ToolDisabled
from search.web.preferences import (
    WebSearchSettings,
    enabled_settings,
    require_web_tools,
    web_search_settings,
)
from tests.conftest import Cast

DEFAULTS = WebSearchSettings(
    enabled=False,
    provider="auto",
    default_count=5,
    cache_ttl_secs=600,
    expand_default=False,
    scraping=False,
    max_cost=None,
)


def of_team(cast: Cast) -> WebSearchSettings:
    return web_search_settings(principal_of_user(cast.alice), cast.team.pk)


def patch(cast: Cast, values: dict[str, Any] | None, name: str = "alice") -> Any:
    address = f"/api/v1/workspaces/{cast.team.pk}/settings"
    body = json.dumps({"web_search": values})
    return Client().patch(address, body, content_type="application/json", headers=cast.headers(name))


def test_the_deployment(cast: Cast, settings: Settings) -> None:
    assert of_team(cast) == DEFAULTS
    settings.WEB_SEARCH_RESULTS = 7
    assert of_team(cast).default_count == 7


def test_what_a_workspace_sets_counts_there_alone_and_null_inherits(cast: Cast, settings: Settings) -> None:
    settings.TAVILY_API_KEY = "tvly-x"
    own = {"enabled": True, "provider": "tavily", "default_count": 9, "cache_ttl_secs": 0}
    more = {"expand_default": True, "scraping": True, "max_cost": 12.3}
    told = patch(cast, own | more).json()
    assert told["web_search"] == own | more
    assert told["effective"]["web_search"]["max_cost"] == {"value": 12.3, "source": "workspace"}
    assert told["inherited"]["web_search"]["max_cost"] == {"value": None, "source": "deployment"}
    assert of_team(cast) == WebSearchSettings(True, "tavily", 9, 0, True, True, Decimal("12.3"))
    mine = cast.alice.personal_workspace
    assert web_search_settings(principal_of_user(cast.alice), mine.pk) == DEFAULTS
    patch(cast, {"enabled": None, "max_cost": None})
    assert (of_team(cast).enabled, of_team(cast).max_cost, of_team(cast).scraping) == (False, None, True)
    assert patch(cast, None).json()["web_search"] == dict.fromkeys(own | more)


@pytest.mark.parametrize("cost", [0, 5, 0.01, 19.99, 1_000_000])
def test_money_is_exact_to_the_cent(cast: Cast, cost: float) -> None:
    assert patch(cast, {"max_cost": cost}).status_code == 200
    assert of_team(cast).max_cost == Decimal(str(cost))


@pytest.mark.parametrize(
    ("values", "param"),
    [
        ({"enabled": "yes"}, "web_search.enabled"),
        ({"enabled": 1}, "web_search.enabled"),
        ({"provider": "bing"}, "web_search.provider"),
        ({"provider": "brave"}, "web_search.provider"),
        ({"default_count": 0}, "web_search.default_count"),
        ({"default_count": 21}, "web_search.default_count"),
        ({"default_count": 5.0}, "web_search.default_count"),
        ({"cache_ttl_secs": -1}, "web_search.cache_ttl_secs"),
        ({"cache_ttl_secs": 86_401}, "web_search.cache_ttl_secs"),
        ({"max_cost": -0.01}, "web_search.max_cost"),
        ({"max_cost": "5"}, "web_search.max_cost"),
        ({"max_cost": True}, "web_search.max_cost"),
        ({"max_cost": 1e12}, "web_search.max_cost"),
        ({"enable": True}, "web_search.enable"),
    ],
    ids=str,
)
def test_bad_values_are_named(cast: Cast, settings: Settings, values: dict[str, Any], param: str) -> None:
    settings.BRAVE_API_KEY = ""
    response = patch(cast, values)
    assert (response.status_code, response.json()["error"]["param"]) == (400, param)
    assert of_team(cast) == DEFAULTS


def test_a_provider_that_is_no_longer_configured_counts_as_not_given(cast: Cast, settings: Settings) -> None:
    settings.TAVILY_API_KEY = "tvly-x"
    patch(cast, {"provider": "tavily"})
    settings.TAVILY_API_KEY = ""
    assert of_team(cast).provider == "auto"


def test_only_admins_of_the_workspace_decide(cast: Cast) -> None:
    assert patch(cast, {"enabled": True}, "bob").status_code == 403
    assert patch(cast, {"enabled": True}, "charlie").status_code == 404
    assert not of_team(cast).enabled


def test_users_have_no_say(cast: Cast) -> None:
    assert "web_search" not in sections_of(SettingSource.USER)
    body = json.dumps({"web_search": {"enabled": True}})
    response = Client().patch(
        "/api/v1/preferences", body, content_type="application/json", headers=cast.headers("alice")
    )
    assert (response.status_code, response.json()["error"]["code"]) == (400, "unknown_field")


def test_the_tools_are_off_until_they_are_switched_on(cast: Cast) -> None:
    principal = principal_of_user(cast.alice)
    with pytest.raises(ToolDisabled) as refused:
        enabled_settings(principal, cast.team.pk)
    assert (refused.value.code, refused.value.status) == ("tool_disabled", 403)
    patch(cast, {"enabled": True})
    assert enabled_settings(principal, cast.team.pk).enabled
    with pytest.raises(NotFound):
        enabled_settings(principal_of_user(cast.charlie), cast.team.pk)


def test_the_operator_can_remove_them_altogether(cast: Cast, settings: Settings) -> None:
    patch(cast, {"enabled": True})
    require_web_tools()
    settings.WEB_TOOLS = False
    with pytest.raises(NotFound):
        require_web_tools()
    with pytest.raises(NotFound):
        enabled_settings(principal_of_user(cast.alice), cast.team.pk)


@pytest.mark.usefixtures("static_files")
def test_the_page_of_the_workspace_asks_for_each(cast: Cast) -> None:
    client = Client()
    client.force_login(cast.alice)
    page = client.get(f"/workspaces/{cast.team.pk}/settings").content.decode()
    for field in WebSearchSettings.__slots__:
        assert f'data-setting="web_search.{field}"' in page
