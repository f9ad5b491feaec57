"""What `web_search` takes: every name, every limit, every contradiction."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from core.api.validation import validated
from core.errors import Conflict, LocusError, UnknownField, ValidationError
from search.web.base import DateRange, Location, Recency, WebQuery
from search.web.domains import DomainRule
from search.web.inputs import WebFilters, WebSearchInput


def read(**inputs: Any) -> WebSearchInput:
    """Read inputs as they come from JSON."""
    return validated(WebSearchInput, json.loads(json.dumps({"query": "tea", **inputs})))


def query(**inputs: Any) -> WebQuery:
    return read(**inputs).web_query()


def refused(**inputs: Any) -> LocusError:
    with pytest.raises(LocusError) as caught:
        read(**inputs)
    assert caught.value.status == 400
    return caught.value


def test_a_question_alone_is_enough(settings: Settings) -> None:
    settings.WEB_SEARCH_RESULTS = 7
    assert query(query="  black\n tea ") == WebQuery("black tea", 7)
    assert read().mode == "answer"
    assert read().web_query(default_count=3).count == 3
    assert read(count=4).web_query(default_count=3).count == 4


@pytest.mark.parametrize("text", ["", " \n", "x" * 2001, None, 5])
def test_a_question_is_neither_blank_nor_too_long(text: object) -> None:
    assert refused(query=text).param == "query"


def test_unknown_fields_are_refused() -> None:
    unknown: list[dict[str, Any]] = [
        {"qery": "x"},
        {"filters": {"domains": []}},
        {"user_location": {"planet": "Mars"}},
    ]
    for inputs in unknown:
        with pytest.raises(UnknownField):
            read(**inputs)


# --- Recency ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["freshness", "search_recency_filter"])
@pytest.mark.parametrize("value", list(Recency))
def test_recency_has_three_names(name: str, value: Recency) -> None:
    assert query(**{name: value}).recency is value
    assert query(filters={name: value}).recency is value


@pytest.mark.parametrize("value", ["day", "month", "year"])
def test_time_range(value: str) -> None:
    assert query(time_range=value).recency is Recency(value)


def test_none_counts_as_not_given() -> None:
    assert query(time_range="none").recency is None
    assert query(time_range="none", freshness="day").recency is Recency.DAY
    assert query(time_range="none", filters={"time_range": "day"}).recency is Recency.DAY
    assert query(time_range=None, freshness=None).recency is None


@pytest.mark.parametrize("value", ["hour", "week", "Day", "", 1, ["day"]])
def test_time_range_knows_fewer_words(value: object) -> None:
    assert refused(time_range=value).param == "time_range"


def test_names_that_agree_agree() -> None:
    given = {"time_range": "day", "freshness": "day", "search_recency_filter": "day"}
    assert query(**given, filters=given).recency is Recency.DAY


@pytest.mark.parametrize(
    "inputs",
    [
        {"time_range": "day", "freshness": "week"},
        {"freshness": "day", "search_recency_filter": "hour"},
        {"time_range": "year", "filters": {"search_recency_filter": "day"}},
        {"freshness": "day", "filters": {"freshness": "week"}},
        {"country": "US", "filters": {"country": "DE"}},
        {"whitelisted_domains": ["a.example"], "filters": {"whitelisted_domains": ["b.example"]}},
        {"user_location": {"country": "US"}, "filters": {"user_location": {"country": "DE"}}},
        {"search_after_date_filter": "05/01/2026", "filters": {"search_after_date_filter": "05/02/2026"}},
    ],
)
def test_names_that_contradict_each_other_are_a_conflict(inputs: dict[str, Any]) -> None:
    error = refused(**inputs)
    assert isinstance(error, Conflict)
    assert error.param
    assert error.param.rpartition(".")[2] in json.dumps(inputs)


def test_the_same_twice_is_no_conflict() -> None:
    both = {"country": "us", "search_after_date_filter": "2026-05-01", "search_domain_filter": ["-a.example"]}
    assert (
        query(**both, filters=both | {"country": "US", "search_after_date_filter": "05/01/2026"}).country
        == "US"
    )


# --- Dates -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["05/01/2026", "5/1/2026", "2026-05-01", "2026-05-01T23:00:00Z", " 2026-05-01 ", "20260501"]
)
def test_dates_are_american_or_iso(text: str) -> None:
    day = date(2026, 5, 1)
    assert query(search_after_date_filter=text).published == DateRange(after=day)
    assert query(search_before_date_filter=text).published == DateRange(before=day)
    assert query(last_updated_after_filter=text).updated == DateRange(after=day)
    assert query(filters={"last_updated_before_filter": text}).updated == DateRange(before=day)


@pytest.mark.parametrize(
    "text",
    ["31/01/2026", "02/30/2026", "yesterday", "", "01-05-2026", "1/1/26", 20260501, 0, True, ["2026-05-01"]],
)
def test_what_is_no_date(text: object) -> None:
    assert refused(search_after_date_filter=text).param == "search_after_date_filter"
    assert refused(filters={"last_updated_before_filter": text}).param == "filters.last_updated_before_filter"


def test_after_may_not_lie_after_before() -> None:
    same = query(search_after_date_filter="05/01/2026", search_before_date_filter="05/01/2026")
    assert same.published == DateRange(date(2026, 5, 1), date(2026, 5, 1))
    error = refused(
        search_after_date_filter="05/02/2026", filters={"search_before_date_filter": "05/01/2026"}
    )
    assert (error.code, error.param) == ("validation_error", "search_after_date_filter")
    error = refused(last_updated_after_filter="2026-05-02", last_updated_before_filter="2026-05-01")
    assert error.param == "last_updated_after_filter"


def test_recency_and_a_range_are_no_contradiction() -> None:
    both = query(time_range="day", search_before_date_filter="05/01/2020")
    assert (both.recency, both.published) == (Recency.DAY, DateRange(before=date(2020, 5, 1)))


# --- Domains ---------------------------------------------------------------------------------------------


def test_both_lists_of_domains_count() -> None:
    both = query(
        whitelisted_domains=["Example.org", ".gov"], search_domain_filter=["https://example.org/blog?x#y"]
    )
    assert both.allow == (
        (DomainRule("example.org"), DomainRule(".gov")),
        (DomainRule("example.org", "/blog"),),
    )
    assert both.deny == ()


def test_a_filter_may_deny() -> None:
    denied = query(search_domain_filter=["-a.example", "-.gov", "-https://b.example/x"])
    assert denied.deny == (DomainRule("a.example"), DomainRule(".gov"), DomainRule("b.example", "/x"))
    assert denied.allow == ()


def test_a_filter_allows_or_denies() -> None:
    error = refused(search_domain_filter=["a.example", "-b.example"])
    assert (error.code, error.param) == ("validation_error", "search_domain_filter")
    refused(filters={"search_domain_filter": ["a.example", "-b.example"]})


@pytest.mark.parametrize("name", ["whitelisted_domains", "search_domain_filter"])
def test_twenty_domains_and_no_more(name: str) -> None:
    many = [f"d{n}.example" for n in range(20)]
    assert len(query(**{name: many}).allow[0]) == 20
    assert refused(**{name: [*many, "one.example"]}).param == name
    assert refused(**{name: []}).param == name, "an empty list must not widen a search"
    assert refused(**{name: "a.example"}).param == name


def test_an_entry_that_is_none_is_named() -> None:
    assert refused(whitelisted_domains=["a.example", "no host"]).param == "whitelisted_domains[1]"
    assert refused(whitelisted_domains=["-a.example"]).param == "whitelisted_domains[0]"
    assert refused(search_domain_filter=["--a.example"]).param == "search_domain_filter[0]"
    assert "must be a host" in refused(whitelisted_domains=["ftp://a.example"]).message


def test_the_deployment_s_lists_are_in_every_query(settings: Settings) -> None:
    settings.BLACKLISTED_DOMAINS = ["spam.example"]
    settings.WHITELISTED_DOMAINS = ["docs.example"]
    asked = query(search_domain_filter=["-a.example"])
    assert asked.deny == (DomainRule("a.example"), DomainRule("spam.example"))
    assert asked.prefer == (DomainRule("docs.example"),)
    assert asked.allow == (), "what is preferred is not all there is"


# --- Places and languages --------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "code"), [("US", "US"), ("us", "US"), ("uk", "GB"), ("AQ", "AQ")])
def test_countries(given: str, code: str) -> None:
    assert query(country=given).country == code
    assert query(user_location={"country": given}).location == Location(code)


@pytest.mark.parametrize("given", ["USA", "XX", "ZZ", "EU", "germany", "", "U", "ÜS", 49])
def test_what_is_no_country(given: object) -> None:
    assert refused(country=given).param == "country"
    assert refused(user_location={"country": given}).param == "user_location.country"


@pytest.mark.parametrize(("given", "code"), [("en", "en"), ("EN", "en"), ("eng", "en"), ("iw", "he")])
def test_languages(given: str, code: str) -> None:
    assert query(language=given).language == code


@pytest.mark.parametrize("given", ["english", "xx", "zh-CN", "", "e", "e n", 1])
def test_what_is_no_language(given: object) -> None:
    assert refused(language=given).param == "language"


def test_a_location() -> None:
    given = {"country": "US", "region": "CA", "city": " San Francisco ", "latitude": 37.7, "longitude": -122}
    assert query(user_location=given).location == Location("US", "CA", "San Francisco", 37.7, -122.0)
    assert query(filters={"user_location": {"city": "東京"}}).location == Location(city="東京")
    assert query(user_location={}).location is None


@pytest.mark.parametrize(
    "given",
    [
        {"latitude": 1.0, "longitude": 1.0},
        {"country": "US", "latitude": 1.0},
        {"country": "US", "longitude": 1.0},
        {"country": "US", "latitude": 91, "longitude": 0},
        {"country": "US", "latitude": 0, "longitude": -181},
        {"country": "US", "latitude": "1", "longitude": 1},
        {"country": "US", "latitude": True, "longitude": 1},
        {"city": ""},
        {"city": " "},
        {"city": "Paris\r\nX-Evil: 1"},
        {"city": "x" * 101},
        {"region": "a\u202eb"},
    ],
)
def test_what_is_no_location(given: dict[str, Any]) -> None:
    assert (refused(user_location=given).param or "").startswith("user_location")


# --- How much --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 21, -1, 5.0, "5", True])
def test_one_to_twenty_results(count: object) -> None:
    assert refused(count=count).param == "count"
    assert query(count=1).count == 1
    assert query(count=20).count == 20


@pytest.mark.parametrize(("size", "tokens"), [("low", 300), ("medium", 1000), ("high", 4000)])
def test_sizes_stand_for_tokens_and_numbers_go_before_them(size: str, tokens: int) -> None:
    assert read(search_context_size=size).budget == (tokens, tokens)
    assert read(search_context_size=size, max_tokens=50).budget == (50, tokens)
    assert read(search_context_size=size, max_tokens_per_page=50).budget == (tokens, 50)
    assert read(max_tokens=9, max_tokens_per_page=8).budget == (9, 8)
    assert read().budget == (None, None)
    asked = query(search_context_size=size)
    assert (asked.max_tokens, asked.max_tokens_per_page) == (tokens, tokens)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("search_context_size", "huge"),
        ("max_tokens", 0),
        ("max_tokens_per_page", -5),
        ("max_tokens", 1.5),
        ("mode", "both"),
        ("expand", "yes"),
        ("provider", "bing"),
        ("provider", "brave"),
        ("provider", ""),
    ],
)
def test_values_that_are_none(name: str, value: object) -> None:
    assert refused(**{name: value}).param == name


def test_a_provider_has_to_be_configured(settings: Settings) -> None:
    settings.BRAVE_API_KEY = "key"
    assert read(provider="brave").provider == "brave"
    assert read(provider="auto").provider == "auto"
    assert "auto, brave, duckduckgo" in refused(provider="tavily").message


# --- As a whole ------------------------------------------------------------------------------------------


def test_ignored_filters_are_told_by_the_names_that_were_given() -> None:
    inputs = read(
        time_range="day",
        freshness="day",
        last_updated_after_filter="05/01/2026",
        filters={"country": "DE", "user_location": {"city": "Bonn"}},
    )
    assert inputs.given_names(["recency", "updated", "country", "location"]) == [
        "time_range",
        "freshness",
        "last_updated_after_filter",
        "country",
        "user_location",
    ]
    assert read(time_range="none", search_recency_filter="day").given_names(["recency"]) == [
        "search_recency_filter"
    ]


def test_what_is_stored_reads_as_what_was_given() -> None:
    inputs = read(
        search_after_date_filter="05/01/2026",
        filters={"search_domain_filter": ["-a.example"], "freshness": "week"},
        user_location={"country": "us"},
        count=3,
    )
    stored = json.loads(json.dumps(inputs.model_dump(mode="json")))
    assert validated(WebSearchInput, stored) == inputs
    assert validated(WebSearchInput, stored).web_query() == inputs.web_query()


def test_the_schema_tells_of_every_documented_name() -> None:
    schema = WebSearchInput.model_json_schema()
    documented = {
        *("query", "time_range", "freshness", "search_recency_filter", "whitelisted_domains"),
        *("search_domain_filter", "search_after_date_filter", "search_before_date_filter"),
        *("last_updated_after_filter", "last_updated_before_filter", "count", "provider", "country"),
        *("language", "expand", "search_context_size", "max_tokens", "max_tokens_per_page"),
        *("user_location", "mode", "filters"),
    }
    assert set(schema["properties"]) == documented
    assert schema["required"] == ["query"]
    assert set(schema["$defs"]["WebFilters"]["properties"]) == set(WebFilters.model_fields)
    assert "format" not in json.dumps(schema["properties"]["search_after_date_filter"]), "MM/DD/YYYY is none"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*WebSearchInput.model_fields, "other"]), json_values, max_size=5))
def test_any_json_is_read_or_refused(inputs: dict[str, Any]) -> None:
    try:
        asked = validated(WebSearchInput, {"query": "tea", **inputs}).web_query()
    except ValidationError as error:
        assert error.status == 400
        assert error.message
    else:
        assert 1 <= asked.count <= 20
