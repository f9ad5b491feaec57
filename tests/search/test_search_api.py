"""`POST /api/v1/search` through the real application, PostgreSQL and model."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from accounts.models import Session
from kb.models import Chunk, Document
from tests.conftest import Cast
from tests.factories import chunk_id, indexed_document

pytestmark = pytest.mark.django_db

API = "/api/v1/search"
SOLAR = "The solar farm in Almería produced 42 gigawatt hours in 2023. Its revenue was 3 million euros."
ROSES = "Tea roses need a sheltered, sunny bed. They are pruned in late winter, before the buds break."
# So like `SOLAR` that it is found beside it, and so unlike that it is no twin of which one is left out.
LIKE_SOLAR = f"{SOLAR} It lies between the old salt works and the sea, and shelters larks."
PRINTER = "Error E-505 means that the paper tray is empty. Error E-506 means that it is open."
SOLAR_QUESTION = "How much did the solar farm produce in 2023?"
UNKNOWN = "00000000-0000-4000-8000-000000000000"
HIT = {
    "rank",
    "chunk_id",
    "document_id",
    "document_name",
    "text",
    "page_number",
    "bbox",
    "start_time",
    "end_time",
    "metadata",
    "score",
    "scores",
}


@pytest.fixture
def library(cast: Cast) -> dict[str, Document]:
    """Three documents of alice's team."""
    return {
        "solar": indexed_document(cast.team, SOLAR),
        "roses": indexed_document(cast.team, ROSES, name="roses.pdf"),
        "printer": indexed_document(cast.team, PRINTER, name="printer.pdf"),
    }


def post(cast: Cast, body: Any, name: str = "alice", **headers: str) -> Any:
    """Send a search as `name`; headers are named with underscores."""
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return Client().post(
        API, json.dumps(body), content_type="application/json", headers=cast.headers(name, **named)
    )


def search(cast: Cast, query: str, name: str = "alice", **body: Any) -> dict[str, Any]:
    """Return the answer to a search that must work."""
    response = post(cast, {"query": query, **body}, name)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def names(answer: dict[str, Any]) -> list[str]:
    return [hit["document_name"] for hit in answer["results"]]


# --- Shape -----------------------------------------------------------------------------------------------


def test_the_shape_is_the_contracts(cast: Cast, library: dict[str, Document]) -> None:
    answer = search(cast, SOLAR_QUESTION)
    assert set(answer) == {"query", "results", "total_candidates", "reranked", "timings"}
    assert (answer["query"], answer["total_candidates"]) == (SOLAR_QUESTION, 3)
    assert answer["reranked"] in (True, False, "partial")
    assert answer["timings"]["total"] >= answer["timings"]["words"] >= 0
    assert [hit["rank"] for hit in answer["results"]] == [1, 2, 3]
    assert [hit["score"] for hit in answer["results"]] == sorted(
        (hit["score"] for hit in answer["results"]), reverse=True
    )
    for hit in answer["results"]:
        assert set(hit) == HIT
        assert set(hit["scores"]) == {"words", "vector", "sentence", "fused", "rerank"}


def test_a_result_is_the_chunk_that_its_id_names(cast: Cast, library: dict[str, Document]) -> None:
    first = search(cast, SOLAR_QUESTION)["results"][0]
    chunk = Client().get(f"/api/v1/chunks/{first['chunk_id']}", headers=cast.headers("alice")).json()
    assert first["chunk_id"] == str(chunk_id(library["solar"])) == chunk.pop("id")
    assert chunk["bbox"][0]["layout_width"] == 400
    assert {key: first[key] for key in chunk} == chunk
    assert first["document_name"] == "solar.pdf"
    assert first["scores"]["words"] > 0
    assert 0 < first["scores"]["vector"] <= 1


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_the_limit_cuts_results_and_not_candidates(
    cast: Cast, library: dict[str, Document], limit: int
) -> None:
    answer = search(cast, SOLAR_QUESTION, limit=limit)
    assert (len(answer["results"]), answer["total_candidates"]) == (min(limit, 3), 3)


def test_nothing_is_found_where_nothing_is(cast: Cast) -> None:
    for explain in (False, True):
        answer = search(cast, SOLAR_QUESTION, explain=explain)
        assert (answer["results"], answer["total_candidates"]) == ([], 0)


def test_the_schema_says_what_it_takes_and_answers() -> None:
    schema = Client().get("/api/schema", {"format": "json"}).json()
    operation = schema["paths"]["/api/v1/search"]["post"]
    components = schema["components"]["schemas"]
    for body in (operation["requestBody"], operation["responses"]["200"]):
        name = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        assert name in components
    assert components["SearchInput"]["required"] == ["query"]
    assert set(components["FiltersInput"]["properties"]) == {
        "tags",
        "metadata",
        "created_after",
        "created_before",
        "collection_ids",
        "kinds",
        "languages",
    }
    assert set(components["SearchHit"]["properties"]) == HIT


# --- What is found ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("reveneu", "solar.pdf"),
        ("E-505", "printer.pdf"),
        ("e505", "printer.pdf"),
        ("Almeria", "solar.pdf"),
        ("ALMERÍA", "solar.pdf"),
        ('what "sheltered, sunny bed" is', "roses.pdf"),
        ("when to cut the flowers back", "roses.pdf"),
        ("roses'); DROP TABLE kb_chunk; --", "roses.pdf"),
    ],
)
def test_it_finds(cast: Cast, library: dict[str, Document], query: str, first: str) -> None:
    assert names(search(cast, query))[0] == first


def test_a_quoted_phrase_leaves_only_what_holds_it(cast: Cast, library: dict[str, Document]) -> None:
    assert names(search(cast, 'the "paper tray" of 2023')) == ["printer.pdf"]


@pytest.mark.parametrize("query", ["?", "🙂", "the of and", "\ufeff", "'\"", "a" * 2000, "\\", "%"])
def test_no_question_is_too_odd(cast: Cast, library: dict[str, Document], query: str) -> None:
    assert len(search(cast, query, explain=True)["results"]) <= 3


def test_a_replaced_chunk_is_never_found(cast: Cast, library: dict[str, Document]) -> None:
    Chunk.unscoped.filter(document=library["solar"]).update(replaced_by=[])
    assert "solar.pdf" not in names(search(cast, SOLAR_QUESTION))


# --- Narrowing -------------------------------------------------------------------------------------------


def tell(document: Document, **fields: Any) -> None:
    """Change what filters look at."""
    Document.unscoped.filter(pk=document.pk).update(**fields)


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"tags": ["energy"]}, {"solar.pdf"}),
        ({"tags": ["energy", "garden"]}, {"solar.pdf", "roses.pdf"}),
        ({"tags": ["ENERGY"]}, set()),
        ({"metadata": {"year": 2023}}, {"solar.pdf"}),
        ({"metadata": {"year": "2023"}}, set()),
        ({"metadata": {"year": [2023, 2024]}}, {"solar.pdf", "roses.pdf"}),
        ({"metadata": {"year": [2023, 2024], "public": True}}, {"roses.pdf"}),
        ({"metadata": {"no such key": "x"}}, set()),
        ({"created_after": "2024-01-01"}, {"roses.pdf", "printer.pdf"}),
        ({"created_after": "2023-06-15T12:00:00Z"}, {"solar.pdf", "roses.pdf", "printer.pdf"}),
        ({"created_before": "2023-06-15T12:00:00Z"}, set()),
        ({"created_before": "2023-06-15T14:00:01+02:00"}, {"solar.pdf"}),
        ({"created_after": "2023-01-01", "created_before": "2024-01-01"}, {"solar.pdf"}),
        ({"created_after": "9999-12-31T23:59:59-14:00"}, set()),
        ({"kinds": ["docx"]}, {"printer.pdf"}),
        ({"kinds": ["pdf", "docx"]}, {"solar.pdf", "roses.pdf", "printer.pdf"}),
        ({"languages": ["de"]}, {"roses.pdf"}),
        ({"languages": ["deu", "EN"]}, {"solar.pdf", "roses.pdf", "printer.pdf"}),
        ({"tags": ["energy"], "languages": ["de"]}, set()),
        ({"tags": None, "kinds": None}, {"solar.pdf", "roses.pdf", "printer.pdf"}),
        ({}, {"solar.pdf", "roses.pdf", "printer.pdf"}),
        (None, {"solar.pdf", "roses.pdf", "printer.pdf"}),
    ],
    # Sets have no order, and the names of tests must be the same in every process.
    ids=lambda value: str(sorted(value)) if isinstance(value, set) else str(value),
)
def test_filters(cast: Cast, library: dict[str, Document], filters: Any, found: set[str]) -> None:
    tell(library["solar"], tags=["energy"], metadata={"year": 2023}, created_at=moment(2023, 6, 15, 12))
    tell(library["roses"], tags=["garden"], metadata={"year": 2024, "public": True}, language="de")
    tell(library["printer"], file_type="docx")
    for explain in (False, True):
        assert set(names(search(cast, SOLAR_QUESTION, filters=filters, explain=explain))) == found


def moment(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)


def test_document_ids_narrow_and_an_empty_list_searches_nothing(
    cast: Cast, library: dict[str, Document]
) -> None:
    ids = [str(library[name].pk) for name in ("roses", "printer")]
    assert set(names(search(cast, SOLAR_QUESTION, document_ids=ids))) == {"roses.pdf", "printer.pdf"}
    assert names(search(cast, SOLAR_QUESTION, document_ids=[])) == []
    assert len(names(search(cast, SOLAR_QUESTION, document_ids=None))) == 3
    tell(library["roses"], tags=["garden"])
    narrowed = search(cast, SOLAR_QUESTION, document_ids=ids, filters={"tags": ["garden"]})
    assert names(narrowed) == ["roses.pdf"]


def test_workspace_ids_narrow(cast: Cast, library: dict[str, Document]) -> None:
    own = cast.alice.personal_workspace
    indexed_document(own, LIKE_SOLAR, name="own.pdf")
    assert names(search(cast, SOLAR_QUESTION, workspace_ids=[str(own.pk)])) == ["own.pdf"]
    assert names(search(cast, SOLAR_QUESTION, workspace_ids=[])) == []
    assert "own.pdf" in names(search(cast, SOLAR_QUESTION, workspace_ids=[str(own.pk), str(cast.team.pk)]))
    assert len(names(search(cast, SOLAR_QUESTION, workspace_ids=None))) == 4


# --- Scope -----------------------------------------------------------------------------------------------


def test_another_tenants_twin_document_is_never_found(cast: Cast, library: dict[str, Document]) -> None:
    indexed_document(cast.charlie.personal_workspace, SOLAR, name="secret.pdf")
    for name in ("alice", "bob"):
        assert set(names(search(cast, SOLAR_QUESTION, name))) == {"solar.pdf", "roses.pdf", "printer.pdf"}
    assert names(search(cast, SOLAR_QUESTION, "charlie", explain=True)) == ["secret.pdf"]


def test_what_others_store_changes_no_score(cast: Cast, library: dict[str, Document]) -> None:
    before = search(cast, "solar farm revenue", rerank=False)["results"]
    for number in range(5):
        indexed_document(cast.charlie.personal_workspace, "solar farm revenue", name=f"{number}.pdf")
    assert search(cast, "solar farm revenue", rerank=False)["results"] == before


def test_external_users_find_their_own(cast: Cast, library: dict[str, Document]) -> None:
    indexed_document(cast.team, LIKE_SOLAR, name="of-x.pdf", external_user_id="x")
    asked = {"query": SOLAR_QUESTION}
    assert "of-x.pdf" not in names(search(cast, SOLAR_QUESTION))
    assert names(search(cast, SOLAR_QUESTION, external_user_id="x")) == ["of-x.pdf"]
    assert names(post(cast, asked, X_External_User_Id="x").json()) == ["of-x.pdf"]
    assert names(post(cast, asked, X_External_User_Id="y").json()) == []
    both = post(cast, asked | {"external_user_id": "y"}, X_External_User_Id="x")
    assert (both.status_code, both.json()["error"]["param"]) == (400, "external_user_id")
    cast.team.share_with_external_users = True
    cast.team.save()
    assert len(names(search(cast, SOLAR_QUESTION, external_user_id="x"))) == 4


def test_a_sessions_documents_are_found_in_it_alone(cast: Cast, library: dict[str, Document]) -> None:
    session = Session.unscoped.create(user=cast.alice, workspace=cast.team)
    other = Session.unscoped.create(user=cast.alice, workspace=cast.team)
    indexed_document(cast.team, LIKE_SOLAR, name="attached.pdf", session=session)
    assert "attached.pdf" in names(search(cast, SOLAR_QUESTION, session_id=str(session.pk)))
    assert "attached.pdf" not in names(search(cast, SOLAR_QUESTION))
    assert "attached.pdf" not in names(search(cast, SOLAR_QUESTION, session_id=str(other.pk)))
    bobs = post(cast, {"query": SOLAR_QUESTION, "session_id": str(session.pk)}, "bob")
    assert (bobs.status_code, bobs.json()["error"]["param"]) == (404, "session_id")


def test_an_invisible_document_is_not_told_from_an_unknown_one(
    cast: Cast, library: dict[str, Document]
) -> None:
    hidden = str(indexed_document(cast.charlie.personal_workspace, SOLAR).pk)
    answers = [post(cast, {"query": "a", "document_ids": [id]}) for id in (hidden, UNKNOWN)]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].content.decode().replace(hidden, UNKNOWN) == answers[1].content.decode()


# --- Errors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status", "code", "param"),
    [
        ([], 400, "validation_error", None),
        ("text", 400, "validation_error", None),
        ({}, 400, "validation_error", "query"),
        ({"query": None}, 400, "validation_error", "query"),
        ({"query": "  "}, 400, "validation_error", "query"),
        ({"query": "x" * 2001}, 400, "validation_error", "query"),
        ({"query": "a\x00b"}, 400, "validation_error", "query"),
        ({"query": "a\ud800b"}, 400, "validation_error", "query"),
        ({"query": "a", "limit": 0}, 400, "validation_error", "limit"),
        ({"query": "a", "limit": 101}, 400, "validation_error", "limit"),
        ({"query": "a", "limit": "5"}, 400, "validation_error", "limit"),
        ({"query": "a", "rerank": "yes"}, 400, "validation_error", "rerank"),
        ({"query": "a", "explain": 1}, 400, "validation_error", "explain"),
        ({"query": "a", "stream": True}, 400, "unknown_field", "stream"),
        ({"qeury": "a"}, 400, "unknown_field", "qeury"),
        ({"query": "a", "document_id": [UNKNOWN]}, 400, "unknown_field", "document_id"),
        ({"query": "a", "document_ids": ["nonsense"]}, 400, "validation_error", "document_ids[0]"),
        ({"query": "a", "document_ids": UNKNOWN}, 400, "validation_error", "document_ids"),
        ({"query": "a", "document_ids": [UNKNOWN]}, 404, "not_found", "document_ids[0]"),
        ({"query": "a", "workspace_ids": ["x"]}, 400, "validation_error", "workspace_ids[0]"),
        ({"query": "a", "workspace_ids": [UNKNOWN]}, 404, "not_found", "workspace_ids[0]"),
        ({"query": "a", "session_id": "x"}, 400, "validation_error", "session_id"),
        ({"query": "a", "session_id": UNKNOWN}, 404, "not_found", "session_id"),
        ({"query": "a", "external_user_id": " "}, 400, "validation_error", "external_user_id"),
        ({"query": "a", "external_user_id": 7}, 400, "validation_error", "external_user_id"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_bad_request_is_refused(cast: Cast, body: Any, status: int, code: str, param: str | None) -> None:
    response = post(cast, body)
    error = response.json()["error"]
    assert (response.status_code, error["code"], error.get("param")) == (status, code, param)
    assert error["message"]


@pytest.mark.parametrize(
    ("filters", "code", "param"),
    [
        ([], "validation_error", "filters"),
        ({"tgas": ["x"]}, "unknown_field", "filters.tgas"),
        ({"tags": "x"}, "validation_error", "filters.tags"),
        # Nothing or no condition? Neither is guessed.
        ({"tags": []}, "validation_error", "filters.tags"),
        ({"tags": ["ok", ""]}, "validation_error", "filters.tags[1]"),
        ({"tags": ["a\x00"]}, "validation_error", "filters.tags[0]"),
        ({"metadata": []}, "validation_error", "filters.metadata"),
        ({"metadata": {"k": []}}, "validation_error", "filters.metadata"),
        ({"metadata": {"k": None}}, "validation_error", "filters.metadata"),
        ({"metadata": {"k": {"a": 1}}}, "validation_error", "filters.metadata"),
        ({"metadata": {"k": [[1]]}}, "validation_error", "filters.metadata"),
        ({"metadata": {"k\ud800": 1}}, "validation_error", "filters.metadata"),
        ({"created_after": "yesterday"}, "validation_error", "filters.created_after"),
        ({"created_after": 1700000000}, "validation_error", "filters.created_after"),
        ({"created_before": "2023-13-01"}, "validation_error", "filters.created_before"),
        ({"kinds": [7]}, "validation_error", "filters.kinds[0]"),
        ({"languages": ["klingon"]}, "validation_error", "filters.languages[0]"),
        ({"languages": [7]}, "validation_error", "filters.languages[0]"),
    ],
    ids=str,
)
def test_a_bad_filter_is_refused(cast: Cast, filters: Any, code: str, param: str) -> None:
    response = post(cast, {"query": "a", "filters": filters})
    error = response.json()["error"]
    assert (response.status_code, error["code"], error.get("param")) == (400, code, param)


@pytest.mark.parametrize("address", [API, "/api/v1/tools/rag_search"])
def test_lists_in_filters_have_bounds(cast: Cast, address: str) -> None:
    """A filter of 140,000 values kept a database connection busy for ten seconds."""
    ids = [str(uuid4()) for _ in range(1001)]
    bodies: list[tuple[dict[str, Any], str]] = [
        ({"filters": {"metadata": {"k": list(range(101))}}}, "filters.metadata"),
        ({"filters": {"metadata": {str(key): 1 for key in range(101)}}}, "filters.metadata"),
        ({"filters": {"metadata": {str(key): list(range(100)) for key in range(11)}}}, "filters.metadata"),
        ({"filters": {"metadata": {"k" * 1001: 1}}}, "filters.metadata"),
        ({"filters": {"metadata": {"k": "v" * 1001}}}, "filters.metadata"),
        ({"filters": {"tags": ["t"] * 101}}, "filters.tags"),
        ({"filters": {"tags": ["t" * 101]}}, "filters.tags[0]"),
        ({"filters": {"kinds": ["pdf"] * 101}}, "filters.kinds"),
        ({"filters": {"languages": ["en"] * 101}}, "filters.languages"),
        ({"document_ids": ids}, "document_ids"),
        ({"workspace_ids": ids[:101]}, "workspace_ids"),
    ]
    for body, param in bodies:
        headers = cast.headers("alice")
        response = Client().post(address, {"query": "a"} | body, "application/json", headers=headers)
        assert (response.status_code, response.json()["error"]["param"]) == (400, param), body


@pytest.mark.parametrize(
    "body", ["{", '{"query": NaN}', '{"query": "a", "filters": {"metadata": {"k": 1e999}}}']
)
def test_what_is_no_json_is_refused(cast: Cast, body: str) -> None:
    response = Client().post(API, body, content_type="application/json", headers=cast.headers("alice"))
    assert response.status_code == 400


def test_only_post_searches(cast: Cast) -> None:
    response = Client().get(API, headers=cast.headers("alice"))
    assert (response.status_code, response.json()["error"]["code"]) == (405, "method_not_allowed")


# --- Explanation -----------------------------------------------------------------------------------------


def test_an_explanation_says_how_the_words_were_read(cast: Cast, library: dict[str, Document]) -> None:
    answer = search(cast, 'The reveneu of the "solar farm" zzzqx', explain=True)
    words = {word["word"]: word["terms"] for word in answer["explanation"]["words"]}
    assert words["The"] == []
    [misspelt] = words["reveneu"]
    assert (misspelt["read_as"], misspelt["candidates"]) == ("revenu", 1)
    [solar] = words["solar"]
    assert (solar["looked_for"], solar["read_as"], solar["candidates"]) == (["solar"], None, 1)
    assert solar["weight"] > 0
    [unknown] = words["zzzqx"]
    assert (unknown["read_as"], unknown["candidates"]) == (None, 0)
    assert answer["explanation"]["phrases"] == ["solar farm"]


def test_an_explanation_has_each_stages_rank_and_the_words_that_match(
    cast: Cast, library: dict[str, Document]
) -> None:
    answer = search(cast, "Which reveneu did Almeria have?", limit=2, explain=True)
    first, second = answer["results"]
    chunks = answer["explanation"]["chunks"]
    assert set(chunks) == {first["chunk_id"], second["chunk_id"]}
    why = chunks[first["chunk_id"]]
    assert (why["ranks"]["words"], why["ranks"]["fused"]) == (1, 1)
    assert chunks[second["chunk_id"]]["ranks"]["words"] is None
    assert {row["ranks"]["vector"] for row in chunks.values()} <= {1, 2, 3}
    assert 0 <= chunks[second["chunk_id"]]["relevance"] < why["relevance"] <= 1
    assert [first["text"][start:end] for start, end in why["matches"]] == ["Almería", "revenue"]


def test_matches_in_scripts_without_spaces_are_the_words_alone(cast: Cast) -> None:
    from search.explanation import matches

    chunk = Chunk(text="東京の天気は良い。", language="ja")
    assert [chunk.text[slice(*place)] for place in matches(chunk, {"天気"})] == ["天気"]


def test_an_explanation_changes_no_result(cast: Cast, library: dict[str, Document]) -> None:
    # Reranking depends on the time there is.
    body = {"limit": 2, "rerank": False}
    plain, explained = (search(cast, SOLAR_QUESTION, explain=explain, **body) for explain in (False, True))
    assert plain["results"] == explained["results"]
    assert plain["total_candidates"] == explained["total_candidates"]


def test_reranking_is_done_unless_it_is_not_wanted(cast: Cast, library: dict[str, Document]) -> None:
    plain = search(cast, SOLAR_QUESTION, rerank=False)
    assert plain["reranked"] is False
    assert {hit["scores"]["rerank"] for hit in plain["results"]} == {None}
    reranked = search(cast, SOLAR_QUESTION)
    # A slow machine may not have had the time for all.
    assert reranked["reranked"] in (True, "partial")
    assert reranked["results"][0]["scores"]["rerank"] is not None


def test_a_score_of_a_reply_keeps_its_chunk(cast: Cast, library: dict[str, Document]) -> None:
    """Replies round scores: 0.12345678 becomes 0.1235, which is more."""
    # What is reranked depends on the time there is, and so do the scores.
    body = {"rerank": False}
    hits = search(cast, SOLAR_QUESTION, **body)["results"]
    assert len(hits) > 1
    for count, hit in enumerate(hits, start=1):
        kept = search(cast, SOLAR_QUESTION, min_score=hit["score"], **body)["results"]
        assert kept[:count] == hits[:count]
