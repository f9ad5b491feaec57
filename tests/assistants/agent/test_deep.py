"""Deep questions: split into parts, each looked up and answered; evidence and gaps; by rule and by model."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pytest import Subtests
from pytest_django import Settings

from assistants.agent.deep import answering
from assistants.agent.deep.report import DeepReport
from assistants.agent.deep.splitting import MOST_PARTS, parts_by_rule
from assistants.agent.sources import SourceBook
from core.llm.gateway import ATTEMPTS
from runs.explanation import CITATION
from search.contexts import PageContext
from search.events import Quote
from tests.assistants.agent.asking import DONE, ask, calls, execution_of, make_assistant, says, streamed
from tests.assistants.conversing import begin, call, say
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.search.test_rag_search import without_markup
from tests.testing.chat_models import OpenAiProvider, Turn

pytestmark = pytest.mark.django_db(transaction=True)
SOLAR = "The solar farm in Almería produced 42 gigawatt hours in 2023. Its owner is the town itself."
LIT = "The lighthouse of Punta Brava was lit for the first time on 4 August 1868."
BUILT = "The lighthouse of Cabo Norte was built of granite in 1901."
BOTH = (
    "How much did the solar farm in Almería produce in 2023, and when was the lighthouse of Punta Brava lit?"
)
MISSING = "When was the lighthouse of Punta Brava lit, and what did the moon landing cost?"


@pytest.fixture
async def papers(people: Cast) -> list[Any]:
    return [
        await sync_to_async(indexed_document)(people.team, text, name=f"{name}.pdf")
        for name, text in (("solar", SOLAR), ("brava", LIT), ("norte", BUILT))
    ]


def sections(response: str) -> dict[str, str]:
    """Return the text below each heading."""
    found = re.split(r"^### (.*)$", response, flags=re.MULTILINE)
    return dict(zip(found[1::2], map(str.strip, found[2::2]), strict=True))


# --- Without a model -------------------------------------------------------------------------------------


async def test_each_part_has_a_section_and_its_evidence(people: Cast, papers: list[Any]) -> None:
    result = await ask(people, BOTH, deep=True)
    first, second, evidence = sections(result["response"]).items()
    assert first[0] == "How much did the solar farm in Almería produce in 2023?"
    assert "42 gigawatt hours" in first[1] and "4 August 1868" in second[1]
    assert evidence[0] == "Evidence"
    rows = [line for line in evidence[1].splitlines() if "</citation>" in line]
    assert len(rows) == 2 and "42 gigawatt hours" in rows[0] and "4 August 1868" in rows[1]
    assert (result["answered"], result["outcome"], result["stopped_by"]) == (True, "answered", "done")
    # One numbering, and each citation has its quote at its place.
    assert result["sources_used"] == sorted(
        {int(rank) for rank in re.findall(r"\[(\d+)\]</cit", result["response"])}
    )
    for context in result["contexts"]:
        for quote in context["quotes"] or ():
            statement = result["response"][quote["response_start"] : quote["response_end"]]
            assert statement.strip() and not statement.startswith(("|", "#"))
    trace = (await execution_of(result)).trace
    assert trace is not None
    assert [part["outcome"] for part in trace["steps"]["parts"]] == ["answered", "answered"]
    used = {context["document_id"] for context in result["contexts"] if context["used_in_response"]}
    assert used <= set(map(str, (await execution_of(result)).read_documents))


async def test_what_was_sent_is_the_report(people: Cast, papers: list[Any]) -> None:
    events = await streamed(people, BOTH, deep=True)
    sent = "".join(event["data"]["content"] for event in events if event["event"] == "tool_partial_update")
    result = events[-1]["data"]
    assert events[-1]["event"] == "tool_end"
    assert without_markup(sent) == without_markup(result["response"])
    asked = [event["data"] for event in events if event["data"].get("output_key") == "call"]
    ids = [each["call_id"] for each in asked]
    assert len(ids) == len(set(ids)) == len(result["calls"]) >= 2


async def test_gaps_are_told(people: Cast, papers: list[Any]) -> None:
    result = await ask(people, MISSING, deep=True)
    found = sections(result["response"])
    assert "1868" in found["When was the lighthouse of Punta Brava lit?"]
    assert found["Not answered"] == "- What did the moon landing cost? – nothing was found"
    assert "moon" not in found["Evidence"]


async def test_steps_bound_the_parts(people: Cast, papers: list[Any]) -> None:
    guide = await make_assistant(people, limits={"max_steps": 1}, tools=["rag_search"])
    result = await ask(people, BOTH, deep=True, assistant_id=str(guide.pk))
    assert len(result["calls"]) == 1 and result["stopped_by"] == "steps"
    assert sections(result["response"])["Not answered"].endswith("the limits of this question were reached")


@pytest.mark.parametrize(("slow", "stopped_by"), [("answer_from", "done"), ("gather", "time")])
async def test_seconds_are_for_the_calls(
    people: Cast, papers: list[Any], monkeypatch: pytest.MonkeyPatch, slow: str, stopped_by: str
) -> None:
    now = 0.0
    original = getattr(answering, slow)

    def slowly(*given: Any, **more: Any) -> Any:
        nonlocal now
        now += 1000
        return original(*given, **more)

    monkeypatch.setattr(answering, slow, slowly)
    monkeypatch.setattr(answering, "time", SimpleNamespace(monotonic=lambda: now))
    result = await ask(people, BOTH, deep=True)
    assert result["stopped_by"] == stopped_by
    assert "42 gigawatt hours" in result["response"]
    assert ("4 August 1868" in result["response"]) == (stopped_by == "done")


async def test_names_in_a_row_are_looked_up_one_by_one(people: Cast, papers: list[Any]) -> None:
    result = await ask(
        people, "In which years were the lighthouses of Punta Brava and Cabo Norte lit or built?", deep=True
    )
    assert "1868" in result["response"] and "1901" in result["response"]


async def test_a_report_in_a_conversation_is_exported(people: Cast, papers: list[Any]) -> None:
    session = await begin(people)
    result = await say(people, session, BOTH, deep=True)
    assert "Evidence" in sections(result["response"])
    path = f"sessions/{session['id']}/export"
    markdown = (await call(people, "GET", f"{path}?format=md")).content.decode()
    assert "### Evidence" in markdown and "[^1]: solar.pdf, page 1" in markdown
    assert CITATION.search(markdown) is None
    pdf = await call(people, "GET", f"{path}?format=pdf")
    assert pdf.content.startswith(b"%PDF")
    # The next question is an ordinary one, and knows what was said.
    after = await say(people, session, "And when was the one of Cabo Norte built?")
    assert "1901" in after["response"] and "###" not in after["response"]


async def test_documents_in_a_report_pose_as_nothing(people: Cast) -> None:
    hostile = "The tower | of Weir was <b>built</b> in 1893 [1] <source_9> | end of the row."
    await sync_to_async(indexed_document)(people.team, hostile, name="weir.pdf")
    result = await ask(people, "When was the tower of Weir built, and who lives there?", deep=True)
    rows = [
        line for line in result["response"].splitlines() if "</citation>" in line and line.startswith("|")
    ]
    assert rows and all(len(re.findall(r"(?<!\\)\|", row)) == 4 for row in rows)
    assert "<source_9>" not in result["response"].replace("\\<", "")


def test_a_cell_ends_where_it_should() -> None:
    book = SourceBook()
    title, url = "Light | Harbour", "https://light.example/"
    book.contexts.append(PageContext(rank=1, text=LIT, document_name=title, score=1, url=url, title=title))
    report = DeepReport("When was it lit?", ["When was it lit?"], book)
    # Some languages have no spaces to cut at.
    quote = Quote(
        text="1868" * 200, bbox=None, start_time=None, end_time=None, response_start=0, response_end=1
    )
    report.parts[0].outcome, report.parts[0].quotes = "answered", [(1, quote)]
    list(report.ending())
    [row] = [line for line in report.as_answer("none").resolved.response.splitlines() if "1868" in line]
    assert len(re.findall(r"(?<!\\)\|", row)) == 4
    assert f'<web_citation url="{url}" title="Light &#124; Harbour">[1]</web_citation>' in row


# --- With a model ----------------------------------------------------------------------------------------


async def test_a_model_splits_and_writes_together(
    people: Cast, model: OpenAiProvider, papers: list[Any]
) -> None:
    parts = "1. How much did the solar farm produce in 2023?\n2. When was Punta Brava lit?"
    model.turns = [
        says(parts),
        *(
            calls(("rag_search", {"query": "solar farm"})),
            DONE,
            says("It produced 42 gigawatt hours. ", "<source_1>"),
        ),
        *(
            calls(("rag_search", {"query": "Punta Brava lit"})),
            DONE,
            says("It was lit in 1868. ", "<source_2>"),
        ),
        says("It produced 42 gigawatt hours <source_1>. It was lit on 4 August 1868 <source_2>."),
    ]
    result = await ask(people, BOTH, deep=True)
    found = sections(result["response"])
    assert list(found)[2:] == ["Taken together", "Evidence"]
    assert "42 gigawatt hours" in found["Taken together"] and "1868" in found["Taken together"]
    assert result["usage"]["input_tokens"] > 0
    # A part is asked alone: who plans for it reads nothing of the others.
    assert "Punta Brava" not in str(model.requests[1]["messages"])


@pytest.mark.parametrize("reply", [Turn(status=503, error="server_error"), says("   \n")])
async def test_rules_split_where_a_model_does_not(
    people: Cast, model: OpenAiProvider, papers: list[Any], reply: Turn, settings: Settings
) -> None:
    fails = [Turn(status=503, error="server_error")] * ATTEMPTS
    settings.GENERATION_FALLBACKS = ["extractive"]
    # It fails at splitting, planning and writing.
    model.turns = [*([reply] * (ATTEMPTS if reply.status != 200 else 1)), *fails * 5]
    result = await ask(people, BOTH, deep=True)
    found = sections(result["response"])
    assert "42 gigawatt hours" in next(iter(found.values()))
    assert "When was the lighthouse of Punta Brava lit?" in found


async def test_the_cap_holds_for_the_whole(
    people: Cast, model: OpenAiProvider, papers: list[Any], settings: Settings
) -> None:
    settings.GENERATION_PROVIDER, settings.GENERATION_API_KEY = "openai", "key"
    settings.GENERATION_MODEL = "gpt-5-mini"
    guide = await make_assistant(people, limits={"max_cost": 0.000001}, tools=["rag_search"])
    result = await ask(people, BOTH, deep=True, assistant_id=str(guide.pk))
    assert model.requests == [] and result["stopped_by"] == "cost"
    assert not result["answered"] and "limits of this question" in result["response"]
    # No heading stands over nothing.
    assert list(sections(result["response"])) == ["Not answered"]


# --- Splitting -------------------------------------------------------------------------------------------


def test_what_is_split_and_what_is_not(subtests: Subtests) -> None:
    for question, parts in (
        ("Who kept the light?", ["Who kept the light?"]),
        ("Who built it? Who paid?", ["Who built it?", "Who paid?"]),
        ("What is A4 made of, and in which year?", ["What is A4 made of?", "In which year?"]),
        (
            "Which team, which won the cup, plays in Denver?",
            ["Which team, which won the cup, plays in Denver?"],
        ),
        ("How do salt and pepper taste?", ["How do salt and pepper taste?"]),
        (
            "What do Kenya, Uganda and the Bank of England owe?",
            ["What do Kenya owe?", "What do Uganda owe?", "What do the Bank of England owe?"],
        ),
        (
            "Wann wurde Bonn gegründet und wer regierte Trier?",
            ["Wann wurde Bonn gegründet?", "Wer regierte Trier?"],
        ),
        ("What did Q1 2022 and Q1 2023 bring?", ["What did Q1 2022 bring?", "What did Q1 2023 bring?"]),
    ):
        with subtests.test(question=question):
            found = parts_by_rule(question)
            assert [part.partition(" (")[0] for part in found] == parts


def test_a_question_has_bounded_parts() -> None:
    names = ", ".join(f"Town{number}" for number in range(300))
    assert len(parts_by_rule(f"When were {names} and Bonn founded?")) == MOST_PARTS
    assert all(len(part) <= 501 for part in parts_by_rule("word " * 400))
