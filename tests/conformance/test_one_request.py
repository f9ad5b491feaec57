"""One request over every transport: the same text, the same citations, the same numbers."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from assistants.models import Assistant, AssistantVersion
from tests.conformance.gateway import QUESTION, Gateway, with_numbers
from tests.conformance.streaming import Server
from tests.conformance.test_mcp import client_of
from tests.conftest import Cast
from tests.factories import indexed_document

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass(frozen=True)
class Said:
    """What a transport says: text, and by number the address of what is cited, as it is cited."""

    text: str
    cited: tuple[tuple[str, str], ...]


@pytest.fixture(autouse=True)
def _two_documents(gateway: Gateway, cast: Cast) -> None:
    indexed_document(cast.team, "The town of Almería is older than its solar farm.", name="town.pdf")


DOCUMENTS, WEB = {"type": "rag_search"}, {"type": "web_search"}


@dataclass(frozen=True)
class Case:
    """One request: what our tool takes, and what other protocols say for it."""

    tool: str
    inputs: dict[str, Any] = field(default_factory=dict)
    theirs: dict[str, Any] = field(default_factory=dict)
    of_mcp: tuple[str, dict[str, Any]] | None = None
    """Tool and arguments; None where this protocol has no such request."""


def case_of(tool: str, gateway: Gateway, cast: Cast) -> Case:
    """Return the case of a tool; for `agent` an assistant is made, which searches documents and web."""
    match tool:
        case "rag_search":
            return Case(tool, theirs={"tools": [DOCUMENTS]}, of_mcp=(tool, {}))
        case "web_search":
            return Case(tool, theirs={"tools": [WEB]}, of_mcp=(tool, {"mode": "answer"}))
        case "answer":
            return Case(tool, {"documents": {}, "web": {}}, {"tools": [DOCUMENTS, WEB]})
    team = cast.team
    guide = Assistant.unscoped.create(workspace=team, user=cast.alice, name="Guide")
    settings = {"tools": ["rag_search", "web_search"]}
    AssistantVersion.objects.create(assistant=guide, number=1, name="Guide", settings=settings)
    # Its workspace decides what is switched on, and only our own tool has to be told which that is.
    gateway.switch_web_on(team)
    asked = {"assistant_id": str(guide.pk), "workspace_id": str(team.pk)}
    return Case(tool, asked, {"model": "Guide"}, ("ask_assistant", {"assistant": "Guide"}))


@pytest.mark.parametrize("tool", ["rag_search", "web_search", "answer", "agent"])
def test_one_request(gateway: Gateway, cast: Cast, tool: str) -> None:
    case = case_of(tool, gateway, cast)
    # The agent goes to the web where it is asked to.
    question = QUESTION + (" Search the web, too." if tool == "agent" else "")
    inputs = {"query": question} | case.inputs
    server = Server(gateway.url, cast, tool)
    with server.http:
        result = server.post(f"tools/{tool}", inputs).json()
        _, events = server.sse("POST", f"tools/{tool}", json=inputs | {"stream": True})
        over_sse = _of_result(events[-1][1]["data"], gateway.url)
        over_socket = _of_result(server.socket({"type": "run", "inputs": inputs})[-1][1]["data"], gateway.url)
    over_rest = _of_result(result, gateway.url)
    assert over_rest.cited
    if tool in ("answer", "agent"):
        # Both corpora are read, in one numbering.
        of_documents, of_web = ([each["rank"] for each in result[key]] for key in ("contexts", "sources"))
        ranks = sorted(of_documents + of_web)
        assert of_documents and of_web and ranks == [*range(1, len(ranks) + 1)]
    transports = {
        "sse": over_sse,
        "websocket": over_socket,
        "responses": _of_response(gateway, question, case, stream=False),
        "responses, streamed": _of_response(gateway, question, case, stream=True),
        "completions": _of_completion(gateway, question, case, stream=False),
        "completions, streamed": _of_completion(gateway, question, case, stream=True),
    }
    if case.of_mcp is not None:
        transports["mcp"] = async_to_sync(_of_mcp)(gateway, question, *case.of_mcp)
    assert transports == dict.fromkeys(transports, over_rest)


def _of_result(result: Any, url: str) -> Said:
    """Return what a result of our own says."""
    addresses = {source["rank"]: source["url"] for source in result.get("sources", ())}
    for context in result.get("contexts", ()):
        place = f"{context['document_id']}?chunk={context['chunk_id']}"
        addresses[context["rank"]] = f"{url}/documents/{place}"
    text = with_numbers(result["response"])
    return Said(text, tuple((f"[{rank}]", addresses[rank]) for rank in _numbers(result["response"])))


def _numbers(response: str) -> list[int]:
    """Return the numbers of the citations of a response, as they stand in it."""
    parts = response.split("citation ")[1:]
    return [int(part.partition(">[")[2].partition("]")[0]) for part in parts]


def _of_response(gateway: Gateway, question: str, case: Case, *, stream: bool) -> Said:
    asked: Any = {"model": "locus", "input": question, "stream": stream} | case.theirs
    made: Any = gateway.openai().responses.create(**asked)
    text = None
    if stream:
        events = list(made)
        text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
        made = events[-1].response
    part = made.output[-1].content[0]
    assert text in (None, part.text)
    cited = [(part.text[each.start_index : each.end_index], each.url) for each in part.annotations]
    return Said(part.text, tuple(cited))


def _of_completion(gateway: Gateway, question: str, case: Case, *, stream: bool) -> Said:
    asked: Any = {"model": "locus", "messages": [{"role": "user", "content": question}], "stream": stream}
    with gateway.http() as http:
        reply = http.post("/v1/chat/completions", json=asked | case.theirs)
    if not stream:
        message = reply.json()["choices"][0]["message"]
        return _of_message(message["content"], message["annotations"])
    lines = [line.removeprefix("data: ") for line in reply.text.split("\n\n") if line]
    chunks = [json.loads(line)["choices"][0]["delta"] for line in lines[:-1]]
    return _of_message("".join(each.get("content", "") for each in chunks), chunks[-1]["annotations"])


def _of_message(text: str, annotations: list[Any]) -> Said:
    places = [each["url_citation"] for each in annotations]
    return Said(text, tuple((text[each["start_index"] : each["end_index"]], each["url"]) for each in places))


async def _of_mcp(gateway: Gateway, question: str, tool: str, arguments: dict[str, Any]) -> Said:
    """Return what a model gets: the text, and by number the sources that it cites."""
    async with client_of(gateway, gateway.key) as client:
        result = (await client.call_tool(tool, {"query": question} | arguments)).structured_content
    addresses = {source["id"]: source["url"] for source in result["sources"]}
    numbers = map(int, re.findall(r"\[(\d+)\]", result["answer"]))
    return Said(result["answer"], tuple((f"[{number}]", addresses[number]) for number in numbers))
